//! Projects, and the folders they are chosen from.

mod source;

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_engine::private;
use crewagent_engine::store::{self, JournalId, Of, ProjectId, Status, Store};
use crewagent_format::wording::single_spaced;
use crewagent_scenario::sample;
use crewagent_source::author;

use super::Id;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, patch, post};
use crate::problem::Problem;
use crate::wire::{
    Code, FolderEntry, FolderPath, FolderQuery, Folders, Nothing, Project, ProjectName, Projects,
    Sample, SampleFolder,
};

/// Folders that a list holds.
const MAX_FOLDERS: usize = 1000;
/// Name of the folder of the sample in the user's home; later ones have a number.
const SAMPLE_FOLDER: &str = "crewagent-sample";
const MAX_SAMPLES: u32 = 999;
/// Longest name of a project, in characters.
const MAX_NAME: usize = 80;
/// Runs of a project that are read to find when it was used, and what waits in it.
const MAX_RUNS_READ: usize = 20;

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/projects", "Lists the projects, also those whose folder is gone", list),
        post("/api/projects", "Opens a folder as a project", open),
        get("/api/projects/{id}", "Shows a project", show),
        patch("/api/projects/{id}", "Gives a project another name", rename),
        delete("/api/projects/{id}", "Forgets a project with its runs; the folder stays", forget),
        get(
            "/api/projects/{id}/source",
            "Shows the foreign content in a project's folder, and the package made of it",
            source::show,
        ),
        post("/api/projects/{id}/relink", "Says where the folder of a project is now", relink),
        post("/api/sample", "Makes a project to try, with a package and a model for it", sample),
        get("/api/folders", "Lists the folders in a folder, to choose a project from", folders),
        post("/api/folders", "Makes a folder, and lists it", make_folder),
    ]
}

/// Returns the project with this id.
pub(super) fn project(store: &Store, id: &str) -> Result<store::Project, Problem> {
    Ok(store.projects().get(&ProjectId::parse(id)?)?)
}

fn list(asked: ParsedRequest) -> Result<Projects, Problem> {
    let store = asked.app.store()?;
    let listing = store.projects().list()?;
    let projects = listing.projects.into_iter().map(|project| counted(project, &store));
    let mut projects: Vec<Project> = projects.collect::<Result<_, _>>()?;
    // Projects of the same time stay sorted by name.
    projects.sort_by(|one, other| other.used.cmp(&one.used));
    Ok(Projects { projects, damaged: listing.damaged })
}

fn open(asked: ParsedRequest<(), (), FolderPath>) -> Result<Project, Problem> {
    let store = asked.app.store()?;
    let project = store.projects().of(absolute(&asked.body.path)?)?;
    counted(project, &store)
}

fn sample(asked: ParsedRequest<(), (), SampleFolder>) -> Result<Sample, Problem> {
    let store = asked.app.store()?;
    let path = match &asked.body.path {
        Some(path) => absolute(path)?.to_owned(),
        None => fresh_sample(&home()),
    };
    author::check_folder(&path)?;
    let failed = |error: std::io::Error| {
        Problem::new(Code::Disk, format!("the sample cannot be written: {error}"))
    };
    let scratch = tempfile::tempdir().map_err(failed)?;
    let package = scratch.path().join("sample");
    author::write(&package, &sample::package())?;
    let imported = store.packages().import(&package, &mut || {})?;
    let scenario = asked.app.home().join("server").join("sample.yaml");
    private::replace(&scenario, sample::read_aloud().as_bytes()).map_err(failed)?;
    author::write(&path, &sample::project())?;
    Ok(Sample {
        project: counted(store.projects().of(&path)?, &store)?,
        package: imported.installed.reference(),
        model: format!("scripted:{}", scenario.display()),
        answer: sample::ANSWER.to_owned(),
    })
}

/// Returns a folder for the sample that is new or empty.
fn fresh_sample(home: &Path) -> PathBuf {
    let first = home.join(SAMPLE_FOLDER);
    let others = (2..=MAX_SAMPLES).map(|number| home.join(format!("{SAMPLE_FOLDER}-{number}")));
    let mut all = std::iter::once(first.clone()).chain(others);
    all.find(|folder| author::check_folder(folder).is_ok()).unwrap_or(first)
}

fn rename(asked: ParsedRequest<Id, (), ProjectName>) -> Result<Project, Problem> {
    let store = asked.app.store()?;
    let name = single_spaced(&asked.body.name);
    if name.is_empty() || name.chars().count() > MAX_NAME {
        let message = format!("the name of a project has 1 to {MAX_NAME} characters");
        return Err(Problem::invalid(message));
    }
    counted(store.projects().rename(&ProjectId::parse(&asked.path.id)?, &name)?, &store)
}

