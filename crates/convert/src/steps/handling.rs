//! Lines that say what an option does: `IF K:`, `#### If 'K' (Label):`, `- **[K] Label:**`, `When 'K' selected`, and the
//! lines below them.

use super::page::{MarkdownPage, PageLine};
use super::shown::is_key;
use super::words::{strip, tidy};

/// Lines of a text about an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Handling {
    pub(super) keys: Vec<String>,
    /// Label in the line, such as `Convert` in `IF C (Convert):`.
    pub(super) label: Option<String>,
    pub(super) strength: HandlingStrength,
    /// Line that names the keys.
    pub(super) header: usize,
    /// Offset in that line's content at which the effect begins.
    pub(super) inline: usize,
    /// End of the lines below it.
    pub(super) end: usize,
}

/// Strength of a handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HandlingStrength {
    /// A heading that ends with the key: `## Walk through [W]`.
    Section,
    /// `After user selects 'K', …`.
    Mention,
    /// `- **K**: …`: counts only for a key that is shown.
    Bare,
    /// `IF K: …`.
    Direct,
}

/// Words in front of a key, longest first. The flag says that the words alone are no instruction.
const LEADS: &[(&str, bool)] = &[
    ("if the user selects", false),
    ("if the user chooses", false),
    ("if the user picks", false),
    ("if the user enters", false),
    ("if the user says", false),
    ("if user selects", false),
    ("if user selected", false),
    ("if user chooses", false),
    ("if user picks", false),
    ("if user enters", false),
    ("if user types", false),
    ("if user says", false),
    ("if", false),
    ("when the user selects", false),
    ("when the user chooses", false),
    ("when user selects", false),
    ("when user chooses", false),
    ("when", false),
    ("for option", false),
    ("on", false),
    ("only when", true),
    ("only after user selects", true),
    ("after the user selects", true),
    ("after user selects", true),
    ("once the user selects", true),
    ("once user selects", true),
];

/// Finds all handlings of a text, in order.
pub(super) fn handlings(page: &MarkdownPage<'_>) -> Vec<Handling> {
    let mut found = Vec::new();
    for (index, line) in page.instructions() {
        let Some(header) = header(line) else { continue };
        let end = end_of_body(page, index, &header);
        found.push(Handling {
            keys: header.keys,
            label: header.label,
            strength: header.strength,
            header: index,
            inline: header.inline,
            end,
        });
    }
    found
}

/// Head of a handling on its line.
struct HandlingHeader {
    keys: Vec<String>,
    label: Option<String>,
    strength: HandlingStrength,
    inline: usize,
    /// True if nothing but the keys and their label is on the line.
    opens: bool,
}

fn header(line: &PageLine<'_>) -> Option<HandlingHeader> {
    let text = line.content;
    let start = text.len() - text.trim_start_matches(is_markup).len();
    let rest = text.get(start..)?;
    let head = rest.get(..rest.floor_char_boundary(64))?.to_ascii_lowercase();
    let lead = LEADS.iter().find(|(lead, _)| strip(&head, lead).is_some());
    match lead {
        Some((lead, weak)) => {
            let (keys, after, wrapped) = keys_at(text, start + lead.len())?;
            led(line, keys, (after, wrapped), (lead.starts_with("when"), *weak))
        }
        None if line.level > 0 => section(line),
        None => bare(line, start),
    }
}

