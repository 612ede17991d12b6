//! Forms without a mark of their own, which count only with the name of an offered tool: blocks of code with calls,
//! ReAct, `name {…}`, `name(key=value)`, `<name>…</name>`.
//!
//! Each begins at the beginning of a line.

use serde_json::{Map, Value as Json};

use super::literal::{self, LiteralFault, Parsed};
use super::{CallFault, IsOffered, LeakedCall, is_name, objects, offered};

/// Maximum length of a line that names a tool, in bytes.
const LINE: usize = 160;
/// Maximum number of words of such a line.
const WORDS: usize = 6;
/// Words that may stand beside the name of a tool.
const LEADS: &[&str] = &[
    "action",
    "arguments",
    "call",
    "calling",
    "function",
    "i",
    "name",
    "the",
    "tool",
    "use",
    "using",
    "will",
    "with",
];
/// Maximum number of lines of other code before the first call of a block.
const OTHER_LINES: usize = 16;
/// Marks of Markdown around a name or a call.
const DECORATION: [char; 2] = ['`', '*'];
/// Languages of blocks of code that may hold calls in lines.
const LANGUAGES: &[&str] = &[
    "",
    "python",
    "python3",
    "py",
    "tool_code",
    "tool_call",
    "tool_calls",
    "tool",
    "function_call",
    "json",
    "text",
    "txt",
    "plaintext",
    "xml",
];

/// Calls at the beginning of a text.
pub(super) struct LooseCalls {
    pub(super) calls: Result<Vec<LeakedCall>, CallFault>,
    /// Byte offset at which they end.
    pub(super) end: usize,
}

impl LooseCalls {
    fn new(text: &str, rest: &str, calls: Result<Vec<LeakedCall>, CallFault>) -> Self {
        Self { calls, end: text.len() - rest.len() }
    }

    fn one(text: &str, rest: &str, name: &str, arguments: Map<String, Json>) -> Self {
        let arguments = Json::Object(arguments).to_string();
        Self::new(text, rest, Ok(vec![(name.to_owned(), arguments)]))
    }

    /// Returns a call whose end is unknown: an open one takes the rest of the text, another one its paragraph.
    fn broken(text: &str, fault: impl Into<CallFault>) -> Self {
        let fault = fault.into();
        let paragraph = text.find("\n\n").filter(|_| fault != CallFault::Unclosed);
        Self { calls: Err(fault), end: paragraph.unwrap_or(text.len()) }
    }

    /// Moves the end behind a text in front of this one.
    fn behind(self, front: usize) -> Self {
        Self { end: self.end + front, ..self }
    }
}

/// Reads the calls that begin a text, which begins a line. None if there are none.
pub(super) fn read(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    match text.chars().next()? {
        '`' | '~' if fence_mark(text).is_some() => block(text, is_offered),
        '{' => plain_object(text, is_offered),
        '[' if text[1..].trim_start().starts_with('{') => plain_object(text, is_offered),
        '<' => element(text, is_offered),
        _ => action(text, is_offered).or_else(|| statement(text, is_offered)),
    }
}

/// Returns the ticks that begin a block of code.
fn fence_mark(text: &str) -> Option<&str> {
    let tick = text.chars().next().filter(|tick| matches!(tick, '`' | '~'))?;
    let ticks = text.len() - text.trim_start_matches(tick).len();
    (ticks >= 3).then(|| &text[..ticks])
}

/// Reads a block of code in which all is calls.
fn block(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let mark = fence_mark(text)?;
    let (head, body) = text.split_once('\n')?;
    let words = head.get(mark.len()..)?;
    let calls = if body.trim_start().starts_with(['{', '[']) {
        let named = words.split_whitespace().find_map(|word| offered(word, is_offered));
        block_objects(body, mark, named, is_offered)
    } else {
        let language = words.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let may_hold = LANGUAGES.contains(&language.as_str());
        if may_hold { block_lines(body, mark, is_offered) } else { None }
    };
    Some(block_calls(text, calls?))
}

/// Returns the calls of a block. A block with a broken call ends where its code ends.
fn block_calls(text: &str, calls: Result<(Vec<LeakedCall>, &str), CallFault>) -> LooseCalls {
    match calls {
        Ok((calls, rest)) => LooseCalls::new(text, rest, Ok(calls)),
        Err(fault) => {
            let end = super::code(text, 0).unwrap_or(text.len());
            LooseCalls { calls: Err(fault), end }
        }
    }
}

