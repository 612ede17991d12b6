//! What a run is, above what it does.

use crewagent_engine::store::RunRecord;

use super::names::Names;
use crate::paint::{self, NAME, QUIET};

/// The first lines of a run.
pub(crate) fn header(facts: &RunRecord, names: &Names, project: &str) -> String {
    let package = &facts.package;
    let title = paint::styled(NAME, paint::printable(&package.name));
    let version = paint::styled(QUIET, &package.version);
    let mut text = format!("{title} {version}\n");
    let rows = [
        ("workflow", workflow(facts, names)),
        ("agent", names.agent(&facts.agent_id)),
        ("project", paint::printable(project)),
        ("run", facts.run_id.to_string()),
    ];
    for (name, value) in rows {
        text.push_str(&format!("  {}  {value}\n", paint::styled(QUIET, paint::padded(name, 8))));
    }
    text.push('\n');
    text
}

/// Its name, and its id where there is one to type.
fn workflow(facts: &RunRecord, names: &Names) -> String {
    let id = paint::printable(facts.workflow.reference());
    match (names.workflow(), &facts.workflow.id) {
        (None, _) => id,
        (Some(name), None) => name.to_owned(),
        (Some(name), Some(_)) if name == id => id,
        (Some(name), Some(_)) => format!("{name} {}", paint::styled(QUIET, format_args!("({id})"))),
    }
}
