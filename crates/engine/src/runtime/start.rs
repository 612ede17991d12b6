//! Starts a run: chooses workflow and agent, and writes the first state document and the first event.

use std::sync::Arc;

use crewagent_core::bindings::Bindings;
use crewagent_core::event::{Event, EventKind, RunStarted};
use crewagent_core::forecast::Forecast;
use crewagent_core::menu;
use crewagent_core::run::machine::{Machine, Subject};
use crewagent_core::state::document::{InitialValues, StateDocument};
use crewagent_core::state::run_state::RunState;
use crewagent_format::id::{AgentId, WorkflowId};
use crewagent_format::package::{Package, Workflow};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::adopt::{self, Adopting};
use super::bindings::{self, BindingSources, RunBindings};
use super::run::Run;
use super::{StartError, StartRun, forecast};
use crate::clock::{self, Clock};
use crate::host::Host;
use crate::store::{NewRun, Project, RunId, RunPackage, RunSubject, RunWorkflow, Store};

pub(super) fn start<H: Host>(
    host: &H,
    store: &Store,
    clock: &Clock,
    plan: &StartRun,
) -> Result<Run<H::Log>, StartError> {
    let installed = &plan.package;
    let package = store.packages().load_verified(installed)?;
    let at = choose_workflow(&package, plan.workflow.as_deref())?;
    let agent = choose_agent(&package, at, plan.agent.as_deref())?;
    let project = store.projects().of(&plan.project)?;
    project.folder()?;
    let now = clock.now();
    let id = plan.id.clone().unwrap_or_else(|| RunId::fresh(now));
    let PreparedRun { package, bindings, variables, adopting, note } =
        prepared(store, plan, package, at, &project, now)?;
    let adopted = adopting.adopted.as_ref();
    let workflow = &package.workflows()[at];
    let reference = reference(workflow);
    let values = InitialValues {
        run_id: id.to_string(),
        project_name: project.name.clone(),
        user_name: plan.user_name.clone(),
        now: clock::for_people(now),
        active_agent_id: agent.to_string(),
        workflow_ref: reference.clone(),
        variables,
        input_documents: plan.data.iter().map(|data| data.path.to_string()).collect(),
    };
    let document = adopt::placed(StateDocument::start(workflow, &values)?, adopted)?;
    let notes = note.into_iter().chain(adopted.map(|one| adopt::note(one, &one.next)));
    let run_state = RunState::of(&document, &workflow.graph);
    let data = plan.data.as_ref().map(|data| data.text.as_str().into());
    let subject = Subject::Workflow {
        package: package.clone(),
        workflow: at,
        agent: agent.clone(),
        data,
        bindings: bindings.clone(),
    };
    let forecast =
        forecast::of(store, &subject, &installed.name, project.folder()?, &plan.settings);
    let started = Event {
        seq: 1,
        part: None,
        time: clock::for_events(now),
        run_id: Some(id.to_string()),
        key: None,
        kind: EventKind::from(RunStarted {
            package: installed.reference(),
            package_sha256: installed.digest.to_string(),
            workflow: reference,
            agent_id: agent.to_string(),
            project: project.name.clone(),
            state: run_state.clone(),
            settings: plan.settings.clone(),
            data: plan.data.as_ref().map(|data| data.text.as_str().into()),
            forked_from: None,
            earlier: plan.earlier.clone(),
            forecast: forecast.map(Box::new),
            adoption: adopting.offer.clone().map(Box::new),
            notes: notes.collect(),
        }),
    };
    let opened = host.create(NewRun {
        id,
        project: project.id.clone(),
        subject: RunSubject::Workflow {
            package: RunPackage::of(installed),
            workflow: RunWorkflow {
                id: workflow.id.as_ref().map(WorkflowId::to_string),
                document: workflow.document_path.to_string(),
            },
            agent_id: agent.to_string(),
        },
        conversation: plan.conversation.clone(),
        bindings: Bindings::clone(&bindings),
        adopted: adopted.map(|adopted| adopted.file.clone()),
        created: now,
        documents: vec![(None, document.text().to_string())],
        events: vec![started.clone()],
    })?;
    store.projects().used(&project.id, &installed.reference())?;
    let machine = Machine::new(subject, plan.settings.clone(), run_state).with_words(&plan.earlier);
    let machine = machine.with_offer(adopting.offer);
    Ok(Run::begin(opened, machine, now, vec![started]))
}

