//! The files that a node's brief shows: declared inputs, files of the package that the step names, and files of the
//! project that a variable points to.

use crewagent_format::package::Workflow;
use crewagent_format::package::graph::Node;
use serde_json::{Map, Value as Json};

use crate::state::output::Output;
use crate::vpath::{Mount, VPath, with_mounts};

/// Largest number of files that are looked at.
const MOST_INPUTS: usize = 32;

/// File that a brief would show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedInput {
    pub path: VPath,
    /// True if the node declares it, so that the model is told when it is missing.
    pub is_declared: bool,
}

/// Returns the files to show, each once.
pub fn wanted_inputs(
    workflow: &Workflow,
    node: &Node,
    variables: &Map<String, Json>,
) -> Vec<WantedInput> {
    let mut wanted: Vec<WantedInput> = Vec::new();
    let mut add = |path: VPath, is_declared: bool| {
        let is_known = wanted.iter().any(|known: &WantedInput| known.path == path);
        let is_wanted = path.mount() != Mount::State && !path.relative().is_empty();
        if !is_known && is_wanted && wanted.len() < MOST_INPUTS {
            wanted.push(WantedInput { path, is_declared });
        }
    };
    for declared in &node.inputs {
        if let Some(path) = declared_path(declared, variables) {
            add(path, true);
        }
    }
    let Some(step) = workflow.steps.get(&node.id) else { return wanted };
    let text = with_mounts(step.body());
    for path in named_package_files(&text) {
        add(path, false);
    }
    for name in named_variables(&text) {
        let value = variables.get(name).and_then(Json::as_str).map(str::trim);
        let path =
            value.filter(|value| !value.is_empty()).and_then(|value| VPath::parse(value).ok());
        if let Some(path) = path.filter(|path| path.mount() == Mount::Project) {
            add(path, false);
        }
    }
    wanted
}

/// Returns the declared inputs that name several files.
pub fn wanted_patterns(node: &Node, variables: &Map<String, Json>) -> Vec<String> {
    let pattern = |declared: &String| match Output::of(declared, variables) {
        Output::Pattern(pattern) => Some(pattern),
        Output::File(_) | Output::Open(_) | Output::Outside(_) => None,
    };
    node.inputs.iter().filter_map(pattern).take(MOST_INPUTS).collect()
}

fn declared_path(declared: &str, variables: &Map<String, Json>) -> Option<VPath> {
    match Output::of(declared, variables) {
        Output::File(path) => Some(path.vpath().clone()),
        Output::Open(_) | Output::Pattern(_) => None,
        // Files of the package are inputs, too.
        Output::Outside(_) => {
            VPath::parse(declared).ok().filter(|path| path.mount() == Mount::Package)
        }
    }
}

/// Returns the files of the package that a text names.
fn named_package_files(text: &str) -> Vec<VPath> {
    let prefix = "@pkg/";
    let paths = text.match_indices(prefix).filter_map(|(at, _)| {
        let name: &str = text.get(at..)?;
        let end = name.find(|c: char| c.is_whitespace() || "`\"'()<>[]{},;*|".contains(c));
        let name = name.get(..end.unwrap_or(name.len()))?;
        VPath::parse(name.trim_end_matches(['.', ':', '!', '?', '。', '，'])).ok()
    });
    paths.collect()
}

/// Returns the variables that a text names as `variables.X`.
fn named_variables(text: &str) -> impl Iterator<Item = &str> {
    let prefix = "variables.";
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let name = text.get(at + prefix.len()..)?;
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        name.get(..end.unwrap_or(name.len())).filter(|name| !name.is_empty())
    })
}
