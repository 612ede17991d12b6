//! The position of each hunk: the one match on the strictest rung of the ladder that has any, after the previous hunk.

use std::cell::Cell;

use super::hunk::{Anchor, PatchHunk, PatchHunks};
use super::ladder::{Index, Ladder, Rung};
use super::lines::Lines;
use super::refused::{self, PatchSubject};
use crate::refusal::Refusal;

/// Maximum number of comparisons of a patch. A usual patch needs a few for each hunk; only a large file of equal lines
/// with many hunks comes near.
const MAX_EFFORT: usize = 32 * 1024 * 1024;
/// Number of positions to search for: one more than a refusal lists.
const ENOUGH: usize = refused::MAX_LISTED + 1;

/// Returns the index of the line at which each hunk begins.
pub(super) fn place(lines: &Lines<'_>, hunks: &PatchHunks) -> Result<Vec<usize>, Refusal> {
    let mut search = HunkSearch {
        lines,
        ladder: Ladder::new(lines),
        effort: Cell::new(MAX_EFFORT),
        floor: 0,
        drift: 0,
    };
    let total = hunks.count();
    let subjects = (1..).map(|number| PatchSubject::Hunk { number, total });
    hunks.0.iter().zip(subjects).map(|(hunk, subject)| search.place(hunk, subject)).collect()
}

struct HunkSearch<'t> {
    lines: &'t Lines<'t>,
    ladder: Ladder<'t>,
    effort: Cell<usize>,
    /// First line at which a hunk may begin: those above are already changed.
    floor: usize,
    /// Distance of the last numbered hunk from its number.
    drift: i64,
}

/// Lines at which the `@@` lines of a hunk let it begin.
enum HunkScope<'h> {
    Anywhere,
    /// The hunk goes to the first fit at or after one of these lines.
    After(Vec<usize>),
    /// This `@@` line is not in the file, so the hunk must fit in exactly one place.
    Lost(&'h str),
}

impl<'t> HunkSearch<'t> {
    fn place(&mut self, hunk: &PatchHunk, subject: PatchSubject) -> Result<usize, Refusal> {
        let old = hunk.old();
        let start = if old.is_empty() {
            self.insertion(&hunk.anchor, subject)?
        } else {
            let scope = self.scope(&hunk.anchor)?;
            match self.window(hunk, &old, &scope, subject)? {
                Some(start) => start,
                None => {
                    return Err(self
                        .missing(hunk, &old, &scope, subject)
                        .unwrap_or_else(|error| error));
                }
            }
        };
        if let Some(index) = hunk.anchor.index {
            self.drift = start as i64 - index as i64;
        }
        self.floor = self.floor.max(hunk.reach(start));
        Ok(start)
    }

    /// Finds the position of lines in the file.
    fn window(
        &self,
        hunk: &PatchHunk,
        old: &[&str],
        scope: &HunkScope<'_>,
        subject: PatchSubject,
    ) -> Result<Option<usize>, Refusal> {
        let without_tail = old.len() - hunk.blank_tail().min(old.len() - 1);
        for old in [old, &old[..without_tail]] {
            if hunk.anchor.at_end
                && let Some(start) = self.at_end(old)
            {
                return Ok(Some(start));
            }
            for rung in Rung::ALL {
                let index = self.ladder.index(rung);
                let Some(pattern) = index.pattern(old) else { continue };
                let found = match scope {
                    HunkScope::Anywhere | HunkScope::Lost(_) => {
                        self.matches(index, &pattern, self.floor, ENOUGH)?
                    }
                    HunkScope::After(starts) => self.first_matches(index, &pattern, starts)?,
                };
                match found.as_slice() {
                    [] => {}
                    [one] => return Ok(Some(*one)),
                    _ => match self.chosen(index, &pattern, &hunk.anchor)? {
                        Some(start) => return Ok(Some(start)),
                        None => return Err(refused::ambiguous(subject, &found)),
                    },
                }
            }
        }
        Ok(None)
    }

