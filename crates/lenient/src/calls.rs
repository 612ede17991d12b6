//! Calls that a model wrote as text, because its server did not recognise them or because it knows no better.
//!
//! *Marked* forms have a mark that nothing else has, such as `<tool_call>`. A mark inside code, or without a call after
//! it, is text about calls and no call. *Loose* forms are Markdown, JSON or Python that names an offered tool; they
//! count only if little stands around them, because a document that shows calls is no call.

mod forms;
mod literal;
mod loose;
mod objects;
#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use self::forms::FORMS;
use self::literal::LiteralFault;

/// Name and arguments of a call.
type LeakedCall = (String, String);

/// Returns true if a tool of this name, or one that an alias means, is offered.
type IsOffered<'f> = &'f dyn Fn(&str) -> bool;

/// Maximum number of unreadable calls that are tried.
const TRIES: usize = 64;
/// Maximum number of blocks and objects that are tried as loose calls.
const LOOSE_TRIES: usize = 16;
/// Maximum distance to the end of inline code, in bytes.
const CODE: usize = 1024;
/// Maximum bytes of text around loose calls.
const AROUND: usize = 400;
/// Maximum number of loose calls that are carried out.
const LOOSE_CALLS: usize = 8;
/// Maximum characters of a name in a message.
const QUOTED: usize = 64;
/// Prefixes of names that models add.
const PREFIXES: &[&str] = &["functions.", "default_api."];
/// Beginnings of lines that only the runtime or a user writes.
const INVENTED: &[&str] = &["Observation:", "<tool_response>", "USER_INPUT", "User:"];

/// Calls in the text of a reply that are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallsInText {
    Never,
    /// Calls with marks of a model's own format, and a call object that is the whole reply.
    #[default]
    Tagged,
    /// Blocks of code, ReAct, Python and elements too, if they name an offered tool.
    All,
}

impl<'de> Deserialize<'de> for CallsInText {
    /// Reads one of the three words, or a boolean, as older settings have it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ModeVisitor;
        impl serde::de::Visitor<'_> for ModeVisitor {
            type Value = CallsInText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`never`, `tagged` or `all`")
            }

            fn visit_bool<E>(self, all: bool) -> Result<CallsInText, E> {
                Ok(if all { CallsInText::All } else { CallsInText::Never })
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<CallsInText, E> {
                match word {
                    "never" => Ok(CallsInText::Never),
                    "tagged" => Ok(CallsInText::Tagged),
                    "all" => Ok(CallsInText::All),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(ModeVisitor)
    }
}

/// Text of a reply, and the calls in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCalls {
    /// Text without the calls and without what the model invented behind them; the whole text if there are no calls.
    pub words: String,
    /// Names and arguments of the calls that are carried out.
    pub calls: Vec<(String, String)>,
    /// Reason why a call in the text cannot be carried out, if there is one.
    pub unreadable: Option<String>,
}

/// Reads the calls in a text. `is_offered` knows the names of the offered tools and their aliases.
pub fn read(content: &str, mode: CallsInText, is_offered: &dyn Fn(&str) -> bool) -> TextCalls {
    let Scan { found, end, .. } = Scan::of(content, Some(is_offered));
    let is_document = found.iter().any(|found| !found.is_marked)
        && without(&content[..end], found.iter()).trim().len() > AROUND;
    let is_taken = |found: &&FoundCalls| match found.is_marked {
        true => found.calls.is_ok() && mode >= CallsInText::Tagged,
        false => found.calls.is_ok() && mode == CallsInText::All && !is_document,
    };
    let unreadable = found
        .iter()
        .filter(|found| found.is_marked || !is_document)
        .find(|found| !is_taken(found))
        .map(|found| {
            found.calls.as_ref().err().map_or_else(|| UNREAD.to_owned(), CallFault::to_string)
        });
    if !found.iter().any(|found| is_taken(&found)) {
        return TextCalls { words: content.to_owned(), calls: Vec::new(), unreadable };
    }
    let mut words = without(&content[..end], found.iter().filter(is_taken));
    for wrapping in forms::WRAPPINGS {
        if words.contains(wrapping) {
            words = words.replace(wrapping, "");
        }
    }
    let words = words.trim().to_owned();
    let (mut calls, mut loose) = (Vec::new(), 0);
    for found in found.into_iter().filter(|found| is_taken(&found)) {
        let mut these = found.calls.unwrap_or_default();
        if !found.is_marked {
            these.truncate(LOOSE_CALLS - loose);
            loose += these.len();
        }
        calls.extend(these);
    }
    TextCalls { words, calls, unreadable }
}

