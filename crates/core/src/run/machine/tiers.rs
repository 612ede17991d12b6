//! The model that a request goes to: that of the tier which the step advises, or the run's own.

use std::collections::BTreeSet;

use crewagent_format::package::step::{StepFront, Tier};
use jiff::Timestamp;

use super::{Effect, Machine, Stance, tell};
use crate::event::{EventKind, ModelFellBack};

/// State of the tiers in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct TierState {
    /// Tiers whose model failed for good in this process.
    failed: BTreeSet<Tier>,
    /// Tiers that are not set, as the user was told.
    noted: BTreeSet<Tier>,
    /// True if the rest of this visit goes to the strong tier.
    is_escalated: bool,
    /// Tier whose window the context has.
    window_of: Option<Tier>,
}

impl Machine {
    /// Sends the rest of this visit to the strong tier. Returns false if that changes nothing: the tier is not set, has
    /// failed, or is at work already.
    pub fn escalate(&mut self) -> bool {
        let is_possible = self.is_ready(Tier::Strong) && self.tier() != Some(Tier::Strong);
        if is_possible && self.node_name().is_some() {
            self.tiers.is_escalated = true;
            return true;
        }
        false
    }

    /// Returns the tier at work; none for the run's own model.
    pub(super) fn tier(&self) -> Option<Tier> {
        self.advised_tier().filter(|tier| self.is_ready(*tier))
    }

    /// Returns the frontmatter of the current node's step; none after completion, and in a conversation.
    pub(super) fn step_front(&self) -> Option<&StepFront> {
        let node = self.workflow()?.graph.node(self.node_name()?)?;
        Some(&self.workflow()?.steps.get(&node.id)?.front)
    }

    fn advised_tier(&self) -> Option<Tier> {
        let advised = self.step_front()?.model;
        let escalated = Some(Tier::Strong).filter(|_| self.tiers.is_escalated);
        escalated.filter(|tier| self.is_ready(*tier)).or(advised)
    }

    fn is_ready(&self, tier: Tier) -> bool {
        self.settings.tiers.get(tier).is_some() && !self.tiers.failed.contains(&tier)
    }

    /// Returns the window of the model at work, in tokens.
    pub(super) fn window(&self) -> u64 {
        let of_tier = self.tier().and_then(|tier| self.settings.tiers.get(tier));
        of_tier.map_or(self.settings.window_tokens, |model| model.window_tokens)
    }

    /// Gives the context the window of the model at work, if that is another model than before. A window that proved
    /// to be smaller than declared stays as it is.
    pub(super) fn fit_window(&mut self) {
        if self.tiers.window_of != self.tier() {
            self.reset_window();
        }
    }

    /// Gives the context the whole window of the model at work.
    pub(super) fn reset_window(&mut self) {
        self.tiers.window_of = self.tier();
        self.context.set_window(self.window());
    }

    /// Tells the user once that the run's model stands in for a tier that is not set. A user who names a model wants no
    /// other.
    pub(super) fn note_missing_tier(&mut self, effects: &mut Vec<Effect>) {
        let unset = self.advised_tier().filter(|tier| self.settings.tiers.get(*tier).is_none());
        let Some(tier) = unset.filter(|_| self.settings.model.is_none()) else { return };
        if self.tiers.noted.insert(tier) {
            let turn = self.replies + 1;
            let kind = EventKind::from(ModelFellBack { turn, tier, model: None, message: None });
            effects.push(tell(kind));
        }
    }

    /// Asks the run's model, because that of the tier failed for good.
    pub(super) fn fell_back(&mut self, tier: Tier, now: Timestamp, effects: &mut Vec<Effect>) {
        self.tiers.failed.insert(tier);
        if !matches!(self.stance, Stance::Asking(_)) {
            effects.push(self.open());
            return;
        }
        // The added messages belong to the failed request; a replaying process reports none.
        self.context.take_added();
        self.ask_model(now, effects);
    }

    /// Ends the visit: another one begins with the tier that its step advises.
    pub(super) fn end_escalation(&mut self) {
        self.tiers.is_escalated = false;
    }

    /// Tries all tiers again: the user may have repaired what failed in another process.
    pub(super) fn retry_tiers(&mut self) {
        self.tiers.failed.clear();
    }
}
