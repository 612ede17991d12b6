//! The fixture for runs: a golden folder, a store and a project of its own, and a clock that ticks by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crewagent_core::event::{Event, Phase, Reply};
use crewagent_core::policy::rules::{RuleSet, Source, ToolPattern};
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::clock::Clock;
use crewagent_engine::control::Control;
use crewagent_engine::disk::Disk;
use crewagent_engine::model::{Model, ModelError, Progress, Request, RequestCache};
use crewagent_engine::runtime::{Run, Runtime, SettingsChange, StartRun};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{Installed, RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_format::syntax::yaml;
use crewagent_scenario::scripted::Scripted;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tempfile::TempDir;

/// `run.yaml` of a golden folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Folder of `spec/examples`, or `.` for the folder `package` beside it.
    pub(crate) package: String,
    #[serde(default)]
    pub(crate) workflow: Option<String>,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// The user's messages at the first, second, … stop point.
    #[serde(default)]
    pub(crate) inputs: Vec<String>,
    #[serde(default)]
    pub(crate) variables: Map<String, Json>,
    #[serde(default)]
    pub(crate) settings: Settings,
    /// Numbers of inputs after which another process resumes the run.
    #[serde(default)]
    pub(crate) restart_after: Vec<usize>,
    /// Files in a folder beside the project.
    #[serde(default)]
    pub(crate) outside: BTreeMap<String, String>,
    /// Links in the project; `{outside}` stands for that folder.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) pipes: Vec<String>,
    /// Texts that may not occur anywhere.
    #[serde(default)]
    pub(crate) never: Vec<String>,
    pub(crate) ends: Ends,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) mode: Option<Mode>,
    pub(crate) max_turns: Option<u64>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) max_read_bytes: Option<u64>,
    pub(crate) max_write_bytes: Option<u64>,
    #[serde(default)]
    pub(crate) strict: bool,
    /// Rules of the settings.
    #[serde(default)]
    pub(crate) allow: Vec<ToolPattern>,
    #[serde(default)]
    pub(crate) ask: Vec<ToolPattern>,
    #[serde(default)]
    pub(crate) deny: Vec<ToolPattern>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ends {
    pub(crate) phase: Phase,
    /// Exit code of the command line, which the tests of the command line check.
    #[serde(default, rename = "exit")]
    _exit: u8,
}

impl Script {
    pub(crate) fn run_settings(&self) -> RunSettings {
        let mut settings = RunSettings::default();
        let given = &self.settings;
        settings.mode = given.mode.unwrap_or_default();
        settings.limits.turns = given.max_turns.unwrap_or(settings.limits.turns);
        settings.limits.tokens = given.max_tokens;
        settings.policy.strict = given.strict;
        let (allow, ask, deny) = (given.allow.clone(), given.ask.clone(), given.deny.clone());
        let rules = RuleSet { from: Source::Settings, allow, ask, deny };
        settings.policy.rules.extend(Some(rules).filter(|rules| !rules.is_empty()));
        let fs = &mut settings.policy.fs;
        fs.max_read_bytes = given.max_read_bytes.unwrap_or(fs.max_read_bytes);
        fs.max_write_bytes = given.max_write_bytes.unwrap_or(fs.max_write_bytes);
        settings
    }
}

/// A golden folder, and a place to play it.
pub(crate) struct GoldenFixture {
    pub(crate) folder: PathBuf,
    pub(crate) script: Script,
    pub(crate) model: Scripted,
    pub(crate) installed: Installed,
    scratch: TempDir,
}

/// Returns the folder of all golden runs.
pub(crate) fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/golden")
}

