//! What is in a package, and what was found in it, as the page shows it.

use crewagent_core::diagnostic::{Diagnostic, Findings, Severity, Sources};
use crewagent_core::menu::{Surface, menu_of};
use crewagent_core::package::{self, Package};
use crewagent_core::{draw, package::agents};
use crewagent_engine::runtime::default_agent;

use super::severity;
use crate::wire::{Agent, Finding, PackageContent, Picture, Report, Workflow};

/// A longer line is no help.
const MAX_EXCERPT: usize = 400;

/// What is in a package.
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

fn workflow(workflow: &package::Workflow, package: &Package) -> Workflow {
    let id = workflow.id.as_ref().map(ToString::to_string);
    let name = workflow.display_name.clone();
    Workflow {
        reference: id.unwrap_or_else(|| workflow.document_path.to_string()),
        name: name.unwrap_or_else(|| workflow.front.workflow_type.clone()),
        description: workflow.description.clone(),
        agent_id: default_agent(package, workflow).to_string(),
        graph: picture(workflow, package),
    }
}

/// The graph, laid out.
pub(in crate::api) fn picture(workflow: &package::Workflow, package: &Package) -> Picture {
    let drawn = draw::json(&workflow.diagram(package));
    // What the core writes the wire reads; a test says so.
    serde_json::from_str(&drawn).unwrap_or_else(|_| Picture {
        title: String::new(),
        entry: None,
        width: 0.0,
        height: 0.0,
        start: None,
        nodes: Vec::new(),
        edges: Vec::new(),
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
        menu: menu_of(agent, Surface::Ide).into_iter().map(Into::into).collect(),
        uses_files: files.unwrap_or(true),
        mcp_servers: servers
            .filter(|mcp| mcp.enabled == Some(true))
            .and_then(|mcp| mcp.allowed_servers.clone())
            .unwrap_or_default(),
    }
}

/// What was found in a package.
pub(super) fn report(findings: &Findings, sources: &Sources, package: Option<&Package>) -> Report {
    let count = |severity| u32::try_from(findings.count(severity)).unwrap_or(u32::MAX);
    Report {
        valid: package.is_some(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        findings: findings.iter().map(|found| finding(found, sources)).collect(),
        content: package.map(content),
    }
}

fn finding(found: &Diagnostic, sources: &Sources) -> Finding {
    let position = found.place.position;
    let number = |number: usize| u32::try_from(number).ok();
    let line = |text: &str, line: usize| {
        let line = text.lines().nth(line.checked_sub(1)?)?;
        (line.len() <= MAX_EXCERPT).then(|| line.to_owned())
    };
    let text = sources.get(&found.place.file);
    Finding {
        code: found.code.as_str().to_owned(),
        name: found.code.name().to_owned(),
        severity: severity(found.severity()),
        file: found.place.file.clone(),
        line: position.and_then(|position| number(position.line)),
        column: position.and_then(|position| number(position.column)),
        pointer: found.place.pointer.clone(),
        excerpt: position.zip(text).and_then(|(position, text)| line(text, position.line)),
        message: found.message.clone(),
        help: found.help.clone(),
    }
}
