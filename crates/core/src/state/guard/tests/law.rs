//! Law of the guard: whatever a model tries, on whatever graph, an accepted change is a legal and recorded step, and a
//! refusal says how to continue.

use crewagent_format::package::graph::{Edge, NodeKind};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::super::Completion;
use super::*;
use crate::state::fixture::{Drawn, drawn};

const IDS: [&str; 5] = ["n0", "n1", "n2", "n3", "n4"];
/// Labels of moves. No edge has the last one.
const LABELS: [&str; 3] = ["x", "y", "z"];
const KINDS: [&str; 4] = ["step", "decision", "merge", "end"];
const OUTPUTS: [&[&str]; 4] = [&[], &[], &["artifacts/a.md"], &["artifacts/<v>.md"]];
const SETS: [&[&str]; 3] = [&[], &[], &["v"]];

fn node() -> impl Strategy<Value = (usize, usize, usize)> {
    (0..KINDS.len(), 0..OUTPUTS.len(), 0..SETS.len())
}

/// Generates an edge between two of the nodes; half of them have a condition on `v`.
fn edge(nodes: usize) -> impl Strategy<Value = Json> {
    (0..nodes, 0..nodes, 0..2usize, any::<bool>(), prop::option::of(1..4u8)).prop_map(
        |(from, to, label, is_default, wanted)| {
            let mut edge = json!({"from": IDS[from], "to": IDS[to], "label": LABELS[label], "isDefault": is_default});
            if let Some(wanted) = wanted {
                edge["conditionExpr"] = json!({"==": [{"var": "v"}, wanted]});
            }
            edge
        },
    )
}

fn workflows() -> impl Strategy<Value = Workflow> {
    (2..=IDS.len())
        .prop_flat_map(|count| {
            (prop::collection::vec(node(), count), prop::collection::vec(edge(count), 0..9))
        })
        .prop_map(|(nodes, edges)| {
            let nodes: Vec<Drawn<'_>> = nodes
                .iter()
                .zip(IDS)
                .map(|(&(kind, outputs, sets), id)| Drawn {
                    id,
                    kind: KINDS[kind],
                    outputs: OUTPUTS[outputs],
                    sets: SETS[sets],
                })
                .collect();
            drawn(&nodes, &json!(edges))
        })
}

/// Attempt of a model.
#[derive(Clone, Debug)]
enum Attempt {
    /// Patches along the graph, as far as random values allow.
    Patch {
        target: Option<usize>,
        steps: Vec<usize>,
        decision: Option<(usize, usize, usize)>,
        v: Option<u8>,
        complete: bool,
    },
    /// Takes the next open edge with all its fields.
    Walk {
        edge: usize,
        v: u8,
    },
    /// Replaces part of the text.
    Replace(&'static str, &'static str),
    Write(String),
}

fn attempts() -> impl Strategy<Value = Attempt> {
    let id = || 0..IDS.len() + 2;
    let decision = prop::option::weighted(0.3, (id(), id(), 0..3usize));
    let steps = prop::collection::vec(id(), 0..3);
    let patch = (
        prop::option::of(id()),
        steps,
        decision,
        prop::option::of(1..4u8),
        prop::bool::weighted(0.1),
    );
    let replace = prop::sample::select(vec![
        ("- n", "- m"),
        ("stepsCompleted:", "stepsCompleted: []\nold:"),
        ("runId: run-1", "runId: run-2"),
        ("currentNodeId: ", "currentNodeId: # "),
        ("artifacts:", "artifacts: [\"@project/x\"]\nold:"),
        ("workflowType: drawn", "workflowType: 7"),
        ("# Body", "# Another body"),
        ("variables:", "variables: {}\nold:"),
        ("---\n\n", "\n\n"),
        ("# the state\n", "workflowStatus: complete\n"),
    ]);
    prop_oneof![
        4 => patch.prop_map(|(target, steps, decision, v, complete)| Attempt::Patch { target, steps, decision, v, complete }),
        4 => (0..9usize, 1..4u8).prop_map(|(edge, v)| Attempt::Walk { edge, v }),
        2 => replace.prop_map(|(old, new)| Attempt::Replace(old, new)),
        1 => "(---\n)?[a-z:\\[ \n-]{0,30}(---\n)?".prop_map(Attempt::Write),
    ]
}

