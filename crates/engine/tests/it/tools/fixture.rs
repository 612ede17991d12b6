//! The fixture of the tools: a run's tools on real folders, and calls as a model writes them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use crewagent_core::call::Call;
use crewagent_core::event::{Answer, FileIntent, Intent, StateChange};
use crewagent_core::message::ToolCall;
use crewagent_core::policy::{FsPolicy, Policy};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::state::document::{InitialValues, StateDocument};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::{Confirmation, MissingRule};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::visit_files::{OutputRule, VisitFiles};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::disk::Disk;
use crewagent_engine::mounts::{MountError, Mounts, Roots};
use crewagent_engine::tools::{
    CallContext, CallFiles, CallPlan, ChangeOutcome, Moves, PlannedChange, Recent, SavedText, Tools,
};
use crewagent_format::integrity::Digest;
use crewagent_format::package::{Workflow, check};
use crewagent_testkit::package::MemoryFiles;
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use crate::mounts::fixture::SECRET;
use crate::support::scratch;

/// Time of every call.
pub(crate) const NOW: &str = "2026-11-15T09:30:00Z";
/// Beginning of the secret; a search that finds it would reveal the rest.
const PART: &str = "canary-";
pub(crate) const STATE: &str = "@state/workflow.md";

/// Returns a workflow with one decision and two conditions; the first step and the plans have outputs.
pub(crate) fn workflow() -> &'static Workflow {
    static WORKFLOW: OnceLock<Workflow> = OnceLock::new();
    WORKFLOW.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples/hello-branch");
        let files = MemoryFiles::from_folder(&folder).unwrap();
        let package = check(&files, &semver::Version::new(9, 0, 0)).package.unwrap();
        package.workflows()[0].clone()
    })
}

fn artifacts() -> &'static ProjectPath {
    static ARTIFACTS: OnceLock<ProjectPath> = OnceLock::new();
    ARTIFACTS.get_or_init(|| ProjectPath::parse("artifacts").unwrap())
}

/// Returns tools on these mounts.
pub(crate) fn tools(mounts: &Mounts) -> Tools<'_> {
    static RECENT: Recent = Recent::new();
    Tools {
        mounts,
        workflow: Some(workflow()),
        artifacts: std::slice::from_ref(artifacts()),
        recent: &RECENT,
    }
}

/// A run at its first node.
pub(crate) struct ToolsFixture {
    pub(crate) scratch: TempDir,
    pub(crate) mounts: Mounts,
    pub(crate) policy: Policy,
    pub(crate) missing: MissingRule,
    pub(crate) outputs: OutputRule,
    /// Files of this visit.
    pub(crate) files: VisitFiles,
    pub(crate) gate: GateVisit,
    /// Drafts as the run saved them before.
    pub(crate) saved: Vec<SavedText>,
    pub(crate) confirmation: Confirmation,
    pub(crate) moves: Moves,
    /// Files of a move that the user agreed to.
    pub(crate) agreed: Option<Vec<FileIntent>>,
    pub(crate) created: RefCell<Vec<ProjectPath>>,
    pub(crate) deadline: Deadline,
    /// True if the run wrote all files of the project.
    pub(crate) owns_all: bool,
    /// Files that the model knows.
    pub(crate) known: RefCell<CallFiles>,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) json: Json,
    pub(crate) answer: Answer,
    pub(crate) state: Option<StateChange>,
}

impl ToolsFixture {
    pub(crate) fn new() -> Self {
        let scratch = scratch();
        let root = scratch.path();
        for folder in ["project/artifacts", "package", "state/logs"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let values = InitialValues {
            run_id: "run-1".into(),
            now: "2026-11-15T09:00:00Z".into(),
            ..InitialValues::default()
        };
        let state = StateDocument::start(workflow(), &values).unwrap();
        fs::write(root.join("state/workflow.md"), state.text().as_bytes()).unwrap();
        fs::write(root.join("state/logs/execution.jsonl"), "{\"seq\":1}\n").unwrap();
        fs::write(root.join("package/step.md"), "step\n").unwrap();
        let mounts = Self::mount(root, Disk::real());
        Self {
            mounts,
            policy: Policy::default(),
            missing: MissingRule::Enforce,
            outputs: OutputRule::Changed,
            files: VisitFiles { since: NOW.parse().ok(), ..VisitFiles::default() },
            gate: GateVisit::none(),
            saved: Vec::new(),
            confirmation: Confirmation::Needed,
            moves: Moves::Free,
            agreed: None,
            created: RefCell::default(),
            deadline: Deadline::default(),
            owns_all: true,
            known: RefCell::default(),
            scratch,
        }
    }

    /// Opens the same folders through another disk.
    pub(crate) fn mount(root: &Path, disk: Disk) -> Mounts {
        let roots = Roots {
            project: root.join("project"),
            package: root.join("package"),
            state: root.join("state"),
        };
        Mounts::open_with(&roots, disk).unwrap()
    }

    pub(crate) fn limited(read: u64, write: u64) -> Self {
        let fs = FsPolicy { enabled: true, max_read_bytes: read, max_write_bytes: write };
        Self { policy: Policy { fs, ..Policy::default() }, ..Self::new() }
    }

    pub(crate) fn real(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path.replace('@', ""))
    }