    /// Returns the position at the end of the file, if these are its last lines.
    fn at_end(&self, old: &[&str]) -> Option<usize> {
        let start =
            self.lines.all.len().checked_sub(old.len()).filter(|start| *start >= self.floor)?;
        let fits = |rung: Rung| {
            let index = self.ladder.index(rung);
            index.pattern(old).is_some_and(|pattern| index.matches(&pattern, start))
        };
        Rung::ALL.into_iter().any(fits).then_some(start)
    }

    /// Selects among several positions by the numbers, as they are or as wrong as those of the previous hunk; else by
    /// the heading after them.
    fn chosen(
        &self,
        index: &Index<'_>,
        pattern: &[u32],
        anchor: &Anchor,
    ) -> Result<Option<usize>, Refusal> {
        let fits = |start: &usize| *start >= self.floor && index.matches(pattern, *start);
        if let Some(number) = anchor.index {
            let drifted = usize::try_from(number as i64 + self.drift).ok();
            if let Some(start) = [Some(number), drifted].into_iter().flatten().find(fits) {
                return Ok(Some(start));
            }
        }
        let Some(heading) = &anchor.heading else { return Ok(None) };
        let starts = self.after_floor(self.occurrences(heading)?);
        let found = self.first_matches(index, pattern, &starts)?;
        Ok(found.first().copied().filter(|_| found.len() == 1))
    }

    /// Finds the position of a hunk that only adds lines.
    fn insertion(&self, anchor: &Anchor, subject: PatchSubject) -> Result<usize, Refusal> {
        let end = self.lines.all.len();
        let at = if anchor.at_end {
            end
        } else if let Some(context) = anchor.contexts.last() {
            let (places, lost) = self.follow(&anchor.contexts)?;
            let after: Vec<_> =
                places.iter().map(|place| place + 1).filter(|at| *at >= self.floor).collect();
            let number = anchor.index.filter(|index| after.contains(index));
            match (after.as_slice(), places.first()) {
                ([one], _) => *one,
                ([], None) => {
                    let lost = lost.unwrap_or(context);
                    return Err(refused::lost(
                        subject,
                        lost,
                        self.lines,
                        self.ladder.index(Rung::Punctuation),
                    ));
                }
                ([], Some(first)) => return Err(refused::out_of_order(subject, *first)),
                _ => number.ok_or_else(|| refused::ambiguous(subject, &places))?,
            }
        } else {
            anchor.index.unwrap_or(end)
        };
        if at > end {
            return Err(refused::past_end(subject, at, end));
        }
        if at < self.floor {
            return Err(refused::out_of_order(subject, at));
        }
        Ok(at)
    }

