//! Limits that stop a run. Each counts from the user's last input; those of a node also from entering it.

use std::time::Duration;

use crewagent_format::package::step::StepLimits;
use jiff::Timestamp;

use super::Machine;
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

    /// Returns the time that remains of this many seconds.
    fn time_left(&self, seconds: Option<u64>, now: Timestamp) -> Option<Duration> {
        let spent = Duration::try_from(now.duration_since(self.since)).unwrap_or_default();
        seconds.map(|limit| Duration::from_secs(limit).saturating_sub(spent))
    }

    /// Returns the message for an expired time limit.
    fn time_over(&self, now: Timestamp) -> String {
        format!("{} seconds have passed since your last input.", self.seconds(now))
    }

    fn seconds(&self, now: Timestamp) -> u64 {
        u64::try_from(now.duration_since(self.since).as_secs()).unwrap_or(0)
    }

    /// Returns the limit that is reached, with its message.
    fn exceeded(&self, limits: &Limits, now: Timestamp) -> Option<(Reason, String)> {
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

/// Usage since a node was entered, or since the user's last input there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VisitAllowance(Allowance);

impl VisitAllowance {
    /// Returns the limit of the node that is reached, in words.
    fn exceeded(&self, limits: &StepLimits, now: Timestamp) -> Option<String> {
        let Self(spent) = self;
        let is_reached = |limit: &u64, count: u64| count >= *limit;
        if let Some(limit) = limits.turns.filter(|limit| is_reached(limit, spent.turns)) {
            let requests = if limit == 1 { "request" } else { "requests" };
            return Some(format!("{limit} {requests}"));
        }
        if let Some(limit) = limits.seconds.filter(|limit| is_reached(limit, spent.seconds(now))) {
            return Some(seconds(limit));
        }
        if let Some(limit) = limits.tokens.filter(|limit| is_reached(limit, spent.usage.tokens())) {
            return Some(format!("{limit} tokens"));
        }
        let cost = spent.usage.cost.unwrap_or(0.0);
        limits.cost.filter(|limit| cost >= *limit).map(|limit| format!("${limit}"))
    }
}

fn seconds(limit: u64) -> String {
    if limit == 1 { "1 second".to_owned() } else { format!("{limit} seconds") }
}

impl Machine {
    /// Restarts all limits, those of the node included.
    pub(super) fn renew_limits(&mut self, now: Timestamp) {
        self.allowance.renew(now);
        self.renew_visit(now);
    }

    /// Restarts the limits of the node.
    pub(super) fn renew_visit(&mut self, now: Timestamp) {
        self.visit_allowance.0.renew(now);
    }

    pub(super) fn spend(&mut self, usage: Usage) {
        self.allowance.spend(usage);
        self.visit_allowance.0.spend(usage);
    }

    /// Returns the limit that is reached, with its message: one of the run, or one of the node.
    pub(super) fn reached_limit(&self, now: Timestamp) -> Option<(Reason, String)> {
        let of_run = self.allowance.exceeded(&self.settings.limits, now);
        of_run.or_else(|| {
            if self.needs_survey() {
                // The node is only about to be entered; what was spent belongs to another one.
                return None;
            }
            let limit = self.visit_allowance.exceeded(&self.node_limits()?, now)?;
            Some((Reason::LimitNode, self.node_is_over(&limit)))
        })
    }

    /// Returns the remaining time of the run or of the node, if one is limited.
    pub fn time_left(&self, now: Timestamp) -> Option<Duration> {
        [self.time_left_of_run(now), self.time_left_of_node(now)].into_iter().flatten().min()
    }

    /// Returns the time limit that ended a request, with its message: the one that came first.
    pub(super) fn time_over(&self, now: Timestamp) -> (Reason, String) {
        let of_node = self.time_left_of_node(now);
        let is_node =
            of_node.is_some_and(|node| self.time_left_of_run(now).is_none_or(|run| node < run));
        match self.node_limits().and_then(|limits| limits.seconds).filter(|_| is_node) {
            Some(limit) => (Reason::LimitNode, self.node_is_over(&seconds(limit))),
            None => (Reason::LimitTime, self.allowance.time_over(now)),
        }
    }

    fn time_left_of_run(&self, now: Timestamp) -> Option<Duration> {
        self.allowance.time_left(self.settings.limits.seconds, now)
    }

    fn time_left_of_node(&self, now: Timestamp) -> Option<Duration> {
        self.visit_allowance.0.time_left(self.node_limits()?.seconds, now)
    }

    /// Returns the limits of the current node, if it has some.
    fn node_limits(&self) -> Option<StepLimits> {
        self.step_front()?.limits
    }

    fn node_is_over(&self, limit: &str) -> String {
        let node = self.node_name().unwrap_or_default();
        format!("The node `{node}` has reached its limit of {limit} for one visit.")
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
            | Reason::LimitNode
    )
}
