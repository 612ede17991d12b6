//! Values of a closed object, read one by one; mistakes are collected, so that all are reported at once.

use std::borrow::Cow;

use crewagent_format::integrity::Digest;
use crewagent_format::wording::{kind, nearest, quoted, ticked};
use serde_json::{Map, Value as Json};

use super::Tool;
use super::arguments::unwrapped;
use crate::refusal::{Refusal, RefusalCode};
use crate::vpath::{VPath, WritablePath};

/// Maximum number of reported mistakes.
const SHOWN: usize = 20;

/// Largest whole number that a float represents exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Names of our parameters in other tools, in lower case and without `_` and `-`. They are accepted.
const ALIASES: &[(&str, &str)] = &[
    ("file", "path"),
    ("filename", "path"),
    ("filepath", "path"),
    ("dir", "path"),
    ("folder", "path"),
    ("text", "content"),
    ("contents", "content"),
    ("body", "content"),
    ("pattern", "query"),
    ("oldstring", "old"),
    ("oldstr", "old"),
    ("newstring", "new"),
    ("newstr", "new"),
    ("input", "patch"),
    ("prompt", "question"),
    ("message", "question"),
    ("choices", "options"),
];

/// Names that resemble a parameter and may mean something else. They are refused, and the parameter is suggested.
const SAYINGS: &[(&str, &str)] = &[
    ("directory", "path"),
    ("source", "path"),
    ("oldpath", "path"),
    ("destination", "to"),
    ("target", "to"),
    ("newpath", "to"),
    ("data", "content"),
    ("from", "startLine"),
    ("from", "path"),
    // Others count from 0.
    ("offset", "startLine"),
    ("to", "endLine"),
    ("limit", "endLine"),
    ("limit", "maxMatches"),
    ("include", "globs"),
    ("glob", "globs"),
    ("ignorecase", "caseSensitive"),
    ("oldtext", "old"),
    ("search", "old"),
    ("search", "query"),
    ("find", "old"),
    ("newtext", "new"),
    ("replace", "new"),
    ("replaceall", "all"),
    ("replaceall", "edits"),
    ("replacements", "edits"),
    ("changes", "edits"),
    ("frontmatter", "update"),
    ("sha256", "ifMatchSha256"),
    ("ifmatch", "ifMatchSha256"),
    ("type", "kind"),
    ("multiple", "multi"),
];

/// Mistakes of a call.
#[derive(Default)]
pub(super) struct Problems {
    mistakes: Vec<String>,
    refusals: Vec<Refusal>,
}

impl Problems {
    /// Adds a mistake in the arguments, as a part of a sentence.
    pub(super) fn mistake(&mut self, mistake: impl Into<String>) {
        self.mistakes.push(mistake.into());
    }

    /// Returns the value, or records the refusal.
    pub(super) fn take<T>(&mut self, result: Result<T, Refusal>) -> Option<T> {
        result.map_err(|refusal| self.refusals.push(refusal)).ok()
    }

