//! Records that the runtime keeps itself: it adds what the model left out, and touches nothing else.

use crewagent_format::frontmatter::{Edit, Frontmatter};
use crewagent_format::text::Span;
use serde_json::{Value as Json, json};

use super::{FilledValue, LegalChange, Proposal, changes_state, is_frozen};
use crate::refusal::{Refusal, RefusalCode};
use crate::state::document::{STATE_FILE, StateDocument};
use crate::state::edits::{push, set};
use crate::state::frame::CALL_STACK;
use crate::state::output::Output;
use crate::state::project_path::ProjectPath;

/// Returns the completed document, with the added values.
pub(super) fn keep(
    proposal: &Proposal<'_>,
    new: &StateDocument,
    verdict: &LegalChange<'_>,
) -> Result<(StateDocument, Vec<FilledValue>), Refusal> {
    let mut books = Books { edits: Vec::new(), recorded: Vec::new() };
    steps(&mut books, proposal, new, verdict);
    let source = decision(&mut books, proposal, new, verdict);
    artifacts(&mut books, proposal, new);
    leftover_call(&mut books, new, verdict);
    time(&mut books, proposal, new);
    let source = source.as_ref().unwrap_or(new.frontmatter());
    let edited = source.edited(&books.edits).map_err(|error| {
        let message = format!("The runtime cannot keep its books in {STATE_FILE}: {error}.");
        Refusal::new(RefusalCode::InvalidFrontmatter, message)
    })?;
    let document = StateDocument::from_frontmatter(edited)
        .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
    Ok((document, books.recorded))
}

struct Books {
    edits: Vec<Edit>,
    recorded: Vec<FilledValue>,
}

impl Books {
    fn append(&mut self, key: &'static str, value: Json) {
        self.edits.push(push(key, value.clone()));
        self.recorded.push(FilledValue { key, value });
    }
}

/// Records the node that was left, and the last node if the status is complete.
fn steps(
    books: &mut Books,
    proposal: &Proposal<'_>,
    new: &StateDocument,
    verdict: &LegalChange<'_>,
) {
    let (before, after) = (proposal.old.front(), new.front());
    let added = after.steps_completed.get(before.steps_completed.len()..).unwrap_or_default();
    if let Some(edge) = verdict.edge.filter(|edge| !added.iter().any(|id| id == edge.from.as_str()))
    {
        books.append("stepsCompleted", json!(edge.from));
    }
    let completed = verdict.completed.map(|node| node.id.as_str());
    if let Some(id) = completed.filter(|id| !after.steps_completed.iter().any(|done| done == id)) {
        books.append("stepsCompleted", json!(id));
    }
}

/// Records the branch taken at a node with several edges, and the time of a decision that the model logged without one.
fn decision(
    books: &mut Books,
    proposal: &Proposal<'_>,
    new: &StateDocument,
    verdict: &LegalChange<'_>,
) -> Option<Frontmatter> {
    let edge = verdict.edge?;
    let logged = new.front().decision_log.get(proposal.old.front().decision_log.len()..);
    if let Some([.., entry]) = logged {
        let dated =
            entry.decided_at.is_none().then(|| dated(new.frontmatter(), proposal.now))??;
        books
            .recorded
            .push(FilledValue { key: "decisionLog.decidedAt", value: json!(proposal.now) });
        return Some(dated);
    }
    if proposal.workflow.graph.outgoing(edge.from.as_str()).count() > 1 {
        let entry = json!({ "from": edge.from, "to": edge.to, "label": edge.label, "decidedAt": proposal.now });
        books.append("decisionLog", entry);
    }
    None
}

/// Records created and changed files that the document does not name yet, in any spelling, unless they were moved or
/// deleted since, and removes those that the run moved or deleted later. Those of a completed workflow are left out, too,
/// until the user agrees to a change. A copy of an output that the node declares is left out beside it.
fn artifacts(books: &mut Books, proposal: &Proposal<'_>, new: &StateDocument) {
    if is_frozen(proposal) {
        return;
    }
    let (gone, listed): (Vec<&String>, Vec<&String>) =
        new.front().artifacts.iter().partition(|path| is_gone(proposal, path));
    if !gone.is_empty() {
        books.edits.push(set("artifacts", json!(listed)));
        books.recorded.push(FilledValue { key: "artifacts", value: json!(listed) });
    }
    let mut known: Vec<ProjectPath> =
        listed.into_iter().filter_map(|path| ProjectPath::parse(path).ok()).collect();
    let declared = declared_files(proposal, new);
    for path in proposal.created {
        let is_new = !known.contains(path) && is_kept(proposal, path);
        if is_new && (declared.contains(path) || !is_copy(proposal, path, &declared)) {
            known.push(path.clone());
            books.append("artifacts", json!(path));
        }
    }
}