type BlockCalls<'t> = Option<Result<(Vec<LeakedCall>, &'t str), CallFault>>;

/// Reads objects up to the end of a block: calls, or the arguments of the tool that its first line names.
fn block_objects<'t>(
    body: &'t str,
    mark: &str,
    named: Option<&str>,
    is_offered: IsOffered<'_>,
) -> BlockCalls<'t> {
    let (mut found, mut rest) = (Vec::new(), body);
    let mut fault = None;
    loop {
        rest = rest.trim_start();
        if let Some(after) = block_end(rest, mark) {
            return Some(fault.map_or(Ok((found, after)), Err));
        }
        if !rest.starts_with(['{', '[']) {
            return None;
        }
        let (value, after) = match literal::value(rest) {
            Ok(read) => read,
            Err(broken) => {
                let is_meant = named.is_some() || objects::names_tool(rest, is_offered);
                return is_meant.then(|| Err(broken.into()));
            }
        };
        match (objects::calls(&value, is_offered), named, value) {
            (Some(Ok(calls)), ..) => found.extend(calls),
            (Some(Err(broken)), ..) => fault = fault.or(Some(broken)),
            (None, Some(name), value @ Json::Object(_)) if found.is_empty() => {
                found.push((name.to_owned(), value.to_string()));
            }
            (None, ..) => return None,
        }
        rest = after;
    }
}

/// Reads lines with calls up to the end of a block. Comments may stand between them, other code may not.
fn block_lines<'t>(body: &'t str, mark: &str, is_offered: IsOffered<'_>) -> BlockCalls<'t> {
    let (mut found, mut rest) = (Vec::new(), body);
    let mut others = 0;
    let after = loop {
        rest = rest.trim_start();
        if let Some(after) = block_end(rest, mark) {
            break after;
        }
        let line_end = rest.find('\n').unwrap_or(rest.len());
        if rest.starts_with('#') {
            rest = &rest[line_end..];
            continue;
        }
        let read = element(rest, is_offered)
            .or_else(|| action(rest, is_offered))
            .or_else(|| statement(rest, is_offered));
        match read {
            Some(LooseCalls { calls: Ok(calls), end }) => {
                found.extend(calls);
                rest = &rest[end..];
            }
            Some(LooseCalls { calls: Err(fault), .. }) => return Some(Err(fault)),
            None => {
                others += 1;
                rest = &rest[line_end..];
            }
        }
        if others > 0 && !found.is_empty() {
            return Some(Err(CallFault::Program));
        }
        if others > OTHER_LINES {
            return None;
        }
    };
    if found.is_empty() { None } else { Some(Ok((found, after))) }
}

/// Returns the text behind the end of a block, if it ends here. A block may lack its end where the text ends.
fn block_end<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    if text.is_empty() {
        return Some(text);
    }
    let tick = mark.chars().next()?;
    let rest = text.strip_prefix(mark)?.trim_start_matches(tick);
    Some(rest.trim_start_matches([' ', '\t']))
}

/// Reads a call object that stands on lines of its own, or a list of them. It names an offered tool.
fn plain_object(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    if !objects::names_tool(text, is_offered) {
        return None;
    }
    match literal::value(text) {
        Ok((value, rest)) => {
            let calls = objects::calls(&value, is_offered)?;
            is_line_end(rest).then(|| LooseCalls::new(text, rest, calls))
        }
        Err(fault) => Some(LooseCalls::broken(text, fault)),
    }
}

