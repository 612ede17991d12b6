//! Menus: every item is visible, reachable, and has an existing target.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::agents::words::{WordField, exact_words, normalised};
use crate::package::agents::{Agent, AgentsDraft, MenuItem, MenuTarget, Surface};
use crate::package::check::WorkflowDraft;
use crate::package::document::{Document, PathKey};
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::wording::quoted;

/// Valid targets of menu items.
pub(super) struct Targets<'a> {
    files: &'a dyn Files,
    ids: HashSet<&'a str>,
    documents: HashSet<&'a str>,
    /// Ids and documents in the order of the manifest, for suggestions.
    names: Vec<&'a str>,
    /// False if part of the manifest was unreadable, so that an unknown name proves nothing.
    workflows_known: bool,
}

impl<'a> Targets<'a> {
    pub(super) fn new(
        files: &'a dyn Files,
        workflows: &'a [WorkflowDraft],
        workflows_known: bool,
    ) -> Self {
        let ids = || workflows.iter().filter_map(|workflow| Some(workflow.id.as_ref()?.as_str()));
        let documents = || {
            workflows.iter().filter_map(|workflow| Some(workflow.document_path.as_ref()?.as_str()))
        };
        Self {
            files,
            ids: ids().collect(),
            documents: documents().collect(),
            names: ids().chain(documents()).collect(),
            workflows_known,
        }
    }
}

pub(super) fn check(
    document: &Document,
    draft: &AgentsDraft,
    targets: &Targets<'_>,
    findings: &mut Findings,
) {
    for (agent_index, agent) in draft.agents.iter().enumerate() {
        let Some(agent) = agent else { continue };
        let place = |index: usize, keys: &[PathKey<'_>]| {
            let head = ["agents".into(), agent_index.into(), "menu".into(), index.into()];
            document.place(&[&head, keys].concat())
        };
        let prompts: HashSet<&str> =
            agent.prompts.iter().map(|prompt| prompt.id.as_str()).collect();
        for (index, item) in agent.menu.iter().enumerate() {
            visible(item, &|keys| place(index, keys), findings);
            does_something(item, &|keys| place(index, keys), findings);
            let code = if item.validate_workflow.is_some() {
                Code::InvalidMenuTarget
            } else {
                Code::DeadMenuTarget
            };
            for (key, problem) in targets.problems(agent, &prompts, &item.target, findings) {
                findings.push(
                    Diagnostic::new(code, place(index, &[key.into()]), problem.0).help(problem.1),
                );
            }
            for (at, trigger) in
                item.triggers.iter().enumerate().filter(|(_, trigger)| trigger.is_handler())
            {
                for (key, problem) in targets.problems(agent, &prompts, &trigger.target, findings) {
                    let keys = ["triggers".into(), at.into(), key.into()];
                    findings.push(
                        Diagnostic::new(code, place(index, &keys), problem.0).help(problem.1),
                    );
                }
            }
        }
        shadows(agent, &place, findings);
    }
}

