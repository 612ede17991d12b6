//! The content of a package, and its findings, for the page.

use crewagent_core::menu::menu_of;
use crewagent_draw::{self as draw, Diagram};
use crewagent_engine::runtime::default_agent;
use crewagent_engine::store::Installed;
use crewagent_format::diagnostic::{Diagnostic, Findings, Severity, Sources};
use crewagent_format::package::agents;
use crewagent_format::package::agents::Surface;
use crewagent_format::package::{self, Package};

use serde_json::Value as Json;

use super::severity;
use crate::wire::{
    Agent, CatalogAgent, CatalogNode, CatalogPackage, CatalogWorkflow, Finding, ForeignSummary,
    PackageContent, Picture, Report, Workflow,
};

/// A longer line is not shown.
const MAX_EXCERPT: usize = 400;

/// Returns the content of a package.
pub(super) fn content(package: &Package) -> PackageContent {
    let manifest = package.manifest();
    let needs = manifest.runtime.as_ref();
    PackageContent {
        name: manifest.name.to_string(),
        version: manifest.version.to_string(),
        description: manifest.description.clone(),
        author: manifest.author.clone(),
        requires_network: needs.and_then(|needs| needs.requires_network).unwrap_or_default(),
        workflows: package.workflows().iter().map(|one| workflow(one, package)).collect(),
        agents: package.agents().iter().map(agent).collect(),
    }
}

/// Returns what can be started from a package.
pub(in crate::api) fn catalog_package(installed: Installed, package: &Package) -> CatalogPackage {
    let workflow = |one: &package::Workflow| CatalogWorkflow {
        reference: reference(one),
        name: name(one),
        description: one.description.clone(),
        nodes: one.graph.nodes().iter().map(node).collect(),
    };
    let agent = |one: &agents::Agent| CatalogAgent {
        id: one.id.to_string(),
        name: one.metadata.name.clone(),
        title: one.metadata.title.clone(),
        icon: one.metadata.icon.clone(),
    };
    CatalogPackage {
        reference: installed.reference(),
        version: installed.version.to_string(),
        imported: installed.imported.to_string(),
        name: installed.name,
        description: package.manifest().description.clone(),
        workflows: package.workflows().iter().map(workflow).collect(),
        agents: package.agents().iter().map(agent).collect(),
    }
}

fn node(node: &package::graph::Node) -> CatalogNode {
    let id = node.id.to_string();
    CatalogNode { title: node.title.clone().unwrap_or_else(|| id.clone()), id }
}

/// Returns the reference that starts a run of a workflow.
fn reference(workflow: &package::Workflow) -> String {
    let id = workflow.id.as_ref().map(ToString::to_string);
    id.unwrap_or_else(|| workflow.document_path.to_string())
}

fn name(workflow: &package::Workflow) -> String {
    workflow.display_name.clone().unwrap_or_else(|| workflow.front.workflow_type.clone())
}

fn workflow(workflow: &package::Workflow, package: &Package) -> Workflow {
    Workflow {
        reference: reference(workflow),
        name: name(workflow),
        description: workflow.description.clone(),
        agent_id: default_agent(package, workflow).to_string(),
        variables: variables(workflow),
        graph: picture(workflow, package),
    }
}

