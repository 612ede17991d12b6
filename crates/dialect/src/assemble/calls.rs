//! Calls, assembled from their pieces.
//!
//! A piece belongs to a call by its index, its id or its position, whichever it has. If a server uses one index for
//! several calls, a new id, or a new name after complete arguments, begins a new call.

use std::collections::HashSet;

use crewagent_core::message::{IdRoom, ToolCall, kept_name};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::budget::Budget;
use super::extra;
use crate::fault::{Fault, FaultKind};
use crate::json;
use crate::names::ToolNames;

/// Name of a call that has arguments and no name.
const NAMELESS: &str = "unknown";
/// Maximum number of nested encodings of arguments.
const WRAPPINGS: usize = 3;

/// Calls of an answer.
#[derive(Debug)]
pub(super) struct CallAssembly {
    drafts: Vec<CallDraft>,
    most: usize,
    /// True if at least one call came in a list.
    is_list: bool,
}

/// Call that may still grow.
#[derive(Debug, Default)]
pub(super) struct CallDraft {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    scan: JsonScan,
    extra: Map<String, Json>,
}

/// Piece of a call.
struct CallPiece<'j> {
    index: Option<u64>,
    id: String,
    name: &'j str,
    arguments: &'j Json,
    fields: &'j Map<String, Json>,
}