/// Reads `Action:` with the name of a tool, and `Action Input:` with its arguments.
fn action(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let rest = label(text, "Action")?;
    let (line, next) = rest.split_once('\n').unwrap_or((rest, ""));
    let name = line.trim().trim_matches(DECORATION).trim();
    let front = |rest: &str| text.len() - rest.len();
    let next = next.trim_start();
    if name.is_empty() {
        return unnamed_action(next, is_offered).map(|read| read.behind(front(next)));
    }
    let Some(input) = label(next, "Action Input") else {
        let call = rest.trim_start();
        return statement(call, is_offered).map(|read| read.behind(front(call)));
    };
    let known = offered(name, is_offered).ok_or_else(|| CallFault::unknown(name));
    let input = input.trim_start_matches([' ', '\t']);
    let (arguments, rest) = match following_object(input) {
        Some(Ok((arguments, rest))) => (Ok(arguments), rest),
        Some(Err(fault)) => {
            return Some(LooseCalls::broken(text, fault));
        }
        None => {
            let end = input.find('\n').unwrap_or(input.len());
            let (line, rest) = input.split_at(end);
            let is_nothing = ["", "none", "null", "n/a"].contains(&&*line.trim().to_lowercase());
            (if is_nothing { Ok(Map::new()) } else { Err(CallFault::NoObject) }, rest)
        }
    };
    Some(match (known, arguments) {
        (Ok(name), Ok(arguments)) => LooseCalls::one(text, rest, name, arguments),
        (Err(fault), _) | (Ok(_), Err(fault)) => LooseCalls::new(text, rest, Err(fault)),
    })
}

/// Reads the call object below `Action:`, also in a block of code.
fn unnamed_action(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let Some(mark) = fence_mark(text) else {
        return if text.starts_with('{') { plain_object(text, is_offered) } else { None };
    };
    let body = text.split_once('\n')?.1;
    let has_object = body.trim_start().starts_with(['{', '[']);
    let calls = if has_object { block_objects(body, mark, None, is_offered) } else { None };
    Some(block_calls(text, calls?))
}

/// Returns the text behind a label such as `Action:`, which may be bold.
fn label<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let rest = text.trim_start_matches('*').strip_prefix(label)?;
    Some(rest.trim_start_matches('*').strip_prefix(':')?.trim_start_matches('*'))
}

/// Reads a call on its line: `name(key=value)`, `name {…}`, or a name with an object on the next line.
fn statement(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let bare = text.trim_start_matches(DECORATION);
    let front = text.len() - bare.len();
    let read = python(bare, is_offered).or_else(|| named(bare, is_offered))?;
    Some(read.behind(front))
}

/// Reads `name(key=value)`, also behind `result =` or within `print(…)`.
fn python(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let call = assigned(text);
    let (call, is_printed) = call.strip_prefix("print(").map_or((call, false), |it| (it, true));
    let end = call.find(|c: char| !is_name(c))?;
    let (name, rest) = call.split_at(end);
    let inner = rest.strip_prefix('(')?;
    let name = offered(name, is_offered)?;
    match literal::arguments(inner) {
        Ok((arguments, rest)) => {
            let rest = if is_printed { rest.trim_start().strip_prefix(')')? } else { rest };
            is_line_end(rest).then(|| LooseCalls::one(text, line_end(rest), name, arguments))
        }
        Err(LiteralFault::Unnamed) => {
            let line = inner.lines().next().unwrap_or_default();
            let is_alone = line.trim_end_matches([' ', ';', '`', '*']).ends_with(')');
            let rest = &inner[line.len()..];
            is_alone.then(|| LooseCalls::new(text, rest, Err(CallFault::Unnamed)))
        }
        Err(fault) => {
            let is_meant = literal::begins_named(inner);
            is_meant.then(|| LooseCalls::broken(text, fault))
        }
    }
}

/// Returns the text behind `name =`, else the whole.
fn assigned(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let rest = text[end..].trim_start_matches(' ').strip_prefix('=');
    let value = rest.filter(|rest| end > 0 && !rest.starts_with('='));
    value.map_or(text, |value| value.trim_start_matches(' '))
}

/// Reads a line that names a tool, and one object behind the name or below the line.
fn named(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let line = text.lines().next()?;
    let begin = &line[..line.floor_char_boundary(LINE)];
    let head = &begin[..begin.find('{').unwrap_or(begin.len())];
    if head.len() == begin.len() && begin.len() < line.len() {
        return None;
    }
    let name = named_tool(head, is_offered)?;
    let object = text[head.len()..].trim_start();
    if !object.starts_with('{') && fence_mark(object).is_none() {
        return None;
    }
    let is_meant = object.starts_with(['`', '~'])
        || object.strip_prefix('{').is_some_and(|it| it.trim_start().starts_with(['"', '\'']));
    let (arguments, rest) = match following_object(object)? {
        Ok(read) => read,
        Err(fault) => return is_meant.then(|| LooseCalls::broken(text, fault)),
    };
    if !is_line_end(rest) {
        return None;
    }
    let value = Json::Object(arguments);
    let calls = match objects::calls(&value, is_offered) {
        Some(calls) => calls,
        None => Ok(vec![(name.to_owned(), value.to_string())]),
    };
    Some(LooseCalls::new(text, line_end(rest), calls))
}

