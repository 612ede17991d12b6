//! Texts with placeholders: `{{input}}`, `{{variables.storyKey}}`, `{{last.sha256}}` and the like.

use serde_json::Value as Json;

use super::view::RequestView;

/// Maximum size of one `{{repeat:…}}`, in bytes.
const MAX_REPEATED: usize = 64 << 20;

/// Known placeholders.
pub(super) const KNOWN: &str = "{{input}}, {{turn}}, {{node}}, {{nodeTurn}}, {{n}}, {{variables.NAME}}, {{last.PATH}}, {{answers.N.PATH}}, {{repeat:TEXT:TIMES}}, {{braces}}";

/// Text that is filled in for each reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplyTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Hole(Hole),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hole {
    /// Last input of the user.
    Input,
    Turn,
    Node,
    NodeTurn,
    /// Number of this call among several equal ones.
    Number,
    Variable(Vec<String>),
    /// Path in the last answer of a tool.
    Last(Vec<String>),
    /// Path in the answers to the last reply's calls.
    Answers(Vec<String>),
    Repeat {
        text: String,
        times: usize,
    },
    /// Two opening braces, which no template can express otherwise.
    Braces,
}

impl ReplyTemplate {
    /// Parses a text. The error names an unknown placeholder.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((inside, later)) = after.split_once("}}") else {
                return Err("a template is opened with `{{` and never closed; write {{braces}} for the braces themselves".to_owned());
            };
            if !before.is_empty() {
                pieces.push(TemplatePiece::Text(before.to_owned()));
            }
            pieces.push(TemplatePiece::Hole(hole(inside)?));
            rest = later;
        }
        if !rest.is_empty() {
            pieces.push(TemplatePiece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Returns the text with its placeholders filled, or names the one that could not be.
    pub(super) fn text(&self, view: &RequestView<'_>) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(part) => text.push_str(part),
                TemplatePiece::Hole(Hole::Repeat { text: part, times }) => {
                    text.extend(std::iter::repeat_n(part.as_str(), *times));
                }
                TemplatePiece::Hole(hole) => text.push_str(&words(hole.value(view)?)),
            }
        }
        Ok(text)
    }

    /// Returns the text as a JSON value: a string, or, if the whole text is one placeholder, its value.
    pub(super) fn value(&self, view: &RequestView<'_>) -> Result<Json, String> {
        match self.0.as_slice() {
            [TemplatePiece::Hole(hole)] => hole.value(view),
            [] | [TemplatePiece::Text(_)] | [_, _, ..] => self.text(view).map(Json::String),
        }
    }
}

impl Hole {
    fn value(&self, view: &RequestView<'_>) -> Result<Json, String> {
        let place = view.place();
        let found = match self {
            Self::Input => view.input().map(Json::from),
            Self::Turn => Some(place.turn.into()),
            Self::Node => place.node_id.clone().map(Json::from),
            Self::NodeTurn => Some(place.node_turn.into()),
            Self::Number => Some(view.number().into()),
            Self::Variable(path) => {
                path.split_first().and_then(|(name, path)| find(place.variables.get(name)?, path))
            }
            Self::Last(path) => view.last().and_then(|answer| find(answer, path)),
            Self::Answers(path) => path.split_first().and_then(|(index, path)| {
                let index: usize = index.parse().ok()?;
                find(view.answers().get(index)?, path)
            }),
            Self::Repeat { text, times } => Some(text.repeat(*times).into()),
            Self::Braces => Some("{{".into()),
        };
        found.ok_or_else(|| format!("there is nothing for {{{{{}}}}}", self.name()))
    }

    fn name(&self) -> String {
        match self {
            Self::Input => "input".to_owned(),
            Self::Turn => "turn".to_owned(),
            Self::Node => "node".to_owned(),
            Self::NodeTurn => "nodeTurn".to_owned(),
            Self::Number => "n".to_owned(),
            Self::Variable(path) => format!("variables.{}", path.join(".")),
            Self::Last(path) if path.is_empty() => "last".to_owned(),
            Self::Last(path) => format!("last.{}", path.join(".")),
            Self::Answers(path) => format!("answers.{}", path.join(".")),
            Self::Repeat { text, times } => format!("repeat:{text}:{times}"),
            Self::Braces => "braces".to_owned(),
        }
    }
}

/// Renders a value inside a longer text.
fn words(value: Json) -> String {
    if let Json::String(text) = value { text } else { value.to_string() }
}

/// Returns the value at a path of keys and list indices.
fn find(value: &Json, path: &[String]) -> Option<Json> {
    let mut here = value;
    for part in path {
        here = match here {
            Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            Json::Object(entries) => entries.get(part)?,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => return None,
        };
    }
    Some(here.clone())
}

fn hole(inside: &str) -> Result<Hole, String> {
    if let Some(repeat) = inside.trim_start().strip_prefix("repeat:") {
        return repeated(repeat);
    }
    let name = inside.trim();
    let mut parts = name.split('.').map(str::to_owned);
    let head = parts.next().unwrap_or_default();
    let path: Vec<String> = parts.collect();
    match (head.as_str(), path.is_empty()) {
        ("input", true) => Ok(Hole::Input),
        ("turn", true) => Ok(Hole::Turn),
        ("node", true) => Ok(Hole::Node),
        ("nodeTurn", true) => Ok(Hole::NodeTurn),
        ("n", true) => Ok(Hole::Number),
        ("braces", true) => Ok(Hole::Braces),
        ("variables", false) => Ok(Hole::Variable(path)),
        ("last", _) => Ok(Hole::Last(path)),
        ("answers", false) => Ok(Hole::Answers(path)),
        _ => Err(format!("{{{{{name}}}}} is not a template; known are {KNOWN}")),
    }
}

fn repeated(inside: &str) -> Result<Hole, String> {
    let parts = inside.rsplit_once(':');
    let read = parts.and_then(|(text, times)| Some((text, times.trim().parse::<usize>().ok()?)));
    let Some((text, times)) = read.filter(|(text, _)| !text.is_empty()) else {
        return Err(format!(
            "{{{{repeat:{inside}}}}} must have the form {{{{repeat:TEXT:TIMES}}}}"
        ));
    };
    if text.len().saturating_mul(times) > MAX_REPEATED {
        return Err(format!("{{{{repeat:{inside}}}}} would make more than {MAX_REPEATED} bytes"));
    }
    Ok(Hole::Repeat { text: text.to_owned(), times })
}
