//! Completions of values that the shell cannot know: runs, packages, agents, settings, models. They come from the store of the
//! environment; without one there are none.

use std::ffi::OsStr;

use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use crewagent_engine::store::{Of, Settings, Store};
use crewagent_format::diagnostic::Code;
use crewagent_format::package::Package;

use crate::paint;

/// Environment variable by which the script of a shell asks for completions.
pub(crate) const VARIABLE: &str = "CREWAGENT_COMPLETE";

pub(crate) fn runs() -> ArgValueCandidates {
    candidates(|store| {
        let runs = store.runs().list(Of::All).ok()?.runs;
        let about = |run: &crewagent_engine::store::RunSummary| {
            (run.run_id.to_string(), run.package.clone())
        };
        Some(latest().chain(runs.iter().map(about)).collect())
    })
}

pub(crate) fn conversations() -> ArgValueCandidates {
    candidates(|store| {
        let all = store.conversations().list(Of::All).ok()?.conversations;
        let about = all.into_iter().map(|one| (one.id.to_string(), one.title.unwrap_or_default()));
        Some(latest().chain(about).collect())
    })
}

pub(crate) fn projects() -> ArgValueCandidates {
    candidates(|store| {
        let all = store.projects().list().ok()?.projects;
        Some(all.iter().map(|one| (one.id.to_string(), one.path.display().to_string())).collect())
    })
}

/// Completes packages of the store.
pub(crate) fn installed() -> ArgValueCandidates {
    candidates(packages)
}

/// Completes packages of the store, and paths.
pub(crate) fn package() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut found = PathCompleter::any().complete(current);
        let typed = current.to_string_lossy();
        let store = store().and_then(|store| packages(&store)).unwrap_or_default();
        found
            .extend(store.into_iter().filter(|(name, _)| name.starts_with(&*typed)).map(candidate));
        found
    })
}

pub(crate) fn agents() -> ArgValueCandidates {
    candidates(|store| {
        let agents = loaded(store).into_iter().flat_map(|(package, name)| {
            let about = |agent: &crewagent_format::package::agents::Agent| {
                (agent.id.to_string(), name.clone())
            };
            package.agents().iter().map(about).collect::<Vec<_>>()
        });
        Some(agents.collect())
    })
}

pub(crate) fn workflows() -> ArgValueCandidates {
    candidates(|store| {
        let workflows = loaded(store).into_iter().flat_map(|(package, name)| {
            let ids = package.workflows().iter().filter_map(|workflow| workflow.id.as_ref());
            ids.map(|id| (id.to_string(), name.clone())).collect::<Vec<_>>()
        });
        Some(workflows.collect())
    })
}

pub(crate) fn models() -> ArgValueCandidates {
    candidates(|store| {
        let models = store.settings().models.iter();
        Some(models.map(|(name, own)| (name.clone(), own.model.clone())).collect())
    })
}

pub(crate) fn servers() -> ArgValueCandidates {
    candidates(|store| {
        let servers = store.settings().mcp.servers.iter();
        Some(servers.map(|(name, own)| (name.to_string(), own.way.line())).collect())
    })
}

pub(crate) fn settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let keys = Settings::keys().iter().filter(|key| !key.is_family());
        keys.map(|key| candidate((key.name.to_owned(), key.about.to_owned()))).collect()
    })
}

pub(crate) fn codes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let codes = Code::ALL.iter();
        codes.map(|code| candidate((code.as_str().to_owned(), code.name().to_owned()))).collect()
    })
}

/// A value, and what it is.
type NamedValue = (String, String);

fn candidates(
    list: impl Fn(&Store) -> Option<Vec<NamedValue>> + Send + Sync + 'static,
) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let named = store().and_then(|store| list(&store)).unwrap_or_default();
        named.into_iter().map(candidate).collect()
    })
}

fn candidate((value, about): NamedValue) -> CompletionCandidate {
    let about = paint::printable(&about);
    CompletionCandidate::new(value).help((!about.is_empty()).then(|| about.into()))
}

fn store() -> Option<Store> {
    Store::open(crate::cmd::environment_home()).ok()
}

fn latest() -> impl Iterator<Item = NamedValue> {
    std::iter::once(("latest".to_owned(), String::new()))
}

fn packages(store: &Store) -> Option<Vec<NamedValue>> {
    let mut installed = store.packages().list().ok()?.installed;
    installed.dedup_by(|one, other| one.name == other.name);
    Some(installed.into_iter().map(|one| (one.name, one.version.to_string())).collect())
}

/// Returns the newest package of every name.
fn loaded(store: &Store) -> Vec<(std::sync::Arc<Package>, String)> {
    let packages = store.packages();
    let names = self::packages(store).unwrap_or_default().into_iter().map(|(name, _)| name);
    let load = |name: String| Some((packages.load(&packages.find(&name).ok()?).ok()?, name));
    names.filter_map(load).collect()
}
