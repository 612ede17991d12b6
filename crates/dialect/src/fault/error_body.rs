//! The contents of an error, in any form.

use std::time::Duration;

use crewagent_format::text::is_unsafe_char;
use crewagent_format::wording::single_spaced;
use serde_json::{Map, Value as Json};

use crate::json;
use crate::retry;

/// Maximum number of characters kept of the provider's message.
const SAID: usize = 500;
/// Maximum number of bytes read of a text that is not JSON.
const LOOKED_AT: usize = 64 << 10;
/// Maximum depth of errors inside errors.
const DEPTH: u8 = 8;
/// Fields that hold the message of an error, the best first.
const MESSAGES: &[&str] = &[
    "message",
    "msg",
    "error_msg",
    "error_message",
    "status_msg",
    "detail",
    "description",
    "title",
];
/// Fields that hold its codes.
const CODES: &[&str] =
    &["code", "type", "status", "error_code", "status_code", "error_type", "param", "reason"];

/// Contents of an error.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// Messages, the outermost first.
    messages: Vec<String>,
    /// Codes and types, in lower case.
    codes: Vec<String>,
    /// Status inside the error.
    pub(super) status: Option<u16>,
    /// Wait inside the error.
    pub(super) wait: Option<Duration>,
    pub(super) form: BodyForm,
}

/// Form of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BodyForm {
    Empty,
    /// Web page.
    Page,
    #[default]
    Text,
    /// JSON that is an error.
    Error,
    /// JSON that is no error.
    Other,
}

