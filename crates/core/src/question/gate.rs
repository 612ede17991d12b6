//! Questions of gates: the user sees the drafts of a node and decides how it continues.

use crewagent_answers::agreement::{self, Agreement};
use crewagent_answers::pick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{Question, QuestionOption};
use crate::payload::Payload;

/// Shortest beginning of a label that names its option, in characters.
const BEGINNING_CHARS: usize = 2;
/// Marks that may stand around a key, such as in `[C]`.
const MARKS: [char; 9] = ['[', ']', '(', ')', '.', '。', ':', '\'', '"'];

/// Effect of an option of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum GateAction {
    /// Drafts are saved, and the run continues.
    Edge,
    /// Another workflow works on the draft.
    Call,
    /// The model works on, and asks again.
    Stay,
    /// Drafts are saved, and the run continues without asking again.
    Yolo,
}

impl GateAction {
    /// Returns true if the option saves the drafts and leads on.
    pub fn leads_on(self) -> bool {
        matches!(self, Self::Edge | Self::Yolo)
    }
}

/// A draft that a gate shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ShownDraft {
    /// The name of the draft.
    pub name: String,
    /// The mount path.
    pub path: String,
    /// The digest of the text. A choice holds for exactly this text.
    pub sha256: String,
    /// The size of the text.
    pub bytes: u64,
    /// The text.
    pub text: Payload,
    /// The file that it is saved to, from the root of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Returns the index of the option that a text names: by key, label, number, or a beginning of a label that no other one
/// has. Where one option leads on and `takes_agreement` is true, agreement chooses it.
pub fn chosen(options: &[QuestionOption], text: &str, takes_agreement: bool) -> Option<usize> {
    let plain = text.trim().trim_matches(MARKS).trim();
    if plain.is_empty() {
        return None;
    }
    let only = |fits: &dyn Fn(&QuestionOption) -> bool| {
        let mut found = (0..options.len()).filter(|at| fits(&options[*at]));
        found.next().filter(|_| found.next().is_none())
    };
    let lower = plain.to_lowercase();
    let begins = |option: &QuestionOption| option.shown().to_lowercase().starts_with(&lower);
    let beginning = || only(&begins).filter(|_| plain.chars().nth(BEGINNING_CHARS - 1).is_some());
    let agreed = || {
        let leads_on = |option: &QuestionOption| option.does.is_some_and(GateAction::leads_on);
        let is_edge = |option: &QuestionOption| option.does == Some(GateAction::Edge);
        let is_yes = takes_agreement && agreement::read(text) == Agreement::Yes;
        is_yes.then(|| only(&is_edge).or_else(|| only(&leads_on))).flatten()
    };
    pick::one(options, plain).or_else(beginning).or_else(agreed)
}

impl Question {
    /// Reads the user's text at a gate: the key of an option, or words for the model.
    pub(super) fn at_gate(&self, text: &str) -> Result<Json, String> {
        if text.trim().is_empty() {
            let offered = pick::offered(&self.options);
            return Err(format!(
                "The answer is empty; please choose one or say what to change: {offered}."
            ));
        }
        Ok(match self.gate_choice(text) {
            Some(option) => json!({ "chosen": option.value }),
            None => json!({ "chosen": null, "words": text }),
        })
    }

    /// Returns the option of a gate that the user's text chooses; none if it is words for the model. JSON names an
    /// option by its key or label.
    pub fn gate_choice(&self, text: &str) -> Option<&QuestionOption> {
        let json: Option<Json> = serde_json::from_str(text).ok();
        let named = json.as_ref().and_then(|json| json.get("chosen").unwrap_or(json).as_str());
        let at = match named {
            Some(name) => pick::named(&self.options, name),
            None => chosen(&self.options, text, true),
        };
        at.map(|at| &self.options[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::QuestionKind;

    fn question(options: &[(&str, &str, GateAction)]) -> Question {
        let option = |(value, label, does): &(&str, &str, GateAction)| QuestionOption {
            value: (*value).to_owned(),
            label: Some((*label).to_owned()),
            does: Some(*does),
            ..QuestionOption::default()
        };
        Question {
            question: "Ready?".to_owned(),
            kind: QuestionKind::Gate,
            options: options.iter().map(option).collect(),
            ..Question::default()
        }
    }

    fn menu() -> Question {
        question(&[
            ("A", "Advanced Elicitation", GateAction::Call),
            ("P", "Party Mode", GateAction::Call),
            ("C", "Continue", GateAction::Edge),
        ])
    }

    #[track_caller]
    fn check(question: &Question, text: &str, expected: Option<&str>) {
        let found = question.gate_choice(text).map(|option| option.value.as_str());
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn an_option_is_named_by_key_label_number_or_beginning() {
        for text in [
            "C",
            "c",
            " [C] ",
            "(c)",
            "C.",
            "3",
            "3.",
            "Continue",
            "continue",
            "cont",
            "Co",
            r#""C""#,
            r#"{"chosen":"C"}"#,
        ] {
            check(&menu(), text, Some("C"));
        }
        check(&menu(), "party", Some("P"));
        check(&menu(), "1", Some("A"));
        for text in
            ["", " ", "4", "x", "make it shorter", "continue with the goals", r#"{"chosen":"Z"}"#]
        {
            check(&menu(), text, None);
        }
    }

    #[test]
    fn agreement_chooses_the_only_way_on() {
        for text in ["yes", "ok", "go on", "next", "好的", "继续", "ok, continue!"] {
            check(&menu(), text, Some("C"));
        }
        check(&menu(), "ok but shorter", None);
        let several =
            question(&[("1", "Short", GateAction::Edge), ("2", "Long", GateAction::Edge)]);
        check(&several, "yes", None);
        check(&several, "2", Some("2"));
        assert_eq!(chosen(&menu().options, "yes", false), None);
    }

    #[test]
    fn anything_else_is_words_for_the_model() {
        assert_eq!(menu().answer("c"), Ok(json!({ "chosen": "C" })));
        let words = "Say more about users.";
        assert_eq!(menu().answer(words), Ok(json!({ "chosen": null, "words": words })));
        assert!(menu().answer(" \n").unwrap_err().contains("3 Continue"));
    }

    #[test]
    fn a_beginning_must_be_unique() {
        let alike = question(&[
            ("R", "Revise the text", GateAction::Stay),
            ("S", "Revise the structure", GateAction::Stay),
        ]);
        check(&alike, "revise", None);
        check(&alike, "revise the s", Some("S"));
    }
}
