//! Menus: every item can be seen, can be reached, and does something that exists.

use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::agents::{Agent, AgentsDraft, MenuItem, MenuTarget};
use crate::package::check::WorkflowDraft;
use crate::package::document::{Document, Key};
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::shape;

/// What menu items can point to.
pub(super) struct Targets<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) workflows: &'a [WorkflowDraft],
    /// False when part of the manifest could not be read, so that an unknown name proves nothing.
    pub(super) workflows_known: bool,
}

pub(super) fn check(
    document: &Document,
    draft: &AgentsDraft,
    targets: &Targets<'_>,
    findings: &mut Findings,
) {
    for (agent_index, agent) in draft.agents.iter().enumerate() {
        let Some(agent) = agent else { continue };
        let place = |index: usize, keys: &[Key<'_>]| {
            let head = ["agents".into(), agent_index.into(), "menu".into(), index.into()];
            document.place(&[&head, keys].concat())
        };
        for (index, item) in agent.menu.iter().enumerate() {
            if item.ide_only == Some(true) && item.web_only == Some(true) {
                let message = format!(
                    "{} is both `ide-only` and `web-only`, so nobody ever sees it",
                    named(item)
                );
                let finding = Diagnostic::new(
                    Code::HiddenMenuItem,
                    place(index, &["web-only".into()]),
                    message,
                );
                findings.push(finding.help("remove one of the two"));
            }
            if item.target.is_empty() && !item.triggers.iter().any(|trigger| trigger.is_handler()) {
                let message = format!("{} does nothing", named(item));
                let finding = Diagnostic::new(
                    Code::NoMenuAction,
                    place(index, &["description".into()]),
                    message,
                );
                findings.push(finding.help("add `workflow`, `exec` or `action`"));
            }
            let code = if item.validate_workflow.is_some() {
                Code::InvalidMenuTarget
            } else {
                Code::DeadMenuTarget
            };
            for (key, problem) in targets.problems(agent, &item.target) {
                findings.push(
                    Diagnostic::new(code, place(index, &[key.into()]), problem.0).help(problem.1),
                );
            }
            for (at, trigger) in
                item.triggers.iter().enumerate().filter(|(_, trigger)| trigger.is_handler())
            {
                for (key, problem) in targets.problems(agent, &trigger.target) {
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

fn named(item: &MenuItem) -> String {
    format!("the menu item {}", shape::quoted(item.trigger.as_deref().unwrap_or(&item.description)))
}

/// A message and its help.
type Problem = (String, String);

impl Targets<'_> {
    fn problems(&self, agent: &Agent, target: &MenuTarget) -> Vec<(&'static str, Problem)> {
        let mut problems = Vec::new();
        let mut add =
            |key, problem: Option<Problem>| problems.extend(problem.map(|problem| (key, problem)));
        add("workflow", target.workflow.as_deref().and_then(|text| self.workflow(text)));
        add("exec", target.exec.as_deref().and_then(|text| self.script(text)));
        add("action", target.action.as_deref().and_then(|text| prompt(agent, text)));
        add("data", target.data.as_deref().and_then(|text| self.file(text)));
        problems
    }

    fn workflow(&self, text: &str) -> Option<Problem> {
        if let Some(problem) = classic(text) {
            return Some(problem);
        }
        let ids =
            || self.workflows.iter().filter_map(|workflow| Some(workflow.id.as_ref()?.as_str()));
        if ids().any(|id| id == text) || !self.workflows_known {
            return None;
        }
        let path = package_part(text).and_then(|path| PackagePath::reference(path).ok());
        if path.is_some_and(|path| {
            self.workflows.iter().any(|workflow| workflow.document_path == path)
        }) {
            return None;
        }
        let documents = self.workflows.iter().map(|workflow| workflow.document_path.as_str());
        let help = match shape::nearest(text, ids().chain(documents)) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "name an id of `workflows[]`, or the path of a workflow's `.md`".to_owned(),
        };
        Some((format!("{} is not a workflow of this package", shape::quoted(text)), help))
    }

    fn script(&self, text: &str) -> Option<Problem> {
        classic(text).or_else(|| self.file(text))
    }

    /// A file that belongs to the package must be in it; what belongs to the user's project is not known here.
    fn file(&self, text: &str) -> Option<Problem> {
        let path = package_part(text)?;
        let explicit = path.len() != text.len();
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
                format!("{} is not a path inside the package: {error}", shape::quoted(text)),
                "write a path from the root of the package".into(),
            )),
        }
    }
}