fn name(index: usize) -> &'static str {
    IDS.get(index).copied().unwrap_or(if index == IDS.len() { "nowhere" } else { "" })
}

fn proposed(run: &Run, attempt: &Attempt) -> Proposed {
    let current = run.state.current_node_id(&run.workflow.graph).to_owned();
    match attempt {
        Attempt::Patch { target, steps, decision, v, complete } => {
            let mut update = json!({"variables.set": {}});
            if let Some(target) = target {
                update["currentNodeId.set"] = json!(name(*target));
            }
            update["stepsCompleted.append"] = steps.iter().map(|step| name(*step)).collect();
            if let Some((from, to, label)) = decision {
                let from = if *from > 1 { current.as_str() } else { name(*from) };
                update["decisionLog.append"] =
                    json!([{"from": from, "to": name(*to), "label": LABELS[*label]}]);
            }
            if let Some(v) = v {
                update["variables.set"]["v"] = json!(v);
            }
            if *complete {
                update["workflowStatus.set"] = json!("complete");
            }
            run.applied(update)
        }
        Attempt::Walk { edge, v } => {
            let edges: Vec<&Edge> = run.workflow.graph.outgoing(&current).collect();
            match edges.get(edge % edges.len().max(1)) {
                Some(edge) => run.applied(json!({
                    "variables.set": {"v": v}, "currentNodeId.set": edge.to, "stepsCompleted.append": [edge.from],
                    "decisionLog.append": [{"from": edge.from, "to": edge.to, "label": edge.label}]
                })),
                None => run.applied(json!({"stepsCompleted.append": [current]})),
            }
        }
        Attempt::Replace(old, new) => StateDocument::read(run.state.text().replacen(old, new, 1)),
        Attempt::Write(text) => StateDocument::read(text.as_str()),
    }
}

/// Returns true if an edge may be taken, by an independent and simpler implementation.
fn is_open(run: &Run, edge: &Edge, v: Option<&Json>) -> bool {
    let holds =
        |edge: &Edge| edge.condition_expr.as_ref().map(|rule| Some(&rule.as_json()["=="][1]) == v);
    let others = run
        .workflow
        .graph
        .edges()
        .iter()
        .filter(|other| other.from == edge.from && !std::ptr::eq(*other, edge));
    holds(edge) != Some(false)
        || (edge.is_default && !others.map(holds).any(|held| held == Some(true)))
}

fn is_last(run: &Run, id: &str) -> bool {
    let node = run.workflow.graph.node(id).unwrap();
    node.kind == NodeKind::End
        || !run.workflow.graph.edges().iter().any(|edge| edge.from.as_str() == id)
}

/// Checks all properties of an accepted change.
fn check_step(
    run: &Run,
    transition: &StateTransition,
    schema: &jsonschema::Validator,
) -> Result<(), TestCaseError> {
    let graph = &run.workflow.graph;
    let new = StateDocument::read(transition.text().clone()).unwrap();
    let json = new.frontmatter().tree().to_json();
    prop_assert!(schema.is_valid(&json), "{json}");
    let (before, after) = (run.state.front(), new.front());
    let (from, to) = (run.state.current_node_id(graph), new.current_node_id(graph));
    prop_assert!(graph.node(to).is_some());
    for key in ["schemaVersion", "workflowType", "runId", "workflowRef"] {
        prop_assert_eq!(&json[key], &run.state.frontmatter().tree().to_json()[key]);
    }
    prop_assert!(after.steps_completed.starts_with(&before.steps_completed));
    prop_assert!(after.artifacts.starts_with(&before.artifacts));
    prop_assert!(after.decision_log.len() >= before.decision_log.len());
    let mut steps = after.steps_completed[before.steps_completed.len()..].to_vec();
    let decisions = &after.decision_log[before.decision_log.len()..];
    match transition.moved() {
        None => {
            prop_assert_eq!(from, to);
            prop_assert!(decisions.is_empty());
        }
        Some(moved) => {
            prop_assert_eq!((moved.from.as_str(), moved.to.as_str()), (from, to));
            let mut taken = graph.edges().iter().filter(|edge| {
                edge.from == moved.from && edge.to == moved.to && edge.label == moved.label
            });
            prop_assert!(taken.any(|edge| is_open(run, edge, new.variables().get("v"))));
            let left = steps.iter().position(|id| id == from);
            prop_assert!(left.is_some(), "{} was left but is not in the books", from);
            steps.remove(left.unwrap());
            let several = graph.outgoing(from).count() > 1;
            prop_assert!(decisions.len() <= 1 && (!several || decisions.len() == 1));
            for decision in decisions {
                prop_assert_eq!(
                    (decision.from.as_str(), decision.to.as_str(), &decision.label),
                    (from, to, &moved.label)
                );
                prop_assert!(decision.decided_at.is_some());
            }
        }
    }
    prop_assert!(steps.is_empty() || (steps == [to] && is_last(run, to)), "{:?} at {}", steps, to);
    let status = new.has_status_complete();
    prop_assert!(!status || is_last(run, to) || run.state.text() == new.text());
    let complete = transition.completion() != Completion::Running;
    prop_assert_eq!(
        complete,
        status
            || (graph.node(to).unwrap().kind == NodeKind::End
                && after.steps_completed.iter().any(|id| id == to))
    );
    Ok(())
}

