//! `crewagent runs logs`: prints the events of a run, formatted or as JSON.

use crewagent_core::state::run_state::RunState;
use crewagent_engine::store::{RunView, Store};

use crate::args::RunsLogsArgs;
use crate::cmd::run_driver;
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, WARNING};
use crate::render::header::header;
use crate::render::run::{EventSource, Screen};

pub(super) fn run(
    args: &RunsLogsArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let id = super::find(&args.run, store)?;
    let view = store.runs().look(&id)?;
    if args.json {
        for event in &view.recovered.events {
            console.line(paint::escaped(&serde_json::to_string(event)?));
        }
    } else {
        human(&view, store, console);
    }
    for note in &view.recovered.notes {
        let note = paint::printable(note);
        console
            .error(format_args!("{} {note}", paint::styled(WARNING, text!("warning:", "警告:"))));
    }
    Ok(Outcome::Done)
}

fn human(view: &RunView, store: &Store, console: &mut Console) {
    let record = &view.record;
    let package = run_driver::package_of(record, store);
    let names = run_driver::names_of(record, package.as_deref());
    let project = store.runs().project(record).map(|project| project.path.display().to_string());
    let project = project.unwrap_or_else(|_| record.project_id.to_string());
    console.text(&header(record, &names, &project));
    let (width, run_state) = (paint::text_width(), RunState::default());
    let mut screen = Screen::new(
        EventSource::Record,
        width,
        names,
        run_state,
        record.subject.agent_id().unwrap_or_default(),
    );
    for event in &view.recovered.events {
        console.text(&screen.event(event));
    }
    console.text(&screen.end_text());
}
