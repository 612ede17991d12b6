//! Limits that stop a run. Each counts from the user's last input.

use std::time::Duration;

use jiff::Timestamp;

use crate::event::Reason;
use crate::settings::Limits;
use crate::usage::Usage;

/// Usage since the user's last input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    since: Timestamp,
    turns: u64,
    /// Calls of workflows.
    calls: u64,
    usage: Usage,
}

impl Allowance {
    /// Restarts all limits.
    pub(super) fn renew(&mut self, now: Timestamp) {
        *self = Self { since: now, ..Self::default() };
    }

    pub(super) fn spend(&mut self, usage: Usage) {
        self.turns += 1;
        self.usage += usage;
    }

    /// Counts a call of a workflow. Calls are limited like turns, because they can follow each other without one.
    pub(super) fn call(&mut self) {
        self.calls += 1;
    }

    /// Returns the remaining time.
    pub(super) fn time_left(&self, limits: &Limits, now: Timestamp) -> Option<Duration> {
        let spent = Duration::try_from(now.duration_since(self.since)).unwrap_or_default();
        limits.seconds.map(|limit| Duration::from_secs(limit).saturating_sub(spent))
    }

    /// Returns the message for an expired time limit.
    pub(super) fn time_over(&self, now: Timestamp) -> String {
        format!("{} seconds have passed since your last input.", self.seconds(now))
    }

    fn seconds(&self, now: Timestamp) -> u64 {
        u64::try_from(now.duration_since(self.since).as_secs()).unwrap_or(0)
    }

    /// Returns the limit that is reached, with its message.
    pub(super) fn exceeded(&self, limits: &Limits, now: Timestamp) -> Option<(Reason, String)> {
        if self.turns >= limits.turns {
            let times = if self.turns == 1 { "once" } else { &format!("{} times", self.turns) };
            let message = format!("The model was asked {times} since your last input.");
            return Some((Reason::LimitTurns, message));
        }
        if self.calls > limits.turns {
            let message = format!("{} workflows were called since your last input.", self.calls);
            return Some((Reason::LimitTurns, message));
        }
        if limits.seconds.is_some_and(|limit| self.seconds(now) >= limit) {
            return Some((Reason::LimitTime, self.time_over(now)));
        }
        let tokens = self.usage.tokens();
        if limits.tokens.is_some_and(|limit| tokens >= limit) {
            let message = format!("{tokens} tokens were used since your last input.");
            return Some((Reason::LimitTokens, message));
        }
        let cost = self.usage.cost.unwrap_or(0.0);
        if limits.cost.is_some_and(|limit| cost >= limit) {
            let message = format!("${cost:.4} was spent since your last input.");
            return Some((Reason::LimitCost, message));
        }
        None
    }
}

/// Returns true if a run that waits for this reason may resume without input of the user.
pub(super) fn is_limit(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::LimitTurns
            | Reason::LimitTime
            | Reason::LimitTokens
            | Reason::LimitCost
            | Reason::LimitWindow
    )
}