/// Returns the only offered tool that a line names, if nothing but words about calling stands beside it.
fn named_tool<'t>(line: &'t str, is_offered: IsOffered<'_>) -> Option<&'t str> {
    let mut named = None;
    for (at, word) in line.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| DECORATION.contains(&c) || ":#\"',".contains(c));
        if at >= WORDS {
            return None;
        }
        match offered(word, is_offered) {
            Some(name) if named.is_none() => named = Some(name),
            Some(_) => return None,
            None if word.is_empty() || LEADS.contains(&&*word.to_ascii_lowercase()) => {}
            None => return None,
        }
    }
    named
}

/// Reads the one object that a text begins with, also in a block of code. None if there is none.
fn following_object(text: &str) -> Option<Parsed<(Map<String, Json>, &str)>> {
    let text = text.trim_start();
    let mark = fence_mark(text);
    let body = match mark {
        Some(_) => text.split_once('\n')?.1.trim_start(),
        None => text,
    };
    if !body.starts_with('{') {
        return None;
    }
    let (value, rest) = match literal::value(body) {
        Ok(read) => read,
        Err(fault) => return Some(Err(fault)),
    };
    let Json::Object(object) = value else { return None };
    let rest = match mark {
        Some(mark) => block_end(rest.trim_start(), mark)?,
        None => rest,
    };
    Some(Ok((object, rest)))
}

/// Reads `<name>…</name>` with an object, or with an element for each argument.
fn element(text: &str, is_offered: IsOffered<'_>) -> Option<LooseCalls> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(|c: char| !is_name(c))?;
    let name = offered(&inner[..end], is_offered)?;
    let body = inner[end..].strip_prefix('>')?;
    let Some((body, rest)) = body.split_once(&format!("</{}>", &inner[..end])) else {
        let is_meant = body.trim().is_empty() || body.trim_start().starts_with(['{', '<']);
        return is_meant.then(|| LooseCalls::broken(text, CallFault::Unclosed));
    };
    let body = body.trim();
    if body.starts_with('{') {
        return Some(match following_object(body)? {
            Ok((arguments, left)) if left.trim().is_empty() => {
                LooseCalls::one(text, rest, name, arguments)
            }
            Ok(_) => LooseCalls::new(text, rest, Err(CallFault::Invalid)),
            Err(fault) => LooseCalls::new(text, rest, Err(fault.into())),
        });
    }
    Some(match elements(body) {
        Some(arguments) => LooseCalls::one(text, rest, name, arguments),
        None => LooseCalls::new(text, rest, Err(CallFault::NoObject)),
    })
}

/// Reads `<key>value</key>`, until there are no more.
fn elements(body: &str) -> Option<Map<String, Json>> {
    let (mut arguments, mut rest) = (Map::new(), body);
    while !rest.is_empty() {
        let inner = rest.strip_prefix('<')?;
        let (key, inner) = inner.split_once('>')?;
        if key.is_empty() || !key.chars().all(is_name) {
            return None;
        }
        let (value, after) = inner.split_once(&format!("</{key}>"))?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        if arguments.insert(key.to_owned(), value.into()).is_some() {
            return None;
        }
        rest = after.trim_start();
    }
    Some(arguments)
}

/// Returns true if nothing but marks stands before the end of the line.
fn is_line_end(text: &str) -> bool {
    let rest = line_end(text);
    ["\n", "</", "```"].iter().any(|end| rest.starts_with(end)) || rest.is_empty()
}

/// Returns the text from the end of the line on, if only marks stand before it.
fn line_end(text: &str) -> &str {
    let rest = text.trim_start_matches([' ', '\t', '\r', ';', '*']);
    if rest.starts_with("```") {
        rest
    } else {
        rest.trim_start_matches([' ', '\t', '\r', '`', '*'])
    }
}
