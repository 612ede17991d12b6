//! Rebuilds the requests of a run from its journal, for audits and to show what a model received.

use crewagent_core::event::{Event, EventKind, ModelEvent, TurnStarted};

use crewagent_core::run::machine::{Ask, Machine};

use super::ResumeError;
use super::open::{ReplayablePart, data_of, subject, words_at_hand};
use crate::documents::DocumentPosition;
use crate::driver::{Driver, DriverState, request};
use crate::model::Request;
use crate::step_log::{Halt, ReplayLog};
use crate::store::{RunId, Runs, Store};

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct PastRequest {
    /// Request rebuilt from the journal.
    pub request: Request,
    /// Digest recorded when the request was sent. It differs only if a user changed the run by hand.
    pub recorded_sha256: Option<String>,
}

/// Returns the requests since the last fresh start.
pub(super) fn requests(
    store: &Store,
    runs: Runs<'_>,
    id: &RunId,
) -> Result<Vec<PastRequest>, ResumeError> {
    let view = runs.look(id)?;
    let mut events = view.recovered.events;
    let subject = subject(store, &view.record, data_of(&events, &view.blobs))?;
    words_at_hand(&mut events, &view.blobs);
    let system = store.settings().for_runs();
    let replay = ReplayablePart::of(events, &view.record, &DocumentPosition::default(), &system);
    if let Some(unfit) = replay.unfit {
        return Err(Halt::Unfit(unfit).into());
    }
    let digests = digests(&replay.events);
    let Some(started) = replay.started else { return Ok(Vec::new()) };
    let mut machine = replay.machine(subject);
    let mut found = Vec::new();
    let mut watch = |machine: &Machine, ask: &Ask, toolbox: &mut request::Toolbox| {
        let recorded = digests.iter().rev().find(|(turn, _)| *turn == ask.turn);
        found.push(PastRequest {
            request: request::of(machine, ask, &view.blobs, toolbox)?,
            recorded_sha256: recorded.map(|(_, sha256)| sha256.clone()),
        });
        Ok(())
    };
    let mut driver = Driver {
        machine: &mut machine,
        log: &mut ReplayLog::new(replay.events),
        state: &mut DriverState::default(),
        listener: &mut |_| {},
        watch: Some(&mut watch),
    };
    driver.begin(started);
    driver.replay()?;
    Ok(found)
}

fn digests(events: &[Event]) -> Vec<(u64, String)> {
    let mut digests = Vec::new();
    for event in events {
        if let EventKind::Model(ModelEvent::TurnStarted(TurnStarted { turn, request, .. })) =
            &event.kind
        {
            digests.push((*turn, request.sha256.clone()));
        }
    }
    digests
}
