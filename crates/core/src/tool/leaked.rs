//! Calls that a model wrote as text, because its server did not recognise them.
//!
//! A mark inside code, or without a call after it, is text about calls and no call.

mod forms;
#[cfg(test)]
mod tests;

use self::forms::{CallForm, FORMS};

/// Name and arguments of a call.
type LeakedCall = (String, String);

/// Maximum number of unreadable calls that are tried.
const TRIES: usize = 64;
/// Maximum distance to the end of inline code, in bytes.
const CODE: usize = 1024;

/// Returns true if `content` holds an intended call, even if it is cut or unreadable.
pub fn detect(content: &str) -> bool {
    forms::bare(content).is_some() || next(content, 0).is_some()
}

/// Returns the complete calls in `content`: names and arguments.
pub fn calls(content: &str) -> Vec<(String, String)> {
    split(content).1
}

/// Splits the content into its text without the complete calls, and the calls.
pub fn split(content: &str) -> (String, Vec<(String, String)>) {
    if let Some(calls) = forms::bare(content) {
        return (String::new(), calls);
    }
    let (mut words, mut calls) = (String::new(), Vec::new());
    let (mut copied, mut at) = (0, 0);
    let mut tries = 0;
    while let Some((start, form)) = next(content, at) {
        match (form.read)(&content[start..]) {
            Some(found) => {
                words.push_str(&content[copied..start]);
                calls.extend(found.calls);
                at = start + found.end;
                copied = at;
            }
            None if tries < TRIES => {
                tries += 1;
                at = start + 1;
            }
            None => break,
        }
    }
    words.push_str(&content[copied..]);
    if !calls.is_empty() {
        for wrapping in forms::WRAPPINGS {
            words = words.replace(wrapping, "");
        }
        words = words.trim().to_owned();
    }
    (words, calls)
}

/// Finds the first call that begins at `from` or later, outside of code.
fn next(content: &str, from: usize) -> Option<(usize, &'static CallForm)> {
    let mut at = from;
    while let Some(offset) = content.get(at..)?.find(['`', '~', '<', '[']) {
        at += offset;
        let rest = &content[at..];
        if rest.starts_with(['`', '~']) {
            at += code(content, at)?;
            continue;
        }
        if let Some(form) = FORMS.iter().find(|form| (form.begins)(rest)) {
            return Some((at, form));
        }
        at += 1;
    }
    None
}

/// Returns the length of the code that begins at this tick, with its ticks. None if the rest of the content is code.
fn code(content: &str, at: usize) -> Option<usize> {
    let rest = &content[at..];
    let tick = rest.chars().next()?;
    let ticks = rest.len() - rest.trim_start_matches(tick).len();
    let fence = &rest[..ticks];
    let before = content[..at].trim_end_matches([' ', '\t']);
    if ticks >= 3 && (before.is_empty() || before.ends_with('\n')) {
        let mut end = 0;
        let lines = rest.split_inclusive('\n').map(|line| {
            end += line.len();
            (line, end)
        });
        let close = lines.skip(1).find(|(line, _)| line.trim_start().starts_with(fence));
        return close.map(|(_, end)| end);
    }
    if tick == '~' {
        return Some(ticks);
    }
    let ahead = &rest[ticks..rest.floor_char_boundary(ticks + CODE)];
    let ahead = ahead.split('\n').next().unwrap_or_default();
    let end = ahead
        .match_indices(fence)
        .find(|(end, _)| !ahead[..*end].ends_with('`') && !ahead[end + ticks..].starts_with('`'));
    Some(end.map_or(ticks, |(end, _)| ticks + end + ticks))
}