fn show(asked: ParsedRequest<Id>) -> Result<Project, Problem> {
    let store = asked.app.store()?;
    counted(project(&store, &asked.path.id)?, &store)
}

fn relink(asked: ParsedRequest<Id, (), FolderPath>) -> Result<Project, Problem> {
    let store = asked.app.store()?;
    let id = ProjectId::parse(&asked.path.id)?;
    let project = store.projects().relink(&id, absolute(&asked.body.path)?)?;
    counted(project, &store)
}

fn forget(asked: ParsedRequest<Id>) -> Result<Nothing, Problem> {
    let (store, id) = (asked.app.store()?, ProjectId::parse(&asked.path.id)?);
    let runs = store.runs().ids(Of::Project(&id))?.into_iter().map(JournalId::run);
    let conversations = store
        .conversations()
        .runs()
        .ids(Of::Project(&id))?
        .into_iter()
        .map(JournalId::conversation);
    let journals: Vec<JournalId> = runs.chain(conversations).collect();
    // An idle worker of this server is no obstacle.
    journals.iter().try_for_each(|journal| asked.app.workers.release(journal))?;
    store.projects().forget(&id)?;
    let mut board = asked.app.workers.board();
    journals.iter().for_each(|journal| board.remove(journal));
    Ok(Nothing {})
}

fn counted(project: store::Project, store: &Store) -> Result<Project, Problem> {
    let of = Of::Project(&project.id);
    let (newest, runs) = store.runs().newest(of, MAX_RUNS_READ)?;
    let (latest, conversations) = store.conversations().newest(of, 1)?;
    let run_times = newest.runs.iter().map(|run| run.updated.unwrap_or(run.created));
    let conversation_times =
        latest.conversations.iter().map(|one| one.updated.unwrap_or(one.created));
    let used = run_times.chain(conversation_times).fold(project.created, Ord::max);
    let waiting = newest.runs.iter().filter(|run| run.status == Status::WaitingUser).count();
    let store::Project { id, name, path, last_package, created } = project;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Project {
        id: id.to_string(),
        name,
        exists: path.is_dir(),
        path: path.display().to_string(),
        has_package: last_package.as_ref().is_some_and(|name| store.packages().find(name).is_ok()),
        last_package,
        created: created.to_string(),
        runs: count(runs),
        conversations: count(conversations),
        // All have the same length, so that they sort by time.
        used: format!("{used:.3}"),
        waiting: count(waiting),
    })
}

/// Checks that a path is absolute.
pub(super) fn absolute(path: &str) -> Result<&Path, Problem> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Problem::invalid("the path must begin at the root of the disk"))
}

/// Returns the home of the user.
fn home() -> PathBuf {
    std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// Returns the home of the user and the folders in it that many people keep their work in.
fn places() -> Vec<FolderEntry> {
    let home = home();
    let named = |path: PathBuf| FolderEntry {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: path.display().to_string(),
    };
    let usual = ["Desktop", "Documents", "Projects", "src"].map(|name| home.join(name));
    let usual: Vec<PathBuf> = usual.into_iter().filter(|path| path.is_dir()).collect();
    std::iter::once(home).chain(usual).map(named).collect()
}

fn make_folder(asked: ParsedRequest<(), (), FolderPath>) -> Result<Folders, Problem> {
    let path = absolute(&asked.body.path)?;
    fs::create_dir(path).map_err(|error| {
        let message = format!("the folder `{}` cannot be made: {error}", path.display());
        Problem::new(Code::Refused, message).hint("Choose another name, or another folder for it.")
    })?;
    listed(path, false)
}

fn folders(asked: ParsedRequest<(), FolderQuery>) -> Result<Folders, Problem> {
    let FolderQuery { path, hidden } = asked.query;
    match path {
        Some(path) => listed(absolute(&path)?, hidden),
        None => listed(&home(), hidden),
    }
}

/// Lists the folders in a folder.
fn listed(path: &Path, hidden: bool) -> Result<Folders, Problem> {
    let failed = |error: std::io::Error| {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        let code = if is_missing { Code::NotFound } else { Code::Refused };
        Problem::new(code, format!("the folder `{}` cannot be read: {error}", path.display()))
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_listed = hidden || !name.starts_with('.');
        // A link to a folder counts as a folder.
        if is_listed && entry.path().is_dir() {
            folders.push(FolderEntry { name, path: entry.path().display().to_string() });
        }
    }
    folders.sort();
    let truncated = folders.len() > MAX_FOLDERS;
    folders.truncate(MAX_FOLDERS);
    Ok(Folders {
        parent: path.parent().map(|parent| parent.display().to_string()),
        path: path.display().to_string(),
        folders,
        truncated,
        places: places(),
    })
}