impl CallAssembly {
    pub(super) fn new(most: usize) -> Self {
        Self { drafts: Vec::new(), most, is_list: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Adds `function_call`, unless there are `tool_calls`.
    pub(super) fn take_single(&mut self, call: &Json, budget: &mut Budget) -> Result<(), Fault> {
        if self.is_list { Ok(()) } else { self.add(call, budget) }
    }

    /// Adds `tool_calls`.
    pub(super) fn take(&mut self, calls: &Json, budget: &mut Budget) -> Result<(), Fault> {
        self.add(calls, budget)?;
        self.is_list = !self.drafts.is_empty();
        Ok(())
    }

    fn add(&mut self, calls: &Json, budget: &mut Budget) -> Result<(), Fault> {
        let pieces = match calls {
            Json::Array(pieces) => pieces.as_slice(),
            Json::Object(_) => std::slice::from_ref(calls),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => return Ok(()),
        };
        for (place, piece) in pieces.iter().enumerate() {
            let Some(piece) = CallPiece::of(piece) else { continue };
            let place =
                if pieces.len() > 1 { Some(place) } else { self.drafts.len().checked_sub(1) };
            let at = match self.owner(&piece, place) {
                Owner::Call(at) => at,
                Owner::Nobody => continue,
                Owner::New if self.drafts.len() >= self.most => {
                    return Err(Fault::new(FaultKind::TooLong));
                }
                Owner::New => {
                    self.drafts.push(CallDraft::default());
                    self.drafts.len() - 1
                }
            };
            if let Some(draft) = self.drafts.get_mut(at) {
                draft.grow(&piece, budget)?;
            }
        }
        Ok(())
    }

    /// Returns all calls except empty ones.
    pub(super) fn drafts(self) -> Vec<CallDraft> {
        let is_something =
            |draft: &CallDraft| !draft.name.trim().is_empty() || !draft.arguments.trim().is_empty();
        self.drafts.into_iter().filter(is_something).collect()
    }

    fn owner(&self, piece: &CallPiece<'_>, place: Option<usize>) -> Owner {
        if let Some(index) = piece.index {
            return match self.last(|draft| draft.index == Some(index)) {
                Some(at) => self.on_index(at, piece),
                None if piece.name.is_empty() && piece.id.is_empty() => {
                    self.last(|draft| draft.index.is_none()).map_or(Owner::New, Owner::Call)
                }
                None => Owner::New,
            };
        }
        if !piece.id.is_empty() {
            let known = self.last(|draft| draft.id == piece.id);
            let waits = || self.last(|draft| draft.id.is_empty() && !draft.scan.is_whole);
            return match known {
                Some(at) => self.same_or_another(at, piece),
                None if piece.name.is_empty() => waits().map_or(Owner::New, Owner::Call),
                None => Owner::New,
            };
        }
        let Some((at, draft)) = place.and_then(|at| Some((at, self.drafts.get(at)?))) else {
            return Owner::New;
        };
        let is_repeated =
            draft.name == piece.name && !draft.scan.is_whole && !draft.arguments.is_empty();
        if piece.name.is_empty() || draft.name.is_empty() || is_repeated {
            return Owner::Call(at);
        }
        Owner::New
    }

    fn on_index(&self, at: usize, piece: &CallPiece<'_>) -> Owner {
        let Some(draft) = self.drafts.get(at) else { return Owner::New };
        if piece.id.is_empty() || draft.id.is_empty() || piece.id == draft.id {
            return self.same_or_another(at, piece);
        }
        match self.last(|draft| draft.id == piece.id) {
            Some(known) => self.same_or_another(known, piece),
            // Some servers invent a new id for every piece.
            None if piece.name.is_empty() && !draft.scan.is_whole => Owner::Call(at),
            None => Owner::New,
        }
    }

    /// Decides where a piece belongs if the arguments of its call are complete: to another call, or nowhere, as a
    /// repetition.
    fn same_or_another(&self, at: usize, piece: &CallPiece<'_>) -> Owner {
        let Some(draft) = self.drafts.get(at) else { return Owner::New };
        if !draft.scan.is_whole || piece.name.is_empty() || draft.name.is_empty() {
            return Owner::Call(at);
        }
        let arguments = text_of(piece.arguments);
        let is_again = piece.name == draft.name;
        if is_again && !piece.id.is_empty() && arguments == draft.arguments {
            return Owner::Nobody;
        }
        let is_same = is_again && !piece.id.is_empty() && piece.id == draft.id;
        if is_same && draft.is_placeholder() {
            return Owner::Call(at);
        }
        let begins = arguments.trim_start().starts_with(['{', '"']);
        if begins || (!is_again && arguments.trim().is_empty()) {
            Owner::New
        } else {
            Owner::Call(at)
        }
    }

    fn last(&self, is: impl Fn(&CallDraft) -> bool) -> Option<usize> {
        self.drafts.iter().rposition(is)
    }
}

/// Call that a piece belongs to.
enum Owner {
    Call(usize),
    New,
    /// A repetition.
    Nobody,
}

impl<'j> CallPiece<'j> {
    fn of(piece: &'j Json) -> Option<Self> {
        let fields = piece.as_object()?;
        // Some servers omit the wrapping.
        let function = fields.get("function").and_then(Json::as_object).unwrap_or(fields);
        let index = fields.get("index");
        let index =
            index.and_then(|index| index.as_u64().or_else(|| index.as_str()?.trim().parse().ok()));
        let id = match fields.get("id") {
            Some(Json::String(id)) => id.trim().to_owned(),
            Some(Json::Number(id)) => id.to_string(),
            Some(Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_)) | None => {
                String::new()
            }
        };
        let name = function.get("name").and_then(Json::as_str).unwrap_or_default();
        let arguments =
            function.get("arguments").or_else(|| function.get("parameters")).unwrap_or(&Json::Null);
        Some(Self { index, id, name, arguments, fields })
    }
}

impl CallDraft {
    /// Creates a call that arrived in one piece.
    pub(super) fn whole(name: String, arguments: String) -> Self {
        Self { name, arguments, ..Self::default() }
    }

    fn grow(&mut self, piece: &CallPiece<'_>, budget: &mut Budget) -> Result<(), Fault> {
        self.index = self.index.or(piece.index);
        if self.id.is_empty() && !piece.id.is_empty() {
            budget.spend(piece.id.len())?;
            self.id.clone_from(&piece.id);
        }
        if self.name != piece.name {
            budget.spend(piece.name.len())?;
            self.name.push_str(piece.name);
        }
        self.argue(piece.arguments, budget)?;
        for (key, value) in piece.fields {
            let is_ours = ["id", "index", "type", "function", "name", "arguments", "parameters"];
            if !is_ours.contains(&key.as_str()) {
                extra::merge(&mut self.extra, key, value, budget)?;
            }
        }
        Ok(())
    }

