//! Titles of runs and conversations: one line in a file of their own, because the records beside it never change.

use std::borrow::Cow;

use crewagent_core::question::{Question, QuestionKind};
use crewagent_format::wording::single_spaced;
use serde_json::Value as Json;

use super::runs::RunError;
use crate::disk::Folder;

/// File that holds the title.
const TITLE: &str = "title";
/// Longest title, in characters.
const MAX_TITLE: usize = 80;
/// Fewest letters and digits of a text that names a run.
const MIN_LETTERS: usize = 3;
/// Largest title file that is read, in bytes.
const MAX_FILE: u64 = 4096;

/// Reads the title in a folder, if there is one.
pub(super) fn read(folder: &Folder) -> Result<Option<String>, RunError> {
    match folder.read(TITLE, MAX_FILE) {
        Ok(bytes) => Ok(tidy(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Sets the title. A blank one changes nothing.
pub(super) fn write(folder: &Folder, title: &str) -> Result<(), RunError> {
    if let Some(title) = tidy(title) {
        folder.replace(TITLE, format!("{title}\n").as_bytes())?;
    }
    Ok(())
}

/// Names an untitled run after a text of its user. A run without a title is no less complete, so a failing disk is no error.
pub(crate) fn name_after(folder: &Folder, text: &str) {
    if matches!(read(folder), Ok(None)) {
        let _ = write(folder, text);
    }
}

/// Returns the part of an input that says what a run is about. Choices, a yes or no, and a nudge to continue do not.
pub(crate) fn subject_of<'i>(input: &'i str, question: Option<&Question>) -> Option<Cow<'i, str>> {
    let is_open = question.is_none_or(|question| {
        matches!(question.kind, QuestionKind::Text | QuestionKind::Form)
            && !question.asks_to_go_on()
    });
    let text = first_text(input.trim())?;
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    (is_open && letters >= MIN_LETTERS).then_some(text)
}

/// Returns the first line, or the first text of an answer in JSON.
fn first_text(input: &str) -> Option<Cow<'_, str>> {
    let Ok(Json::Object(fields)) = serde_json::from_str(input) else {
        return input.lines().next().map(Cow::Borrowed);
    };
    let texts = fields.values().filter_map(Json::as_str);
    texts.map(str::trim).find(|text| !text.is_empty()).map(|text| Cow::Owned(text.to_owned()))
}

/// Returns the title that a file gives to the run that made it: its name without folder and ending.
pub(super) fn of_file(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    tidy(name.rsplit_once('.').map_or(name, |(stem, _)| stem))
}

/// Formats a text as one line of limited length.
pub(super) fn tidy(text: &str) -> Option<String> {
    let line = single_spaced(text);
    let printable: String = line.chars().filter(|c| !c.is_control()).collect();
    match printable.char_indices().nth(MAX_TITLE) {
        None if printable.is_empty() => None,
        None => Some(printable),
        Some((end, _)) => {
            let words =
                printable[..end].rsplit_once(' ').map_or(&printable[..end], |(head, _)| head);
            Some(format!("{words}…"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, question: Option<&Question>, expected: Option<&str>) {
        assert_eq!(subject_of(input, question).as_deref(), expected, "{input}");
    }

    fn question(kind: &str, text: &str) -> Question {
        serde_json::from_value(serde_json::json!({ "question": text, "kind": kind })).unwrap()
    }

    #[test]
    fn a_run_is_named_after_what_its_user_says_it_is_about() {
        check("Sign in with a passkey\nand more", None, Some("Sign in with a passkey"));
        check("1-2-login", Some(&question("text", "Which story?")), Some("1-2-login"));
        check("登录与注册", None, Some("登录与注册"));
        let form = question("form", "About the product");
        check(r#"{"days": 3, "name": "Bikes"}"#, Some(&form), Some("Bikes"));
    }

    #[test]
    fn a_run_is_not_named_after_a_choice_or_a_nudge() {
        for (kind, input) in [("choice", "The second"), ("confirm", "yes"), ("approval", "once")] {
            check(input, Some(&question(kind, "Which?")), None);
        }
        check("ok", None, None);
        check("", None, None);
        check(r#"{"days": 3}"#, None, None);
        check("please do", Some(&question("text", "Shall I continue?")), None);
    }

    #[test]
    fn a_file_gives_its_name_without_folder_and_ending() {
        assert_eq!(of_file("artifacts/stories/1-2-login.md").as_deref(), Some("1-2-login"));
        assert_eq!(of_file("README").as_deref(), Some("README"));
        assert_eq!(of_file("artifacts/"), None);
    }
}