impl GoldenFixture {
    /// Prepares a golden run.
    pub(crate) fn set(name: &str) -> Self {
        Self::set_in(name, tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// Prepares a golden run in a scratch folder of the caller.
    pub(crate) fn set_in(name: &str, scratch: TempDir) -> Self {
        let folder = golden().join(name);
        let text = fs::read_to_string(folder.join("run.yaml")).unwrap();
        let tree = yaml::parse(&text).unwrap();
        let script: Script = serde_json::from_value(tree.to_json()).unwrap();
        let model = Scripted::load(&folder.join("scenario.yaml")).unwrap();
        let package = match script.package.as_str() {
            "." => folder.join("package"),
            name => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples").join(name),
        };
        let home = scratch.path().join("home");
        let store = Store::open(Some(home)).unwrap();
        ask_about_no_names(store.home());
        let installed = store.packages().import(&package, &mut || {}).unwrap().installed;
        let golden_fixture = Self { folder, script, model, installed, scratch };
        golden_fixture.reset_project();
        golden_fixture
    }

    /// Opens the store, with all operations of runs on this disk.
    pub(crate) fn store(&self, disk: Disk) -> Store {
        Store::open(Some(self.scratch.path().join("home"))).unwrap().on(disk)
    }

    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    /// Restores the initial project, and removes all runs.
    pub(crate) fn reset_project(&self) {
        for name in ["project", "home/projects"] {
            let _ = fs::remove_dir_all(self.scratch.path().join(name));
        }
        copy(&self.folder.join("project"), &self.project());
        self.set_traps();
    }

    /// Creates what a repository cannot hold: files beside the project, links, pipes.
    fn set_traps(&self) {
        let outside = self.scratch.path().join("outside");
        for (name, text) in &self.script.outside {
            let path = outside.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (name, target) in &self.script.links {
            let target = target.replace("{outside}", outside.to_str().unwrap());
            std::os::unix::fs::symlink(target, self.project().join(name)).unwrap();
        }
        for name in &self.script.pipes {
            let path = self.project().join(name);
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
    }

    pub(crate) fn plan(&self) -> StartRun {
        StartRun {
            package: self.installed.clone(),
            workflow: self.script.workflow.clone(),
            agent: self.script.agent.clone(),
            project: self.project(),
            variables: self.script.variables.clone(),
            settings: self.script.run_settings(),
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        }
    }

    /// Plays the whole script without a fault.
    pub(crate) fn play(&self) -> Played {
        self.watched(&mut |_| ())
    }

    /// Plays the whole script, and passes every event to `watch` when it is emitted.
    pub(crate) fn watched(&self, watch: &mut dyn FnMut(&Event)) -> Played {
        let store = self.store(Disk::real());
        let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
        let mut events = Vec::new();
        let model = Watched { model: &self.model, requests: Mutex::default() };
        let mut run = runtime.start(&self.plan()).unwrap();
        run.opening().iter().for_each(&mut *watch);
        events.extend(run.opening().iter().cloned());
        let mut inputs = self.script.inputs.iter().enumerate();
        loop {
            let mut tell = |event: &Event| {
                watch(event);
                events.push(event.clone());
            };
            let rest = run.drive(&model, &Control::default(), &mut tell).unwrap();
            let Some((at, input)) = inputs.next() else {
                run.finish(&rest, &mut |event| events.push(event.clone())).unwrap();
                let requests = model.requests.into_inner().unwrap();
                return Played { id: RunId::parse(run.id()).unwrap(), events, rest, requests };
            };
            if self.script.restart_after.contains(&at) {
                let id = RunId::parse(run.id()).unwrap();
                drop(run);
                run = runtime.resume(&id, &SettingsChange::default()).unwrap();
                events.extend(run.opening().iter().cloned());
            }
            run.say(input, &mut |event| events.push(event.clone())).unwrap();
        }
    }
}

/// The result of a run.
pub(crate) struct Played {
    pub(crate) id: RunId,
    pub(crate) events: Vec<Event>,
    pub(crate) rest: Rest,
    /// Messages of every answered request, as JSON.
    pub(crate) requests: Vec<String>,
}

/// A model that records its requests.
pub(crate) struct Watched<'m> {
    pub(crate) model: &'m Scripted,
    pub(crate) requests: Mutex<Vec<String>>,
}

impl Model for Watched<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(
        &self,
        request: &Request,
        cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let reply = self.model.reply(request, cache, tell, until)?;
        self.requests.lock().unwrap().push(serde_json::to_string(&request.messages).unwrap());
        Ok(reply)
    }
}

/// Returns a clock that starts on a day of November and ticks on every read.
pub(crate) fn ticking() -> Clock {
    Clock::stepping("2026-11-15T09:00:00Z".parse().unwrap(), 250)
}

pub(crate) fn drive(
    run: &mut Run,
    model: &dyn Model,
    events: &mut Vec<Event>,
) -> Result<Rest, Halt> {
    run.drive(model, &Control::default(), &mut |event| events.push(event.clone()))
}

/// Sets up a store whose settings have no rules, as the plans of these runs.
pub(crate) fn ask_about_no_names(home: &Path) {
    let text = "[policy]\nruns-later = \"allow\"\nsecrets = \"allow\"\n";
    fs::create_dir_all(home).unwrap();
    fs::write(home.join("config.toml"), text).unwrap();
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries.map(Result::unwrap) {
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns every file below a folder with its content. Folders end in `/`.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                walk(&entry.path(), &format!("{name}/"), found);
            } else if kind.is_file() {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, "", &mut found);
    found
}
