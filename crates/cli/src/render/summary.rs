//! The last lines of every run: its result, its artifacts, and how to continue.

use std::path::Path;
use std::time::Duration;

use crewagent_core::event::{Phase, Reason};
use crewagent_core::settings::Limits;
use crewagent_core::usage::Usage;

use crate::language::{say, text};
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET, WARNING};

const TURNS: (&str, &str) = ("turn", "轮");
const TOKENS: (&str, &str) = ("token", "词元");

/// The end of a run, or of the part that one process drove.
#[derive(Debug)]
pub(crate) struct RunEnding<'e> {
    pub(crate) phase: Phase,
    pub(crate) reason: Option<Reason>,
    /// The current node; none when the workflow is complete.
    pub(crate) node: Option<&'e str>,
    /// The formatted usage.
    pub(crate) spent: String,
    /// The user's folder, which contains the artifacts.
    pub(crate) project: &'e Path,
    /// The created files, relative to the project.
    pub(crate) artifacts: &'e [String],
    /// A hint and the commands for it.
    pub(crate) next: (&'e str, Vec<String>),
}

/// Formats an ending.
pub(crate) fn ending(ending: &RunEnding<'_>) -> String {
    let verdict = verdict(ending.phase, ending.reason);
    let place = ending.node.map(|node| say!(" at {}", "：{}", paint::printable(node)));
    let place = paint::styled(NAME, place.unwrap_or_default());
    let mut text = format!("\n{verdict}{place}  {}\n", paint::styled(QUIET, &ending.spent));
    if !ending.artifacts.is_empty() {
        let title = say!("Artifacts ({})", "产物（{}）", ending.artifacts.len());
        text.push_str(&format!("\n{}\n", paint::styled(NAME, title)));
        for artifact in ending.artifacts {
            let path = ending.project.join(artifact);
            text.push_str(&format!("  {}\n", paint::printable(&path.display().to_string())));
        }
    }
    text.push_str(&next(ending.next.0, &ending.next.1));
    text
}

/// Formats the next step: a sentence, and commands to copy.
pub(crate) fn next(words: &str, commands: &[String]) -> String {
    let mut text = format!("\n{words}\n");
    for command in commands {
        text.push_str(&format!("  {}\n", paint::styled(ACCENT, paint::printable(command))));
    }
    text
}

/// Returns the state of a run in a word or two.
pub(crate) fn verdict(phase: Phase, reason: Option<Reason>) -> String {
    let (style, mark, words) = match (phase, reason) {
        (Phase::Completed, _) => (GOOD, "✓", text!("Completed", "已完成")),
        (Phase::WaitingUser, Some(Reason::LimitTurns)) => {
            (WARNING, "!", text!("Stopped by the limit of turns", "达到轮数上限，已停下"))
        }
        (Phase::WaitingUser, Some(Reason::LimitTime)) => {
            (WARNING, "!", text!("Stopped by the limit of time", "达到时间上限，已停下"))
        }
        (Phase::WaitingUser, Some(Reason::LimitTokens)) => {
            (WARNING, "!", text!("Stopped by the limit of tokens", "达到词元上限，已停下"))
        }
        (Phase::WaitingUser, Some(Reason::LimitCost)) => {
            (WARNING, "!", text!("Stopped by the limit of cost", "达到费用上限，已停下"))
        }
        (Phase::WaitingUser, Some(Reason::LimitWindow)) => {
            (WARNING, "!", text!("Stopped by the model's window", "超出模型的上下文窗口，已停下"))
        }
        (Phase::WaitingUser, Some(Reason::LimitNode)) => {
            (WARNING, "!", text!("Stopped by the limit of a node", "达到节点上限，已停下"))
        }
        (Phase::WaitingUser, _) => (ACCENT, "?", text!("Waiting for you", "正在等你")),
        (Phase::Paused, Some(Reason::Stopped)) => (WARNING, "‖", text!("Stopped", "已停止")),
        (Phase::Paused, _) => (WARNING, "‖", text!("Paused", "已暂停")),
        (Phase::Failed, _) => (ERROR, "✗", text!("Failed", "失败")),
        (Phase::Running, _) => (ACCENT, "●", text!("Running", "运行中")),
    };
    paint::styled(style, format_args!("{mark} {words}"))
}

/// Formats the reason of a rest. Its message is recorded in English, so in Chinese the reason is said before it.
pub(crate) fn why(reason: Option<Reason>, message: &str) -> String {
    let chinese = match reason {
        Some(Reason::Loop) => "模型在原地打转。",
        Some(Reason::Stalled) => "模型没有推进工作。",
        Some(Reason::EmptyReply) => "模型的回复是空的。",
        Some(Reason::Call) => "无法进入或离开子流程。",
        Some(Reason::LimitTurns) => "轮数已达上限。",
        Some(Reason::LimitTime) => "时间已达上限。",
        Some(Reason::LimitTokens) => "词元已达上限。",
        Some(Reason::LimitCost) => "费用已达上限。",
        Some(Reason::LimitWindow) => "内容超出模型的上下文窗口。",
        Some(Reason::LimitNode) => "已达到步骤设定的上限。",
        Some(Reason::Model) => "模型或与它的连接出错。",
        Some(Reason::Disk) => "读写磁盘出错。",
        Some(Reason::Internal) => "程序内部出错。",
        Some(Reason::StopPoint | Reason::Question | Reason::Paused | Reason::Stopped) | None => "",
    };
    text!(message.to_owned(), format!("{chinese}{message}"))
}

