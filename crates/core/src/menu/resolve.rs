//! Resolves the target of a menu item to an action: the workflow, the file or the prompt that its text names.

use std::collections::BTreeSet;

use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::package::Package;
use crewagent_format::package::agents::Agent;
use crewagent_format::wording::{nearest, quoted, ticked};

use super::able;
use super::error::{MenuError, MenuErrorCode};
use super::{Target, Work};
use crate::vpath::{Mount, VPath, with_mounts};

/// Function that reads a file; `None` if it is missing or unreadable.
type FileLookup<'f> = &'f dyn Fn(&VPath) -> Option<String>;

/// Action of a menu item. Everything that it names existed when it was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    StartWorkflow {
        /// Index in [`Package::workflows`].
        workflow: usize,
        data: Option<DataRef>,
    },
    /// Let the agent follow a Markdown file.
    Script {
        path: VPath,
        data: Option<DataRef>,
    },
    Prompt {
        id: String,
        text: String,
        data: Option<DataRef>,
    },
    /// Send the text of the menu item as an instruction.
    Inline {
        text: String,
        data: Option<DataRef>,
    },
    ShowMenu,
    Dismiss,
    Resume,
}

/// File to load before a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRef {
    pub path: VPath,
    pub format: DataFormat,
}

/// Format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    Json,
    Yaml,
    Csv,
    Xml,
    Text,
}

impl DataFormat {
    /// Returns the format that the extension of a path implies.
    pub fn of(path: &VPath) -> Self {
        match ending(path.relative()).as_str() {
            "json" => Self::Json,
            "yaml" | "yml" => Self::Yaml,
            "csv" => Self::Csv,
            "xml" => Self::Xml,
            _ => Self::Text,
        }
    }
}

impl Action {
    /// Returns its name in records and for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StartWorkflow { .. } => "StartWorkflow",
            Self::Script { .. } => "ExecScript",
            Self::Prompt { .. } | Self::Inline { .. } => "RunAction",
            Self::ShowMenu => "ShowMenu",
            Self::Dismiss => "DismissAgent",
            Self::Resume => "ResumeRun",
        }
    }

    /// Returns the data to load first.
    pub fn data(&self) -> Option<&DataRef> {
        match self {
            Self::StartWorkflow { data, .. }
            | Self::Script { data, .. }
            | Self::Prompt { data, .. }
            | Self::Inline { data, .. } => data.as_ref(),
            Self::ShowMenu | Self::Dismiss | Self::Resume => None,
        }
    }
}

/// Resolves what a target names. A path with a mount or a template is that file; a bare path is the package's file if
/// it has one, else where [`VPath::parse`] puts it. A target with `validate-workflow` is also [validated](validate).
pub fn resolve(
    target: &Target,
    agent: &Agent,
    package: &Package,
    files: FileLookup<'_>,
) -> Result<Action, MenuError> {
    let scope = ResolveScope { package, files };
    let data = target.data.as_deref().map(|text| scope.place(text)).transpose()?;
    let data = data.map(|path| DataRef { format: DataFormat::of(&path), path });
    let action = match &target.work {
        Work::Workflow(text) => Action::StartWorkflow { workflow: scope.workflow(text)?, data },
        Work::Exec(text) => scope.exec(text, data, target.validate)?,
        Work::Action(text) => resolve_action(text, agent, data)?,
    };
    if target.validate {
        validate(&action, package, files)?;
    }
    Ok(action)
}

/// Returns the workflows that an agent's menu starts, as indices in [`Package::workflows`]. Reads no file.
pub fn started_by(agent: &Agent, package: &Package) -> BTreeSet<usize> {
    let scope = ResolveScope { package, files: &|_| None };
    let targets = agent.menu.iter().flat_map(|item| {
        let own = Target::of(&item.target, false);
        own.into_iter().chain(able(item).map(|(_, target)| target))
    });
    let workflow = |target: Target| match target.work {
        Work::Workflow(text) => scope.workflow(&text).ok(),
        Work::Exec(text) => scope.place(&text).ok().and_then(|path| scope.document(&path)),
        Work::Action(_) => None,
    };
    targets.filter_map(workflow).collect()
}

