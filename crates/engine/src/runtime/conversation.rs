//! Starts a conversation, which is a run without a workflow.

use std::collections::BTreeMap;

use crewagent_core::event::{ConversationStarted, Event, EventKind};
use crewagent_core::run::machine::{Machine, Subject};
use crewagent_core::state::run_state::RunState;
use crewagent_format::id::AgentId;
use crewagent_format::package::Package;

use super::bindings::{self, BindingSources, RunBindings};
use super::run::Run;
use super::start::choose_by_name;
use super::{StartConversation, StartError};
use crate::clock::{self, Clock};
use crate::host::Host;
use crate::store::{NewRun, RunId, RunPackage, RunSubject, Store};

pub(super) fn begin<H: Host>(
    host: &H,
    store: &Store,
    clock: &Clock,
    plan: &StartConversation,
) -> Result<Run<H::Log>, StartError> {
    let package = match &plan.package {
        None => None,
        Some(installed) => Some(store.packages().load_verified(installed)?),
    };
    let agent = chosen(package.as_deref(), plan.agent.as_deref())?;
    let project = store.projects().of(&plan.project)?;
    let folder = project.folder()?;
    let now = clock.now();
    let RunBindings { bindings, .. } = match (&package, &plan.package) {
        (Some(package), Some(installed)) => bindings::resolved(&BindingSources {
            package,
            installed,
            project: folder,
            user_name: &store.user_name(),
            now,
            answers: &store.projects().answers(&project.id)?,
            given: &BTreeMap::new(),
        })?,
        (_, _) => RunBindings::default(),
    };
    let package = package.zip(plan.package.as_ref());
    let package = package.map(|(package, of)| bindings::filled(&package, of, &bindings, None));
    let id = plan.id.clone().unwrap_or_else(|| RunId::fresh(now));
    let started = Event {
        seq: 1,
        part: None,
        time: clock::for_events(now),
        run_id: Some(id.to_string()),
        key: None,
        kind: EventKind::from(ConversationStarted {
            package: plan.package.as_ref().map(|installed| installed.reference()),
            package_sha256: plan.package.as_ref().map(|installed| installed.digest.to_string()),
            agent_id: agent.as_ref().map(AgentId::to_string),
            project: project.name.clone(),
            settings: plan.settings.clone(),
        }),
    };
    let opened = host.create(NewRun {
        id,
        project: project.id.clone(),
        subject: RunSubject::Conversation {
            package: plan.package.as_ref().map(RunPackage::of),
            agent_id: agent.as_ref().map(AgentId::to_string),
        },
        conversation: None,
        bindings,
        adopted: None,
        created: now,
        documents: Vec::new(),
        events: vec![started.clone()],
    })?;
    if let Some(installed) = &plan.package {
        store.projects().used(&project.id, &installed.reference())?;
    }
    let subject = Subject::Conversation { package, agent };
    let machine = Machine::new(subject, plan.settings.clone(), RunState::default());
    Ok(Run::begin(opened, machine, now, vec![started]))
}

/// Returns the requested agent. Without a package there is none.
fn chosen(package: Option<&Package>, asked: Option<&str>) -> Result<Option<AgentId>, StartError> {
    match (package, asked) {
        (_, None) => Ok(None),
        (Some(package), Some(asked)) => choose_by_name(package, asked).map(Some),
        (None, Some(asked)) => {
            Err(StartError::Agent { asked: asked.to_owned(), known: Vec::new() })
        }
    }
}