/// Reads what follows the keys of a line that begins with `If`, `When` or the like.
fn led(
    line: &PageLine<'_>,
    keys: Vec<String>,
    (after, wrapped): (usize, bool),
    (when, weak): (bool, bool),
) -> Option<HandlingHeader> {
    let text = line.content;
    let rest = text.get(after..)?;
    let said = rest.trim_start_matches(is_markup);
    let lower = said.get(..said.floor_char_boundary(24))?.to_ascii_lowercase();
    let chosen = [
        "selected",
        "chosen",
        "picked",
        "is selected",
        "is chosen",
        "was selected",
        "is picked",
        "then",
    ];
    let marked =
        said.is_empty() || said.starts_with([':', '：', '(', '（', ',', '→', '-', '–', '—']);
    let named = chosen.iter().any(|word| strip(&lower, word).is_some()) || marked;
    if !named && !wrapped {
        return None;
    }
    let colon = rest.find([':', '：']);
    let arrow = rest.find('→');
    let comma = rest.find(',');
    let stop = [colon, arrow].into_iter().flatten().min();
    let whole = line.level > 0 && stop.is_none();
    // A comma before the colon belongs to a sentence: `When user selects 'C', append: …`.
    let broken = stop.is_none_or(|stop| comma.is_some_and(|comma| comma < stop));
    let sentence = broken && !whole && !said.starts_with(['(', '（']);
    let mention = weak || (when && sentence);
    let strength = if mention { HandlingStrength::Mention } else { HandlingStrength::Direct };
    let inline = match stop {
        Some(stop) if !sentence => {
            after + stop + rest.get(stop..)?.chars().next().map_or(1, char::len_utf8)
        }
        _ => after,
    };
    let named = rest.get(..stop.unwrap_or(rest.len())).filter(|_| !sentence && !mention);
    let label = named.and_then(label_in);
    let opens = text.get(inline..)?.trim_matches(is_markup).is_empty();
    Some(HandlingHeader { keys, label, strength, inline, opens })
}

/// Reads `- **K**: …`, `- **K (Label)**: …`, `- **[K] Label:** …` and `` `[K]` → … ``.
fn bare(line: &PageLine<'_>, start: usize) -> Option<HandlingHeader> {
    let text = line.content;
    let (keys, after, wrapped) = keys_at(text, 0)?;
    if !wrapped {
        return None;
    }
    let rest = text.get(after..)?;
    let stop = rest.find([':', '：', '→'])?;
    let between = rest.get(..stop)?;
    let bracket = text.get(..after)?.contains('[');
    let plain = between.trim_matches(is_markup);
    let in_parens = plain.starts_with('(') && plain.ends_with(')');
    let short = between.len() <= 80 && !between.contains('[');
    // `[K] Label:` opens a block; `[K] Label - more: words` only shows an option.
    let labelled = bracket && short && (line.bullet || line.level > 0 || start > 0);
    let more = plain.starts_with('/') && short;
    if !(plain.is_empty() || in_parens || labelled || more) {
        return None;
    }
    let inline = after + stop + rest.get(stop..)?.chars().next().map_or(1, char::len_utf8);
    let opens = text.get(inline..)?.trim_matches(is_markup).is_empty();
    let label = label_in(between).filter(|_| !more);
    Some(HandlingHeader { keys, label, strength: HandlingStrength::Bare, inline, opens })
}

/// Reads a heading with a key at its end or in it: `## Walk through [W]`.
fn section(line: &PageLine<'_>) -> Option<HandlingHeader> {
    let text = line.content;
    let open = text.find('[')?;
    let inside = text.get(open + 1..)?;
    let close = inside.get(..inside.floor_char_boundary(16))?.find(']')?;
    let key = inside.get(..close)?;
    (is_key(key) && key.len() <= 2).then(|| HandlingHeader {
        keys: vec![key.to_owned()],
        label: None,
        strength: HandlingStrength::Section,
        inline: text.len(),
        opens: true,
    })
}

/// Reads one or more keys from an offset on; returns where they end, and whether marks stood around them.
fn keys_at(text: &str, from: usize) -> Option<(Vec<String>, usize, bool)> {
    let mut keys = Vec::new();
    let mut at = from;
    let mut wrapped = false;
    while let Some((key, end, marked)) = key_at(text, at) {
        keys.push(key.to_owned());
        wrapped |= marked;
        at = end;
        if keys.len() > 9 {
            break;
        }
        let Some(next) = separator(text, at) else { break };
        if key_at(text, next).is_none() {
            break;
        }
        at = next;
    }
    (!keys.is_empty()).then_some((keys, at, wrapped))
}

