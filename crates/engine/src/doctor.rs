//! Checks everything that a run depends on, and advises what to do about problems.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::store::{Of, ServerState, Settings, Status, Store, StoreError};
use crewagent_source::bytes;
use crewagent_source::runtime_version;

/// Free bytes below which the check warns.
const LITTLE_SPACE: u64 = 512 << 20;
/// Free bytes below which no run can be stored.
const NO_SPACE: u64 = 16 << 20;
/// Number of items of one kind that a message names.
const NAMED: usize = 5;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthCheck {
    pub name: &'static str,
    pub status: CheckHealth,
    pub message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

/// Severity of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckHealth {
    Ok,
    /// Usable, but could be better.
    Warn,
    Fail,
}

impl HealthCheck {
    /// Returns a check that passed.
    pub fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: CheckHealth::Ok, message: message.into(), advice: Vec::new() }
    }

    /// Returns a check that passed with a warning.
    pub fn warn(name: &'static str, message: impl Into<String>) -> Self {
        Self { status: CheckHealth::Warn, ..Self::ok(name, message) }
    }

    /// Returns a check that failed.
    pub fn fail(name: &'static str, message: impl Into<String>) -> Self {
        Self { status: CheckHealth::Fail, ..Self::ok(name, message) }
    }

    /// Adds advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }
}

/// Runs all checks, and the caller's check of the model. Sends nothing and changes nothing.
pub fn checks(
    home: Option<PathBuf>,
    model: impl FnOnce(&Store) -> HealthCheck,
) -> Result<Vec<HealthCheck>, StoreError> {
    let folder = home.clone().map_or_else(Store::default_home, Ok)?;
    let mut checks = vec![
        HealthCheck::ok("version", format!("crewagent {}", runtime_version())),
        store(&folder),
        settings(&folder),
    ];
    // Without valid settings there is no store to open.
    if let Ok(store) = Store::open(home) {
        checks.extend([model(&store), privacy(&store), servers(&store), packages(&store)]);
        checks.extend([projects(&store), runs(&store)]);
    }
    Ok(checks)
}

fn store(home: &Path) -> HealthCheck {
    const NAME: &str = "store";
    let shown = home.display();
    // A store that does not exist yet will be created, so check its nearest existing parent.
    let existing = home.ancestors().find(|folder| folder.exists()).unwrap_or(home);
    let place = if existing == home { String::new() } else { " (not made yet)".to_owned() };
    if let Err(error) = tempfile::tempfile_in(existing) {
        return HealthCheck::fail(NAME, format!("{shown}{place} cannot be written: {error}"))
            .advise("make it writable, or set CREWAGENT_HOME to a folder that is".to_owned());
    }
    match free_space(existing) {
        Some(free) if free < NO_SPACE => HealthCheck::fail(
            NAME,
            format!("{shown}{place}: the disk is full ({} free)", bytes(free)),
        )
        .advise("free some space, or set CREWAGENT_HOME to a folder on another disk"),
        Some(free) if free < LITTLE_SPACE => HealthCheck::warn(
            NAME,
            format!("{shown}{place}, writable, but only {} free", bytes(free)),
        )
        .advise("free some space before long runs"),
        Some(free) => {
            HealthCheck::ok(NAME, format!("{shown}{place}, writable, {} free", bytes(free)))
        }
        None => HealthCheck::ok(NAME, format!("{shown}{place}, writable")),
    }
}

/// Returns the mode of a folder that other users can open.
#[cfg(unix)]
fn open_mode(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = folder.metadata().ok()?.permissions().mode() & 0o777;
    Some(mode).filter(|mode| mode & 0o077 != 0)
}

/// Returns `None`: elsewhere folders below the user's own are private.
#[cfg(not(unix))]
fn open_mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

fn settings(home: &Path) -> HealthCheck {
    let path = Settings::path(home);
    match Settings::load(&path) {
        Ok(_) if path.exists() => {
            HealthCheck::ok("settings", format!("{} is valid", path.display()))
        }
        Ok(_) => HealthCheck::ok("settings", "all at their defaults"),
        Err(error) => HealthCheck::fail("settings", error.to_string())
            .advise("crewagent config edit opens the file"),
    }
}

/// Reports what other users could see, and files that may hold keys although no key is stored in them.
fn privacy(store: &Store) -> HealthCheck {
    const NAME: &str = "privacy";
    if let Some(mode) = open_mode(store.home()) {
        let home = store.home().display();
        let message = format!("{home}: other users can look into it (mode {mode:03o})");
        return HealthCheck::warn(NAME, message).advise(format!("chmod 700 {home}"));
    }
    let left = store.secrets().leftovers();
    if left.is_empty() {
        return HealthCheck::ok(NAME, "the store is for you alone");
    }
    let names: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
    let count = counted(left.len(), "temporary file");
    let names = some_of(&names).join(", ");
    let message = format!("{count} of a killed process may hold stored keys: {names}");
    HealthCheck::warn(NAME, message).advise("remove them; storing the next key removes them, too")
}

