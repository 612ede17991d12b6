//! How a run ended, what it made, and how to go on: the last lines of every run.

use std::path::Path;
use std::time::Duration;

use crewagent_core::event::{Phase, Reason};
use crewagent_core::run::usage::Usage;

use crate::outcome::is_limit;
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET, WARNING};

/// The end of a run, or of what one process did for it.
#[derive(Debug)]
pub(crate) struct Ending<'e> {
    pub(crate) phase: Phase,
    pub(crate) reason: Option<Reason>,
    /// Where it is; none when the workflow is complete.
    pub(crate) node: Option<&'e str>,
    /// What it took, in words.
    pub(crate) spent: String,
    /// The user's folder, in which the artifacts are.
    pub(crate) project: &'e Path,
    /// The files that were made, from the root of the project.
    pub(crate) artifacts: &'e [String],
    /// What to do next, and the command for it.
    pub(crate) next: (&'e str, Vec<String>),
}

/// The lines of an ending.
pub(crate) fn ending(ending: &Ending<'_>) -> String {
    let verdict = verdict(ending.phase, ending.reason);
    let place = ending.node.map(|node| format!(" at {}", paint::printable(node)));
    let place = paint::styled(NAME, place.unwrap_or_default());
    let mut text = format!("\n{verdict}{place}  {}\n", paint::styled(QUIET, &ending.spent));
    if !ending.artifacts.is_empty() {
        let title = format!("Artifacts ({})", ending.artifacts.len());
        text.push_str(&format!("\n{}\n", paint::styled(NAME, title)));
        for artifact in ending.artifacts {
            let path = ending.project.join(artifact);
            text.push_str(&format!("  {}\n", paint::printable(&path.display().to_string())));
        }
    }
    text.push_str(&next(ending.next.0, &ending.next.1));
    text
}

/// What to do next: a sentence, and commands to copy.
pub(crate) fn next(words: &str, commands: &[String]) -> String {
    let mut text = format!("\n{words}\n");
    for command in commands {
        text.push_str(&format!("  {}\n", paint::styled(ACCENT, paint::printable(command))));
    }
    text
}

/// The state a run is left in, in a word or two.
pub(crate) fn verdict(phase: Phase, reason: Option<Reason>) -> String {
    let (style, mark, words) = match (phase, reason) {
        (Phase::Completed, _) => (GOOD, "✓", "Completed"),
        (Phase::WaitingUser, Some(reason)) if is_limit(reason) => {
            (WARNING, "!", "Stopped by a limit")
        }
        (Phase::WaitingUser, _) => (ACCENT, "?", "Waiting for you"),
        (Phase::Paused, Some(Reason::Stopped)) => (WARNING, "‖", "Stopped"),
        (Phase::Paused, _) => (WARNING, "‖", "Paused"),
        (Phase::Failed, _) => (ERROR, "✗", "Failed"),
        (Phase::Running, _) => (ACCENT, "●", "Running"),
    };
    paint::styled(style, format_args!("{mark} {words}"))
}

/// `12 turns, 34,567 tokens, 1.2 s`
pub(crate) fn spent(turns: u64, usage: &Usage, elapsed: Option<Duration>) -> String {
    let mut parts = vec![paint::counted_u64(turns, "turn")];
    if usage.tokens() > 0 {
        parts.push(paint::counted_u64(usage.tokens(), "token"));
    }
    if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
        parts.push(format!("{cost:.4} spent"));
    }
    parts.extend(elapsed.map(duration));
    parts.join(", ")
}

/// `0.1 s`, `12 s`, `3 min 20 s`, `2 h 5 min`
pub(crate) fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", elapsed.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
