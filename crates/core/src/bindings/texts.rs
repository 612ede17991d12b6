//! The texts of a package with the values of a run in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::id::NodeId;
use crewagent_format::package::graph::Node;
use crewagent_format::package::step::Step;
use crewagent_format::package::{Package, Workflow};
use crewagent_format::syntax::Entry;

use super::Bindings;

/// Key of a document's frontmatter that holds the bindings of the workflow.
const OWN: &str = "bindings";

/// Returns true if values of a run are put into the texts of a package. Those of all others stay byte for byte.
pub fn uses_bindings(package: &Package) -> bool {
    let manifest = package.manifest();
    let mut steps = package.workflows().iter().flat_map(|workflow| workflow.steps.values());
    !manifest.config.is_empty()
        || !manifest.config_from.is_empty()
        || steps.any(|step| !step.front.bindings.is_empty())
}

/// Returns the package with the values in its texts: of agents, steps, gates, and in the names of files. A step has its
/// own bindings, which then hold their values. Files of the package on the disk stay as they are.
///
/// `adopted` is a document that a run continues with, behind the path of its workflow's document: it is the mirror then.
/// `in_package` returns the path in the package of a path of the project that stands for one of its files.
pub fn filled(
    package: &Arc<Package>,
    bindings: &Bindings,
    in_package: &dyn Fn(&str) -> Option<String>,
    adopted: Option<(&str, &str)>,
) -> Arc<Package> {
    if bindings.is_empty() && adopted.is_none() {
        return package.clone();
    }
    let of_steps: Vec<BTreeMap<&NodeId, Bindings>> = package
        .workflows()
        .iter()
        .map(|workflow| {
            let steps = workflow.steps.iter();
            steps.map(|(id, step)| (id, of_step(step, bindings, in_package))).collect()
        })
        .collect();
    let at = |workflow: usize, node: &NodeId| {
        of_steps.get(workflow).and_then(|steps| steps.get(node)).unwrap_or(bindings)
    };
    let own: Vec<Bindings> =
        package.workflows().iter().map(|workflow| of_workflow(workflow, bindings)).collect();
    let general = |text: &str| bindings.fill(text).into_owned();
    let workflow = |index: usize, text: &str| {
        let document = package.workflows().get(index).map(|one| one.document_path.as_str());
        match adopted.filter(|(of, _)| document == Some(*of)) {
            Some((_, file)) => file.to_owned(),
            None => own.get(index).unwrap_or(bindings).fill(text).into_owned(),
        }
    };
    let step = |workflow: usize, id: &NodeId, step: &Step| filled_step(step, at(workflow, id));
    let node = |workflow: usize, node: &mut Node| {
        let id = node.id.clone();
        fill_node(node, at(workflow, &id));
    };
    Arc::new(package.with_texts(&general, &workflow, &step, &node))
}

/// Returns the bindings of a workflow: those in the frontmatter of its document.
pub fn of_workflow(workflow: &Workflow, bindings: &Bindings) -> Bindings {
    let Ok(front) = Frontmatter::parse(workflow.document.clone()) else { return bindings.clone() };
    let own = front.tree().get(OWN).and_then(|entry| entry.tree.as_map()).unwrap_or_default();
    let value = |entry: &Entry| Some((entry.key.clone(), entry.tree.as_str()?.to_owned()));
    bindings.with(&own.iter().filter_map(value).collect())
}

/// Returns the bindings of a step. A value that is a file of the package is its path there.
fn of_step(
    step: &Step,
    bindings: &Bindings,
    in_package: &dyn Fn(&str) -> Option<String>,
) -> Bindings {
    let mut all = bindings.with(&step.front.bindings);
    for name in step.front.bindings.keys() {
        if let Some(path) = all.get(name).and_then(in_package) {
            all.0.insert(name.clone(), path);
        }
    }
    all
}

fn filled_step(step: &Step, bindings: &Bindings) -> Step {
    let mut filled = step.with_body(&bindings.fill(step.body()));
    let names = step.front.bindings.keys();
    let values = names.filter_map(|name| Some((name.clone(), bindings.get(name)?.to_owned())));
    filled.front.bindings = values.collect();
    filled
}

fn fill_node(node: &mut Node, bindings: &Bindings) {
    for path in node.inputs.iter_mut().chain(&mut node.outputs) {
        *path = bindings.fill(path).into_owned();
    }
    let Some(gate) = &mut node.gate else { return };
    let gate = Arc::make_mut(gate);
    for text in gate.options.iter_mut().filter_map(|option| option.text.as_mut()) {
        *text = bindings.fill(text).into_owned();
    }
    for commit in &mut gate.commit {
        commit.to = bindings.fill(&commit.to).into_owned();
    }
    for to in gate.sections.iter_mut().filter_map(|section| section.to.as_mut()) {
        *to = bindings.fill(to).into_owned();
    }
}