/// A package with the values of a run in its texts, and the document that the run continues with.
struct PreparedRun {
    package: Arc<Package>,
    bindings: Arc<Bindings>,
    /// Initial variables that are no bindings.
    variables: Map<String, Json>,
    adopting: Adopting,
    /// Mistakes in the configuration of the project.
    note: Option<String>,
}

fn prepared(
    store: &Store,
    plan: &StartRun,
    package: Arc<Package>,
    workflow: usize,
    project: &Project,
    now: Timestamp,
) -> Result<PreparedRun, StartError> {
    let (installed, folder) = (&plan.package, project.folder()?);
    let (variables, given) = bindings::given(&package, &plan.variables);
    let RunBindings { bindings, note } = bindings::resolved(&BindingSources {
        package: &package,
        installed,
        project: folder,
        user_name: &plan.user_name,
        now,
        answers: &store.projects().answers(&project.id)?,
        given: &given,
    })?;
    let filled = bindings::filled(&package, installed, &bindings, None);
    let adopting = adopt::adopting(plan, &filled.workflows()[workflow], folder, &variables)?;
    let document = filled.workflows()[workflow].document_path.as_str();
    let package = match &adopting.adopted {
        Some(adopted) => {
            let adopted = Some((document, adopted.file.as_str()));
            bindings::filled(&package, installed, &bindings, adopted)
        }
        None => filled,
    };
    Ok(PreparedRun { package, bindings: Arc::new(bindings), variables, adopting, note })
}

/// Returns the forecast of a run without starting it.
pub(super) fn foresee(store: &Store, plan: &StartRun) -> Result<Option<Forecast>, StartError> {
    let package = store.packages().load_verified(&plan.package)?;
    let workflow = choose_workflow(&package, plan.workflow.as_deref())?;
    let agent = choose_agent(&package, workflow, plan.agent.as_deref())?;
    let subject =
        Subject::Workflow { package, workflow, agent, data: None, bindings: Arc::default() };
    Ok(forecast::of(store, &subject, &plan.package.name, &plan.project, &plan.settings))
}

/// Returns the name of a workflow in events and directives: its id, or the path of its document.
pub(super) fn reference(workflow: &Workflow) -> String {
    let id = workflow.id.as_ref().map(WorkflowId::to_string);
    id.unwrap_or_else(|| workflow.document_path.to_string())
}

fn choose_workflow(package: &Package, asked: Option<&str>) -> Result<usize, StartError> {
    let Some(asked) = asked else { return Ok(0) };
    let is_meant = |workflow: &Workflow| {
        workflow.id.as_ref().is_some_and(|id| id.as_str() == asked)
            || workflow.document_path.as_str() == asked
    };
    package.workflows().iter().position(is_meant).ok_or_else(|| StartError::Workflow {
        asked: asked.to_owned(),
        known: package.workflows().iter().map(reference).collect(),
    })
}

/// Returns the agent with this id.
pub(super) fn choose_by_name(package: &Package, asked: &str) -> Result<AgentId, StartError> {
    let agents = package.agents();
    let meant = agents.iter().find(|agent| agent.id.as_str() == asked);
    meant.map(|agent| agent.id.clone()).ok_or_else(|| StartError::Agent {
        asked: asked.to_owned(),
        known: agents.iter().map(|agent| agent.id.to_string()).collect(),
    })
}

fn choose_agent(
    package: &Package,
    workflow: usize,
    asked: Option<&str>,
) -> Result<AgentId, StartError> {
    match asked {
        Some(asked) => choose_by_name(package, asked),
        None => Ok(default_agent(package, &package.workflows()[workflow])),
    }
}

/// Returns the agent that runs a workflow if none is named: the first whose menu starts it, or else the first.
pub fn default_agent(package: &Package, workflow: &Workflow) -> AgentId {
    let is_it = |at: &usize| package.workflows()[*at].document_path == workflow.document_path;
    let agents = package.agents();
    let by_menu = agents.iter().find(|agent| menu::started_by(agent, package).iter().any(is_it));
    by_menu.unwrap_or(&agents[0]).id.clone()
}