/// Checks that a model that does everything right is never refused.
fn check_no_dead_end(run: &Run) -> Result<(), TestCaseError> {
    let graph = &run.workflow.graph;
    let current = run.state.current_node_id(graph).to_owned();
    if run.state.is_complete(graph) || run.missing != MissingRule::Off {
        return Ok(());
    }
    for edge in
        graph.outgoing(&current).filter(|edge| is_open(run, edge, run.state.variables().get("v")))
    {
        let update = json!({"currentNodeId.set": edge.to, "decisionLog.append": [{"from": edge.from, "to": edge.to, "label": edge.label}]});
        let moved = run.patch(update).map(|transition| transition.moved().cloned());
        prop_assert!(matches!(&moved, Ok(Some(moved)) if moved.label == edge.label), "{moved:?}");
    }
    if is_last(run, &current) {
        let completed = run.patch(json!({"workflowStatus.set": "complete"}));
        prop_assert!(completed.is_ok(), "{completed:?}");
    }
    Ok(())
}

#[test]
fn whatever_a_model_tries_the_run_stays_a_legal_walk() {
    let schema = crewagent_format::schema::schemas()
        .into_iter()
        .find(|(name, _)| *name == "workflow.schema.json")
        .unwrap()
        .1;
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let config = ProptestConfig {
        cases: 96,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rule = prop::sample::select(vec![
        MissingRule::Enforce,
        MissingRule::Warn,
        MissingRule::Off,
        MissingRule::Off,
    ]);
    let files = prop::sample::subsequence(
        vec!["artifacts/a.md", "artifacts/1.md", "artifacts/2.md"],
        0..=3,
    );
    let input =
        (workflows(), rule, files, prop::collection::vec((attempts(), any::<bool>()), 1..20));
    let counts = std::cell::Cell::new((0, 0));
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&input, |(workflow, rule, files, attempts)| {
        let mut run = Run::new(workflow).with_missing(rule).having(&files);
        for (attempt, confirmed) in attempts {
            run.confirmation = if confirmed { Confirmation::Given } else { Confirmation::Needed };
            run.created = files
                .iter()
                .take(usize::from(confirmed))
                .map(|file| ProjectPath::parse(file).unwrap())
                .collect();
            let before = run.state.text().clone();
            let (accepted, refused) = counts.get();
            match run.propose(&proposed(&run, &attempt)) {
                Ok(transition) => {
                    check_step(&run, &transition, &schema)?;
                    counts.set((accepted + usize::from(transition.moved().is_some()), refused));
                    run.state = transition.into_document();
                    let again = run.write(run.state.text().clone()).unwrap();
                    prop_assert_eq!(again.text(), run.state.text());
                }
                Err(refusal) => {
                    counts.set((accepted, refused + 1));
                    prop_assert!(
                        refusal.message.ends_with('.') && refusal.message.len() < 4096,
                        "{}",
                        refusal.message
                    );
                    prop_assert!(
                        refusal.code == RefusalCode::ConfirmationRequired
                            || refusal.details.contains_key("allowedNext")
                    );
                    prop_assert_eq!(&before, run.state.text());
                }
            }
            check_no_dead_end(&run)?;
        }
        Ok(())
    });
    result.unwrap();
    let (moves, refused) = counts.get();
    assert!(
        moves > 80 && refused > 300,
        "the law was hardly tried: {moves} moves, {refused} refusals"
    );
}
