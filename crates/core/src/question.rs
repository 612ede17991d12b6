//! Questions to the user and their valid answers.

pub mod approval;
pub mod gate;
pub mod going_on;
pub mod moving;

use crewagent_answers::pick::{self, Named};
pub use crewagent_answers::{agreement, form};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::approval::{Approval, Consent};
use self::form::Form;
use self::gate::{GateAction, ShownDraft};

/// Question to the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Question {
    /// Text of the question.
    pub question: String,
    /// Expected kind of answer.
    #[serde(default)]
    pub kind: QuestionKind,
    /// Available choices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// True if several may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multi: bool,
    /// The JSON Schema of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<serde_json::Value>"))]
    pub schema: Option<Form>,
    /// The call that the user is to allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
    /// The drafts that a gate shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub show: Vec<ShownDraft>,
}

/// Kinds of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum QuestionKind {
    /// Any text.
    #[default]
    Text,
    /// One or several of the options.
    Choice,
    /// Yes or no.
    Confirm,
    /// An object that fits the schema.
    Form,
    /// Approval of a call. The runtime asks, never a model.
    Approval,
    /// One of the options of a gate, or words for the model.
    Gate,
}

/// Something that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionOption {
    /// Text for the model.
    pub value: String,
    /// Text for the user; the value when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Effect of an option of a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<GateAction>,
}

impl QuestionOption {
    /// Returns the text that the user sees.
    pub fn shown(&self) -> &str {
        self.label
            .as_deref()
            .map(str::trim)
            .filter(|label| !label.is_empty())
            .unwrap_or(&self.value)
    }
}

impl Named for QuestionOption {
    fn value(&self) -> &str {
        &self.value
    }

    fn shown(&self) -> &str {
        QuestionOption::shown(self)
    }
}

impl Question {
    /// Makes a question for a yes or a no.
    pub fn confirm(words: impl Into<String>) -> Self {
        Self { question: words.into(), kind: QuestionKind::Confirm, ..Self::default() }
    }

    /// Returns true if it only asks if the model may go on.
    pub fn asks_to_go_on(&self) -> bool {
        let is_open = matches!(self.kind, QuestionKind::Text | QuestionKind::Confirm);
        is_open && going_on::asks_to_go_on(&self.question)
    }

    /// Returns true if the user may choose options by number.
    pub fn is_numbered(&self) -> bool {
        pick::is_numbered(&self.options)
    }

    /// Reads the user's text, or JSON, as an answer. The error is a sentence for the user.
    pub fn answer(&self, text: &str) -> Result<Json, String> {
        match self.typed(text) {
            None => self.words(text),
            Some(Ok(answer)) => Ok(answer),
            Some(Err(mistake)) => self.words(text).map_err(|_| mistake),
        }
    }

    /// Returns true if words that are no answer in the form that was asked for are one all the same: a form of plain texts
    /// is answered by one text, too, and the model reads it.
    pub fn takes_own_words(&self, text: &str) -> bool {
        let text = text.trim();
        let is_plain = self.schema.as_ref().is_some_and(Form::is_plain);
        is_plain && !text.is_empty() && !text.starts_with('{')
    }

    /// Reads an answer in JSON; `None` if JSON and text mean the same here.
    fn typed(&self, text: &str) -> Option<Result<Json, String>> {
        let is_typed = match self.kind {
            QuestionKind::Choice | QuestionKind::Confirm | QuestionKind::Approval => true,
            QuestionKind::Text | QuestionKind::Form | QuestionKind::Gate => false,
        };
        let json: Json = serde_json::from_str(text).ok().filter(|_| is_typed)?;
        match (self.kind, &json) {
            (QuestionKind::Choice, Json::Array(names)) if self.multi => {
                let chosen = pick::listed(&self.options, names);
                Some(chosen.map_err(|name| self.not_offered(&name)).and_then(|at| self.chosen(&at)))
            }
            (QuestionKind::Choice, Json::String(name)) => {
                let at = pick::named(&self.options, name).ok_or_else(|| self.not_offered(name));
                Some(at.and_then(|at| match self.multi {
                    true => self.chosen(&[at]),
                    false => Ok(self.options[at].value.as_str().into()),
                }))
            }
            (QuestionKind::Approval, _) => {
                Some(Consent::typed(&json).map(|consent| consent.to_json()))
            }
            (QuestionKind::Confirm, Json::String(word)) => Some(self.words(word)),
            (_, _) => None,
        }
    }

