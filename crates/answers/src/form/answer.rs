//! Reads answers to a form, and explains the mistakes in invalid ones.

use crewagent_format::wording::{cut, nearest, quoted, ticked_up_to};
use serde_json::{Map, Number, Value as Json};

use super::range::{EXACT, Range};
use super::{Field, FieldKind, Form, Offer, TextRule, Unsaid};
use crate::{agreement, pick};

/// Maximum number of mistakes in a message.
const SHOWN: usize = 20;
/// Maximum characters of a JSON value in a message.
const JSON_CHARS: usize = 60;

/// Answers by field, and those without a field.
struct FormAnswers<'w> {
    /// One for each field.
    fields: Vec<Option<Given<'w>>>,
    mistakes: Vec<String>,
}

enum Given<'w> {
    Text(&'w str),
    Json(Json),
}

impl Form {
    /// Reads the user's answer as an object. The text is JSON; or a line such as `name: value` for each field; or, for
    /// a form with one field, its value alone. The error has all sentences that the user needs.
    pub fn answer(&self, text: &str) -> Result<Json, String> {
        let text = text.trim();
        let answers = match serde_json::from_str::<Json>(text) {
            Ok(Json::Object(given)) => self.object(given),
            Err(error) if text.starts_with('{') && self.fields.len() > 1 => {
                return Err(format!(
                    "The answer begins like a JSON object, but it is not JSON: {error}. {}",
                    self.how()
                ));
            }
            given => match &self.fields[..] {
                [only] => {
                    let said = match given {
                        Ok(json @ (Json::Array(_) | Json::String(_)))
                            if !only.offers().is_empty() =>
                        {
                            Given::Json(json)
                        }
                        Ok(_) | Err(_) => Given::Text(text),
                    };
                    FormAnswers { fields: vec![Some(said)], mistakes: Vec::new() }
                }
                _ => self.lines(text),
            },
        };
        self.settle(answers)
    }

    /// Describes the syntax of an answer.
    pub fn how(&self) -> String {
        match &self.fields[..] {
            [only] => format!("Write the value alone, or {{\"{}\": …}}.", only.name),
            [first, second, ..] => format!(
                "Write a line for each field, such as `{}: …`, or a JSON object such as {{\"{}\": …, \"{}\": …}}.",
                first.name, first.name, second.name
            ),
            [] => String::new(),
        }
    }

    fn no_answers<'w>(&self) -> FormAnswers<'w> {
        FormAnswers { fields: self.fields.iter().map(|_| None).collect(), mistakes: Vec::new() }
    }

    fn object<'w>(&self, given: Map<String, Json>) -> FormAnswers<'w> {
        let mut answers = self.no_answers();
        for (name, value) in given {
            match self.fields.iter().position(|field| field.name == name) {
                Some(at) => answers.fields[at] = Some(Given::Json(value)),
                None => answers.mistakes.push(self.unknown(&name)),
            }
        }
        answers
    }

