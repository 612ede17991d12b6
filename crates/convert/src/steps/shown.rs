//! Options as a text shows them: `[K] Label`.

use super::page::{FenceKind, MarkdownPage, PageLine};
use super::words::{begins, tidy};

/// Longest text between the brackets of a key.
const MAX_KEY_BYTES: usize = 14;

/// Longest label.
const MAX_LABEL_CHARS: usize = 120;

/// Words with which a line begins that shows options inside of a sentence.
const CUES: &[&str] = &[
    "ask",
    "choose",
    "display",
    "enter",
    "halt and ask",
    "menu",
    "offer",
    "option",
    "options",
    "output",
    "present",
    "prompt",
    "reply",
    "select",
    "show",
    "pick",
];

/// Words with which a line begins that talks about options.
const MENTIONS: &[&str] = &[
    "after", "always", "do not", "don't", "if", "never", "on", "once", "only", "remember",
    "unless", "until", "upon", "when", "whenever",
];

/// Option on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownOption {
    pub(super) key: String,
    pub(super) label: String,
    /// True if the option stands at the start of its line.
    own_line: bool,
    /// True if its label ends with a colon: what follows says what the option does.
    pub(super) opens: bool,
}

impl ShownOption {
    /// Returns true for a key of several letters, such as `Back`.
    fn is_word(&self) -> bool {
        self.key.len() > 2
    }
}

/// Finds the options that a text shows, with the indexes of their lines.
pub(super) fn shown_options(page: &MarkdownPage<'_>) -> Vec<(usize, ShownOption)> {
    let mut found = Vec::new();
    let mut group: Vec<(usize, ShownOption)> = Vec::new();
    // True if the lines of the group, or the last line in front of them, ask for a choice.
    let (mut asked, mut asked_before) = (false, false);
    let mut boxes = false;
    for (index, line) in page.lines.iter().enumerate() {
        let counts = !line.excluded && line.fence != FenceKind::Code && line.level == 0;
        if !counts || line.is_blank() {
            keep(&mut group, asked || asked_before, boxes, &mut found);
            boxes = false;
            asked_before = (asked || (asked_before && line.is_blank())) && counts;
            asked = false;
            continue;
        }
        boxes |= line.bullet && line.content.starts_with("[ ]");
        let on_line = options_on(line);
        if on_line.is_empty() {
            asked |= asks(line);
        }
        group.extend(on_line.into_iter().map(|shown| (index, shown)));
    }
    keep(&mut group, asked || asked_before, boxes, &mut found);
    found
}

/// Returns true for a line that asks for a choice.
fn asks(line: &PageLine<'_>) -> bool {
    let lower = tidy(line.content).to_ascii_lowercase();
    lower.trim_end_matches(['"', '”']).ends_with(['?', '？'])
        || ["option", "choose", "select", "menu", "choice"].iter().any(|cue| lower.contains(cue))
}

/// Keeps the options of adjacent lines. Keys that are words need company, because a word in brackets is often a hole.
fn keep(
    group: &mut Vec<(usize, ShownOption)>,
    asked: bool,
    boxes: bool,
    found: &mut Vec<(usize, ShownOption)>,
) {
    let small = |key: &str| key.len() == 1 && key.starts_with(|c: char| c.is_ascii_lowercase());
    let lone_x = !group.iter().any(|(_, shown)| small(&shown.key) && shown.key != "x");
    group.retain(|(_, shown)| {
        let ticked = (boxes && shown.key == "X") || (shown.key == "x" && (boxes || lone_x));
        !ticked
    });
    let with_letter = group.iter().any(|(_, shown)| !shown.is_word());
    let listed = group.len() > 1 && asked;
    found.extend(group.drain(..).filter(|(_, shown)| !shown.is_word() || with_letter || listed));
}