    /// Returns true if only an empty object has arrived.
    fn is_placeholder(&self) -> bool {
        self.arguments.len() < 8 && self.arguments.trim() == "{}"
    }

    fn argue(&mut self, arguments: &Json, budget: &mut Budget) -> Result<(), Fault> {
        let text = text_of(arguments);
        if text.trim().is_empty() {
            // Whitespace matters only inside a string that is cut there.
            if !self.scan.is_whole && !self.arguments.is_empty() {
                budget.spend(text.len())?;
                self.scan.read(&text);
                self.arguments.push_str(&text);
            }
            return Ok(());
        }
        // An empty object before arguments is a placeholder for them; a value is never a piece.
        if self.is_placeholder() || !arguments.is_string() {
            self.arguments.clear();
            self.scan = JsonScan::default();
        }
        budget.spend(text.len())?;
        self.scan.read(&text);
        self.arguments.push_str(&text);
        Ok(())
    }
}

/// Returns arguments as text. An empty list is what some languages make of an empty object.
fn text_of(arguments: &Json) -> std::borrow::Cow<'_, str> {
    match arguments {
        Json::Null => "".into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) if items.is_empty() => "{}".into(),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            arguments.to_string().into()
        }
    }
}

/// Incremental scan of a JSON text that detects its end.
#[derive(Debug, Default)]
struct JsonScan {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    is_whole: bool,
}

impl JsonScan {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match (self.in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (true, b'"') => {
                    self.in_text = false;
                    self.is_whole |= self.depth == 0;
                }
                (true, _) => {}
                (false, b'"') => self.in_text = true,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole |= self.depth == 0;
                }
                (false, _) => {}
            }
        }
    }
}

/// Makes calls from drafts: every id is present, unique and not too long, known names are canonical, arguments are an
/// object if possible.
pub(super) fn named(drafts: Vec<CallDraft>, names: &ToolNames) -> Vec<ToolCall> {
    let given: HashSet<String> = drafts.iter().map(|draft| draft.id.clone()).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut calls = Vec::with_capacity(drafts.len());
    let mut room = IdRoom::default();
    for (at, draft) in drafts.into_iter().enumerate() {
        let mut id = draft.id;
        if id.is_empty() || taken.contains(&id) || !room.admits(&id) {
            id = format!("call_{}", at + 1);
            while given.contains(&id) || taken.contains(&id) {
                id.push('x');
            }
        }
        taken.insert(id.clone());
        let name = bare(kept_name(&draft.name));
        let name = if name.is_empty() { NAMELESS } else { names.canonical(name) };
        let arguments = unwrapped(draft.arguments);
        calls.push(ToolCall {
            id,
            name: name.to_owned(),
            arguments: arguments.into(),
            extra: draft.extra,
        });
    }
    calls
}

/// Returns a name without the format marks of some models: `functions.NAME<|channel|>…`.
fn bare(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or_default().trim();
    name.strip_prefix("functions.").unwrap_or(name)
}

/// Unwraps arguments: blank is an empty object, and a text of an object is that object.
fn unwrapped(arguments: String) -> String {
    let nothing = |text: &str| matches!(text.trim(), "" | "null" | "[]");
    let text = json::whole_characters(&arguments).unwrap_or(arguments);
    if nothing(&text) {
        return "{}".to_owned();
    }
    let mut inner = None;
    for _ in 0..WRAPPINGS {
        let outer = inner.as_ref().unwrap_or(&text);
        if !outer.trim_start().starts_with('"') {
            break;
        }
        let Ok(Json::String(unwrapped)) = json::parse(outer) else { break };
        if nothing(&unwrapped) {
            return "{}".to_owned();
        }
        inner = Some(unwrapped);
    }
    let is_object = |text: &String| {
        text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
    };
    inner.filter(is_object).unwrap_or(text)
}
