//! Text for pictures: cleaned, measured without a font, wrapped and cut.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum number of characters read when wrapping; no box fits more, and a title may be a whole file.
const LOOKED_AT: usize = 600;

/// Size and style of type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    size: f64,
    kind: FaceKind,
}

#[derive(Debug, Clone, Copy)]
enum FaceKind {
    Regular,
    Semibold,
    Mono,
}

/// Title of a node.
pub(super) const TITLE: Face = Face { size: 13.0, kind: FaceKind::Semibold };
/// Ids of nodes and workflows.
pub(super) const CODE: Face = Face { size: 11.0, kind: FaceKind::Mono };
/// Agent names and edge labels.
pub(super) const SMALL: Face = Face { size: 11.0, kind: FaceKind::Regular };

impl Face {
    /// Estimates the width of a text in pixels, on the generous side: the reader's font is unknown.
    pub(super) fn width(self, text: &str) -> f64 {
        clusters(text).map(|cluster| self.cluster_width(cluster)).sum()
    }

    fn cluster_width(self, cluster: &str) -> f64 {
        let em = match cluster.chars().next() {
            Some(first) if first.is_ascii() => match self.kind {
                FaceKind::Mono => 0.62,
                FaceKind::Regular => ascii_em(first),
                FaceKind::Semibold => ascii_em(first) * 1.06,
            },
            Some(_) if is_wide(cluster) => 1.04,
            Some(first) if first.width() == Some(0) => 0.0,
            Some(_) => 0.64,
            None => 0.0,
        };
        em * self.size
    }
}

/// Returns the width of a character in a common grotesque, in em; close enough for Inter, SF, Segoe and Noto Sans.
fn ascii_em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '!' | '.' | ',' | ':' | ';' => 0.29,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '{' | '}' | '/' | '\\' | '-'
        | '"' | '`' => 0.39,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.91,
        'A'..='Z' | '&' | '<' | '>' | '=' | '+' | '~' | '#' | '_' => 0.69,
        _ => 0.585,
    }
}

fn is_wide(cluster: &str) -> bool {
    cluster.width() >= 2
}

/// Returns one line of printable text: whitespace becomes a single space, and characters that XML forbids or that
/// change the writing direction are removed.
pub(super) fn clean(text: &str) -> String {
    let printable = |c: &char| !matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}');
    let spaced: String =
        text.chars().filter(printable).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut line = String::with_capacity(spaced.len());
    for word in spaced.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Splits text into user-perceived characters: marks, joined emoji and flags stay together.
fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices();
        let (_, first) = chars.next()?;
        let mut last = first;
        let mut flag_halves = usize::from(is_flag_half(first));
        let mut end = rest.len();
        for (at, c) in chars {
            let pairs_up = is_flag_half(c) && flag_halves == 1;
            if !(pairs_up || extends(c) || last == '\u{200D}') {
                end = at;
                break;
            }
            flag_halves += usize::from(is_flag_half(c));
            last = c;
        }
        let (cluster, tail) = rest.split_at(end);
        rest = tail;
        Some(cluster)
    })
}

fn is_flag_half(c: char) -> bool {
    ('\u{1F1E6}'..='\u{1F1FF}').contains(&c)
}

fn extends(c: char) -> bool {
    c.width() == Some(0) || ('\u{1F3FB}'..='\u{1F3FF}').contains(&c)
}

/// Cuts a clean text to one line of at most `max` pixels.
pub(super) fn cut(text: &str, face: Face, max: f64) -> String {
    wrap(text, face, max, 1).pop().unwrap_or_default()
}

/// Wraps a clean text to at most `lines` lines of at most `max` pixels, about equally long; a longer text ends in `…`.
pub(super) fn wrap(text: &str, face: Face, max: f64, lines: usize) -> Vec<String> {
    let chunks = chunks(text);
    let widest = fill(&chunks, face, max);
    if widest.len() > lines {
        return cut_lines(widest, face, max, lines);
    }
    // Equal lines look better than one full line with a lone word below.
    let longest = chunks.iter().map(|chunk| face.width(chunk.trim_end())).fold(0.0, f64::max);
    let (mut low, mut high) = (longest.max(max / 3.0).min(max), max);
    for _ in 0..7 {
        let middle = (low + high) / 2.0;
        if fill(&chunks, face, middle).len() <= widest.len() { high = middle } else { low = middle }
    }
    fill(&chunks, face, high).iter().map(|line| line.trim_end().to_owned()).collect()
}

fn cut_lines(mut all: Vec<String>, face: Face, max: f64, lines: usize) -> Vec<String> {
    let overflow = all.split_off(lines.min(all.len())).concat();
    if let Some(last) = all.last_mut() {
        let room = max - face.width("…");
        let whole = format!("{last}{overflow}");
        let mut kept = String::new();
        let mut used = 0.0;
        for cluster in clusters(&whole) {
            used += face.cluster_width(cluster);
            if used > room {
                break;
            }
            kept.push_str(cluster);
        }
        *last = format!("{}…", kept.trim_end());
    }
    all.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Splits text into the pieces between which a line may break.
fn chunks(text: &str) -> Vec<String> {
    const NEVER_FIRST: &str = "、。，．！？：；）」』】》〉”’…·ー";
    let mut chunks: Vec<String> = Vec::new();
    let mut open = false;
    let mut taken = 0;
    for cluster in clusters(text) {
        let wide = is_wide(cluster);
        let stays = NEVER_FIRST.contains(cluster);
        match chunks.last_mut() {
            Some(chunk) if cluster == " " || stays || (open && !wide) => chunk.push_str(cluster),
            _ => chunks.push(cluster.to_owned()),
        }
        open = !wide && !stays && !matches!(cluster, " " | "-" | "/" | "_");
        taken += cluster.len();
        if taken > LOOKED_AT {
            chunks.push("…".to_owned());
            break;
        }
    }
    chunks
}

/// Fills lines greedily; they keep their trailing blanks so that a cut can continue from them.
fn fill(chunks: &[String], face: Face, max: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0.0;
    for chunk in chunks {
        let needed = face.width(chunk.trim_end());
        if used > 0.0 && used + needed > max {
            lines.push(String::new());
            used = 0.0;
        }
        if needed <= max {
            push_to_last(&mut lines, chunk);
            used += face.width(chunk);
            continue;
        }
        for cluster in clusters(chunk) {
            let step = face.cluster_width(cluster);
            if used > 0.0 && used + step > max && cluster != " " {
                lines.push(String::new());
                used = 0.0;
            }
            push_to_last(&mut lines, cluster);
            used += step;
        }
    }
    lines
}

fn push_to_last(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}
