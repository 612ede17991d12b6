//! Portability: what this runtime reads and other tools for format 1.1 may refuse. Only authors who ask are told.

use std::collections::HashSet;

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::agents::{Agent, AgentsDraft};
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::document::{Document, PathKey};
use crate::package::graph::NodeKind;
use crate::syntax::{Tree, Value};
use crate::text::Span;
use crate::version::{Minor, SchemaVersion};

/// Keys of frontmatter that may have no value everywhere: date-times, lists and maps.
const MAY_BE_BLANK: [&str; 9] = [
    "updatedAt",
    "variables",
    "decisionLog",
    "artifacts",
    "inputDocuments",
    "inputs",
    "outputs",
    "setsVariables",
    "transitions",
];

pub(super) fn check(
    manifest: &Document,
    agents: Option<(&Document, &AgentsDraft)>,
    workflows: &[WorkflowDraft],
    graphs: &[&GraphRead],
    findings: &mut Findings,
) {
    let mut check = PortableCheck { findings, newer: Vec::new() };
    check.json(manifest);
    check.manifest(manifest);
    if let Some((document, draft)) = agents {
        check.json(document);
        for (index, agent) in draft.agents.iter().enumerate() {
            if let Some(agent) = agent {
                check.agent(document, index, agent);
            }
        }
    }
    for graph in graphs {
        check.json(&graph.document);
        check.graph(&graph.document);
    }
    let templates = workflows.iter().filter_map(|workflow| workflow.template.as_deref());
    let mut seen = HashSet::new();
    for template in templates.filter(|template| seen.insert(&template.document.path)) {
        check.frontmatter(&template.document, template.body);
    }
    let steps = graphs.iter().flat_map(|graph| &graph.steps).flatten();
    for step in steps.filter(|step| seen.insert(&step.document.path)) {
        check.frontmatter(&step.document, step.body);
        check.step(&step.document);
    }
    check.versions();
}

struct PortableCheck<'f> {
    findings: &'f mut Findings,
    /// Versions above 1.1, in the order of the documents.
    newer: Vec<Location>,
}

