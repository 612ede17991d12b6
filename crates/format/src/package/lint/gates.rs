//! Gates: options that a user can tell apart, that lead where edges say, and that save into files of the project.

use std::collections::{HashMap, HashSet};

use super::paths;
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::check::GraphRead;
use crate::package::document::PathKey;
use crate::package::gate::{Gate, GateOption, OptionAction};
use crate::package::graph::{NodeDraft, NodeKind};
use crate::wording::{quoted, ticked};

/// Checks the gates of a graph, and what else a node says about its user.
pub(super) fn check(read: &GraphRead, findings: &mut Findings) {
    for (index, node) in read.draft.nodes.iter().enumerate() {
        let mut gate = GatedNode { read, index, node, findings };
        gate.placement();
        if let Some(Some(own)) = &node.gate {
            gate.options(own);
            gate.files(own);
        }
    }
    edges(read, findings);
}

/// Node with the list for its findings.
struct GatedNode<'a> {
    read: &'a GraphRead,
    index: usize,
    node: &'a NodeDraft,
    findings: &'a mut Findings,
}

impl GatedNode<'_> {
    fn report(&mut self, code: Code, keys: &[PathKey<'_>], message: String, help: &str) {
        let path = [&["nodes".into(), self.index.into()], keys].concat();
        let place = self.read.document.place(&path);
        self.findings.push(Diagnostic::new(code, place, message).help(help));
    }

    fn placement(&mut self) {
        let (Some(kind), Some(id)) = (self.node.kind, &self.node.id) else { return };
        let is_auto = self.node.auto == Some(true);
        if matches!(self.node.gate, Some(Some(_)))
            && matches!(kind, NodeKind::End | NodeKind::Subworkflow)
        {
            let word = kind.word();
            let message = format!("node `{id}` is of type `{word}` and has a gate");
            let help = "put the gate at a `step` before it, and let an option lead here";
            self.report(Code::MisplacedGate, &["gate".into()], message, help);
        }
        let is_silent = kind == NodeKind::Subworkflow || (kind == NodeKind::End && is_auto);
        if self.node.waits_for_user == Some(true) && is_silent {
            let message =
                format!("node `{id}` waits for the user, but the user cannot speak in it");
            let help = "set `waitsForUser` at a `step`, or remove it";
            self.report(Code::MisplacedGate, &["waitsForUser".into()], message, help);
        }
        if is_auto && kind != NodeKind::End {
            let word = kind.word();
            let message = format!(
                "node `{id}` is of type `{word}` and has `auto`, which only an `end` may have"
            );
            self.report(Code::MisplacedAuto, &["auto".into()], message, "remove `auto`");
        }
    }

    fn options(&mut self, gate: &Gate) {
        let mut keys: HashMap<String, usize> = HashMap::new();
        for (at, option) in gate.options.iter().enumerate() {
            if keys.insert(option.key.trim().to_lowercase(), at).is_some() {
                let message =
                    format!("two options of this gate have the key {}", quoted(&option.key));
                let place = ["gate".into(), "options".into(), at.into(), "key".into()];
                let help = "give one of them another key; upper and lower case are the same";
                self.report(Code::DuplicateOption, &place, message, help);
            }
            for (position, named) in option.after.iter().enumerate() {
                if gate.option(named).is_some() && *named != option.key {
                    continue;
                }
                let others = gate.options.iter().filter(|other| other.key != option.key);
                let message = format!("`after` names {}, which is no other option", quoted(named));
                let keys = ticked(others.map(|other| &other.key));
                let help = format!("the other options are: {keys}");
                let place =
                    ["gate".into(), "options".into(), at.into(), "after".into(), position.into()];
                self.report(Code::UnknownOption, &place, message, &help);
            }
        }
        let mut ids = HashSet::new();
        for (at, section) in gate.sections.iter().enumerate() {
            if !ids.insert(section.id.trim().to_lowercase()) {
                let message =
                    format!("two sections of this gate have the id {}", quoted(&section.id));
                let place = ["gate".into(), "sections".into(), at.into(), "id".into()];
                let help = "give one of them another id: each section has a draft of that name";
                self.report(Code::DuplicateSection, &place, message, help);
            }
        }
    }

    fn files(&mut self, gate: &Gate) {
        for (list, at, to) in targets(gate) {
            let Some(reason) = paths::target_mistake(to) else { continue };
            let message = format!("the runtime is to write {}, which {reason}", quoted(to));
            let place = ["gate".into(), list.into(), at.into(), "to".into()];
            self.report(Code::BadTargetPath, &place, message, paths::TARGET_HELP);
        }
    }
}