/// Returns the offset behind `,`, `or`, `and` or `/` between two keys.
fn separator(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let trimmed = rest.trim_start();
    let mut next = at + rest.len() - trimmed.len();
    let mut any = false;
    if let Some(after) = trimmed.strip_prefix([',', '/', '|']) {
        any = true;
        next = text.len() - after.trim_start().len();
    }
    let lower = text.get(next..)?;
    for word in ["or ", "and ", "OR ", "AND "] {
        if let Some(after) = lower.strip_prefix(word) {
            return Some(text.len() - after.trim_start().len());
        }
    }
    any.then_some(next)
}

/// Reads a key: `C`, `'C'`, `[C]`, `**C**`, `[C continue option]`, `2`, `[Back]`.
fn key_at(text: &str, from: usize) -> Option<(&str, usize, bool)> {
    let rest = text.get(from..)?;
    let inside = rest.trim_start_matches(|c: char| is_markup(c) || c == '[');
    let start = from + rest.len() - inside.len();
    let opened = text.get(from..start)?;
    let length = inside.bytes().take(13).take_while(u8::is_ascii_alphanumeric).count();
    let key = inside.get(..length)?;
    let bracket = opened.contains('[');
    let quoted = opened.contains(['\'', '"', '`', '“', '‘']);
    let strong = opened.contains("**");
    let after = inside.get(length..)?;
    let closed = after.starts_with([']', '\'', '"', '`', '”', '’', '*', ':', '：', ')', ' ', '/'])
        || after.is_empty();
    let single = key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let capital = single && key.bytes().all(|byte| byte.is_ascii_uppercase());
    let fits = if single {
        capital || bracket || quoted || (strong && !after.starts_with(' '))
    } else if key.len() <= 2 {
        is_key(key)
    } else {
        is_key(key) && (bracket || quoted)
    };
    if key.is_empty() || !fits || !(closed || after.starts_with([',', '→', '|'])) {
        return None;
    }
    let mut end = start + length;
    if bracket && !after.starts_with(']') {
        // `[C continue option]`: the key is the first word.
        let near = after.get(..after.floor_char_boundary(40))?;
        end += near.find(']')?;
    }
    let tail = text.get(end..)?;
    let closers = tail.len() - tail.trim_start_matches([']', '\'', '"', '`', '”', '’', '*']).len();
    Some((key, end + closers, bracket || quoted || strong))
}

fn is_markup(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '"' | '\'' | '`' | '“' | '”' | '‘' | '’')
}

/// Returns the label in `(Label)`, or the text behind a bracket.
fn label_in(between: &str) -> Option<String> {
    let text = tidy(between);
    let text = text.trim();
    let inner = match text.split_once('(') {
        Some((before, after)) if before.trim().is_empty() => {
            after.split_once(')').map(|(inner, _)| inner)
        }
        _ => Some(text),
    }?;
    let inner =
        inner.trim_matches(|c: char| is_markup(c) || matches!(c, ']' | '-' | '–' | '—' | ','));
    let says = inner.chars().any(char::is_alphanumeric);
    let verb = ["selected", "is selected", "chosen", "is chosen", "then"]
        .contains(&inner.to_ascii_lowercase().as_str());
    (says && !verb && inner.chars().count() <= 60).then(|| inner.to_owned())
}

/// Finds the end of the lines that belong to a handling.
fn end_of_body(page: &MarkdownPage<'_>, index: usize, header: &HandlingHeader) -> usize {
    let Some(line) = page.lines.get(index) else { return index + 1 };
    let below = || page.lines.iter().enumerate().skip(index + 1);
    if line.level > 0 {
        let end = below().find(|(_, next)| next.level > 0 || (next.excluded && !next.is_blank()));
        return end.map_or(page.lines.len(), |(at, _)| at);
    }
    if line.bullet {
        let end = below().find(|(_, next)| !next.is_blank() && next.indent <= line.indent);
        return end.map_or(page.lines.len(), |(at, _)| at);
    }
    if !header.opens {
        return index + 1;
    }
    let mut items = false;
    for (at, next) in below() {
        let part = next.bullet || next.indent > line.indent;
        let ends = next.level > 0 || next.excluded;
        let first_words = !items && at == index + 1 && !next.is_blank();
        if ends
            || (!part && !next.is_blank() && !first_words)
            || (next.is_blank() && items && !item_follows(page, at))
        {
            return at;
        }
        items |= part || first_words;
    }
    page.lines.len()
}