/// Reports the enabled MCP servers and the variables they lack. Starts none of them.
fn servers(store: &Store) -> HealthCheck {
    const NAME: &str = "mcp";
    let (settings, known) = (&store.settings().mcp.servers, store.tool_servers());
    let count = counted(settings.len(), "MCP server");
    let on = settings.iter().filter(|(_, one)| one.enabled);
    let lacking: Vec<String> = on
        .filter_map(|(name, one)| {
            let unset = known.unset(name, one);
            (!unset.is_empty()).then(|| format!("{name} needs {}", unset.join(", ")))
        })
        .collect();
    if !lacking.is_empty() {
        return HealthCheck::warn(NAME, format!("{count}, {}", some_of(&lacking).join("; ")))
            .advise("set these environment variables, or store values with `crewagent mcp add`");
    }
    let is_kept_out = |(name, one)| known.state(name, one) == ServerState::KeptOut;
    if settings.iter().any(is_kept_out) {
        return HealthCheck::ok(NAME, format!("{count}, of those that are on the policy keeps some out"))
            .advise("crewagent mcp list shows which, crewagent config set policy.mcp.enabled true allows servers");
    }
    let enabled = settings.values().filter(|one| one.enabled).count();
    HealthCheck::ok(NAME, format!("{count}, {enabled} enabled"))
}

fn packages(store: &Store) -> HealthCheck {
    const NAME: &str = "packages";
    let packages = store.packages();
    let listing = match packages.list() {
        Ok(listing) => listing,
        Err(error) => return HealthCheck::fail(NAME, error.to_string()),
    };
    let mut broken: Vec<String> = listing.damaged.iter().map(ToString::to_string).collect();
    for installed in &listing.installed {
        if let Err(error) = packages.open(installed) {
            broken.push(error.to_string());
        }
    }
    let count = counted(listing.installed.len(), "package");
    if broken.is_empty() {
        return HealthCheck::ok(NAME, format!("{count}, all as they were imported"));
    }
    let message = format!("{} damaged: {}", broken.len(), some_of(&broken).join("; "));
    HealthCheck::fail(NAME, message)
        .advise("import it again to repair it, or remove it with `crewagent package rm NAME`")
}

fn projects(store: &Store) -> HealthCheck {
    const NAME: &str = "projects";
    let listing = match store.projects().list() {
        Ok(listing) => listing,
        Err(error) => return HealthCheck::fail(NAME, error.to_string()),
    };
    let count = counted(listing.projects.len(), "project");
    if !listing.damaged.is_empty() {
        let flaws: Vec<String> = listing.damaged.iter().map(|flaw| flaw.reason.clone()).collect();
        return HealthCheck::fail(
            NAME,
            format!("{count}, and {} damaged: {}", flaws.len(), some_of(&flaws).join("; ")),
        );
    }
    let gone: Vec<String> = listing
        .projects
        .iter()
        .filter(|project| !project.path.is_dir())
        .map(|project| format!("{} ({})", project.id, project.path.display()))
        .collect();
    if gone.is_empty() {
        return HealthCheck::ok(NAME, count);
    }
    let message =
        format!("{count}, the folder of {} is gone: {}", gone.len(), some_of(&gone).join(", "));
    HealthCheck::warn(NAME, message)
        .advise("crewagent projects relink ID DIR, if it was moved")
        .advise("crewagent projects forget ID, if it was removed")
}

fn runs(store: &Store) -> HealthCheck {
    const NAME: &str = "runs";
    let listing = match store.runs().list(Of::All) {
        Ok(listing) => listing,
        Err(error) => return HealthCheck::fail(NAME, error.to_string()),
    };
    let of = |status: Status| -> Vec<String> {
        let runs = listing.runs.iter().filter(|run| run.status == status);
        runs.map(|run| run.run_id.to_string()).collect()
    };
    let mut parts = vec![counted(listing.runs.len(), "run")];
    let (waiting, interrupted) = (of(Status::WaitingUser), of(Status::Interrupted));
    if !waiting.is_empty() {
        parts.push(format!("{} waiting for you", waiting.len()));
    }
    if !interrupted.is_empty() {
        parts.push(format!(
            "{} interrupted: {}",
            interrupted.len(),
            some_of(&interrupted).join(", ")
        ));
    }
    let mut flaws: Vec<String> =
        listing.damaged.iter().map(|flaw| format!("{}: {}", flaw.name, flaw.reason)).collect();
    for run in &listing.runs {
        flaws.extend(run.troubles.iter().map(|trouble| format!("{}: {trouble}", run.run_id)));
    }
    if !flaws.is_empty() {
        parts.push(format!("{} damaged: {}", flaws.len(), some_of(&flaws).join("; ")));
    }
    let message = parts.join(", ");
    let mut check = match (interrupted.first(), flaws.first()) {
        (None, None) => return HealthCheck::ok(NAME, message),
        (Some(_), _) | (None, Some(_)) => HealthCheck::warn(NAME, message),
    };
    if let Some(first) = interrupted.first() {
        check = check.advise(format!("crewagent resume {first} goes on where it was cut off"));
    }
    if !flaws.is_empty() {
        check =
            check.advise("resuming a run repairs its journal; `crewagent runs rm RUN` removes one");
    }
    check
}

/// Returns the first few, and the number of the others.
fn some_of(all: &[String]) -> Vec<String> {
    let mut some: Vec<String> = all.iter().take(NAMED).cloned().collect();
    if all.len() > NAMED {
        some.push(format!("and {} more", all.len() - NAMED));
    }
    some
}

/// Formats a count, such as `1 run` or `2 runs`.
fn counted(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}