/// Reason why a call that could be read is not carried out.
const UNREAD: &str = "calls in text are not carried out here";

/// Returns true if `content` holds an intended call in a marked form, even if it is cut or unreadable.
pub fn detect(content: &str) -> bool {
    Scan::of(content, None).found.iter().any(|found| found.is_marked)
}

/// Returns the text before the first line that the model invented: an answer of a tool, or words of the user. Such a
/// line inside a block of code counts as text.
pub fn cut_invented(text: &str) -> &str {
    let mut at = 0;
    while at < text.len() {
        let line = &text[at..];
        if is_invented(line) {
            return text[..at].trim_end();
        }
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if line[indent..].starts_with("```") || line[indent..].starts_with("~~~") {
            let Some(block) = code(text, at + indent) else { break };
            at += indent + block;
        } else {
            at += line.find('\n').map_or(line.len(), |end| end + 1);
        }
    }
    text
}

fn is_invented(line: &str) -> bool {
    INVENTED.iter().any(|begin| line.starts_with(begin))
}

/// Calls at one position of a text.
struct FoundCalls {
    start: usize,
    end: usize,
    is_marked: bool,
    calls: Result<Vec<LeakedCall>, CallFault>,
}

/// Fault of a call that makes it impossible to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CallFault {
    UnknownTool(String),
    Unclosed,
    Invalid,
    Unnamed,
    NoObject,
    /// Other code stands beside the call.
    Program,
    /// The fault of a marked call is not examined.
    Unreadable,
}

impl CallFault {
    fn unknown(name: &str) -> Self {
        Self::UnknownTool(name.chars().take(QUOTED).collect())
    }
}

impl From<LiteralFault> for CallFault {
    fn from(fault: LiteralFault) -> Self {
        match fault {
            LiteralFault::Unclosed => Self::Unclosed,
            LiteralFault::Invalid => Self::Invalid,
            LiteralFault::Unnamed => Self::Unnamed,
        }
    }
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool(name) => write!(f, "there is no tool {name}"),
            Self::Unclosed => f.write_str("it ends before its arguments are closed"),
            Self::Invalid => f.write_str("its arguments are not valid JSON"),
            Self::Unnamed => f.write_str("its arguments have no names"),
            Self::NoObject => f.write_str("its arguments are no JSON object"),
            Self::Program => f.write_str("it stands between other code"),
            Self::Unreadable => f.write_str("it is cut off or not valid"),
        }
    }
}

/// One pass over a text.
struct Scan<'t> {
    content: &'t str,
    /// None if loose forms are not looked for.
    is_offered: Option<IsOffered<'t>>,
    found: Vec<FoundCalls>,
    /// Byte offset at which the model began to invent, else the length.
    end: usize,
    /// Bytes of text outside of calls so far.
    around: usize,
    tries: usize,
    loose_tries: usize,
}

impl<'t> Scan<'t> {
    fn of(content: &'t str, is_offered: Option<IsOffered<'t>>) -> Self {
        let end = content.len();
        let mut scan = Self {
            content,
            is_offered,
            found: Vec::new(),
            end,
            around: 0,
            tries: 0,
            loose_tries: 0,
        };
        match objects::bare(content, is_offered.unwrap_or(&|_| true)) {
            Some(calls) => scan.found.push(FoundCalls { start: 0, end, is_marked: true, calls }),
            None => scan.walk(),
        }
        scan
    }