impl PortableCheck<'_> {
    fn report(&mut self, place: Location, says: &str, help: &str) {
        let message = format!("{says}: other tools for format 1.1 may refuse it");
        self.findings.push(Diagnostic::new(Code::NotPortable, place, message).help(help));
    }

    /// Checks what all JSON documents have in common.
    fn json(&mut self, document: &Document) {
        if document.text.starts_with('\u{feff}') {
            let place = Location::file(document.path.as_str());
            self.report(
                place,
                "the file begins with a byte order mark",
                "save it as UTF-8 without one",
            );
        }
        if document.tree.get("$schema").is_some() {
            let place = document.place(&["$schema".into()]);
            self.report(
                place,
                "`$schema` is no key of the format",
                "remove it, and name the schema in the settings of your editor",
            );
        }
        self.version(document);
    }

    fn version(&mut self, document: &Document) {
        let stated = document.tree.get("schemaVersion").and_then(|entry| entry.tree.as_str());
        let version = stated.and_then(SchemaVersion::parse);
        if version.is_some_and(|version| version.minor() > Minor::V1_1) {
            self.newer.push(document.place(&["schemaVersion".into()]));
        }
    }

    /// Reports a newer version once for the package.
    fn versions(&mut self) {
        let more = match self.newer.len() {
            0 | 1 => String::new(),
            count => format!(", as are {} other documents", count - 1),
        };
        if let Some(first) = self.newer.first() {
            let says = format!("this document is of format 1.2{more}");
            let help = "write \"1.1\", and name called workflows in the frontmatter of their steps";
            self.report(first.clone(), &says, help);
        }
    }

    fn manifest(&mut self, document: &Document) {
        let entry = ["workflow", "graph", "agents"].map(|key| vec!["entry".into(), key.into()]);
        let listed = document.tree.get("workflows").and_then(|entry| entry.tree.as_list());
        let count = listed.map_or(0, <[Tree]>::len);
        let listed = (0..count).flat_map(|at| {
            ["workflow", "graph"].map(|key| vec!["workflows".into(), at.into(), key.into()])
        });
        for keys in entry.into_iter().chain(listed) {
            self.reference(document, &keys);
        }
        let keys = ["runtime".into(), "minRuntimeVersion".into()];
        if text_at(document, &keys).is_some_and(|text| semver::Version::parse(text).is_err()) {
            self.report(
                document.place(&keys),
                "`runtime.minRuntimeVersion` is not a whole semantic version",
                "write three numbers, such as \"0.1.0\", or remove it",
            );
        }
        let keys = ["integrity".into(), "sha256".into()];
        if text_at(document, &keys).is_some_and(|text| text.contains(|c: char| c.is_uppercase())) {
            self.report(
                document.place(&keys),
                "the digest has upper-case letters",
                "run `crewagent package pack`, which writes it anew",
            );
        }
    }

    /// Checks a reference to a file of the package.
    fn reference(&mut self, document: &Document, keys: &[PathKey<'_>]) {
        if text_at(document, keys).is_some_and(|text| text.starts_with("./")) {
            let place = document.place(keys);
            self.report(place, "this path begins with `./`", "write it without `./`");
        }
    }

    fn agent(&mut self, document: &Document, index: usize, agent: &Agent) {
        let path = |keys: &[PathKey<'static>]| [&["agents".into(), index.into()], keys].concat();
        for (key, value) in [("discussion", &agent.discussion), ("webskip", &agent.webskip)] {
            if value.as_ref().is_some_and(|value| !value.is_boolean()) {
                let place = document.place(&path(&[key.into()]));
                let says = format!("`{key}` is neither true nor false");
                self.report(place, &says, "write true or false, or remove it");
            }
        }
        for (at, item) in agent.conversational_knowledge.iter().enumerate() {
            if !item.is_object() {
                let place = document.place(&path(&["conversational_knowledge".into(), at.into()]));
                self.report(
                    place,
                    "this item of `conversational_knowledge` is no object",
                    "write an object, or remove the item",
                );
            }
        }
        let actions = agent.critical_actions.iter().enumerate();
        let actions = actions.map(|(at, text)| (vec!["critical_actions".into(), at.into()], text));
        let prompts = agent.prompts.iter().enumerate().flat_map(|(at, prompt)| {
            let keys = |key: &'static str| vec!["prompts".into(), at.into(), key.into()];
            [(keys("id"), &prompt.id), (keys("content"), &prompt.content)]
        });
        let items = agent.menu.iter().enumerate();
        let items = items.map(|(at, item)| {
            (vec!["menu".into(), at.into(), "description".into()], &item.description)
        });
        for (keys, text) in actions.chain(prompts).chain(items) {
            if text.trim().is_empty() {
                let place = document.place(&path(&keys));
                self.report(place, "this text is empty", "write a text, or remove the item");
            }
        }
    }

    fn graph(&mut self, document: &Document) {
        let count = |key: &str| {
            let list = document.tree.get(key).and_then(|entry| entry.tree.as_list());
            list.map_or(0, <[Tree]>::len)
        };
        for at in 0..count("nodes") {
            self.reference(document, &["nodes".into(), at.into(), "file".into()]);
            let keys = ["nodes".into(), at.into(), "agentId".into()];
            if text_at(document, &keys).is_some_and(|text| text.trim().is_empty()) {
                let place = document.place(&keys);
                self.report(place, "this `agentId` is empty", "remove it: absent means the same");
            }
        }
        for at in 0..count("edges") {
            let keys = ["edges".into(), at.into(), "conditionExpr".into()];
            let condition = value_at(&document.tree, &keys).and_then(Tree::as_map);
            if condition.is_some_and(<[_]>::is_empty) {
                let place = document.place(&keys);
                self.report(place, "this condition is empty", "remove it: absent means the same");
            }
        }
    }

    fn frontmatter(&mut self, document: &Document, body: Span) {
        self.version(document);
        let front = document.text.get(..body.start).unwrap_or_default();
        let fence = front.trim_end_matches(['\r', '\n']);
        if fence.ends_with([' ', '\t']) {
            let end = fence.len();
            let place = Location::at(document.path.as_str(), Span::new(end - 1, end));
            self.report(place, "blanks follow the closing `---`", "remove them");
        }
        for entry in document.tree.as_map().unwrap_or_default() {
            let key = entry.key.as_str();
            if entry.tree.value == Value::Null && !MAY_BE_BLANK.contains(&key) {
                let place = Location::at(document.path.as_str(), entry.key_span);
                let says = format!("`{key}` has no value");
                let help = match key {
                    "stepsCompleted" => "write `[]`",
                    "currentNodeId" => "write `\"\"`",
                    _ => "give it a value, or remove it",
                };
                self.report(place, &says, help);
            }
        }
    }

    fn step(&mut self, document: &Document) {
        let keys = ["type".into()];
        let kind = text_at(document, &keys);
        if kind.is_some_and(|kind| !NodeKind::WORDS.iter().any(|(word, _)| *word == kind)) {
            self.report(
                document.place(&keys),
                "this `type` is not one of the format",
                "write the type of the node",
            );
        }
        if document.tree.get("resultVariables").is_some() {
            let place = document.place(&["resultVariables".into()]);
            self.report(
                place,
                "`resultVariables` of a step is this runtime's own",
                "let the called workflow write what its caller needs into a file",
            );
        }
    }
}

fn value_at<'t>(tree: &'t Tree, keys: &[PathKey<'_>]) -> Option<&'t Tree> {
    keys.iter().try_fold(tree, |tree, key| match key {
        PathKey::Name(name) => tree.get(name).map(|entry| &entry.tree),
        PathKey::Index(at) => tree.item(*at),
    })
}

fn text_at<'d>(document: &'d Document, keys: &[PathKey<'_>]) -> Option<&'d str> {
    value_at(&document.tree, keys)?.as_str()
}
