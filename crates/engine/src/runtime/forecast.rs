//! The forecast of a run, from earlier runs of the same workflow with the same model, or by an estimate.

use std::path::Path;

use crewagent_core::forecast::{Forecast, PastRun};
use crewagent_core::prompt::WantedInput;
use crewagent_core::run::estimate::{Estimate, estimate};
use crewagent_core::run::machine::Subject;
use crewagent_core::settings::RunSettings;
use crewagent_core::usage::Usage;
use crewagent_core::vpath::Mount;

use crate::disk::{Disk, Folder};
use crate::store::{ChosenModel, Environment, RunWorkflow, Store};

/// Number of earlier runs that a forecast looks at.
const MOST_RUNS: usize = 10;

/// Returns the forecast of a run; none for a model that answers from a file, or that is not known.
pub(super) fn of(
    store: &Store,
    subject: &Subject,
    package_name: &str,
    project: &Path,
    settings: &RunSettings,
) -> Option<Forecast> {
    let model = model(store, settings)?;
    let workflow = subject.workflow()?;
    let workflow = RunWorkflow {
        id: workflow.id.as_ref().map(ToString::to_string),
        document: workflow.document_path.to_string(),
    };
    let past = store.runs().completed(package_name, &workflow, &model.name, MOST_RUNS);
    let past: Vec<PastRun> =
        past.iter().map(|spent| PastRun { turns: spent.turns, usage: spent.usage }).collect();
    let limits = &settings.limits;
    Forecast::of_runs(&past, limits).or_else(|| {
        let Estimate { requests, input_tokens, output_tokens } =
            estimate(subject, settings, &|input| size_of(input, project));
        let mut usage = Usage { input_tokens, output_tokens, ..Usage::default() };
        usage.cost = model.price.map(|price| price.of(&usage));
        Some(Forecast::of_estimate(requests, usage, limits))
    })
}

fn model(store: &Store, settings: &RunSettings) -> Option<ChosenModel> {
    let (all, environment) = (store.settings(), Environment::of_process());
    let (name, origin) = all.model_name(settings.model.as_deref(), &environment).ok()?;
    let is_file = name.starts_with("scripted:") || name.starts_with("replay:");
    if is_file { None } else { all.model(&name, origin, &environment).ok() }
}

/// Returns the size of a file of the project as it is now. Files of the package are small parts of a brief.
fn size_of(input: &WantedInput, project: &Path) -> u64 {
    let folder = Folder::root(Disk::real(), project);
    let path = Some(&input.path).filter(|path| path.mount() == Mount::Project);
    path.and_then(|path| folder.size_of(path.relative()).ok().flatten()).unwrap_or(0)
}
