//! Conditions of a reply on the request; each can explain why it does not hold.

use std::fmt;

use crewagent_format::wording::quoted_up_to;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use serde_json::{Map, Value as Json};

use super::view::{RequestView, verdict};

/// Maximum number of characters of a value in a message.
const VALUE_CHARS: usize = 300;

/// Conditions of a reply. Without any, it always fits.
#[derive(Debug, Default)]
pub(super) struct ReplyCondition {
    pub(super) input: Option<TextPattern>,
    pub(super) turn: Option<u64>,
    pub(super) node_turn: Option<u64>,
    pub(super) variables: Map<String, Json>,
    /// Refusal codes, one of which the last answer of a tool must have.
    pub(super) refused: Option<Vec<String>>,
    /// Expected answers to the calls of the last reply.
    pub(super) answers: Option<ExpectedAnswers>,
    /// Text in the last message.
    pub(super) contains: Option<String>,
}

/// Expected answers: `ok`, a code, or several alternatives.
#[derive(Debug)]
pub(super) enum ExpectedAnswers {
    /// Every call was answered like this.
    Each(Vec<String>),
    /// One entry per call, in order.
    Listed(Vec<Vec<String>>),
}

/// Regular expression with its source.
pub(super) struct TextPattern {
    text: String,
    matcher: RegexMatcher,
}

impl TextPattern {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let matcher = RegexMatcher::new(text)
            .map_err(|error| format!("is not a regular expression: {error}"))?;
        Ok(Self { text: text.to_owned(), matcher })
    }

    fn matches(&self, text: &str) -> bool {
        self.matcher.is_match(text.as_bytes()).unwrap_or(false)
    }
}

impl fmt::Debug for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.text)
    }
}

impl ReplyCondition {
    /// Returns the reason why the reply does not fit; none if it does.
    pub(super) fn mismatch(&self, view: &RequestView<'_>) -> Option<String> {
        self.of_place(view)
            .or_else(|| self.of_input(view))
            .or_else(|| self.of_variables(view))
            .or_else(|| self.of_answers(view))
            .or_else(|| self.of_message(view))
    }

    fn of_place(&self, view: &RequestView<'_>) -> Option<String> {
        let place = view.place();
        let differ = |name: &str, wanted: Option<u64>, found: u64| {
            let wanted = wanted.filter(|wanted| *wanted != found)?;
            Some(format!("expected {name} {wanted}, but this is {found}"))
        };
        differ("turn", self.turn, place.turn)
            .or_else(|| differ("nodeTurn", self.node_turn, place.node_turn))
    }

    fn of_input(&self, view: &RequestView<'_>) -> Option<String> {
        let pattern = self.input.as_ref()?;
        match view.input() {
            Some(input) if pattern.matches(input) => None,
            Some(input) => Some(format!(
                "expected an input like {pattern:?}, but the user said {}",
                quoted_up_to(input, VALUE_CHARS)
            )),
            None => Some(format!("expected an input like {pattern:?}, but the user said nothing")),
        }
    }

    fn of_variables(&self, view: &RequestView<'_>) -> Option<String> {
        let found = &view.place().variables;
        let (name, wanted) =
            self.variables.iter().find(|(name, wanted)| found.get(*name) != Some(*wanted))?;
        Some(match found.get(name) {
            Some(value) => format!(
                "expected the variable `{name}` to be {wanted}, but it is {}",
                quoted_up_to(&value.to_string(), VALUE_CHARS)
            ),
            None => format!("expected the variable `{name}` to be {wanted}, but it is not set"),
        })
    }

    fn of_answers(&self, view: &RequestView<'_>) -> Option<String> {
        if let Some(codes) = &self.refused {
            match view.last() {
                Some(answer) if codes.iter().any(|code| code == verdict(answer)) => {}
                Some(answer) => return Some(unexpected("the last answer", codes, answer)),
                None => {
                    return Some(format!(
                        "expected a refusal ({}), but no tool has answered",
                        codes.join(" or ")
                    ));
                }
            }
        }
        let (answers, found) = (self.answers.as_ref()?, view.answers());
        let listed: Vec<&Vec<String>> = match answers {
            ExpectedAnswers::Each(codes) if !found.is_empty() => {
                found.iter().map(|_| codes).collect()
            }
            ExpectedAnswers::Each(codes) => {
                return Some(format!(
                    "expected answers ({}), but no call was answered",
                    codes.join(" or ")
                ));
            }
            ExpectedAnswers::Listed(each) => each.iter().collect(),
        };
        if listed.len() != found.len() {
            return Some(format!(
                "expected {} answers, but there are {}",
                listed.len(),
                found.len()
            ));
        }
        let mut pairs = listed.iter().zip(found).enumerate();
        pairs.find_map(|(at, (codes, answer))| {
            let fits = codes.iter().any(|code| code == "any" || code == verdict(answer));
            (!fits).then(|| unexpected(&format!("answer {}", at + 1), codes, answer))
        })
    }

    fn of_message(&self, view: &RequestView<'_>) -> Option<String> {
        let wanted = self.contains.as_deref()?;
        let found = view.last_message();
        (!view.is_news(wanted)).then(|| {
            format!(
                "expected {wanted:?} in the last message, but it is {}",
                quoted_up_to(found, VALUE_CHARS)
            )
        })
    }
}

fn unexpected(which: &str, codes: &[String], answer: &Json) -> String {
    format!(
        "expected {which} to be {}, but it is {}",
        codes.join(" or "),
        quoted_up_to(&answer.to_string(), VALUE_CHARS)
    )
}