/// Names the limit that stopped a run, and how to raise it.
pub(crate) fn room(reason: Reason, limits: &Limits) -> Option<String> {
    let (limit, flag) = match reason {
        Reason::LimitTurns => (paint::counted_u64(limits.turns, TURNS), "--max-turns N"),
        Reason::LimitTime => {
            (duration(Duration::from_secs(limits.seconds.unwrap_or(0))), "--timeout TIME")
        }
        Reason::LimitTokens => {
            (paint::counted_u64(limits.tokens.unwrap_or(0), TOKENS), "--max-tokens N")
        }
        Reason::LimitCost => (format!("${}", limits.cost.unwrap_or(0.0)), "--max-cost AMOUNT"),
        Reason::LimitWindow => {
            return Some(
                text!(
                    "Go on with a model that has a larger window (--model NAME):",
                    "请换用上下文窗口更大的模型继续（--model NAME）：",
                )
                .to_owned(),
            );
        }
        Reason::LimitNode => {
            return Some(
                text!(
                    "The step sets this limit. Go on with the same again:",
                    "这个上限由步骤设定。再给同样的额度继续：",
                )
                .to_owned(),
            );
        }
        Reason::StopPoint
        | Reason::Question
        | Reason::Loop
        | Reason::Stalled
        | Reason::Call
        | Reason::EmptyReply
        | Reason::Paused
        | Reason::Stopped
        | Reason::Model
        | Reason::Disk
        | Reason::Internal => return None,
    };
    Some(say!(
        "The limit is {limit} for one input. Go on with the same again, or with another one ({flag}):",
        "一次输入的上限是 {limit}。再给同样的额度继续，或改用别的上限（{flag}）："
    ))
}

/// Formats usage as `12 turns, 34,567 tokens (30,000 cached), $0.0123, 41 s`; with `~` for an estimate.
pub(crate) fn spent(turns: u64, usage: &Usage, elapsed: Option<Duration>) -> String {
    let about = if usage.estimated { "~" } else { "" };
    let mut parts = vec![paint::counted_u64(turns, TURNS)];
    if usage.tokens() > 0 {
        let tokens = paint::counted_u64(usage.tokens(), TOKENS);
        let cached = match usage.cached_tokens {
            0 => String::new(),
            cached => say!(" ({} cached)", "（其中缓存 {}）", number(cached)),
        };
        parts.push(format!("{about}{tokens}{cached}"));
    }
    if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
        parts.push(format!("{about}{}", money(cost)));
    }
    parts.extend(elapsed.map(duration));
    parts.join(text!(", ", "，"))
}

/// Formats an amount as `$12.34` or `$0.0123`.
pub(crate) fn money(cost: f64) -> String {
    match cost {
        _ if cost >= 1.0 => format!("${cost:.2}"),
        _ if cost >= 0.0001 => format!("${cost:.4}"),
        _ if cost > 0.0 => "<$0.0001".to_owned(),
        _ => "$0".to_owned(),
    }
}

/// Formats a number as `30,000`.
pub(crate) fn number(number: u64) -> String {
    paint::grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Formats a duration as `0.1 s`, `12 s`, `3 min 20 s` or `2 h 5 min`.
pub(crate) fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..10 => say!("{:.1} s", "{:.1} 秒", elapsed.as_secs_f64()),
        10..60 => say!("{seconds} s", "{seconds} 秒"),
        60..3600 => say!("{} min {} s", "{} 分 {} 秒", seconds / 60, seconds % 60),
        _ => say!("{} h {} min", "{} 小时 {} 分", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_fits_one_line() {
        let usage = Usage {
            input_tokens: 34_000,
            output_tokens: 567,
            cached_tokens: 30_000,
            reasoning_tokens: 100,
            cost: Some(0.0123),
            ..Usage::default()
        };
        let time = Some(Duration::from_secs(41));
        assert_eq!(
            spent(12, &usage, time),
            "12 turns, 34,567 tokens (30,000 cached), $0.0123, 41 s"
        );
        let about = Usage { estimated: true, cached_tokens: 0, ..usage };
        assert_eq!(spent(1, &about, None), "1 turn, ~34,567 tokens, ~$0.0123");
        assert_eq!(spent(0, &Usage::default(), None), "0 turns");
    }

    #[test]
    fn money_is_readable_whatever_the_amount() {
        for (cost, expected) in [
            (0.0, "$0"),
            (0.000_01, "<$0.0001"),
            (0.0123, "$0.0123"),
            (0.5, "$0.5000"),
            (1.0, "$1.00"),
            (1234.567, "$1234.57"),
        ] {
            assert_eq!(money(cost), expected);
        }
    }

    #[test]
    fn a_limit_is_named_with_what_gives_more_room() {
        let limits = Limits { turns: 2, seconds: Some(90), tokens: Some(1_000), cost: Some(0.05) };
        for (reason, limit, flag) in [
            (Reason::LimitTurns, "2 turns", "--max-turns N"),
            (Reason::LimitTime, "1 min 30 s", "--timeout TIME"),
            (Reason::LimitTokens, "1,000 tokens", "--max-tokens N"),
            (Reason::LimitCost, "$0.05", "--max-cost AMOUNT"),
        ] {
            let words = room(reason, &limits).unwrap();
            assert!(words.contains(limit) && words.contains(flag), "{words}");
        }
        assert!(room(Reason::LimitNode, &limits).unwrap().contains("The step sets this limit."));
        assert!(room(Reason::LimitWindow, &limits).unwrap().contains("--model"));
        assert_eq!(room(Reason::Question, &limits), None);
    }
}