    /// Returns the call, if it has no mistakes.
    pub(super) fn settle<T>(mut self, tool: Tool, call: Option<T>) -> Result<T, Refusal> {
        match call {
            Some(call) if self.mistakes.is_empty() && self.refusals.is_empty() => return Ok(call),
            _ => {}
        }
        if self.mistakes.is_empty() && self.refusals.len() == 1 {
            return Err(self.refusals.remove(0));
        }
        let sandbox = self.refusals.iter().any(|refusal| refusal.code == RefusalCode::Sandbox);
        let code = if sandbox { RefusalCode::Sandbox } else { RefusalCode::InvalidArguments };
        let mut parts = Vec::new();
        if !self.mistakes.is_empty() {
            parts.push(format!("{}.", listed(&self.mistakes)));
        }
        parts.extend(self.refusals.iter().take(SHOWN).map(|refusal| refusal.message.clone()));
        let message = format!("{} cannot be called like this: {}", tool.name(), parts.join(" "));
        let mut hint = format!("Parameters: {}.", ticked(tool.parameters()));
        if let Some(refused) = self.refusals.iter().find_map(|refusal| refusal.hint.as_ref()) {
            hint = format!("{hint} {refused}");
        }
        let mut refusal =
            Refusal::new(code, message).hint(format!("{hint} Example: {}.", tool.example()));
        for other in &self.refusals {
            for (key, value) in other.details.iter() {
                refusal.details.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Err(refusal)
    }
}

fn listed(mistakes: &[String]) -> String {
    let mut text = mistakes.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    if mistakes.len() > SHOWN {
        text.push_str(&format!("; and {} more mistakes", mistakes.len() - SHOWN));
    }
    text
}

/// Values of one object.
pub(super) struct Params<'j> {
    object: &'j Map<String, Json>,
    /// Values that stand under another name.
    renamed: Vec<(&'static str, &'j Json)>,
    /// Prefix that locates the object, such as `edits[0].`; empty for the arguments themselves.
    at: String,
}

impl<'j> Params<'j> {
    /// Opens the arguments of a call. Keys of other tools are understood; unknown keys are mistakes.
    pub(super) fn open(
        object: &'j Map<String, Json>,
        known: &[&'static str],
        problems: &mut Problems,
    ) -> Self {
        Self::open_at(object, "", known, problems)
    }

    /// Opens an object inside the arguments.
    pub(super) fn open_inside(
        value: &'j Json,
        at: &str,
        known: &[&'static str],
        problems: &mut Problems,
    ) -> Option<Self> {
        if let Json::Object(object) = value {
            return Some(Self::open_at(object, at, known, problems));
        }
        problems.mistake(format!("`{at}` must be an object, but it is {}", kind(value)));
        None
    }

    /// Opens an object at a position of the arguments.
    pub(super) fn open_at(
        object: &'j Map<String, Json>,
        at: &str,
        known: &[&'static str],
        problems: &mut Problems,
    ) -> Self {
        let prefix = if at.is_empty() { String::new() } else { format!("{at}.") };
        let mut params = Self { object, renamed: Vec::new(), at: prefix };
        for (key, value) in object.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            match real_key(key, known) {
                Some(_) if value.is_null() => {}
                Some(real) => match params.get(real) {
                    Some(other) if other != value => {
                        problems.mistake(same_key(&params.name(real), &params.name(key)));
                    }
                    Some(_) => {}
                    None => params.renamed.push((real, value)),
                },
                None => problems.mistake(unknown(at, key, known)),
            }
        }
        params
    }

    /// Returns the name of a key for messages.
    pub(super) fn name(&self, key: &str) -> String {
        format!("`{}{key}`", self.at)
    }

    /// Returns a value; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'j Json> {
        let own = self.object.get(key).filter(|value| !value.is_null());
        own.or_else(|| self.renamed.iter().find(|(name, _)| *name == key).map(|(_, value)| *value))
    }

    fn wrong(&self, key: &str, wanted: &str, value: &Json, problems: &mut Problems) {
        let name = self.name(key);
        problems.mistake(format!("{name} must be {wanted}, but it is {}", kind(value)));
    }

    /// Records that a required value is missing.
    pub(super) fn missing(&self, key: &str, problems: &mut Problems) {
        problems.mistake(format!("{} is missing", self.name(key)));
    }

    pub(super) fn text(&self, key: &str, problems: &mut Problems) -> Option<&'j str> {
        let value = self.get(key)?;
        if value.as_str().is_none() {
            self.wrong(key, "a string", value, problems);
        }
        value.as_str()
    }

    pub(super) fn required_text(&self, key: &str, problems: &mut Problems) -> Option<&'j str> {
        if self.get(key).is_none() {
            self.missing(key, problems);
        }
        self.text(key, problems)
    }

