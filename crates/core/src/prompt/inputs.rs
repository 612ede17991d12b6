//! `INPUTS`: the files that a step works from, so that the model need not read them.

use super::line::{fence, joined, line};
use crate::event::{InputState, SurveyedInput};
use crate::tool::render::{counted, push_line};
use crate::vpath::{Mount, VPath};

/// Maximum size of a path, in bytes.
const PATH_BYTES: usize = 1024;
/// Maximum size of the list of missing files, in bytes.
const MISSING_BYTES: usize = 2 * 1024;

/// Renders the surveyed inputs; none if there are none. No content can end the section: lines of the project are
/// numbered, and files of the package stand in a fence.
pub fn inputs(surveyed: &[SurveyedInput]) -> Option<String> {
    let mut text = String::from("INPUTS");
    let is_there = |input: &&SurveyedInput| input.state != InputState::Missing;
    for input in surveyed.iter().filter(is_there) {
        push_input(&mut text, input);
    }
    let missing = surveyed.iter().filter(|input| input.state == InputState::Missing);
    let missing = joined(missing.map(|input| shown_path(&input.path)), ", ", MISSING_BYTES);
    if !missing.is_empty() {
        text.push_str(&format!("\n--- missing: {missing}"));
    }
    (text.len() > "INPUTS".len()).then_some(text)
}

/// Returns a path as the model knows it: without its mount in the project.
pub(super) fn shown_path(path: &str) -> String {
    match VPath::parse(path) {
        Ok(path) if path.mount() == Mount::Project => line(path.relative(), PATH_BYTES),
        Ok(path) => line(&path.to_string(), PATH_BYTES),
        Err(_) => line(path, PATH_BYTES),
    }
}

fn push_input(text: &mut String, input: &SurveyedInput) {
    let path = shown_path(&input.path);
    let bytes = counted(input.bytes, "byte");
    let content = input.text.as_deref().unwrap_or_default();
    match input.state {
        InputState::Missing => {}
        InputState::Listed => {
            text.push_str(&format!("\n--- {path} ({bytes}"));
            if input.lines > 0 {
                text.push_str(&format!(", {}", counted(input.lines, "line")));
            }
            text.push_str(if content.is_empty() { ")" } else { "), headings:" });
            for heading in content.lines() {
                text.push('\n');
                text.push_str(heading);
            }
        }
        InputState::Shown => {
            text.push_str(&format!("\n--- {path} ({bytes})"));
            let is_package =
                VPath::parse(&input.path).is_ok_and(|path| path.mount() == Mount::Package);
            match fence(content).filter(|_| is_package) {
                Some(fence) => {
                    text.push_str(&format!("\n{fence}\n{}\n{fence}", content.trim_end()))
                }
                None => (1..)
                    .zip(content.lines())
                    .for_each(|(number, line)| push_line(text, number, line)),
            }
        }
    }
}
