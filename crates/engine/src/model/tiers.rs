//! The models of one run: its own, and those of the tiers.

use std::collections::BTreeMap;

use crewagent_core::event::Reply;
use crewagent_core::settings::Tiers;
use crewagent_format::package::step::Tier;

use super::{Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, RequestOutline};
use crate::cancel::Deadline;

/// The model of a run, with those of its tiers.
pub struct TieredModel {
    own: Box<dyn Model>,
    tiers: BTreeMap<Tier, Box<dyn Model>>,
}

impl TieredModel {
    /// Opens the models of the tiers beside the run's own. One that cannot be opened fails its requests, so that the
    /// run's own model stands in for it.
    pub fn open(
        own: Box<dyn Model>,
        tiers: &Tiers,
        open: impl Fn(&str) -> Result<Box<dyn Model>, String>,
    ) -> Box<dyn Model> {
        if tiers.is_empty() {
            return own;
        }
        let opened = |tier: Tier| {
            let name = &tiers.get(tier)?.model;
            let closed =
                |why| -> Box<dyn Model> { Box::new(ClosedModel { name: name.clone(), why }) };
            Some((tier, open(name).unwrap_or_else(closed)))
        };
        Box::new(Self { own, tiers: Tier::ALL.into_iter().filter_map(opened).collect() })
    }
}

impl Model for TieredModel {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn reply(
        &self,
        request: &Request,
        cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        self.own.reply(request, cache, tell, until)
    }

    fn tier(&self, tier: Tier) -> Option<&dyn Model> {
        self.tiers.get(&tier).map(|model| &**model)
    }

    fn outline(&self, request: &Request, cache: &mut RequestCache) -> Option<RequestOutline> {
        self.own.outline(request, cache)
    }
}

/// A model that could not be opened.
struct ClosedModel {
    name: String,
    why: String,
}

impl Model for ClosedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        _: &Request,
        _: &mut RequestCache,
        _: &mut dyn FnMut(Progress),
        _: &Deadline,
    ) -> Result<Reply, ModelError> {
        Err(ModelError::new(ModelErrorKind::Rejected, self.why.clone()))
    }
}
