//! The lines of a file that are most similar to some lines that are not in it, at a bounded cost.

use std::collections::BTreeMap;

use crewagent_format::wording::cut;
use serde_json::{Value as Json, json};

use super::ladder::Index;
use super::lines::Lines;

/// Maximum number of wanted lines that are compared.
const MAX_WANTED: usize = 40;
/// Maximum number of positions of a line that helps to find the position.
const MAX_PLACES: usize = 64;
/// Maximum number of positions that are compared line by line.
const MAX_CANDIDATES: usize = 6;
/// Maximum compared length of a line.
const MAX_WIDTH: usize = 256;
/// Maximum size of the part of the file that is compared with one line.
const MAX_SCANNED: usize = 2 * 1024 * 1024;
/// Minimum similarity, of 1000; less is no help.
const MIN_LIKENESS: u32 = 300;
/// Maximum number of lines that are shown; the next constant bounds their characters.
const MAX_SHOWN: usize = 16;
const MAX_SHOWN_WIDTH: usize = 500;

/// Returns the index of the line at which the file is most similar to the wanted lines.
pub(super) fn nearest(lines: &Lines<'_>, index: &Index<'_>, wanted: &[&str]) -> Option<usize> {
    let wanted = &wanted[..wanted.len().min(MAX_WANTED)];
    let mut candidates = voted(index, wanted);
    candidates.extend(alike(lines, wanted));
    let judged = candidates.into_iter().map(|start| (likeness(lines, wanted, start), start));
    let best = judged.max_by_key(|(likeness, start)| (*likeness, std::cmp::Reverse(*start)));
    best.filter(|(likeness, _)| *likeness >= MIN_LIKENESS).map(|(_, start)| start)
}

/// Returns the lines around a position, for the details of a refusal.
pub(super) fn excerpt(lines: &Lines<'_>, start: usize, count: usize) -> Json {
    let first = start.saturating_sub(2);
    let end =
        start.saturating_add(count).saturating_add(2).min(lines.all.len()).min(first + MAX_SHOWN);
    let shown: Vec<_> =
        lines.all[first..end].iter().map(|line| cut(line.text, MAX_SHOWN_WIDTH)).collect();
    json!({ "startLine": first + 1, "endLine": end, "lines": shown })
}

/// Returns the positions with the most votes: each wanted line in the file votes for the position of the first one.
fn voted(index: &Index<'_>, wanted: &[&str]) -> Vec<usize> {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for (offset, line) in wanted.iter().enumerate() {
        let places = index.places(line);
        if places.len() > MAX_PLACES {
            continue;
        }
        for place in places {
            *votes.entry(place.saturating_sub(offset)).or_default() +=
                line.trim().len().min(MAX_WIDTH);
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    votes.truncate(MAX_CANDIDATES / 2);
    votes.into_iter().map(|(start, _)| start).collect()
}

/// Returns the positions of the lines that are most similar to the longest wanted ones.
fn alike(lines: &Lines<'_>, wanted: &[&str]) -> Vec<usize> {
    let mut longest: Vec<(usize, &str)> = wanted.iter().copied().enumerate().collect();
    longest.sort_by_key(|(_, line)| std::cmp::Reverse(line.trim().len()));
    longest.truncate(MAX_CANDIDATES / 2);
    let best = |(offset, line): (usize, &str)| {
        let mut pairs = BytePairs::of(line);
        let mut scanned = 0;
        let mut best = (0, 0);
        for (at, line) in lines.all.iter().enumerate() {
            scanned += line.text.len().min(MAX_WIDTH) + 1;
            if scanned > MAX_SCANNED {
                break;
            }
            let likeness = pairs.likeness(line.text);
            if likeness > best.0 {
                best = (likeness, at);
            }
        }
        (best.0 > 0).then(|| best.1.saturating_sub(offset))
    };
    longest.into_iter().filter_map(best).collect()
}

/// Returns the similarity of the wanted lines and those from `start` on, of 1000. Long lines count more.
fn likeness(lines: &Lines<'_>, wanted: &[&str], start: usize) -> u32 {
    let (mut sum, mut weights) = (0, 0);
    for (offset, line) in wanted.iter().enumerate() {
        let weight = line.trim().len().min(MAX_WIDTH) as u32;
        let there = lines.text(start + offset).unwrap_or_default();
        sum += weight
            * if there.trim() == line.trim() { 1000 } else { BytePairs::of(line).likeness(there) };
        weights += weight;
    }
    sum / weights.max(1)
}

/// Pairs of adjacent bytes of a line, without blanks around it and without case.
struct BytePairs {
    counts: Vec<u16>,
    total: u32,
    taken: Vec<usize>,
}

impl BytePairs {
    fn of(line: &str) -> Self {
        let mut counts = vec![0; 1 << 16];
        let mut total = 0;
        for pair in pairs(line) {
            counts[pair] += 1;
            total += 1;
        }
        Self { counts, total, taken: Vec::new() }
    }

    /// Returns the share of this line that is in the other, of 1000; a little less if the other has much else.
    fn likeness(&mut self, line: &str) -> u32 {
        let mut others = 0;
        for pair in pairs(line) {
            others += 1;
            if self.counts[pair] > 0 {
                self.counts[pair] -= 1;
                self.taken.push(pair);
            }
        }
        let common = self.taken.len() as u32;
        for pair in self.taken.drain(..) {
            self.counts[pair] += 1;
        }
        let contained = 1000 * common / self.total.max(1);
        let shared = 2000 * common / (self.total + others).max(1);
        (3 * contained + shared) / 4
    }
}

fn pairs(line: &str) -> impl Iterator<Item = usize> {
    let line = line.trim().as_bytes();
    let line = &line[..line.len().min(MAX_WIDTH)];
    let byte = |byte: &u8| usize::from(byte.to_ascii_lowercase());
    line.iter().zip(line.iter().skip(1)).map(move |(first, second)| byte(first) << 8 | byte(second))
}
