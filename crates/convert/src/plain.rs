//! Workflows of one node: configurations with instructions, tasks, and skills, verbatim.

mod classic;

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::code::Code;
use crewagent_format::package::graph::NodeKind;

use crate::agents::AgentPlan;
use crate::detect::is_entry_name;
use crate::document::SourceDocument;
use crate::paths::stem_of;
use crate::plan::{NodePlan, SourceRef, WorkflowPlan};
use crate::recorder::ImportRecorder;
use crate::references::{ReferenceTarget, References, WrittenAt};
use crate::source_tree::{SourceTree, folder_of, is_below, join, name_of};
use crate::xml;

/// Id of the only node.
const NODE: &str = "work";

/// Workflows that were read, and other files that mean one of them.
#[derive(Debug, Default)]
pub(crate) struct PlainWorkflows {
    pub(crate) plans: Vec<WorkflowPlan>,
    /// File → entry file of the workflow that it means.
    pub(crate) aliases: BTreeMap<String, String>,
}

/// Reads what the other shapes left: `claimed` are the workflows that are there already, and may get bindings.
pub(crate) fn workflows(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    agents: &[AgentPlan],
    claimed: &mut [WorkflowPlan],
    recorder: &mut ImportRecorder,
) -> PlainWorkflows {
    let mut plain = PlainWorkflows::default();
    let mut used: BTreeSet<String> = claimed
        .iter()
        .flat_map(|plan| plan.nodes.iter().filter_map(|node| node.source.as_ref()))
        .map(|source| source.file.clone())
        .collect();
    used.extend(claimed.iter().map(|plan| plan.entry.file.clone()));
    classic::workflows(tree, references, claimed, &mut used, &mut plain, recorder);
    let agent_files: BTreeSet<&str> = agents.iter().map(|agent| agent.file.as_str()).collect();
    for (name, folder) in tree.skills() {
        let file = join(folder, "SKILL.md");
        let is_claimed = claimed
            .iter()
            .any(|plan| is_below(&plan.entry.file, folder) || plan.entry.file == file);
        if is_claimed {
            let entry = claimed.iter().find(|plan| is_below(&plan.entry.file, folder));
            let entry = entry.map(|plan| plan.entry.file.clone()).filter(|entry| *entry != file);
            plain.aliases.extend(entry.map(|entry| (file.clone(), entry)));
        } else if !agent_files.contains(file.as_str()) && used.insert(file.clone()) {
            plain.plans.extend(skill(tree, name, &file, recorder));
        }
    }
    for path in tree.content().filter(|path| !used.contains(*path)).collect::<Vec<_>>() {
        if let Some(plan) = task(tree, path) {
            used.insert(path.to_owned());
            plain.plans.push(plan);
        }
    }
    targeted(tree, references, agents, &mut used, &mut plain);
    let in_skill = |path: &str| tree.skills().values().any(|skill| is_below(path, skill));
    for path in tree.content().filter(|path| is_entry_name(name_of(path)) && !in_skill(path)) {
        if !used.contains(path) && !plain.aliases.contains_key(path) {
            let message = "it has the name of an entry, but leads to no step";
            let help = "nothing, if it is only text; it is in the package";
            recorder.file(Code::EntryWithoutSteps, path, message, help);
        }
    }
    plain
}

/// Reads the files that menus lead to and that are no workflow yet.
fn targeted(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    agents: &[AgentPlan],
    used: &mut BTreeSet<String>,
    plain: &mut PlainWorkflows,
) {
    for agent in agents {
        let items = agent.menu.iter().chain(agent.menu.iter().flat_map(|item| &item.handlers));
        for (item, (key, value)) in
            items.flat_map(|item| item.does.iter().map(move |does| (item, does)))
        {
            if matches!(key.as_str(), "data" | "tmpl" | "action" | "prompt") {
                continue;
            }
            let at = WrittenAt { file: &item.file, base: &agent.base };
            let ReferenceTarget::File(path) = references.resolve(value, at) else { continue };
            let can_be = path.ends_with(".xml") || is_entry_name(name_of(&path));
            if can_be && !plain.aliases.contains_key(&path) && used.insert(path.clone()) {
                plain.plans.extend(whole_file(tree, &path, None));
            }
        }
    }
}

/// Reads a skill that has neither steps nor a persona.
fn skill(
    tree: &SourceTree<'_>,
    name: &str,
    file: &str,
    recorder: &mut ImportRecorder,
) -> Option<WorkflowPlan> {
    let document = tree.document(file)?;
    report_front(tree, file, &document, recorder);
    report_tags(tree, file, document.body(), document.body_line, recorder);
    let title = document.scalar("name").unwrap_or_else(|| name.to_owned());
    let mut plan = whole_file(tree, file, Some(&title))?;
    name.clone_into(&mut plan.id);
    Some(plan)
}