/// Returns true if the line behind a blank one is still part of a list.
fn item_follows(page: &MarkdownPage<'_>, blank: usize) -> bool {
    page.lines
        .get(blank + 1)
        .is_some_and(|next| !next.is_blank() && (next.bullet || next.indent > 0) && next.level == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let page = MarkdownPage::read(text, 1);
        let seen: Vec<String> = handlings(&page)
            .into_iter()
            .map(|found| {
                let line =
                    page.lines.get(found.header).map(|line| line.content).unwrap_or_default();
                format!(
                    "{}{}{} @{}..{} {}",
                    match found.strength {
                        HandlingStrength::Direct => "!",
                        HandlingStrength::Bare => "=",
                        HandlingStrength::Mention => "?",
                        HandlingStrength::Section => "#",
                    },
                    found.keys.join("+"),
                    found.label.map(|label| format!("({label})")).unwrap_or_default(),
                    found.header,
                    found.end,
                    line.get(found.inline..).unwrap_or_default().trim_matches(is_markup),
                )
                .trim_end()
                .to_owned()
            })
            .collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn a_line_says_what_an_option_does() {
        check("- IF A: Read it", &["!A @0..1 Read it"]);
        check("- IF C (Convert): Go on", &["!C(Convert) @0..1 Go on"]);
        check("- **If 1:** Load it", &["!1 @0..1 Load it"]);
        check("When 'A' selected: Read it", &["!A @0..1 Read it"]);
        check("- If user selects **[2]** (new): Start", &["!2(new) @0..1 Start"]);
        check("- On **S**: Split", &["!S @0..1 Split"]);
        check("- **A**: Save it", &["=A @0..1 Save it"]);
        check("- **C (Continue)**: Save", &["=C(Continue) @0..1 Save"]);
        check("- **y:** \"go on\"", &["=y @0..1 go on"]);
        check("- **n/adjust:** again", &["=n @0..1 again"]);
        check("- If C → step two", &["!C @0..1 step two"]);
        check("For option A, call it", &["!A @0..1 , call it"]);
        check("If C, then load it", &["!C @0..1 , then load it"]);
    }

    #[test]
    fn a_block_says_what_an_option_does() {
        check("#### If 'C' (Continue):\n\n- a\n- b\n## Next\n- c", &["!C(Continue) @0..4"]);
        check("#### If [Modify] or [Back]:\n- a", &["!Modify+Back @0..2"]);
        check("#### If 'K', 'T', or 'B' (More):\n- a", &["!K+T+B(More) @0..2"]);
        check("- **IF V (Run):**\n  - a\n\n  - b\n- IF X: c", &["!V(Run) @0..4", "!X @4..5 c"]);
        check("**IF U (Use it):**\n- a\n- b\n\n**Else**", &["!U(Use it) @0..3"]);
        check("**IF S (Skip) or nothing found:**\n- a\n\nWords", &["!S(Skip) @0..2"]);
        check(
            "- **[Y] Go on:**\n  - a\n- **[N] New:**\n  - b",
            &["=Y(Go on) @0..2", "=N(New) @2..4"],
        );
        check("## Walk through [W]\n\na\n## Other", &["#W @0..3"]);
    }

    #[test]
    fn a_sentence_about_a_choice_is_weaker() {
        check("After user selects 'C', load it", &["?C @0..1 , load it"]);
        check("After user selects [C] to continue, load it", &["?C @0..1 to continue, load it"]);
        check("ONLY WHEN [C continue option] is selected, go", &["?C @0..1 is selected, go"]);
        check("When user selects 'C', append: this", &["?C @0..1 , append: this"]);
    }

    #[test]
    fn conditions_about_other_things_are_none() {
        for text in [
            "IF A document exists: load it",
            "If I know: go",
            "- IF Any other: help",
            "If the user confirms: go",
            "**A) One path** — if clear",
            "- **Goal**: x",
            "On success: go",
            "- A note: x",
            "When ALL tasks are complete, go",
        ] {
            check(text, &[]);
        }
    }
}
