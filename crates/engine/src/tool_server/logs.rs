//! The log of a tool server: its last lines, each capped, and their total number.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crewagent_core::tool::server_tool::cleaned;

/// Number of lines kept.
const LINES: usize = 50;
/// Limit of a line in bytes.
const LINE_BYTES: usize = 400;

/// The log of one server.
#[derive(Debug, Default)]
pub struct Logs(Mutex<LogBuffer>);

#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    /// Number of lines since the server started.
    count: u64,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Severity; `stderr` for lines from there.
    pub level: String,
    /// Text, cleaned and capped.
    pub text: String,
}

impl Logs {
    /// Appends a line.
    pub fn push(&self, level: &str, text: &str) {
        let text = cleaned(text, LINE_BYTES).replace('\n', " ");
        if text.is_empty() {
            return;
        }
        let mut kept = self.lock();
        if kept.lines.len() == LINES {
            kept.lines.pop_front();
        }
        kept.lines.push_back(LogLine { level: cleaned(level, 32), text });
        kept.count += 1;
    }

    /// Returns the last line.
    pub fn last(&self) -> Option<LogLine> {
        self.lock().lines.back().cloned()
    }

    /// Returns the lines after the first `seen` and updates `seen`. One line stands for those that were dropped.
    pub fn after(&self, seen: &mut u64) -> Vec<LogLine> {
        let kept = self.lock();
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

    fn lock(&self) -> MutexGuard<'_, LogBuffer> {
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