/// Reads a task: a file with a `<task>` element that is not internal, or Markdown in a folder of tasks.
fn task(tree: &SourceTree<'_>, path: &str) -> Option<WorkflowPlan> {
    if tree.skills().values().any(|skill| is_below(path, skill)) {
        return None;
    }
    let in_tasks = name_of(folder_of(path)) == "tasks";
    if path.ends_with(".md") {
        return in_tasks.then(|| whole_file(tree, path, None)).flatten();
    }
    if !path.ends_with(".xml") {
        return None;
    }
    let text = tree.text(path)?.text();
    if !text.contains("<task") {
        return None;
    }
    let root = xml::parse(text);
    let element = root.child("task")?;
    if element.attribute("internal") == Some("true") {
        return None;
    }
    let mut plan = whole_file(tree, path, element.attribute("name"))?;
    plan.description = element.attribute("description").map(one_line).unwrap_or_default();
    if let (Some(node), Some(goal)) = (plan.nodes.first_mut(), element.child("objective")) {
        node.goal = one_line(&goal.full_text());
    }
    Some(plan)
}

/// Makes a workflow of one node of a file.
fn whole_file(tree: &SourceTree<'_>, path: &str, title: Option<&str>) -> Option<WorkflowPlan> {
    let text = tree.text(path)?;
    let document =
        if path.ends_with(".md") { Some(SourceDocument::read(text.text())) } else { None };
    let front = |key: &str| document.as_ref().and_then(|document| document.scalar(key));
    let body = document.as_ref().map_or(&**text.text(), SourceDocument::body);
    let first_line = document.as_ref().map_or(1, |document| document.body_line);
    let stem = stem_of(path);
    // A name that many files have says nothing; that of the folder does.
    let is_common = ["workflow", "instructions", "task", "SKILL", "index"].contains(&stem);
    let id = if is_common { name_of(folder_of(path)) } else { stem };
    let title = title.map(str::to_owned).or_else(|| front("name"));
    let title = title.or_else(|| heading(body)).unwrap_or_else(|| id.to_owned());
    let description = front("description").map(|text| one_line(&text)).unwrap_or_default();
    let last_line = text.lines().max(first_line);
    Some(WorkflowPlan {
        id: front("name").filter(|_| !path.ends_with("SKILL.md")).unwrap_or_else(|| id.to_owned()),
        title: one_line(&title),
        module: tree.module_of(path).map(str::to_owned),
        entry: SourceRef { file: path.to_owned(), lines: (1, last_line) },
        brief: String::new(),
        bindings: BTreeMap::new(),
        nodes: vec![node(&title, &description, path, (first_line, last_line), body)],
        edges: Vec::new(),
        mirror: None,
        files: BTreeMap::new(),
        description,
    })
}

/// Makes the node that holds a whole file.
fn node(title: &str, goal: &str, path: &str, lines: (u32, u32), body: &str) -> NodePlan {
    let goal = if goal.is_empty() { title } else { goal };
    NodePlan {
        id: NODE.to_owned(),
        kind: NodeKind::End,
        title: one_line(title),
        goal: one_line(goal),
        source: Some(SourceRef { file: path.to_owned(), lines }),
        body: body.to_owned(),
        bindings: BTreeMap::new(),
        gate: None,
        waits_for_user: false,
        auto: false,
        resume_only: false,
        inputs: Vec::new(),
        outputs: Vec::new(),
        sets_variables: Vec::new(),
        calls: Vec::new(),
        needs: Vec::new(),
        mirror_value: None,
    }
}

/// Reports frontmatter that is no YAML.
fn report_front(
    tree: &SourceTree<'_>,
    file: &str,
    document: &SourceDocument,
    recorder: &mut ImportRecorder,
) {
    if let Some((line, reason)) = &document.unreadable {
        let message =
            format!("the frontmatter cannot be read: {reason}; its keys were read line by line");
        let help = "quote values with a colon, and indent with blanks";
        recorder.line(tree, Code::FrontmatterUnreadable, (file, *line), message, help);
    }
}

/// Reports tagged steps that were carried as text.
fn report_tags(
    tree: &SourceTree<'_>,
    file: &str,
    text: &str,
    first_line: u32,
    recorder: &mut ImportRecorder,
) {
    let is_tag = |line: &str| {
        let line = line.trim_start();
        line.starts_with("<step ") && line.contains("n=")
    };
    let steps = text.lines().filter(|line| is_tag(line)).count();
    let Some(at) = text.lines().position(is_tag) else { return };
    let line = first_line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    let message = format!("{steps} tagged steps are carried as one text");
    let help = "the model follows the text; its order is not enforced";
    recorder.line(tree, Code::CarriedAsText, (file, line), message, help);
}

/// Returns the first heading of a text.
fn heading(text: &str) -> Option<String> {
    let line = text.lines().take(200).find_map(|line| line.strip_prefix("# "))?;
    let title = one_line(line);
    (!title.is_empty()).then_some(title)
}

/// Puts a text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