    /// Writes a file without any tool.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let real = self.real(path);
        fs::create_dir_all(real.parent().unwrap()).unwrap();
        fs::write(real, content).unwrap();
        self
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.real(path)).unwrap()
    }

    pub(crate) fn parse(&self, name: &str, arguments: &Json) -> Result<Call, Refusal> {
        Call::parse(name, &arguments.to_string(), &self.policy)
    }

    pub(crate) fn plan(&self, name: &str, arguments: Json) -> CallPlan {
        let call = self.parse(name, &arguments).unwrap();
        let created = self.created.borrow().clone();
        let files = self.known_files(&named(name, &arguments));
        tools(&self.mounts).plan(&call, &self.context(&created, &files)).unwrap()
    }

    /// Returns the change that a call plans.
    #[track_caller]
    pub(crate) fn change(&self, name: &str, arguments: Json) -> PlannedChange {
        match self.plan(name, arguments) {
            CallPlan::Change(change) => *change,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn carry_out(
        &self,
        mounts: &Mounts,
        call: &Call,
        intent: &Intent,
        planned: Option<&PlannedChange>,
    ) -> Result<ChangeOutcome, MountError> {
        let created = self.created.borrow().clone();
        tools(mounts).carry_out(call, intent, planned, &self.context(&created, &NOTHING_KNOWN))
    }

    /// Returns what the model knows of files at a call.
    fn known_files(&self, call: &ToolCall) -> CallFiles {
        let mut files = self.known.borrow().clone();
        files.answer = files.known.answer_to(call);
        if self.owns_all {
            let mut own = BTreeMap::new();
            add_digests(&self.real("project"), "", &mut own);
            files.written = Arc::new(own);
        }
        files
    }

    /// Remembers what an answer tells of files, as the run does.
    fn learn(&self, call: &ToolCall, answer: &Answer) {
        let mut files = self.known.borrow_mut();
        Arc::make_mut(&mut files.known).take(call, answer);
        let wrote =
            answer.wrote.iter().filter_map(|one| Some((one.path.clone(), one.sha256.clone()?)));
        Arc::make_mut(&mut files.written).extend(wrote);
    }

    fn context<'a>(&'a self, created: &'a [ProjectPath], files: &'a CallFiles) -> CallContext<'a> {
        CallContext {
            policy: &self.policy,
            created,
            now: NOW,
            missing: self.missing,
            outputs: self.outputs,
            files: &self.files,
            set: &NOTHING_SET,
            known: files,
            confirmation: self.confirmation,
            gate: &self.gate,
            saved: &self.saved,
            moves: self.moves,
            agreed: self.agreed.as_deref(),
            deadline: &self.deadline,
        }
    }

    /// Executes a call from its text to its answer, as the runtime does.
    #[track_caller]
    pub(crate) fn call(&self, name: &str, arguments: Json) -> CallOutcome {
        let call = match self.parse(name, &arguments) {
            Ok(call) => call,
            Err(refusal) => return CallOutcome::refusal(&refusal),
        };
        let created = self.created.borrow().clone();
        let named = named(name, &arguments);
        let files = self.known_files(&named);
        let context = self.context(&created, &files);
        let described = match tools(&self.mounts).plan(&call, &context).unwrap() {
            CallPlan::Answer(answer) => CallOutcome::new(answer, None),
            CallPlan::Change(change) => {
                let outcome =
                    self.carry_out(&self.mounts, &call, &change.intent, Some(&change)).unwrap();
                CallOutcome::new(outcome.answer, outcome.state)
            }
            other @ (CallPlan::Ask(_) | CallPlan::Approve(_)) => panic!("{other:?}"),
        };
        if !self.owns_all {
            self.learn(&named, &described.answer);
        }
        let mut books = self.created.borrow_mut();
        if described.state.is_some() {
            books.clear();
        }
        books.extend(described.answer.created.iter().map(|path| ProjectPath::parse(path).unwrap()));
        described
    }

    #[track_caller]
    pub(crate) fn check_refused(
        &self,
        name: &str,
        arguments: Json,
        code: RefusalCode,
        says: &[&str],
    ) -> CallOutcome {
        let described = self.call(name, arguments);
        assert_eq!(described.answer.refused, Some(code), "{}", described.json);
        assert_eq!(described.json["ok"], false);
        assert_eq!(described.json["error"]["code"], json!(code));
        let message = described.json["error"]["message"].as_str().unwrap();
        for part in says {
            assert!(message.contains(part), "{message} lacks {part}");
        }
        described
    }
}

impl CallOutcome {
    fn new(answer: Answer, state: Option<StateChange>) -> Self {
        let text = answer.result.inline().unwrap().clone();
        Self { json: serde_json::from_str(&text).unwrap(), answer, state }
    }

    fn refusal(refusal: &Refusal) -> Self {
        Self::new(Answer::from(refusal), None)
    }