    /// Reads a whole number; `5.0` and `"5"` are 5.
    pub(super) fn number(&self, key: &str, problems: &mut Problems) -> Option<u64> {
        let value = self.get(key)?;
        let number = match value {
            Json::Number(number) => number.as_u64().or_else(|| {
                let float = number.as_f64()?;
                (float.fract() == 0.0 && (0.0..=EXACT).contains(&float)).then_some(float as u64)
            }),
            Json::String(text) if text.trim().is_empty() => return None,
            Json::String(text) => text.trim().parse().ok(),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
        };
        if number.is_none() {
            let shown = match value {
                Json::Number(number) => number.to_string(),
                Json::String(text) => quoted(text),
                Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => {
                    kind(value).to_owned()
                }
            };
            let name = self.name(key);
            problems.mistake(format!("{name} must be a whole number from 0, but it is {shown}"));
        }
        number
    }

    /// Reads a boolean; `"true"` is true.
    pub(super) fn flag(&self, key: &str, problems: &mut Problems) -> bool {
        match self.get(key) {
            None => false,
            Some(Json::Bool(value)) => *value,
            Some(Json::String(text)) if text.trim().eq_ignore_ascii_case("true") => true,
            Some(Json::String(text)) if text.trim().eq_ignore_ascii_case("false") => false,
            Some(other) => {
                self.wrong(key, "true or false", other, problems);
                false
            }
        }
    }

    /// Reads one of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        words: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let text = self.text(key, problems)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.trim()) {
            return Some(*value);
        }
        let meant = nearest(text, words.iter().map(|(word, _)| *word));
        let meant = meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
        let name = self.name(key);
        problems.mistake(format!(
            "{name} must be one of {}, but it is {}{meant}",
            ticked(words.iter().map(|(word, _)| word)),
            quoted(text)
        ));
        None
    }

    /// Reads a list or an object, also one that was sent as text.
    pub(super) fn structure(&self, key: &str) -> Option<Cow<'j, Json>> {
        let value = self.get(key)?;
        let inner = value.as_str().and_then(unwrapped);
        Some(inner.map_or(Cow::Borrowed(value), Cow::Owned))
    }

    /// Reads a list.
    pub(super) fn list(&self, key: &str, problems: &mut Problems) -> Option<Vec<Json>> {
        let value = self.structure(key)?;
        if let Json::Array(items) = value.as_ref() {
            return Some(items.clone());
        }
        self.wrong(key, "a list", &value, problems);
        None
    }

    pub(super) fn path(&self, key: &str, problems: &mut Problems) -> Option<VPath> {
        let text = self.required_text(key, problems)?;
        problems.take(VPath::parse(text))
    }

    pub(super) fn writable(&self, key: &str, problems: &mut Problems) -> Option<WritablePath> {
        let path = self.path(key, problems)?;
        problems.take(WritablePath::new(path))
    }

    /// Reads a SHA-256 digest; a blank one counts as absent.
    pub(super) fn digest(&self, key: &str, problems: &mut Problems) -> Option<Digest> {
        let text = self.text(key, problems).map(str::trim).filter(|text| !text.is_empty())?;
        let digest = Digest::parse(text);
        if digest.is_none() {
            let name = self.name(key);
            problems.mistake(format!(
                "{name} must be a SHA-256 of 64 hexadecimal digits, as fs.read gives it, but it is {}",
                quoted(text)
            ));
        }
        digest
    }
}

/// Returns the parameter that a key means: it is spelt otherwise, or other tools name it so.
pub(super) fn real_key(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let written = plain(key);
    let alias = ALIASES.iter().find(|(alias, real)| *alias == written && known.contains(real));
    known.iter().copied().find(|real| plain(real) == written).or(alias.map(|(_, real)| *real))
}

/// Returns the mistake of two keys that mean the same and have two values.
pub(super) fn same_key(real: &str, other: &str) -> String {
    format!("{real} and {other} are the same parameter; give one")
}

/// Returns a key in lower case, without what joins its words.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn unknown(at: &str, key: &str, known: &[&'static str]) -> String {
    let plain = plain(key);
    let saying = SAYINGS.iter().find(|(word, meant)| *word == plain && known.contains(meant));
    let meant = nearest(key, known.iter().copied()).or(saying.map(|(_, meant)| *meant));
    let meant = meant.map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default();
    let inside = if at.is_empty() { String::new() } else { format!(" in `{at}`") };
    format!("unknown key {}{inside}{meant}", quoted(key))
}