fn visible(item: &MenuItem, place: &dyn Fn(&[PathKey<'_>]) -> Location, findings: &mut Findings) {
    if item.ide_only == Some(true) && item.web_only == Some(true) {
        let message =
            format!("{} is both `ide-only` and `web-only`, so nobody ever sees it", named(item));
        let finding = Diagnostic::new(Code::HiddenMenuItem, place(&["web-only".into()]), message);
        findings.push(finding.help("remove one of the two"));
    }
}

fn does_something(
    item: &MenuItem,
    place: &dyn Fn(&[PathKey<'_>]) -> Location,
    findings: &mut Findings,
) {
    let handled =
        item.triggers.iter().any(|trigger| trigger.is_handler() && !trigger.target.is_empty());
    if item.target.is_empty() && !handled {
        let message = format!("{} does nothing", named(item));
        let finding = Diagnostic::new(Code::NoMenuAction, place(&["description".into()]), message);
        findings.push(finding.help("add `workflow`, `exec` or `action`"));
    }
}

fn named(item: &MenuItem) -> String {
    format!("the menu item {}", quoted(item.trigger.as_deref().unwrap_or(&item.description)))
}

type MenuProblem = (String, String);

impl Targets<'_> {
    fn problems(
        &self,
        agent: &Agent,
        prompts: &HashSet<&str>,
        target: &MenuTarget,
        findings: &mut Findings,
    ) -> Vec<(&'static str, MenuProblem)> {
        let workflow = target.workflow.as_deref().and_then(|text| self.workflow(text, findings));
        let exec = target.exec.as_deref().and_then(|text| self.script(text));
        let action =
            target.action.as_deref().and_then(|text| prompt(agent, prompts, text, findings));
        let data = target.data.as_deref().and_then(|text| self.file(text));
        [("workflow", workflow), ("exec", exec), ("action", action), ("data", data)]
            .into_iter()
            .filter_map(|(key, problem)| Some((key, problem?)))
            .collect()
    }

    fn workflow(&self, text: &str, findings: &mut Findings) -> Option<MenuProblem> {
        if let Some(problem) = classic(text) {
            return Some(problem);
        }
        if self.ids.contains(text) || !self.workflows_known {
            return None;
        }
        let path = package_part(text).and_then(|part| PackagePath::reference(part.path).ok());
        if path.is_some_and(|path| self.documents.contains(path.as_str())) {
            return None;
        }
        let help = match findings.nearest(text, self.names.iter().copied()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "name an id of `workflows[]`, or the path of a workflow's `.md`".to_owned(),
        };
        Some((format!("{} is not a workflow of this package", quoted(text)), help))
    }

    fn script(&self, text: &str) -> Option<MenuProblem> {
        classic(text).or_else(|| self.file(text))
    }

    /// Checks that a file of the package exists; files of the user's project are unknown here.
    fn file(&self, text: &str) -> Option<MenuProblem> {
        let PathPart { path, explicit } = package_part(text)?;
        let folder = path.split('/').next().unwrap_or_default();
        let ours =
            explicit || matches!(folder, "assets" | "steps" | "workflows") || path == "workflow.md";
        if !ours {
            return None;
        }
        match PackagePath::reference(path) {
            Ok(path) if self.files.sizes().contains_key(&path) => None,
            Ok(path) => Some((
                format!("the file `{path}` is not in the package"),
                "add the file, or correct the path".into(),
            )),
            Err(error) => Some((
                format!("{} is not a path inside the package: {error}", quoted(text)),
                "write a path from the root of the package".into(),
            )),
        }
    }
}

/// Returns the paths of the package that menus name.
pub(super) fn named_files(draft: &AgentsDraft) -> HashSet<&str> {
    let items = draft.agents.iter().flatten().flat_map(|agent| &agent.menu);
    let targets = items
        .flat_map(|item| item.triggers.iter().map(|trigger| &trigger.target).chain([&item.target]));
    let texts = targets.flat_map(|target| [&target.exec, &target.data]).flatten();
    texts.filter_map(|text| Some(package_part(text)?.path)).collect()
}

/// Path below the package's root.
struct PathPart<'t> {
    path: &'t str,
    /// True if the author named the package.
    explicit: bool,
}

/// Returns the part of a path below the package's root; `None` if it belongs to the project or to a run.
fn package_part(text: &str) -> Option<PathPart<'_>> {
    const ELSEWHERE: &[&str] =
        &["{project-root}", "{artifacts-root}", "{state-root}", "@project", "@state", "artifacts/"];
    let bare = text.strip_prefix("./").unwrap_or(text);
    if ELSEWHERE.iter().any(|prefix| bare.starts_with(prefix)) {
        return None;
    }
    let named = bare.strip_prefix("{package-root}/").or_else(|| bare.strip_prefix("@pkg/"));
    Some(PathPart { path: named.unwrap_or(bare), explicit: named.is_some() })
}

fn classic(text: &str) -> Option<MenuProblem> {
    let ending = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "yaml" | "yml" | "xml").then(|| {
        (
            format!("{} is a classic workflow, which this runtime does not run", quoted(text)),
            "make it a workflow of small steps and a graph, and name that one".to_owned(),
        )
    })
}

fn prompt(
    agent: &Agent,
    prompts: &HashSet<&str>,
    text: &str,
    findings: &mut Findings,
) -> Option<MenuProblem> {
    let id = text.strip_prefix('#')?;
    if prompts.contains(id) {
        return None;
    }
    let known = agent.prompts.iter().map(|prompt| prompt.id.as_str());
    let help = match findings.nearest(id, known) {
        Some(similar) => format!("did you mean `#{similar}`?"),
        None => format!("add a prompt with the id {} to this agent", quoted(id)),
    };
    Some((format!("agent `{}` has no prompt {}", agent.id, quoted(id)), help))
}

/// Reports a word that an earlier item already has.
fn shadows(
    agent: &Agent,
    place: &dyn Fn(usize, &[PathKey<'_>]) -> Location,
    findings: &mut Findings,
) {
    let mut owners: HashMap<(Surface, String), usize> = HashMap::new();
    for (index, item) in agent.menu.iter().enumerate() {
        let mut told: HashSet<String> = HashSet::new();
        for (word, keys) in words(item) {
            let normal = normalised(word);
            let owner = Surface::ALL
                .into_iter()
                .filter(|surface| surface.shows(item))
                .map(|surface| *owners.entry((surface, normal.clone())).or_insert(index))
                .min();
            let Some(owner) = owner.filter(|owner| *owner != index && told.insert(normal)) else {
                continue;
            };
            let message = format!(
                "{} already answers to {}, so this item never does",
                agent.menu.get(owner).map(named).unwrap_or_default(),
                quoted(word)
            );
            let finding = Diagnostic::new(Code::ShadowedTrigger, place(index, &keys), message);
            findings.push(
                finding
                    .help("give this item another trigger")
                    .related(place(owner, &["trigger".into()]), "the earlier item is here"),
            );
        }
    }
}

/// Returns the words that select an item exactly, with the keys at which they are written.
fn words(item: &MenuItem) -> Vec<(&str, Vec<PathKey<'static>>)> {
    let keys = |spot: WordField| match spot {
        WordField::Trigger => vec!["trigger".into()],
        WordField::Cmd => vec!["cmd".into()],
        WordField::Code => vec!["description".into()],
        WordField::Alias(at) => vec!["triggers".into(), at.into(), "match".into()],
    };
    exact_words(item).into_iter().map(|(spot, word)| (word, keys(spot))).collect()
}