    fn lines<'w>(&self, text: &'w str) -> FormAnswers<'w> {
        let mut answers = self.no_answers();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let Some((name, words)) = line.split_once([':', '：']) else {
                let line = quoted(line);
                answers
                    .mistakes
                    .push(format!("{line} does not say which field it is for. {}", self.how()));
                continue;
            };
            match pick::named(&self.fields, name) {
                Some(at) if answers.fields[at].is_some() => {
                    let name = &self.fields[at].name;
                    answers.mistakes.push(format!("`{name}` is there twice."));
                }
                Some(at) => answers.fields[at] = Some(Given::Text(words)),
                None => answers.mistakes.push(self.unknown(name.trim())),
            }
        }
        answers
    }

    fn unknown(&self, name: &str) -> String {
        let names = || self.fields.iter().map(|field| field.name.as_str());
        let meant = match nearest(name, names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the fields are {}.", ticked_up_to(names(), usize::MAX)),
        };
        format!("There is no field {}; {meant}", quoted(name))
    }

    fn settle(&self, answers: FormAnswers<'_>) -> Result<Json, String> {
        let FormAnswers { fields, mut mistakes } = answers;
        let mut answer = Map::new();
        for (field, said) in self.fields.iter().zip(fields) {
            let value = match said {
                None => field.unsaid(),
                Some(Given::Text(words)) => field.hear(words),
                Some(Given::Json(Json::Null)) => field.unsaid(),
                Some(Given::Json(value)) => field.value(&value).map(Some),
            };
            match value {
                Ok(Some(value)) => drop(answer.insert(field.name.clone(), value)),
                Ok(None) => {}
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if mistakes.is_empty() {
            return Ok(Json::Object(answer));
        }
        let more = mistakes.len().saturating_sub(SHOWN);
        mistakes.truncate(SHOWN);
        if more > 0 {
            mistakes.push(format!("And {more} more."));
        }
        Err(mistakes.join(" "))
    }
}

impl Field {
    /// Reads a value from text; `None` if the text is blank.
    pub fn hear(&self, words: &str) -> Result<Option<Json>, String> {
        let words = words.trim();
        if words.is_empty() {
            return self.unsaid();
        }
        let value = match &self.kind {
            FieldKind::Text(rule) => self.text(rule, words),
            FieldKind::Number(range) => self.number(range, read_number(words), || quoted(words)),
            FieldKind::Integer(range) => self.integer(range, read_number(words), || quoted(words)),
            FieldKind::YesNo => agreement::yes_or_no(words)
                .map(Json::Bool)
                .ok_or_else(|| self.wrong("yes or no", &quoted(words))),
            FieldKind::One(offers) => self.one(offers, words),
            FieldKind::Several { offers, least, most } => {
                match pick::several(offers, words, pick::one) {
                    Ok(chosen) => self.several(offers, *least, *most, &chosen),
                    Err(part) => Err(self.not_offered(offers, part)),
                }
            }
        };
        value.map(Some)
    }

    /// Reads a value from JSON. Numbers and booleans may also be strings. An option is given by its value: a number is
    /// never the index of an option.
    pub(super) fn value(&self, json: &Json) -> Result<Json, String> {
        let shown = || json.as_str().map_or_else(|| cut(&json.to_string(), JSON_CHARS), quoted);
        match (&self.kind, json) {
            (FieldKind::Text(rule), Json::String(text)) => {
                // An empty text is a valid text, unless the field is required.
                let is_missing = text.trim().is_empty() && self.unsaid == Unsaid::Refused;
                if is_missing { Err(self.missing()) } else { self.text(rule, text) }
            }
            (FieldKind::Text(_), _) => Err(self.wrong("text, in quotes", &shown())),
            (FieldKind::Number(range), Json::Number(number)) => {
                self.number(range, Some(number.clone()), shown)
            }
            (FieldKind::Integer(range), Json::Number(number)) => {
                self.integer(range, Some(number.clone()), shown)
            }
            (FieldKind::YesNo, Json::Bool(_)) => Ok(json.clone()),
            (_, Json::String(words)) if words.trim().is_empty() => Err(self.missing()),
            (FieldKind::One(offers), Json::Number(_) | Json::Bool(_) | Json::String(_)) => {
                let chosen = pick::position_of(offers, json).map(|at| offers[at].value.clone());
                chosen.ok_or_else(|| {
                    self.wrong(&format!("one of: {}", pick::offered(offers)), &shown())
                })
            }
            (FieldKind::Several { offers, least, most }, Json::Array(items)) => {
                match pick::listed(offers, items) {
                    Ok(chosen) => self.several(offers, *least, *most, &chosen),
                    Err(item) => Err(self.not_offered(offers, &item)),
                }
            }
            (FieldKind::Several { offers, least, most }, Json::String(words)) => {
                match pick::several(offers, words, pick::named) {
                    Ok(chosen) => self.several(offers, *least, *most, &chosen),
                    Err(part) => Err(self.not_offered(offers, part)),
                }
            }
            (_, Json::String(words)) => {
                self.hear(words).and_then(|value| value.ok_or_else(|| self.missing()))
            }
            (_, _) => Err(self.wrong(&self.describe(), &shown())),
        }
    }

    fn unsaid(&self) -> Result<Option<Json>, String> {
        match &self.unsaid {
            Unsaid::Refused => Err(self.missing()),
            Unsaid::LeftOut => Ok(None),
            Unsaid::Is(value) => Ok(Some(value.clone())),
        }
    }

    fn missing(&self) -> String {
        format!("`{}` is missing: it must be {}.", self.name, self.describe())
    }

    fn wrong(&self, must_be: &str, wrote: &str) -> String {
        format!("`{}` must be {must_be}; you wrote {wrote}.", self.name)
    }

    fn text(&self, rule: &TextRule, text: &str) -> Result<Json, String> {
        let length = text.chars().count() as u64;
        let characters = |count: u64| if count == 1 { "character" } else { "characters" };
        let name = &self.name;
        if length < rule.least {
            let least = rule.least;
            return Err(format!(
                "`{name}` must have at least {least} {}; you wrote {length}.",
                characters(least)
            ));
        }
        if let Some(most) = rule.most.filter(|most| length > *most) {
            return Err(format!(
                "`{name}` must have at most {most} {}; you wrote {length}.",
                characters(most)
            ));
        }
        match &rule.pattern {
            Some(pattern) if !pattern.regex.is_match(text) => {
                let (shape, wrote) = (&pattern.text, quoted(text));
                Err(format!("`{name}` must match the pattern {shape}; you wrote {wrote}."))
            }
            Some(_) | None => Ok(text.into()),
        }
    }

    fn number(
        &self,
        range: &Range,
        number: Option<Number>,
        wrote: impl Fn() -> String,
    ) -> Result<Json, String> {
        let Some(number) = number else { return Err(self.wrong("a number", &wrote())) };
        match number.as_f64().and_then(|value| range.refuses(value)) {
            Some(must_be) => Err(self.wrong(&must_be, &number.to_string())),
            None => Ok(number.into()),
        }
    }

    fn integer(
        &self,
        range: &Range,
        number: Option<Number>,
        wrote: impl Fn() -> String,
    ) -> Result<Json, String> {
        let value = number.and_then(|number| number.as_f64());
        let value = value.filter(|value| value.fract() == 0.0 && value.abs() <= EXACT);
        match value {
            Some(value) => self.number(range, Some((value as i64).into()), wrote),
            None => Err(self.wrong("a whole number", &wrote())),
        }
    }

    fn one(&self, offers: &[Offer], words: &str) -> Result<Json, String> {
        let chosen = pick::one(offers, words).map(|at| offers[at].value.clone());
        chosen.ok_or_else(|| self.not_offered(offers, words))
    }

    fn not_offered(&self, offers: &[Offer], words: &str) -> String {
        self.wrong(&format!("one of: {}", pick::offered(offers)), &quoted(words))
    }

    fn several(
        &self,
        offers: &[Offer],
        least: usize,
        most: usize,
        chosen: &[usize],
    ) -> Result<Json, String> {
        let count = chosen.len();
        if count < least || count > most {
            return Err(format!("`{}` must be {}; you chose {count}.", self.name, self.describe()));
        }
        Ok(chosen.iter().map(|at| offers[*at].value.clone()).collect())
    }
}

fn read_number(words: &str) -> Option<Number> {
    match words.parse::<i64>() {
        Ok(number) => Some(number.into()),
        Err(_) => words.parse::<f64>().ok().and_then(Number::from_f64),
    }
}
