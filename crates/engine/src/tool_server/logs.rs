//! What a server logs: the last lines, each short, and how many there were.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crewagent_core::tool::served::cleaned;

/// Lines that are kept; older ones are forgotten.
const LINES: usize = 50;
/// The longest line, in bytes.
const LINE_BYTES: usize = 400;

/// The log of one server.
#[derive(Debug, Default)]
pub struct Logs(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    /// How many there were since it started.
    count: u64,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How grave it is; `stderr` for what it wrote there.
    pub level: String,
    /// What it wrote, cleaned and capped.
    pub text: String,
}

impl Logs {
    /// Takes a line.
    pub fn push(&self, level: &str, text: &str) {
        let text = cleaned(text, LINE_BYTES).replace('\n', " ");
        if text.is_empty() {
            return;
        }
        let mut kept = self.kept();
        if kept.lines.len() == LINES {
            kept.lines.pop_front();
        }
        kept.lines.push_back(LogLine { level: cleaned(level, 32), text });
        kept.count += 1;
    }

    /// The last line.
    pub fn last(&self) -> Option<LogLine> {
        self.kept().lines.back().cloned()
    }

    /// The lines after the first `seen`, which counts them. What was forgotten is told as one line.
    pub fn after(&self, seen: &mut u64) -> Vec<LogLine> {
        let kept = self.kept();
        let news = kept.count.saturating_sub(*seen);
        *seen = kept.count;
        let here = usize::try_from(news).unwrap_or(usize::MAX).min(kept.lines.len());
        let mut lines = Vec::with_capacity(here + 1);
        if let Some(lost) = news.checked_sub(here as u64).filter(|lost| *lost > 0) {
            let text = format!("{lost} earlier lines were left out");
            lines.push(LogLine { level: "notice".to_owned(), text });
        }
        lines.extend(kept.lines.iter().skip(kept.lines.len() - here).cloned());
        lines
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_the_last_lines_and_a_count() {
        let logs = Logs::default();
        let mut seen = 0;
        logs.push("info", "one\u{1b}[2J\ntwo");
        assert_eq!(logs.after(&mut seen)[0].text, "one[2J two");
        assert!(logs.after(&mut seen).is_empty());
        for n in 0..1000 {
            logs.push("stderr", &format!("{n}{}", "x".repeat(5000)));
        }
        let lines = logs.after(&mut seen);
        assert_eq!(lines.len(), LINES + 1);
        assert_eq!(lines[0].text, "950 earlier lines were left out");
        assert!(lines[LINES].text.starts_with("999x"));
        assert!(lines.iter().all(|line| line.text.len() <= LINE_BYTES + 3));
        assert!(logs.after(&mut seen).is_empty());
    }
}