/// Returns true if an artifact is one that the run removed.
fn is_gone(proposal: &Proposal<'_>, path: &str) -> bool {
    ProjectPath::parse(path)
        .is_ok_and(|path| has_removed(proposal, &path) && (proposal.exists)(&path) != Some(true))
}

/// Returns true if a file that the run wrote is there. One that cannot be looked at is, unless the run removed it.
fn is_kept(proposal: &Proposal<'_>, path: &ProjectPath) -> bool {
    (proposal.exists)(path).unwrap_or_else(|| !has_removed(proposal, path))
}

fn has_removed(proposal: &Proposal<'_>, path: &ProjectPath) -> bool {
    proposal.outputs.visit.removed.contains(path.as_str())
}

/// Returns the files that the node of the change declares as outputs.
fn declared_files(proposal: &Proposal<'_>, new: &StateDocument) -> Vec<ProjectPath> {
    let graph = &proposal.workflow.graph;
    let node = graph.node(proposal.old.current_node_id(graph));
    let declared = node.into_iter().flat_map(|node| &node.outputs);
    declared
        .filter_map(|declared| match Output::of(declared, new.variables()) {
            Output::File(path) => Some(path),
            Output::Open(_) | Output::Pattern(_) | Output::Outside(_) => None,
        })
        .collect()
}

/// Returns true if a file has the bytes of a declared output.
fn is_copy(proposal: &Proposal<'_>, path: &ProjectPath, declared: &[ProjectPath]) -> bool {
    let digest = |path: &ProjectPath| (proposal.outputs.look)(path).and_then(|file| file.sha256);
    let mut outputs =
        declared.iter().filter(|output| (proposal.exists)(output) == Some(true)).peekable();
    outputs.peek().is_some()
        && digest(path).is_some_and(|own| outputs.any(|output| digest(output) == Some(own.clone())))
}

/// Removes a stale call, left over after the user moved the run by hand, so that it does not reopen with its node.
fn leftover_call(books: &mut Books, new: &StateDocument, verdict: &LegalChange<'_>) {
    let stack = new.frontmatter().tree().get(CALL_STACK).map(|entry| entry.tree.to_json());
    let is_open = stack.is_some_and(|stack| stack.as_array().is_none_or(|list| !list.is_empty()));
    if verdict.edge.is_some() && is_open {
        books.edits.push(set(CALL_STACK, json!([])));
        books.recorded.push(FilledValue { key: CALL_STACK, value: json!([]) });
    }
}

/// Records the time of the change, unless the model gave one. A change of the text below the frontmatter needs none.
fn time(books: &mut Books, proposal: &Proposal<'_>, new: &StateDocument) {
    let (before, after) = (&proposal.old.front().updated_at, &new.front().updated_at);
    let changed = !books.recorded.is_empty() || changes_state(proposal.old, new);
    let left_out = after.is_none() || before == after;
    if changed && left_out && after.as_deref() != Some(proposal.now) {
        books.edits.push(set("updatedAt", proposal.now));
        books.recorded.push(FilledValue { key: "updatedAt", value: json!(proposal.now) });
    }
}

/// Returns the document with a time for its last decision, if it can be inserted safely. The time is optional: better
/// none than a document with another meaning.
fn dated(document: &Frontmatter, now: &str) -> Option<Frontmatter> {
    let text = document.text();
    let log = &document.tree().get("decisionLog")?.tree;
    let last = log.as_list()?.last()?;
    let (place, added) = match last.get("decidedAt") {
        Some(blank) => (blank.tree.as_str().map(|_| blank.tree.span)?, format!("\"{now}\"")),
        None => {
            let label = last.get("label")?;
            let end = label.tree.span.end;
            (
                Span::new(end, end),
                format!("{}decidedAt: \"{now}\"", gap(text, last.span, label.key_span)?),
            )
        }
    };
    let edited = [text.get(..place.start)?, &added, text.get(place.end..)?].concat();
    let after = Frontmatter::parse(edited).ok()?;
    let mut wanted = document.tree().to_json();
    wanted.get_mut("decisionLog")?.as_array_mut()?.last_mut()?["decidedAt"] = json!(now);
    (after.tree().to_json() == wanted && after.body() == document.body()).then_some(after)
}

/// Returns the separator of two keys of a map: a comma in flow style, a new line with the same indentation in block
/// style.
fn gap(text: &str, map: Span, key: Span) -> Option<String> {
    if text.get(map.start..)?.starts_with('{') {
        return Some(", ".to_owned());
    }
    let line = text.get(..key.start)?.rsplit('\n').next()?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    Some(format!("{newline}{}", " ".repeat(line.chars().count())))
}
