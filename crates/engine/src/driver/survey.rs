//! Surveys a node: looks at the files that its brief shows, and records what it found before the model is asked.

use crewagent_core::event::{EventKind, NodeEntered, StateEvent};
use crewagent_core::run::machine::{Input, SurveyPlan};

use super::{Driver, World, unexpected};
use crate::step_log::{Halt, StepLog, StepRecord};
use crate::tools::survey;

impl<L: StepLog> Driver<'_, L> {
    pub(super) fn survey(
        &mut self,
        plan: &SurveyPlan,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let key = format!("t{}/node/{}", self.state.inputs, plan.number);
        let recorded = self.log.step(
            &key,
            &mut |_| {
                let world = world.ok_or(Halt::CaughtUp)?;
                let (inputs, outputs) = survey::survey(world.mounts, plan)?;
                let entered = NodeEntered { inputs, outputs, ..plan.entered.clone() };
                Ok(EventKind::from(Box::new(entered)))
            },
            self.listener,
        )?;
        let StepRecord { kind, time } = recorded;
        let EventKind::State(StateEvent::Entered(entered)) = kind else {
            return Err(unexpected("the survey of a node", &kind));
        };
        self.feed(Input::Surveyed(entered), time);
        Ok(())
    }
}