/// Checks that everything exists that an action needs, and names all that is missing: the data, the script, and the
/// document, the graph and the steps of the workflow and of its sub-workflows.
pub fn validate(
    action: &Action,
    package: &Package,
    files: FileLookup<'_>,
) -> Result<(), MenuError> {
    let mut needed: BTreeSet<VPath> =
        action.data().map(|data| data.path.clone()).into_iter().collect();
    match action {
        Action::StartWorkflow { workflow, .. } => needed.extend(workflow_files(package, *workflow)),
        Action::Script { path, .. } => drop(needed.insert(path.clone())),
        Action::Prompt { .. }
        | Action::Inline { .. }
        | Action::ShowMenu
        | Action::Dismiss
        | Action::Resume => {}
    }
    let missing: Vec<_> = needed
        .iter()
        .filter(|path| files(path).is_none())
        .map(|path| format!("`{path}`"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let are = if missing.len() == 1 { "is" } else { "are" };
    let message = format!("{} {are} missing or cannot be read.", missing.join(", "));
    let hint = "Add what is missing, or correct the path in the menu. Nothing was started.";
    Err(MenuError::new(MenuErrorCode::ValidationFailed, message, hint))
}

/// Collects the files of a workflow and of its sub-workflows.
fn workflow_files(package: &Package, index: usize) -> BTreeSet<VPath> {
    let (mut seen, mut waiting, mut files) = (BTreeSet::new(), vec![index], BTreeSet::new());
    while let Some(index) = waiting.pop() {
        let Some(workflow) = package.workflows().get(index).filter(|_| seen.insert(index)) else {
            continue;
        };
        let steps = workflow.graph.nodes().iter().map(|node| &node.file);
        let all = [&workflow.document_path, &workflow.graph_path].into_iter().chain(steps);
        files.extend(all.filter_map(|path| VPath::new(Mount::Package, path.as_str())));
        waiting.extend(
            workflow.calls.values().filter_map(|call| by_id(package, call.workflow.as_str())),
        );
    }
    files
}

fn by_id(package: &Package, id: &str) -> Option<usize> {
    let is_it = |own: &crewagent_format::id::WorkflowId| own.as_str() == id;
    package.workflows().iter().position(|workflow| workflow.id.as_ref().is_some_and(is_it))
}

struct ResolveScope<'a> {
    package: &'a Package,
    files: FileLookup<'a>,
}

impl ResolveScope<'_> {
    fn workflow(&self, text: &str) -> Result<usize, MenuError> {
        if let Some(index) = by_id(self.package, text) {
            return Ok(index);
        }
        not_classic(text)?;
        // An id may contain almost any character but a slash.
        let is_path = ending(text) == "md" || text.contains(['/', '\\']);
        let path = is_path.then(|| in_package(text)).transpose()?;
        path.and_then(|path| self.document(&path)).ok_or_else(|| self.unknown_workflow(text))
    }

    /// Resolves a script. A missing one is left to [`validate`], if that runs.
    fn exec(
        &self,
        text: &str,
        data: Option<DataRef>,
        is_validated: bool,
    ) -> Result<Action, MenuError> {
        not_classic(text)?;
        let path = self.place(text)?;
        if let Some(workflow) = self.document(&path) {
            return Ok(Action::StartWorkflow { workflow, data });
        }
        if path.relative().rsplit('/').next() == Some("workflow.md") {
            return Err(self.unknown_workflow(text));
        }
        let invalid = |message, hint: &str| {
            Err(MenuError::new(MenuErrorCode::ValidationFailed, message, hint))
        };
        if ending(path.relative()) != "md" {
            let message = format!("`{path}` is not a Markdown file, so it is no script.");
            return invalid(message, "Name a file that ends in `.md`.");
        }
        let Some(content) = (self.files)(&path) else {
            if is_validated {
                return Ok(Action::Script { path, data });
            }
            let message = format!("The script `{path}` is not there or cannot be read.");
            return invalid(message, "Add the file, or correct `exec` in the menu.");
        };
        if is_workflow(&content) {
            return Err(self.unknown_workflow(text));
        }
        Ok(Action::Script { path, data })
    }

    /// Returns the path that a text names.
    fn place(&self, text: &str) -> Result<VPath, MenuError> {
        let (path, own) = (mounted(text)?, in_package(text)?);
        let is_own = path.mount() == Mount::State && !names_mount(text)
            || self.document(&own).is_some()
            || (self.files)(&own).is_some();
        Ok(if is_own { own } else { path })
    }

    fn document(&self, path: &VPath) -> Option<usize> {
        let is_it = |own: &str| path.mount() == Mount::Package && own == path.relative();
        let mut workflows = self.package.workflows().iter();
        workflows.position(|workflow| is_it(workflow.document_path.as_str()))
    }

    fn unknown_workflow(&self, text: &str) -> MenuError {
        let workflows = self.package.workflows().iter();
        let names: Vec<&str> = workflows
            .map(|workflow| match &workflow.id {
                Some(id) => id.as_str(),
                None => workflow.document_path.as_str(),
            })
            .collect();
        let documents =
            self.package.workflows().iter().map(|workflow| workflow.document_path.as_str());
        let similar = nearest(text, names.iter().copied().chain(documents));
        let meant = similar.map(|name| format!("Did you mean `{name}`? ")).unwrap_or_default();
        let hint = format!("{meant}The package has {}.", listed(&names));
        let message = format!("{} is not a workflow of this package.", quoted(text));
        MenuError::new(MenuErrorCode::UnknownWorkflow, message, hint)
    }
}

