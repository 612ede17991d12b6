//! Answers of tools as a model reads them.
//!
//! The journal has the JSON object of an answer, and so do scripts and replays. A request of a chat model has a text
//! made from it: text of files stands raw and with numbered lines, without the escapes that a model would copy back.
//! The text depends on the call and its answer alone. An answer that has no known form is sent as it is: those of tool
//! servers, of unknown tools, and whatever does not parse.

mod ask;
mod change;
mod cut;
mod files;
mod gate;
#[cfg(test)]
mod laws;
mod refusal;
mod search;
mod state;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::Tool;

/// Separator of parts of a file that do not touch.
const GAP: &str = "--";

/// Returns the text of an answer for a model. `tool` is the canonical or the wire name of the called tool.
pub fn render<'r>(tool: &str, arguments: &str, result: &'r str) -> Cow<'r, str> {
    rendered(tool, arguments, result).map_or(Cow::Borrowed(result), Cow::Owned)
}

fn rendered(tool: &str, arguments: &str, result: &str) -> Option<String> {
    let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(result) else { return None };
    let answer = Fields(&fields);
    match answer.0.get("ok") {
        Some(Json::Bool(true)) => done(Tool::named(tool)?, arguments, answer),
        Some(Json::Bool(false)) => refusal::render(answer),
        None if answer.is("truncated") => cut::render(tool, arguments, answer),
        Some(_) | None => None,
    }
}

fn done(tool: Tool, arguments: &str, answer: Fields<'_>) -> Option<String> {
    // A note is the whole answer: the content stands elsewhere in the context.
    let digest = digest_rule(arguments);
    if let Some(note) = answer.text("note").filter(|_| !answer.has("answer")) {
        let digest = digest.item(answer, "sha256");
        return Some(format!("{note}{}", digest.trim_start_matches(',')));
    }
    match tool {
        Tool::Read => files::read(answer, digest),
        Tool::List => files::list(answer),
        Tool::Search => search::render(answer),
        Tool::Write | Tool::Patch | Tool::Move | Tool::Delete => change::render(answer, digest),
        Tool::AskUser => ask::render(arguments, answer),
        Tool::Gate => gate::render(answer),
        Tool::CompleteNode | Tool::UpdateState => state::render(answer),
    }
}

/// Rule for the digests of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestRule {
    Shown,
    Hidden,
}

impl DigestRule {
    /// Returns the digest under a key, as the last item of a list.
    fn item(self, fields: Fields<'_>, key: &str) -> String {
        match (self, fields.text(key)) {
            (Self::Shown, Some(digest)) => format!(", sha256 {digest}"),
            (Self::Shown, None) | (Self::Hidden, _) => String::new(),
        }
    }
}

/// Returns the rule of a call: a digest helps only a model that uses digests.
fn digest_rule(arguments: &str) -> DigestRule {
    let uses = |call: Fields<'_>| call.text("ifMatchSha256").is_some() || call.is("sha256");
    // Most calls have none, and their arguments may be long.
    let is_named = arguments.contains("ifMatchSha256") || arguments.contains("\"sha256\"");
    let call = if is_named { serde_json::from_str::<Json>(arguments).ok() } else { None };
    let Some(Json::Object(call)) = call else { return DigestRule::Hidden };
    let call = Fields(&call);
    let is_used = uses(call)
        || call.object("patch").is_some_and(uses)
        || call.objects("patches").into_iter().flatten().any(uses);
    if is_used { DigestRule::Shown } else { DigestRule::Hidden }
}

/// Fields of a JSON object.
#[derive(Clone, Copy)]
struct Fields<'j>(&'j Map<String, Json>);

impl<'j> Fields<'j> {
    fn has(self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns true if the field is `true`.
    fn is(self, key: &str) -> bool {
        self.0.get(key).and_then(Json::as_bool) == Some(true)
    }

    fn text(self, key: &str) -> Option<&'j str> {
        self.0.get(key)?.as_str()
    }

    fn number(self, key: &str) -> Option<u64> {
        self.0.get(key)?.as_u64()
    }

    fn object(self, key: &str) -> Option<Self> {
        self.0.get(key)?.as_object().map(Self)
    }

    /// Returns the texts of a list.
    fn texts(self, key: &str) -> Option<impl Iterator<Item = &'j str> + Clone + use<'j>> {
        Some(self.0.get(key)?.as_array()?.iter().filter_map(Json::as_str))
    }

    /// Returns the objects of a list.
    fn objects(self, key: &str) -> Option<impl Iterator<Item = Self> + Clone + use<'j>> {
        Some(self.0.get(key)?.as_array()?.iter().filter_map(Json::as_object).map(Self))
    }
}

/// Appends a line of a file with its number.
pub(crate) fn push_line(out: &mut String, number: u64, text: &str) {
    // Writing to a string never fails.
    let _ = write!(out, "\n{number}|{text}");
}

/// Appends the hint of an answer on a line of its own.
fn push_hint(out: &mut String, answer: Fields<'_>) {
    if let Some(hint) = answer.text("hint") {
        out.push('\n');
        out.push_str(hint);
    }
}

/// Returns `1 line` or `3,210 lines`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out} {noun}{plural}")
}