    fn walk(&mut self) {
        let mut at = 0;
        // True at the beginning of a line, and behind a call.
        let mut begins = true;
        while at < self.content.len() {
            if begins {
                let is_line = at == 0 || self.content[..at].ends_with('\n');
                if is_line && is_invented(&self.content[at..]) {
                    self.end = at;
                    return;
                }
                if let Some(end) = self.loose(at) {
                    at = end;
                    continue;
                }
            }
            let rest = &self.content[at..];
            let Some(offset) = rest.find(['\n', '`', '~', '<', '[']) else { return };
            self.around += rest[..offset].trim().len();
            at += offset;
            begins = rest[offset..].starts_with('\n');
            if begins {
                at += 1;
            } else if rest[offset..].starts_with(['`', '~']) {
                let Some(code) = code(self.content, at) else { return };
                self.around += code;
                at += code;
                begins = self.content[..at].ends_with('\n');
            } else {
                match self.marked(at) {
                    Some(end) => (at, begins) = (end, true),
                    None if self.tries > TRIES => return,
                    None => {
                        self.around += 1;
                        at += 1;
                    }
                }
            }
        }
    }

    /// Reads loose calls, and returns where to search next. None if the search continues here.
    fn loose(&mut self, at: usize) -> Option<usize> {
        let is_offered = self.is_offered?;
        if self.around > AROUND || self.loose_tries >= LOOSE_TRIES {
            return None;
        }
        let rest = &self.content[at..];
        let start = at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let text = &self.content[start..];
        let Some(read) = loose::read(text, is_offered) else {
            self.loose_tries += usize::from(text.starts_with(['`', '~', '{', '[']));
            return None;
        };
        let end = start + read.end;
        let next = match &read.calls {
            Ok(_) => Some(end),
            // Its text may look like calls, which are none, and its end is unknown.
            Err(CallFault::Unclosed | CallFault::Invalid) => Some(self.content.len()),
            Err(
                CallFault::UnknownTool(_)
                | CallFault::Unnamed
                | CallFault::NoObject
                | CallFault::Program
                | CallFault::Unreadable,
            ) => None,
        };
        if read.calls.is_err() {
            self.loose_tries = LOOSE_TRIES;
        }
        self.found.push(FoundCalls { start, end, is_marked: false, calls: read.calls });
        next
    }

    /// Reads the marked calls that begin here, and returns where they end.
    fn marked(&mut self, start: usize) -> Option<usize> {
        let rest = &self.content[start..];
        let form = FORMS.iter().find(|form| (form.begins)(rest))?;
        let Some(read) = (form.read)(rest) else {
            self.tries += 1;
            self.loose_tries = LOOSE_TRIES;
            let calls = Err(CallFault::Unreadable);
            self.found.push(FoundCalls { start, end: start, is_marked: true, calls });
            return None;
        };
        let end = start + read.end;
        let mut calls = Ok(read.calls);
        if let (Some(is_offered), Ok(read)) = (self.is_offered, &mut calls) {
            let unknown = read.iter_mut().find_map(|(name, _)| match offered(name, is_offered) {
                Some(known) => {
                    *name = known.to_owned();
                    None
                }
                None => Some(CallFault::unknown(name)),
            });
            if let Some(fault) = unknown {
                calls = Err(fault);
            }
        }
        self.found.push(FoundCalls { start, end, is_marked: true, calls });
        Some(end)
    }
}

/// Returns a text without these calls.
fn without<'f>(text: &str, found: impl Iterator<Item = &'f FoundCalls>) -> String {
    let (mut words, mut copied) = (String::new(), 0);
    for FoundCalls { start, end, .. } in found {
        words.push_str(text.get(copied..*start).unwrap_or_default());
        copied = copied.max(*end);
    }
    words.push_str(text.get(copied..).unwrap_or_default());
    words
}

/// Returns the name of an offered tool as it is offered, without the prefix of some models.
fn offered<'n>(name: &'n str, is_offered: IsOffered<'_>) -> Option<&'n str> {
    let is_tool = |name: &&str| {
        !name.is_empty() && name.len() <= 256 && name.chars().all(is_name) && is_offered(name)
    };
    Some(name)
        .filter(is_tool)
        .or_else(|| PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).filter(is_tool))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
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
