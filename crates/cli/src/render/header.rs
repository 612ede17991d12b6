//! The header of a run.

use crewagent_core::event::{Event, EventKind, RunEvent};
use crewagent_engine::store::RunRecord;

use super::names::DisplayNames;
use crate::language::text;
use crate::paint::{self, NAME, QUIET, WARNING};

/// Formats the header of a run.
pub(crate) fn header(record: &RunRecord, names: &DisplayNames, project: &str) -> String {
    let mut text = match record.subject.package() {
        Some(package) => {
            let title = paint::styled(NAME, paint::printable(&package.name));
            format!("{title} {}\n", paint::styled(QUIET, &package.version))
        }
        None => String::new(),
    };
    let rows = [
        (text!("workflow", "流程"), workflow(record, names)),
        (text!("agent", "智能体"), names.agent(record.subject.agent_id().unwrap_or_default())),
        (text!("project", "项目"), paint::printable(project)),
        (text!("run", "运行"), record.run_id.to_string()),
    ];
    for (name, value) in rows {
        text.push_str(&format!("  {}  {value}\n", paint::styled(QUIET, paint::padded(name, 8))));
    }
    text.push('\n');
    text
}

/// Formats what the start of a run has noted, such as mistakes in the configuration of the project.
pub(crate) fn notes(opening: &[Event]) -> String {
    let notes = opening.iter().find_map(|event| match &event.kind {
        EventKind::Run(RunEvent::Started(started)) => Some(started.notes.as_slice()),
        EventKind::Run(_)
        | EventKind::Conversation(_)
        | EventKind::User(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Model(_)
        | EventKind::Tool(_) => None,
    });
    let notes = notes.unwrap_or_default().iter();
    let line = |note: &String| {
        format!("{}\n", paint::styled(WARNING, format_args!("! {}", paint::printable(note))))
    };
    notes.map(line).collect()
}

/// Formats the name, and the id where the user can type one.
fn workflow(record: &RunRecord, names: &DisplayNames) -> String {
    let Some(workflow) = record.subject.workflow() else { return String::new() };
    let id = paint::printable(workflow.reference());
    match (names.workflow(), &workflow.id) {
        (None, _) => id,
        (Some(name), None) => name.to_owned(),
        (Some(name), Some(_)) if name == id => id,
        (Some(name), Some(_)) => format!("{name} {}", paint::styled(QUIET, format_args!("({id})"))),
    }
}