    fn words(&self, text: &str) -> Result<Json, String> {
        match self.kind {
            QuestionKind::Gate => self.at_gate(text),
            QuestionKind::Text if text.trim().is_empty() => {
                Err("The answer is empty; please write something.".to_owned())
            }
            QuestionKind::Text => Ok(text.into()),
            QuestionKind::Choice if self.multi => self.several(text),
            QuestionKind::Choice => self.one(text).map(|choice| choice.value.as_str().into()),
            QuestionKind::Confirm => agreement::yes_or_no(text)
                .map(Json::Bool)
                .ok_or_else(|| "Please answer yes or no.".to_owned()),
            QuestionKind::Approval => Consent::read(text).map(|consent| consent.to_json()),
            QuestionKind::Form => match &self.schema {
                Some(form) => form.answer(text),
                None => Err("This question has no form, so nothing can answer it.".to_owned()),
            },
        }
    }

    /// Reads options by number, value or label, separated by commas.
    fn several(&self, text: &str) -> Result<Json, String> {
        let chosen =
            pick::several(&self.options, text, pick::one).map_err(|part| self.not_offered(part))?;
        self.chosen(&chosen)
    }

    /// Returns the values of the options at these indices, at least one.
    fn chosen(&self, places: &[usize]) -> Result<Json, String> {
        if places.is_empty() {
            let offered = pick::offered(&self.options);
            return Err(format!("Nothing is chosen; please choose from: {offered}."));
        }
        Ok(places.iter().map(|at| self.options[*at].value.as_str()).collect())
    }

    /// Finds an option by its value, its label, or its number.
    fn one(&self, text: &str) -> Result<&QuestionOption, String> {
        let chosen = pick::one(&self.options, text).map(|at| &self.options[at]);
        chosen.ok_or_else(|| self.not_offered(text.trim()))
    }

