//! The same proofs over a run with gates: drafts are written, shown and saved, and the move follows them.

use std::collections::BTreeMap;

use crewagent_core::draft::with_marks;
use crewagent_core::event::{EventKind, ModelEvent, StateEvent, UserEvent};
use serde_json::json;

use super::faults::check_every_fault;
use super::fixture::ProofFixture;
use super::kill::{Calm, check_every_death};
use super::power::check_every_power_cut;
use super::twelve::{Piece, Reaction, calls};
use crate::golden_fixture::{golden, tree};

/// Returns a run through the package of golden run 018: a copied template, two gates with drafts, one of them with
/// sections, a question, and an end that completes itself.
fn gated() -> Piece {
    let package = tree(&golden().join("018-gates/package"))
        .into_iter()
        .filter(|(name, _)| !name.ends_with('/'))
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect();
    let template = "# Brief\n\n## Costs\n\n{{costs}}\n".to_owned();
    let project = vec![("docs/template.md".to_owned(), template)];
    let mut nodes = BTreeMap::new();
    let mut at = |node: &str, reactions: Vec<Reaction>| nodes.insert(node.to_owned(), reactions);
    let copy = json!([{ "path": "artifacts/brief.md", "from": "@project/docs/template.md" }]);
    at("step-01-begin", vec![calls([("complete_node", json!({ "files": copy }))])]);
    let improved = json!([{ "old": "on time", "new": "on time, also in winter" }]);
    at(
        "step-02-vision",
        vec![
            Reaction::Shown(
                "<draft name=\"vision\">\n## Vision\n\nA ferry on time.\n</draft>\n",
                vec![("ui.gate", json!({ "drafts": ["vision"], "note": "Stay?" }))],
            ),
            calls([
                ("fs.apply_patch", json!({ "path": "@state/drafts/vision.md", "edits": improved })),
                ("ui.gate", json!({ "drafts": ["vision"] })),
            ]),
        ],
    );
    at(
        "step-03-parts",
        vec![
            Reaction::Shown(
                "<draft name=\"users\">\n## Users\n\nIslanders.\n</draft>\n",
                vec![("ui.gate", json!({ "drafts": ["users"] }))],
            ),
            Reaction::Shown(
                "<draft name=\"costs\">\nTwo boats.\n</draft>\n<draft name=\"risks\">\n## Risks\n\nIce.\n</draft>\n",
                vec![("ui.gate", json!({ "drafts": ["costs", "risks"] }))],
            ),
        ],
    );
    at(
        "step-04-title",
        vec![
            calls([("ui.ask_user", json!({ "question": "Which colour?" }))]),
            Reaction::Shown(
                "<draft name=\"title\">\n# The blue ferry\n</draft>\n",
                vec![("ui.gate", json!({ "drafts": ["title"] }))],
            ),
        ],
    );
    Piece::new(package, project, nodes)
}

/// Returns the run with one long draft at its first gate.
fn with_a_long_draft() -> Piece {
    let mut piece = gated();
    let lines = "A ferry that runs on time, also in winter.\n".repeat(100);
    let text: &'static str = format!("<draft name=\"vision\">\n{lines}</draft>\n").leak();
    let gate = ("ui.gate", json!({ "drafts": ["vision"] }));
    piece.replace("step-02-vision", vec![Reaction::Shown(text, vec![gate])]);
    piece
}

#[test]
fn a_gated_step_costs_its_draft_once_and_the_choice_nothing() {
    let fixture = ProofFixture::new(with_a_long_draft());
    Calm::of(&fixture);
    let events = fixture.judged().events;
    let (mut node, mut written, mut draft) = (None, 0, 0);
    let mut is_chosen = false;
    for event in &events {
        match &event.kind {
            EventKind::Model(ModelEvent::TurnStarted(turn)) => {
                assert!(!is_chosen, "a request lies between the choice and the next node");
                node.clone_from(&turn.node_id);
            }
            EventKind::Model(ModelEvent::Replied(replied))
                if node.as_deref() == Some("step-02-vision") =>
            {
                let reply = &replied.reply;
                let text = with_marks(reply.content.as_deref().unwrap(), &reply.drafts);
                let calls = reply.tool_calls.iter().map(|call| call.arguments.bytes() as usize);
                written += text.len() + calls.sum::<usize>();
                draft += reply.drafts.iter().map(|draft| draft.end - draft.start).sum::<usize>();
            }
            EventKind::User(UserEvent::Input(input)) => {
                is_chosen = input.for_node_id.as_deref() == Some("step-02-vision");
            }
            EventKind::State(StateEvent::Entered(_)) => is_chosen = false,
            _ => {}
        }
    }
    assert!(draft > 4_000 && written * 10 <= draft * 11, "{written} bytes for {draft}");
}

#[test]
fn the_run_with_gates_saves_what_the_user_chose() {
    let calm = Calm::of(&ProofFixture::new(gated()));
    let text = |name: &str| String::from_utf8(calm.picture.project[name].clone()).unwrap();
    assert_eq!(
        text("artifacts/brief.md"),
        "# Brief\n\n## Costs\n\nTwo boats.\n\n## Vision\n\nA ferry on time, also in winter.\n\n## Users\n\nIslanders.\n\n## Risks\n\nIce.\n"
    );
    assert_eq!(text("artifacts/title.md"), "# The blue ferry\n");
}

#[test]
fn a_run_that_is_killed_between_a_choice_and_its_move_makes_both_once() {
    let (points, operations) = check_every_death(gated);
    assert!(points > 0 && operations > 0);
}

#[test]
fn a_power_cut_around_a_gate_loses_nothing_that_was_flushed() {
    let (states, resumed) = check_every_power_cut(gated);
    assert!(states > 0 && resumed > 0);
}

#[test]
fn a_disk_that_fails_around_a_gate_is_said_and_survived() {
    let (faults, operations) = check_every_fault(gated);
    assert!(faults > 0 && operations > 0);
}