/// Finds the options on a line.
fn options_on(line: &PageLine<'_>) -> Vec<ShownOption> {
    let text = line.content;
    if !text.contains('[') {
        return Vec::new();
    }
    let marks = keys(text);
    let Some(first) = marks.first() else { return Vec::new() };
    let head = text.get(..first.start).unwrap_or_default();
    let lower = bare(head).to_ascii_lowercase();
    let own_line = lower.is_empty();
    if !own_line && begins(&lower, MENTIONS) {
        return Vec::new();
    }
    let cue = begins(&lower, CUES);
    let ended = head
        .trim_end_matches(['*', ' ', '"', '“', '_'])
        .ends_with(['?', '!', '.', ':', '`', '|', '？', '！', '：', '。']);
    let mut options: Vec<ShownOption> = Vec::new();
    for (number, mark) in marks.iter().enumerate() {
        let end = marks.get(number + 1).map_or(text.len(), |next| next.start);
        let after = text.get(mark.end..end).unwrap_or_default();
        // `[C], then` and `[x].` are talk.
        let closed = after.trim_start_matches(['`', '*', '\'', '"']);
        if closed.starts_with([',', '.', ';', ')']) {
            continue;
        }
        // `[1] → …` is a row of a table of routes.
        let routes = after.trim_start_matches(['`', '*', ' ']).starts_with(['→', '='])
            || after.contains("->");
        let quotes = head.matches(['"', '“']).count();
        let after =
            if quotes % 2 == 1 { after.split(['"', '”']).next().unwrap_or(after) } else { after };
        let Some((label, opens)) = label(mark.key, after).filter(|_| !routes) else { continue };
        let small = label.starts_with(|c: char| c.is_ascii_lowercase());
        let at_start = own_line && number == 0;
        let word = mark.key.len() > 2;
        let fits = if at_start {
            word || !small || !options.is_empty()
        } else if word {
            own_line && !options.is_empty() && !small
        } else {
            (!options.is_empty() && !small)
                || (cue && (!small || head.contains(['"', '`'])))
                || (ended && !small)
        };
        if fits {
            let key = mark.key.to_owned();
            options.push(ShownOption { key, label, own_line: at_start, opens });
        }
    }
    options
}

/// Key in brackets.
struct KeyMark<'a> {
    start: usize,
    end: usize,
    key: &'a str,
}

/// Finds the keys in brackets of a line. Each bracket looks ahead only a little.
fn keys(text: &str) -> Vec<KeyMark<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('[')) {
        let start = at + open;
        at = start + 1;
        let Some(rest) = text.get(at..) else { break };
        let Some(close) =
            rest.bytes().take(MAX_KEY_BYTES).position(|byte| matches!(byte, b']' | b')'))
        else {
            continue;
        };
        let Some(key) = rest.get(..close) else { continue };
        let typo = rest.as_bytes().get(close) == Some(&b')');
        let after = rest.get(close + 1..).unwrap_or_default();
        let link = after.starts_with('(') || after.starts_with('[') || after.starts_with(']');
        let nested = start > 0 && text.as_bytes().get(start - 1) == Some(&b'[');
        let fits = if typo { is_number(key) } else { is_key(key) };
        if fits && !link && !nested {
            found.push(KeyMark { start, end: at + close + 1, key });
            at += close + 1;
        }
    }
    found
}