/// Returns the variables that the steps set, each once, in the order of the nodes.
fn variables(workflow: &package::Workflow) -> Vec<String> {
    let steps = workflow.graph.nodes().iter().filter_map(|node| workflow.steps.get(&node.id));
    let mut names: Vec<String> = Vec::new();
    for name in steps.flat_map(|step| &step.front.sets_variables) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the graph, laid out.
pub(in crate::api) fn picture(workflow: &package::Workflow, package: &Package) -> Picture {
    let drawn = draw::json(&Diagram::of(workflow, package));
    // A test proves that the wire type reads what `draw` writes.
    serde_json::from_str(&drawn).unwrap_or_else(|_| Picture {
        title: String::new(),
        entry: None,
        width: 0.0,
        height: 0.0,
        start: None,
        nodes: Vec::new(),
        edges: Vec::new(),
        left_out: 0,
    })
}

pub(in crate::api) fn agent(agent: &agents::Agent) -> Agent {
    let tools = agent.tools.as_ref();
    let files = tools.and_then(|tools| tools.fs.as_ref()).and_then(|fs| fs.enabled);
    let servers = tools.and_then(|tools| tools.mcp.as_ref());
    Agent {
        id: agent.id.to_string(),
        name: agent.metadata.name.clone(),
        title: agent.metadata.title.clone(),
        icon: agent.metadata.icon.clone(),
        role: agent.persona.role.clone(),
        menu: menu_of(agent, Surface::Ide),
        uses_files: files.unwrap_or(true),
        mcp_servers: servers
            .filter(|mcp| mcp.enabled == Some(true))
            .and_then(|mcp| mcp.allowed_servers.clone())
            .unwrap_or_default(),
    }
}

/// Returns the findings of a package.
pub(super) fn report(findings: &Findings, sources: &Sources, package: Option<&Package>) -> Report {
    let count = |severity| u32::try_from(findings.count(severity)).unwrap_or(u32::MAX);
    Report {
        valid: package.is_some(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        notes: count(Severity::Note),
        findings: findings.iter().map(|found| finding(found, sources)).collect(),
        content: package.map(content),
        source: None,
    }
}

/// Returns the facts of a conversion that the page shows, from its report.
pub(super) fn summary(report: &Json) -> ForeignSummary {
    let count = |name: &str| {
        let number = report["counts"][name].as_u64();
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
    };
    ForeignSummary {
        kind: report["kind"].as_str().unwrap_or_default().to_owned(),
        version: report["version"].as_str().map(str::to_owned),
        agents: count("agents"),
        workflows: count("workflows"),
        steps: count("nodes"),
    }
}

fn finding(found: &Diagnostic, sources: &Sources) -> Finding {
    let position = found.place.position;
    let number = |number: usize| u32::try_from(number).ok();
    let text = sources.get(&found.place.file);
    Finding {
        code: found.code.as_str().to_owned(),
        name: found.code.name().to_owned(),
        severity: severity(found.severity()),
        file: found.place.file.clone(),
        line: position.and_then(|position| number(position.line)),
        column: position.and_then(|position| number(position.column)),
        pointer: found.place.pointer.clone(),
        excerpt: found.place.span.zip(text).and_then(|(span, text)| line_at(text, span.start)),
        message: found.message.clone(),
        help: found.help.clone(),
    }
}

/// Returns the line at an offset. Only the bytes around it are read, because a large text may have many findings.
fn line_at(text: &str, at: usize) -> Option<String> {
    let (before, after) = text.as_bytes().split_at_checked(at)?;
    let is_end = |byte: &u8| *byte == b'\n';
    let near = at.saturating_sub(MAX_EXCERPT + 1);
    let start = match before.get(near..)?.iter().rposition(is_end) {
        Some(end) => near + end + 1,
        None if near == 0 => 0,
        None => return None,
    };
    let end =
        after.iter().take(MAX_EXCERPT + 2).position(is_end).map_or(text.len(), |end| at + end);
    let line = text.get(start..end)?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    (line.len() <= MAX_EXCERPT).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use crewagent_format::diagnostic::{Code, Location};
    use crewagent_format::text::Span;

    use super::*;

    #[test]
    fn an_excerpt_is_the_line_of_its_place() {
        let long = "x".repeat(MAX_EXCERPT + 1);
        let text = format!("one\r\ntwo\n\n{long}\n{}\nlast", &long[1..]);
        for at in (0..=text.len()).filter(|at| text.as_bytes().get(*at) != Some(&b'\r')) {
            let number = text[..at].matches('\n').count();
            let line = text.lines().nth(number).filter(|line| line.len() <= MAX_EXCERPT);
            assert_eq!(line_at(&text, at).as_deref(), line, "{at}");
        }
    }

    #[test]
    fn ten_thousand_findings_at_the_end_of_a_large_file_are_told_at_once() {
        let text = "\n".repeat(16_000_000) + "end";
        let span = Span::new(text.len() - 3, text.len());
        let mut sources = Sources::default();
        sources.insert("a", Arc::from(text));
        let found = Diagnostic::new(Code::MissingFile, Location::at("a", span), "e");
        let started = Instant::now();
        for _ in 0..10_000 {
            assert_eq!(finding(&found, &sources).excerpt.as_deref(), Some("end"));
        }
        // Scanning the whole text each time would take minutes.
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}