impl ErrorBody {
    /// Reads a body. With `is_error`, it is known to describe an error.
    pub(super) fn of_body(content_type: Option<&str>, body: &[u8], is_error: bool) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Self { form: BodyForm::Empty, ..Self::default() };
        }
        let text = first_data(text).unwrap_or(text);
        if let Ok(value) = json::parse(text) {
            if let Some(told) = Self::of_event(&value) {
                return told;
            }
            let mut told = Self { form: BodyForm::Other, ..Self::default() };
            if is_error {
                told.form = BodyForm::Error;
                told.read(&value, DEPTH);
            }
            return told;
        }
        let head = &text[..text.floor_char_boundary(LOOKED_AT)];
        if is_page(content_type, head) {
            let messages = page_title(head).into_iter().collect();
            return Self { form: BodyForm::Page, messages, ..Self::default() };
        }
        Self { form: BodyForm::Text, messages: vec![head.to_owned()], ..Self::default() }
    }

    /// Reads a piece of a stream, if it is an error.
    pub(super) fn of_event(event: &Json) -> Option<Self> {
        let event = match event {
            Json::Array(items) => items.first()?,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                event
            }
        };
        let object = event.as_object()?;
        let choice = &event["choices"][0];
        let has_choices = choice.is_object();
        let is_said = |value: &&Json| !is_nothing(value, has_choices);
        let plain = || is_plain(object).then_some(event);
        let inner =
            [&event["error"], &event["errors"], &choice["error"], &choice["delta"]["error"]];
        let error = inner.into_iter().find(is_said).or_else(plain)?;
        let mut told = Self { form: BodyForm::Error, ..Self::default() };
        told.read(error, DEPTH);
        if !std::ptr::eq(error, event) && !has_choices {
            told.read_codes(object);
        }
        Some(told)
    }

    /// Returns the codes and types, in lower case.
    pub(super) fn codes(&self) -> String {
        self.codes.join(" \n ")
    }

    /// Returns all texts, in lower case.
    pub(super) fn text(&self) -> String {
        let messages = self.messages.iter().map(|message| message.to_lowercase());
        self.codes.iter().cloned().chain(messages).collect::<Vec<_>>().join(" \n ")
    }

    /// Returns one line for the user.
    pub(super) fn message(&self) -> Option<String> {
        let mut said: Vec<String> = Vec::new();
        for message in &self.messages {
            let line = one_line(message);
            if !line.is_empty() && !said.iter().any(|other| other.contains(&line)) {
                said.retain(|other| !line.contains(other.as_str()));
                said.push(line);
            }
        }
        if said.is_empty() {
            said = self
                .codes
                .iter()
                .map(|code| one_line(code))
                .filter(|code| !code.is_empty())
                .collect();
            said.dedup();
        }
        let said = said.join(": ");
        if said.is_empty() {
            return None;
        }
        match said.char_indices().nth(SAID) {
            Some((end, _)) => Some(format!("{}…", &said[..end])),
            None => Some(said),
        }
    }

    fn read(&mut self, error: &Json, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match error {
            Json::String(text) => self.read_text(text, depth),
            Json::Array(items) => items.iter().take(8).for_each(|item| self.read(item, depth)),
            Json::Object(object) => self.read_object(object, depth),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn read_text(&mut self, text: &str, depth: u8) {
        let inner = text.trim();
        let is_wrapped = inner.starts_with(['{', '[']) && depth > 0;
        match is_wrapped.then(|| json::parse(inner)) {
            Some(Ok(value)) => self.read(&value, depth),
            Some(Err(_)) | None => {
                if let Some(wait) = retry::in_words(inner) {
                    self.wait = self.wait.or(Some(wait));
                }
                let head = &inner[..inner.floor_char_boundary(LOOKED_AT)];
                self.messages.push(head.to_owned());
            }
        }
    }

    fn read_object(&mut self, error: &Map<String, Json>, depth: u8) {
        self.read_codes(error);
        let message =
            MESSAGES.iter().find_map(|key| error.get(*key).filter(|said| !is_nothing(said, true)));
        match (message, error.get("loc").and_then(Json::as_array)) {
            // The path names the field of the message.
            (Some(Json::String(message)), Some(path)) => {
                let path: Vec<String> = path
                    .iter()
                    .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
                    .collect();
                self.messages.push(format!("{}: {message}", path.join(".")));
            }
            (Some(message), _) => self.read(message, depth),
            (None, _) => {}
        }
        for key in ["error", "errors", "metadata", "raw", "innererror", "base_resp", "details"] {
            if let Some(inner) = error.get(key) {
                self.read(inner, depth);
            }
        }
        if let Some(Json::Array(reasons)) = error.get("reasons") {
            // A provider that lists reasons names the broken rules of its moderation.
            self.codes.push("moderation".to_owned());
            self.codes.extend(reasons.iter().filter_map(Json::as_str).map(str::to_lowercase));
        }
        if let Some(delay) = error.get("retryDelay").and_then(Json::as_str) {
            self.wait = retry::units(delay).or(self.wait);
        }
    }

    fn read_codes(&mut self, error: &Map<String, Json>) {
        for code in CODES.iter().filter_map(|key| error.get(*key)) {
            let number = code.as_u64().or_else(|| code.as_str()?.parse().ok());
            match number.and_then(|number| u16::try_from(number).ok()) {
                Some(status @ 400..=599) => self.status = self.status.or(Some(status)),
                Some(_) | None => {
                    let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
                    if !matches!(code.as_str(), "" | "null" | "error") {
                        self.codes.push(code.to_lowercase());
                    }
                }
            }
        }
    }
}

/// Returns true if the value of `error` means that there is none.
fn is_nothing(error: &Json, is_empty_nothing: bool) -> bool {
    match error {
        Json::Null | Json::Bool(false) => true,
        Json::Bool(true) => is_empty_nothing,
        Json::Number(number) => number.as_f64() == Some(0.0) || is_empty_nothing,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty() && is_empty_nothing,
    }
}

/// Returns true if an object is an error itself, and not the piece of an answer.
fn is_plain(object: &Map<String, Json>) -> bool {
    let text = |key: &str| object.get(key).and_then(Json::as_str);
    if text("object") == Some("error") || text("type") == Some("error") {
        return true;
    }
    let response = object.get("base_resp").and_then(|response| response.get("status_code"));
    if response.and_then(Json::as_i64).is_some_and(|code| code != 0) {
        return true;
    }
    let has_choices = object.get("choices").is_some_and(|choices| !choices.is_null());
    let words = ["message", "msg", "detail", "error_msg", "error_message"];
    let is_told = words.iter().any(|key| text(key).is_some_and(|words| !words.is_empty()));
    let is_listed = object.get("detail").is_some_and(Json::is_array);
    !has_choices && (is_told || is_listed)
}

/// Returns the first data of a stream that was sent as the body of an error.
fn first_data(text: &str) -> Option<&str> {
    let is_stream = ["data:", "event:", ":"].iter().any(|start| text.starts_with(start));
    let line = text.lines().find_map(|line| line.strip_prefix("data:"));
    line.filter(|_| is_stream).map(str::trim)
}

/// Returns true if a text is a web page.
pub(super) fn is_page(content_type: Option<&str>, text: &str) -> bool {
    let is_declared = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    let head: String = text.trim_start().chars().take(256).collect::<String>().to_ascii_lowercase();
    let is_tagged =
        ["<!doctype", "<html", "<head", "<body", "<title", "<h1", "<center", "<?xml", "<!--"];
    (is_declared && head.starts_with('<')) || is_tagged.iter().any(|tag| head.starts_with(tag))
}

fn page_title(page: &str) -> Option<String> {
    let small = page.to_ascii_lowercase();
    ["title", "h1", "message"].iter().find_map(|tag| {
        let open = small.find(&format!("<{tag}"))?;
        let start = open + small[open..].find('>')? + 1;
        let end = start + small[start..].find("</")?;
        let title = page.get(start..end)?.trim();
        (!title.is_empty()).then(|| title.to_owned())
    })
}

/// Returns a text without line breaks and terminal control characters.
fn one_line(text: &str) -> String {
    let safe: String = text
        .chars()
        .take(4 * SAID)
        .map(|c| if c.is_whitespace() || is_unsafe_char(c) { ' ' } else { c })
        .collect();
    single_spaced(&safe)
}
