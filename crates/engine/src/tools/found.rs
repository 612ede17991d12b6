//! Inputs that name no single file: patterns, and folders with an index.

use crewagent_core::event::{InputState, SurveyedInput};
use crewagent_core::prompt::WantedInput;
use crewagent_core::run::machine::SurveyPlan;
use crewagent_core::state::output::matches_pattern;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::vpath::VPath;

use super::survey::input;
use crate::mounts::{MountError, Mounts};

/// Largest number of files that one pattern names.
const MOST_MATCHES: usize = 50;
/// Largest number of names that are looked through.
const MOST_NAMES: usize = 10_000;
/// Depth to which `**` is followed.
const DEEPEST: usize = 8;
/// File that tells what is in a folder.
const INDEX: &str = "index.md";

/// Returns the files that fit a pattern of a node's inputs, or the pattern itself as a missing one.
pub(super) fn matches(
    mounts: &Mounts,
    plan: &SurveyPlan,
    pattern: &str,
    room: &mut u64,
) -> Result<Vec<SurveyedInput>, MountError> {
    let Ok(pattern) = ProjectPath::parse(pattern) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for path in fitting(mounts, pattern.as_str())? {
        found.extend(input(mounts, plan, &WantedInput { path, is_declared: false }, room)?);
    }
    found.iter_mut().for_each(name_only);
    if found.is_empty() {
        found.push(missing(pattern.vpath()));
    }
    Ok(found)
}

/// Returns the files of a folder that stands for a declared file that is not there: its index, and what else it holds.
pub(super) fn of_folder(
    mounts: &Mounts,
    plan: &SurveyPlan,
    path: &VPath,
    room: &mut u64,
) -> Result<Vec<SurveyedInput>, MountError> {
    let relative = path.relative();
    let stem = relative.rsplit_once('.').map_or(relative, |(stem, _)| stem);
    let index = VPath::new(path.mount(), &format!("{stem}/{INDEX}"));
    let is_there = |path: &VPath| mounts.exists(path).is_ok_and(|found| found == Ok(true));
    let Some(index) = index.filter(|index| is_there(index)) else { return Ok(Vec::new()) };
    let mut found: Vec<SurveyedInput> = Vec::new();
    found.extend(input(
        mounts,
        plan,
        &WantedInput { path: index.clone(), is_declared: true },
        room,
    )?);
    let others = fitting(mounts, &format!("{stem}/*"))?;
    for path in others.into_iter().filter(|path| *path != index).take(MOST_MATCHES - 1) {
        found.extend(input(mounts, plan, &WantedInput { path, is_declared: false }, &mut 0)?);
    }
    found.iter_mut().skip(1).for_each(name_only);
    Ok(found)
}

/// Returns the first files of the project that fit a pattern, in the order of their names.
fn fitting(mounts: &Mounts, pattern: &str) -> Result<Vec<VPath>, MountError> {
    let open = pattern.find(['*', '?']).unwrap_or(pattern.len());
    let base =
        pattern.get(..open).and_then(|before| before.rsplit_once('/')).map_or("", |(base, _)| base);
    let below = pattern.get(base.len()..).unwrap_or_default().trim_start_matches('/');
    let depth = if below.contains("**") { DEEPEST } else { below.split('/').count() };
    let Some(folder) = VPath::new(crewagent_core::vpath::Mount::Project, base) else {
        return Ok(Vec::new());
    };
    let Ok(listing) = mounts.list(&folder, depth, MOST_NAMES)? else { return Ok(Vec::new()) };
    let names = listing.entries.iter().filter(|name| !name.ends_with('/'));
    let paths = names.map(|name| match base {
        "" => name.clone(),
        base => format!("{base}/{name}"),
    });
    let fitting = paths.filter(|path| matches_pattern(path, pattern));
    Ok(fitting.filter_map(|path| VPath::new(folder.mount(), &path)).take(MOST_MATCHES).collect())
}

/// Leaves out the headings of a file that is one of many.
fn name_only(input: &mut SurveyedInput) {
    if input.state == InputState::Listed {
        input.text = None;
    }
}

fn missing(path: &VPath) -> SurveyedInput {
    SurveyedInput {
        path: path.to_string(),
        state: InputState::Missing,
        bytes: 0,
        lines: 0,
        sha256: None,
        text: None,
    }
}