/// Resolves an action: a prompt, a builtin, or an instruction.
fn resolve_action(text: &str, agent: &Agent, data: Option<DataRef>) -> Result<Action, MenuError> {
    if let Some(id) = text.strip_prefix('#') {
        let Some(prompt) = agent.prompts.iter().find(|prompt| prompt.id == id) else {
            return Err(unknown_prompt(id, agent));
        };
        return Ok(Action::Prompt {
            id: id.to_owned(),
            text: with_mounts(&prompt.content).into(),
            data,
        });
    }
    Ok(match text {
        "menu.show" => Action::ShowMenu,
        "agent.dismiss" => Action::Dismiss,
        "run.resume" => Action::Resume,
        _ => Action::Inline { text: with_mounts(text).into(), data },
    })
}

fn unknown_prompt(id: &str, agent: &Agent) -> MenuError {
    let ids: Vec<&str> = agent.prompts.iter().map(|prompt| prompt.id.as_str()).collect();
    let hint = match (nearest(id, ids.iter().copied()), ids.is_empty()) {
        (Some(similar), _) => format!("Did you mean `#{similar}`? It has {}.", listed(&ids)),
        (None, false) => format!("It has {}.", listed(&ids)),
        (None, true) => "It has no prompts; add one to `prompts`.".to_owned(),
    };
    let message = format!("The agent `{}` has no prompt {}.", agent.id, quoted(id));
    MenuError::new(MenuErrorCode::UnknownPromptId, message, hint)
}

/// Lists names for a sentence, only the first if there are very many.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let more = if names.len() > SHOWN { " and others" } else { "" };
    format!("{}{more}", ticked(names.iter().take(SHOWN)))
}

/// Returns true for the state document of a run, at any path.
fn is_workflow(content: &str) -> bool {
    Frontmatter::parse(content).is_ok_and(|front| {
        let keys = ["schemaVersion", "workflowType", "currentNodeId"];
        keys.iter().all(|key| front.tree().get(key).is_some())
    })
}

fn not_classic(text: &str) -> Result<(), MenuError> {
    if !matches!(ending(text).as_str(), "yaml" | "yml" | "xml") {
        return Ok(());
    }
    let message =
        format!("{} is a classic workflow, which this runtime does not run.", quoted(text));
    let hint = "Convert it to a workflow of small steps and a graph, and name that one. Until then you can talk to the agent about it.";
    Err(MenuError::new(MenuErrorCode::NotSupportedClassicWorkflow, message, hint))
}

fn ending(text: &str) -> String {
    let name = text.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

fn names_mount(text: &str) -> bool {
    text.starts_with(['@', '{'])
}

/// Parses a path of a workflow; a bare one is in the package.
fn in_package(text: &str) -> Result<VPath, MenuError> {
    let path = mounted(text)?;
    if names_mount(text) {
        return Ok(path);
    }
    let bare = text.strip_prefix("./").unwrap_or(text);
    Ok(VPath::new(Mount::Package, bare.strip_suffix('/').unwrap_or(bare)).unwrap_or(path))
}

fn mounted(text: &str) -> Result<VPath, MenuError> {
    VPath::parse(text).map_err(|refusal| {
        let hint = refusal.hint.unwrap_or_default();
        MenuError::new(MenuErrorCode::PermissionDenied, refusal.message, hint)
    })
}