    fn not_offered(&self, words: &str) -> String {
        let (shown, offered) =
            (crewagent_format::wording::quoted(words), pick::offered(&self.options));
        format!("{shown} is not one of the options; please choose from: {offered}.")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(kind: QuestionKind, multi: bool) -> Question {
        let option = |value: &str, label: Option<&str>| QuestionOption {
            value: value.to_owned(),
            label: label.map(str::to_owned),
            ..QuestionOption::default()
        };
        let options = vec![
            option("green", Some("A new project")),
            option("brown", Some("Old code, new work")),
            option("ten", None),
            option("Green", None),
        ];
        Question { question: "?".into(), kind, options, multi, ..Question::default() }
    }

    #[track_caller]
    fn check(kind: QuestionKind, text: &str, expected: Json) {
        assert_eq!(question(kind, false).answer(text), Ok(expected), "{text:?}");
    }

    #[track_caller]
    fn check_multi(text: &str, expected: Json) {
        assert_eq!(question(QuestionKind::Choice, true).answer(text), Ok(expected), "{text:?}");
    }

    #[track_caller]
    fn check_refused(kind: QuestionKind, multi: bool, text: &str, says: &str) {
        let error = question(kind, multi).answer(text).unwrap_err();
        assert!(error.contains(says), "{error}");
        assert!(error.ends_with('.'), "{error}");
    }

    #[test]
    fn words_are_taken_as_they_are() {
        check(QuestionKind::Text, " hello\n", json!(" hello\n"));
        check_refused(QuestionKind::Text, false, " \n", "empty");
    }

    #[test]
    fn an_option_is_named_by_value_label_or_number() {
        for text in ["green", "1", " 1 ", "1.", "1)", "A new project", "a NEW project"] {
            check(QuestionKind::Choice, text, json!("green"));
        }
        check(QuestionKind::Choice, "brown", json!("brown"));
        check(QuestionKind::Choice, "Old code, new work", json!("brown"));
        check(QuestionKind::Choice, "ten", json!("ten"));
        check(QuestionKind::Choice, "Green", json!("Green"));
        for text in ["", "0", "5", "11", "blue", "GREEN", "green, brown"] {
            check_refused(QuestionKind::Choice, false, text, "1 A new project, 2 Old code");
        }
        let mut sizes = question(QuestionKind::Choice, false);
        sizes.options[0].value = "4".to_owned();
        assert_eq!(sizes.answer("4"), Ok(json!("4")));
        let error = sizes.answer("2").unwrap_err();
        assert!(error.contains("choose from: A new project, Old code"), "{error}");
    }

    #[test]
    fn several_options_stand_with_commas() {
        check_multi("1", json!(["green"]));
        check_multi("1, brown,1", json!(["green", "brown"]));
        check_multi("ten，2、Green", json!(["ten", "brown", "Green"]));
        check_multi("Old code, new work", json!(["brown"]));
        check_refused(QuestionKind::Choice, true, "1, nine", "\"nine\" is not one of the options");
        check_refused(QuestionKind::Choice, true, " , ", "Nothing is chosen");
    }

    #[test]
    fn options_are_named_in_json_too() {
        check(QuestionKind::Choice, r#" "green" "#, json!("green"));
        check(QuestionKind::Choice, r#""Old code, new work""#, json!("brown"));
        check_multi(r#"["green", "Old code, new work", "green"]"#, json!(["green", "brown"]));
        check_multi(r#""ten""#, json!(["ten"]));
        // In text a number is an index, in JSON it is a value.
        check(QuestionKind::Choice, "1", json!("green"));
        let refused = [
            (false, r#""1""#, "\"1\" is not one of the options"),
            (false, r#"["green"]"#, "is not one of the options"),
            (true, "[1]", "\"1\" is not one of the options"),
            (true, r#"["green", "blue"]"#, "\"blue\" is not one of the options"),
            (true, "[]", "Nothing is chosen"),
        ];
        for (multi, text, says) in refused {
            check_refused(QuestionKind::Choice, multi, text, says);
        }
        check(QuestionKind::Confirm, r#""yes""#, json!(true));
    }

    #[test]
    fn consent_is_given_in_json_too() {
        for (text, expected) in [
            (r#""once""#, json!("once")),
            (r#""deny: use tabs""#, json!({"deny": "use tabs"})),
            (r#"{"once": true}"#, json!("once")),
            (r#"{"run": true}"#, json!("run")),
            (r#"{"deny": "no"}"#, json!({"deny": "no"})),
            (r#"{"deny": true}"#, json!({"deny": ""})),
        ] {
            check(QuestionKind::Approval, text, expected);
        }
        for text in [
            "true",
            "1",
            "[]",
            "{}",
            r#"["once"]"#,
            r#"{"once": false}"#,
            r#"{"once": "never"}"#,
            r#"{"deny": false}"#,
            r#"{"once": true, "deny": "no"}"#,
            r#""once more""#,
        ] {
            check_refused(QuestionKind::Approval, false, text, "once, run, or deny");
        }
    }

    #[test]
    fn yes_and_no_have_several_spellings() {
        for text in ["yes", "Y", "true", "是", " Yes! ", "好的", "ok, go on"] {
            check(QuestionKind::Confirm, text, json!(true));
        }
        for text in ["no", "N", "false", "否", "no.", "不要", "not yet"] {
            check(QuestionKind::Confirm, text, json!(false));
        }
        for text in ["", "maybe", "1", "yes but later", "ok but shorter"] {
            check_refused(QuestionKind::Confirm, false, text, "yes or no");
        }
    }
}