/// The part of a path below the package's root; `None` when it belongs to the project or to a run.
fn package_part(text: &str) -> Option<&str> {
    const ELSEWHERE: &[&str] =
        &["{project-root}", "{artifacts-root}", "{state-root}", "@project", "@state", "artifacts/"];
    if ELSEWHERE.iter().any(|prefix| text.starts_with(prefix)) {
        return None;
    }
    let bare = text.strip_prefix("{package-root}/").or_else(|| text.strip_prefix("@pkg/"));
    Some(bare.unwrap_or(text))
}

fn classic(text: &str) -> Option<Problem> {
    let ending = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "yaml" | "yml" | "xml").then(|| {
        (
            format!(
                "{} is a classic workflow, which this runtime does not run",
                shape::quoted(text)
            ),
            "make it a workflow of small steps and a graph, and name that one".to_owned(),
        )
    })
}

fn prompt(agent: &Agent, text: &str) -> Option<Problem> {
    let id = text.strip_prefix('#')?;
    if agent.prompts.iter().any(|prompt| prompt.id == id) {
        return None;
    }
    let help = match shape::nearest(id, agent.prompts.iter().map(|prompt| prompt.id.as_str())) {
        Some(similar) => format!("did you mean `#{similar}`?"),
        None => format!("add a prompt with the id `{id}` to this agent"),
    };
    Some((format!("agent `{}` has no prompt {}", agent.id, shape::quoted(id)), help))
}

/// An item whose word an earlier item already has cannot be reached by it.
fn shadows(
    agent: &Agent,
    place: &dyn Fn(usize, &[Key<'_>]) -> crate::diagnostic::Place,
    findings: &mut Findings,
) {
    for (index, item) in agent.menu.iter().enumerate() {
        let mut told: Vec<String> = Vec::new();
        for (word, keys) in words(item) {
            let normal = normalised(word);
            let owner = agent.menu.iter().take(index).position(|earlier| {
                seen_together(earlier, item)
                    && words(earlier).iter().any(|(word, _)| normalised(word) == normal)
            });
            let Some(owner) = owner.filter(|_| !told.contains(&normal)) else { continue };
            let message = format!(
                "{} already answers to {}, so this item never does",
                agent.menu.get(owner).map(named).unwrap_or_default(),
                shape::quoted(word)
            );
            let finding = Diagnostic::new(Code::ShadowedTrigger, place(index, &keys), message);
            findings.push(
                finding
                    .help("give this item another trigger")
                    .related(place(owner, &["trigger".into()]), "the earlier item is here"),
            );
            told.push(normal);
        }
    }
}

fn seen_together(one: &MenuItem, other: &MenuItem) -> bool {
    let on = |item: &MenuItem, web: bool| {
        if web { item.ide_only != Some(true) } else { item.web_only != Some(true) }
    };
    [true, false].into_iter().any(|web| on(one, web) && on(other, web))
}

/// The words that select an item exactly, and where they are written.
fn words(item: &MenuItem) -> Vec<(&str, Vec<Key<'static>>)> {
    let mut words: Vec<(&str, Vec<Key<'static>>)> = Vec::new();
    words.extend(item.trigger.as_deref().map(|word| (word, vec!["trigger".into()])));
    words.extend(item.cmd.as_deref().map(|word| (word, vec!["cmd".into()])));
    for (at, trigger) in item.triggers.iter().enumerate().filter(|(_, trigger)| trigger.is_alias())
    {
        words.extend(
            trigger
                .matches
                .as_deref()
                .map(|word| (word, vec!["triggers".into(), at.into(), "match".into()])),
        );
    }
    words
}

fn normalised(word: &str) -> String {
    let word = word.trim().to_lowercase();
    word.strip_prefix('*').unwrap_or(&word).to_owned()
}