/// Iterates over the files that a gate writes, each with its list and its index there.
pub(super) fn targets(gate: &Gate) -> impl Iterator<Item = (&'static str, usize, &str)> {
    let commits = gate.commit.iter().enumerate();
    let sections = gate.sections.iter().enumerate();
    commits
        .map(|(at, commit)| ("commit", at, commit.to.as_str()))
        .chain(sections.filter_map(|(at, section)| Some(("sections", at, section.to.as_deref()?))))
}

/// Checks that edges and options that lead on belong together.
fn edges(read: &GraphRead, findings: &mut Findings) {
    let draft = &read.draft;
    let mut gates: HashMap<&str, (usize, Option<&Gate>)> = HashMap::new();
    for (index, node) in draft.nodes.iter().enumerate() {
        // An unreadable gate may have any option.
        if let (Some(id), Some(gate)) = (&node.id, &node.gate) {
            gates.insert(id.as_str(), (index, gate.as_deref()));
        }
    }
    let mut uses: HashMap<(&str, &str), usize> = HashMap::new();
    // Nodes with an edge that names no option: its own option lacks an edge for the same reason.
    let mut mistaken: HashSet<&str> = HashSet::new();
    for (index, edge) in draft.edges.iter().enumerate() {
        let (Some(from), Some(Some(key))) = (&edge.from, &edge.gate) else { continue };
        let Some((_, gate)) = gates.get(from.as_str()) else { continue };
        let option = gate.and_then(|gate| gate.option(key));
        if option.is_some_and(|option| option.does == OptionAction::Edge) {
            *uses.entry((from.as_str(), key.as_str())).or_default() += 1;
            continue;
        }
        mistaken.insert(from.as_str());
        let place = read.document.place(&["edges".into(), index.into(), "gate".into()]);
        let (says, help) = unknown_option(from.as_str(), key, *gate, option);
        findings.push(Diagnostic::new(Code::UnknownOption, place, says).help(help));
    }
    let all_known = draft.ends().is_some() && draft.edges.iter().all(|edge| edge.gate.is_some());
    if !all_known {
        return;
    }
    for (id, (index, gate)) in gates {
        let kind = draft.nodes.get(index).and_then(|node| node.kind);
        let leads_on = !matches!(kind, None | Some(NodeKind::End | NodeKind::Subworkflow));
        let options = gate.into_iter().flat_map(|gate| gate.options.iter().enumerate());
        for (at, option) in options.filter(|(_, option)| option.does == OptionAction::Edge) {
            let count = uses.get(&(id, option.key.as_str())).copied().unwrap_or_default();
            if !leads_on || count == 1 || (count == 0 && mistaken.contains(id)) {
                continue;
            }
            let key = quoted(&option.key);
            let edges = if count == 0 { "no edge".to_owned() } else { format!("{count} edges") };
            let message =
                format!("the option {key} of `{id}` has {edges}; it must have exactly one");
            let place = read.document.place(&[
                "nodes".into(),
                index.into(),
                "gate".into(),
                "options".into(),
                at.into(),
                "key".into(),
            ]);
            let help = format!("write `\"gate\": {key}` into the edge that it opens");
            findings.push(Diagnostic::new(Code::OptionEdgeCount, place, message).help(help));
        }
    }
}

fn unknown_option(
    from: &str,
    key: &str,
    gate: Option<&Gate>,
    option: Option<&GateOption>,
) -> (String, String) {
    let key = quoted(key);
    let Some(gate) = gate else {
        let says = format!("this edge names the option {key}, but `{from}` has no gate");
        return (says, "add a gate to the node, or remove `gate` from the edge".to_owned());
    };
    if let Some(option) = option {
        let does = option.does.word();
        let says = format!("this edge names the option {key} of `{from}`, which does `{does}`");
        return (
            says,
            "set `does` of the option to \"edge\", or remove `gate` from the edge".to_owned(),
        );
    }
    let leading = gate.options.iter().filter(|option| option.does == OptionAction::Edge);
    let keys: Vec<_> = leading.map(|option| quoted(&option.key)).collect();
    let says =
        format!("this edge names the option {key}, which the gate of `{from}` does not have");
    let help = match keys.is_empty() {
        true => "add an option with this key and `\"does\": \"edge\"`".to_owned(),
        false => format!("the options that lead on are: {}", keys.join(", ")),
    };
    (says, help)
}