fn is_number(text: &str) -> bool {
    (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for a letter, a number, or a word with a capital.
pub(super) fn is_key(text: &str) -> bool {
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    let rest = text.get(1..).unwrap_or_default();
    is_number(text)
        || (text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
        || (text.len() == 2
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
        || (capital
            && text.len() > 2
            && text.len() <= 12
            && rest.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Returns the label behind a key, and whether it ends with a colon.
fn label(key: &str, after: &str) -> Option<(String, bool)> {
    // `[K]eep`: the key is the first letter of the label.
    let joined = key.len() == 1 && after.starts_with(|c: char| c.is_ascii_lowercase());
    let text = if joined { format!("{key}{after}") } else { after.to_owned() };
    let text = tidy(&text);
    let text = text.trim_start_matches(['-', '–', '—', ':', '.', '|', ')', ' ', '=', '→']);
    let text = text.trim_end_matches([
        '"', '”', '\'', '|', '/', ',', ';', '·', '•', '-', '–', '—', ' ', '(', '`',
    ]);
    let text = text.strip_suffix(" or").unwrap_or(text).trim_end_matches([' ', ',', '/']);
    let (text, opens) = match text.strip_suffix([':', '：']) {
        Some(text) => (text, true),
        None => (text, false),
    };
    let text = text.trim_end();
    let says = text.chars().any(char::is_alphanumeric);
    let citation = text.contains("://");
    (says && !citation).then(|| (super::words::cut(text, MAX_LABEL_CHARS), opens))
}

/// Returns the text in front of a key without markup.
fn bare(head: &str) -> &str {
    head.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '"' | '\'' | '`' | '“' | '”' | '_' | '|' | '-' | '>')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let page = MarkdownPage::read(text, 1);
        let shown: Vec<String> = shown_options(&page)
            .into_iter()
            .map(|(_, shown)| format!("{}={}", shown.key, shown.label))
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn options_stand_in_a_row() {
        check(
            "Display: \"**Select:** [A] Ask more [P] Party Mode [C] Continue to Two (2 of 3)\"",
            &["A=Ask more", "P=Party Mode", "C=Continue to Two (2 of 3)"],
        );
        check(
            "HALT and ask human: `[S] Split — first` | `[K] Keep all`",
            &["S=Split — first", "K=Keep all"],
        );
        check("Continue? [Y] Yes / [N] No, let me choose", &["Y=Yes", "N=No, let me choose"]);
        check("\"Shall I? [Y] Yes / [N] No\". If so, go on", &["Y=Yes", "N=No"]);
        check("Display: `**Confirm to [C] continue:**`", &["C=continue"]);
        check("Choose: [K]eep or [D]rop", &["K=Keep", "D=Drop"]);
        check("`[E] Exit - End the session`", &["E=Exit - End the session"]);
        check("**Done!** [C] Complete Workflow", &["C=Complete Workflow"]);
    }

    #[test]
    fn options_stand_below_each_other() {
        check(
            "[C] Continue - Save\n[Modify] Suggest changes\n",
            &["C=Continue - Save", "Modify=Suggest changes"],
        );
        check("**[R] Redo** - Again\n**[X] Exit** - Leave", &["R=Redo - Again", "X=Exit - Leave"]);
        check("- **[Y] Yes:**\n  - do\n- **[N] No:**", &["Y=Yes", "N=No"]);
        check("**[1]** One\n**[2]** Two\n[3) Three", &["1=One", "2=Two", "3=Three"]);
        check("```\n[Y] Yes, go on\n[N] No\n```", &["Y=Yes, go on", "N=No"]);
        check("| [A] | Add | x |\n| [B] | Back |", &["A=Add | x", "B=Back"]);
        check(
            "**Options:**\n- Type a name\n- [Back] to return\n- [Details] for more",
            &["Back=to return", "Details=for more"],
        );
        check("> [1] First\n> [2] Second", &["1=First", "2=Second"]);
        check("[A] 继续\n[B] 退出", &["A=继续", "B=退出"]);
    }

    #[test]
    fn talk_about_options_shows_none() {
        check("- ⚠️ Present [C] continue option after it", &[]);
        check("ONLY WHEN [C continue option] is selected", &[]);
        check("When [C] Continue is chosen, go", &[]);
        check("## Skip [S]", &[]);
        check("```markdown\n[A] Title\n```", &[]);
        check("## FAILURE MODES\n[A] Not asked", &[]);
    }

    #[test]
    fn holes_and_boxes_are_no_options() {
        check("The review found [X] issues across [Y] categories.", &[]);
        check("- [Actor] can [do] things\n- [Other] may", &[]);
        check("- [ ] One\n- [X] Two", &[]);
        check("[If Critical] \"Do it\"\n[If Pass] \"Fine\"", &[]);
        check("_Source: [URL]_\n[1](https://a.example)", &[]);
        check("Mark each task `[x]`. If it is done, go on", &[]);
        check("`- [x] [Review][Defer] <Title>`", &[]);
        check("Present it. If the user chose [K], include this", &[]);
        check("- **Update:** `done: [1]`, `chosen: '[it]'`", &[]);
        check("See [A](./a.md) and [[B]]", &[]);
        check("[1] https://a.example", &[]);
        check("- `[1]` → Load it\n- `[1, 2]` → Load more", &[]);
    }

    #[test]
    fn a_hostile_line_is_read_in_one_pass() {
        let page_text = "[A".repeat(500_000);
        check(&page_text, &[]);
    }
}