    /// Returns the answer as the model receives it.
    pub(crate) fn text(&self) -> &str {
        self.answer.result.inline().unwrap()
    }
}

/// Returns the calls that a hostile model makes with a path.
fn hostile_calls(path: &str) -> [(&'static str, Json); 9] {
    let edits =
        json!([{"old": SECRET, "new": "x"}, {"old": "inside", "new": "outside", "all": true}]);
    let add = "*** Begin Patch\n*** Add File: x\n+added\n*** End Patch\n";
    [
        ("fs.read", json!({"path": path})),
        ("fs.read", json!({"path": path, "startLine": 1, "endLine": 9})),
        ("fs.list", json!({"path": path, "depth": 3})),
        ("fs.search", json!({"query": PART, "path": path})),
        ("fs.write", json!({"path": path, "content": "more", "mode": "append"})),
        ("fs.write", json!({"path": path, "content": "written", "mode": "create"})),
        ("fs.apply_patch", json!({"path": path, "operation": "replace", "edits": edits})),
        (
            "fs.apply_patch",
            json!({"path": path, "operation": "diff", "diff": add.replace("File: x", &format!("File: {path}"))}),
        ),
        ("fs.write", json!({"path": path, "content": "written"})),
    ]
}

/// Puts a path through every tool, and returns everything that was answered or recorded.
pub(crate) fn attack(mounts: &Mounts, path: &str) -> Vec<String> {
    let calls = hostile_calls(path);
    calls.iter().flat_map(|(name, arguments)| answers(mounts, name, arguments)).collect()
}

fn answers(mounts: &Mounts, name: &str, arguments: &Json) -> Vec<String> {
    let policy = Policy::default();
    let call = match Call::parse(name, &arguments.to_string(), &policy) {
        Ok(call) => call,
        Err(refusal) => return vec![refusal.to_json().to_string()],
    };
    let mut described = vec![call.subject().unwrap_or_default()];
    let never = Deadline::default();
    let context = context(&policy, &never);
    match tools(mounts).plan(&call, &context) {
        Ok(CallPlan::Change(change)) => {
            described.push(serde_json::to_string(&change.intent).unwrap());
            match tools(mounts).carry_out(&call, &change.intent, Some(&change), &context) {
                Ok(outcome) => described.push(format!("{outcome:?}")),
                Err(error) => described.push(format!("{error} {error:?}")),
            }
        }
        Ok(plan) => described.push(format!("{plan:?}")),
        Err(error) => described.push(format!("{error} {error:?}")),
    }
    described
}

/// Plans a call on some mounts, and returns the code if it is refused.
pub(crate) fn refusal_code(mounts: &Mounts, name: &str, arguments: Json) -> Option<RefusalCode> {
    let policy = Policy::default();
    let call = match Call::parse(name, &arguments.to_string(), &policy) {
        Ok(call) => call,
        Err(refusal) => return Some(refusal.code),
    };
    let never = Deadline::default();
    let mut files = CallFiles::default();
    let plan = |files: &CallFiles| {
        let context = CallContext { known: files, ..context(&policy, &never) };
        tools(mounts).plan(&call, &context).unwrap()
    };
    let mut planned = plan(&files);
    if let CallPlan::Answer(answer) = &planned
        && !answer.warned.is_empty()
    {
        // The model insists on overwriting a file of the user.
        Arc::make_mut(&mut files.known).take(&named(name, &arguments), answer);
        planned = plan(&files);
    }
    match planned {
        CallPlan::Answer(answer) => answer.refused,
        CallPlan::Change(_) | CallPlan::Ask(_) | CallPlan::Approve(_) => None,
    }
}

/// Variables of a visit in which nothing was set.
static NOTHING_SET: BTreeSet<String> = BTreeSet::new();

/// Files of a visit in which nothing was written.
static NO_FILES: VisitFiles = VisitFiles::none();
static NO_GATE: GateVisit = GateVisit::none();
/// Files of a model that knows nothing.
static NOTHING_KNOWN: LazyLock<CallFiles> = LazyLock::new(CallFiles::default);

/// Returns a call as the model makes it.
fn named(name: &str, arguments: &Json) -> ToolCall {
    let arguments = arguments.to_string().into();
    ToolCall { id: "c0".into(), name: name.to_owned(), arguments, extra: Map::new() }
}

/// Adds the digests of all files below a folder.
fn add_digests(folder: &Path, path: &str, digests: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{path}{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_digests(&entry.path(), &format!("{name}/"), digests);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            digests.insert(name, Digest::of(&bytes).to_string());
        }
    }
}

fn context<'a>(policy: &'a Policy, deadline: &'a Deadline) -> CallContext<'a> {
    CallContext {
        policy,
        created: &[],
        now: NOW,
        missing: MissingRule::Enforce,
        outputs: OutputRule::Changed,
        files: &NO_FILES,
        set: &NOTHING_SET,
        known: &NOTHING_KNOWN,
        confirmation: Confirmation::Needed,
        moves: Moves::Free,
        gate: &NO_GATE,
        saved: &[],
        agreed: None,
        deadline,
    }
}
