//! Step files that belong to no node: they lie beside the steps, say that they are steps, and never run.

use std::collections::HashSet;

use super::menu;
use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::frontmatter::Frontmatter;
use crate::package::agents::AgentsDraft;
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::wording::quoted;

/// Largest file that is looked into.
const MAX_BYTES: u64 = 256 * 1024;
/// Maximum number of files that are looked into.
const MAX_FILES: usize = 200;

pub(super) fn check(
    workflows: &[WorkflowDraft],
    graphs: &[&GraphRead],
    agents: Option<&AgentsDraft>,
    files: &dyn Files,
    findings: &mut Findings,
) {
    let steps = || graphs.iter().flat_map(|graph| &graph.draft.nodes).map(|node| &node.file);
    // A graph that could not be read may have more steps, and a file that is missing may be this one, renamed.
    let all_known = workflows.iter().all(|workflow| workflow.graph.is_some())
        && graphs.iter().flat_map(|graph| &graph.steps).all(Option::is_some);
    if !all_known {
        return;
    }
    let used: HashSet<&PackagePath> = steps().flatten().collect();
    let folders: HashSet<Option<&str>> = used.iter().map(|path| path.parents().next()).collect();
    let documents = workflows.iter().filter_map(|workflow| workflow.document_path.as_ref());
    let documents: HashSet<&PackagePath> = documents.collect();
    let named = agents.map(menu::named_files).unwrap_or_default();
    let beside = files.sizes().iter().filter(|(path, size)| {
        **size <= MAX_BYTES
            && path.as_str().ends_with(".md")
            && folders.contains(&path.parents().next())
            && !used.contains(path)
            && !documents.contains(path)
            && !named.contains(path.as_str())
    });
    for (path, _) in beside.take(MAX_FILES) {
        let Some(node) = stated_node(files, path) else { continue };
        let message =
            format!("no node has this step file, which says that its node is {}", quoted(&node));
        let finding = Diagnostic::new(Code::UnusedStep, Location::file(path.as_str()), message);
        findings.push(finding.help("name it as `file` of a node, or delete it"));
    }
}

/// Returns the node that a Markdown file claims as its own.
fn stated_node(files: &dyn Files, path: &PackagePath) -> Option<String> {
    let bytes = files.read(path).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let front = Frontmatter::parse(text).ok()?;
    Some(front.tree().get("nodeId")?.tree.as_str()?.to_owned())
}