    fn scope<'h>(&self, anchor: &'h Anchor) -> Result<HunkScope<'h>, Refusal> {
        if anchor.contexts.is_empty() {
            return Ok(HunkScope::Anywhere);
        }
        let (places, lost) = self.follow(&anchor.contexts)?;
        Ok(lost.map_or_else(|| HunkScope::After(self.after_floor(places)), HunkScope::Lost))
    }

    /// Follows `@@` lines, each after the one before it. Returns the positions of the last one, or the one that is
    /// missing.
    fn follow<'h>(&self, contexts: &'h [String]) -> Result<(Vec<usize>, Option<&'h str>), Refusal> {
        let mut places: Option<Vec<usize>> = None;
        for context in contexts {
            let found = self.occurrences(context)?;
            let found = match places {
                None => found,
                Some(before) => followers(&before, &found),
            };
            if found.is_empty() {
                return Ok((found, Some(context)));
            }
            places = Some(found);
        }
        Ok((places.unwrap_or_default(), None))
    }

    /// Finds a line by the ladder; as a last resort also as the beginning of a line.
    fn occurrences(&self, line: &str) -> Result<Vec<usize>, Refusal> {
        for rung in Rung::ALL {
            let places = self.ladder.index(rung).places(line);
            if !places.is_empty() {
                self.spend(places.len())?;
                return Ok(places.to_vec());
            }
        }
        self.spend(self.lines.all.len())?;
        let begins = |text: &str| text.trim_start().starts_with(line.trim());
        let all = self.lines.all.iter().enumerate();
        Ok(all.filter(|(_, line)| begins(line.text)).map(|(at, _)| at).collect())
    }

    /// Keeps the positions from the floor on, and the floor itself for all above it: hunks of one function often repeat
    /// its name.
    fn after_floor(&self, mut places: Vec<usize>) -> Vec<usize> {
        let above = places.partition_point(|place| *place < self.floor);
        if above > 0 {
            places.splice(..above, [self.floor]);
        }
        places
    }

    /// Returns the first positions of a pattern, from a line on.
    fn matches(
        &self,
        index: &Index<'_>,
        pattern: &[u32],
        from: usize,
        most: usize,
    ) -> Result<Vec<usize>, Refusal> {
        let rarest =
            pattern.iter().enumerate().min_by_key(|(_, number)| index.places_of(**number).len());
        let Some((offset, number)) = rarest else { return Ok(Vec::new()) };
        let places = index.places_of(*number);
        let places = &places[places.partition_point(|place| *place < from + offset)..];
        let mut found = Vec::new();
        for place in places {
            self.spend(1 + pattern.len() / 8)?;
            let start = place - offset;
            if index.matches(pattern, start) {
                found.push(start);
                if found.len() >= most {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Returns the first position from each of these lines on, each once.
    fn first_matches(
        &self,
        index: &Index<'_>,
        pattern: &[u32],
        starts: &[usize],
    ) -> Result<Vec<usize>, Refusal> {
        let mut found: Vec<usize> = Vec::new();
        for start in starts {
            if found.last().is_some_and(|last| last >= start) {
                continue;
            }
            match self.matches(index, pattern, *start, 1)?.first() {
                Some(place) if found.len() < ENOUGH => found.push(*place),
                _ => break,
            }
        }
        Ok(found)
    }

    /// Returns the first position of lines on any rung, from a line on.
    fn anywhere(&self, old: &[&str], from: usize) -> Result<Option<usize>, Refusal> {
        for rung in Rung::ALL {
            let index = self.ladder.index(rung);
            let Some(pattern) = index.pattern(old) else { continue };
            if let Some(found) = self.matches(index, &pattern, from, 1)?.first() {
                return Ok(Some(*found));
            }
        }
        Ok(None)
    }

    /// Explains why a hunk has no position.
    fn missing(
        &self,
        hunk: &PatchHunk,
        old: &[&str],
        scope: &HunkScope<'_>,
        subject: PatchSubject,
    ) -> Result<Refusal, Refusal> {
        if let Some(start) = self.anywhere(old, self.floor)? {
            // Without a scope it would have been found.
            let context = hunk.anchor.contexts.last().map_or("", String::as_str);
            return Ok(refused::elsewhere(subject, start, context));
        }
        if let Some(start) = self.anywhere(old, 0)? {
            return Ok(refused::out_of_order(subject, start));
        }
        let index = self.ladder.index(Rung::Exact);
        let result = hunk.new_lines();
        if hunk.adds()
            && refused::is_telling(&result)
            && let Some(pattern) = index.pattern(&result)
            && let [start] = self.matches(index, &pattern, 0, 2)?.as_slice()
        {
            return Ok(refused::already(subject, *start));
        }
        let lost = match scope {
            HunkScope::Lost(line) => Some(*line),
            HunkScope::Anywhere | HunkScope::After(_) => None,
        };
        Ok(refused::nowhere(subject, self.lines, self.ladder.index(Rung::Punctuation), old, lost))
    }

    fn spend(&self, cost: usize) -> Result<(), Refusal> {
        let left = self.effort.get().checked_sub(cost).ok_or_else(refused::too_much)?;
        self.effort.set(left);
        Ok(())
    }
}

/// Returns, for each of `before`, the first of `found` after it, each once.
fn followers(before: &[usize], found: &[usize]) -> Vec<usize> {
    let next = |place: &usize| found.get(found.partition_point(|at| at <= place)).copied();
    let mut places: Vec<_> = before.iter().filter_map(next).collect();
    places.dedup();
    places
}
