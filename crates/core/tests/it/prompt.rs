//! Whole prompts as a model reads them, for the examples of the format.

use std::sync::Arc;

use crewagent_core::context::Context;
use crewagent_core::message::Message;
use crewagent_core::policy::{McpPolicy, Policy, StateTool};
use crewagent_core::prompt::{
    ActiveNode, Autopilot, DataContext, Directive, Protocol, RulesFor, RunIntent, StepText,
    base_rules, data_context, interrupted, node_brief, persona, run_directive, state_summary,
    tool_policy, user_input,
};
use crewagent_core::state::run_state::RunState;
use crewagent_core::vpath::VPath;
use crewagent_format::package::agents::Agent;
use crewagent_format::package::{Package, Workflow};
use crewagent_testkit::fixture::{checked, example};
use serde_json::{Map, Value as Json, json};

/// Maximum size of a step that the brief repeats, as in the default settings.
const INLINE: StepText = StepText::Inline { up_to: 16 * 1024 };

fn package(name: &str) -> Package {
    checked(&example(name)).package.unwrap()
}

fn run_state(node: &str, done: &[&str], variables: Json, artifacts: &[&str]) -> RunState {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    RunState {
        current_node_id: node.to_owned(),
        steps_completed: texts(done),
        variables: variables.as_object().cloned().unwrap_or_default(),
        decisions: 0,
        artifacts: texts(artifacts),
        complete: false,
        ..RunState::default()
    }
}

fn agent<'p>(package: &'p Package, id: &str) -> &'p Agent {
    package.agents().iter().find(|agent| agent.id.as_str() == id).unwrap()
}

/// Returns the agent of a node, or else the first one.
fn effective<'p>(package: &'p Package, workflow: &Workflow, node: &str) -> &'p Agent {
    let own = workflow.graph.node(node).and_then(|node| node.agent_id.as_ref());
    own.map_or(&package.agents()[0], |id| agent(package, id.as_str()))
}

/// Composes all layers for a run at this position.
fn composed(package: &Package, run_state: &RunState, intent: RunIntent) -> Context {
    let workflow = &package.workflows()[0];
    let agent = effective(package, workflow, &run_state.current_node_id);
    let node = workflow.graph.node(&run_state.current_node_id).unwrap();
    let active = if run_state.complete { ActiveNode::Completed } else { ActiveNode::Node(node) };
    let directive = Directive {
        intent,
        workflow,
        active,
        agent: &agent.id,
        autopilot: Autopilot::On,
        protocol: Protocol::Included,
        state: StateTool::Patch,
        caller: None,
    };
    let mut anchor = vec![run_directive(&directive)];
    if !run_state.complete {
        anchor.push(node_brief(
            workflow,
            node,
            &run_state.variables,
            INLINE,
            StateTool::Patch,
            &[],
        ));
    }
    anchor.push(state_summary(run_state));
    let mut context = Context::new(128_000);
    context.set_system(vec![
        base_rules(RulesFor::Run),
        tool_policy(&Policy::default().tightened(agent.tools.as_ref())),
        persona(agent),
    ]);
    context.anchor(anchor);
    context
}

fn shown(messages: &[Arc<Message>]) -> String {
    let part = |message: &Arc<Message>| match &**message {
        Message::System { content } => format!("===== system\n{content}\n"),
        Message::User { content } => format!("===== user\n{content}\n"),
        other => panic!("{other:?}"),
    };
    messages.iter().map(part).collect()
}

#[test]
fn a_run_begins() {
    let package = package("create-story-micro");
    let run_state = run_state("step-01-select-story", &[], json!({}), &[]);
    let mut context = composed(&package, &run_state, RunIntent::Start);
    context.user_input(user_input(
        "Please do\n1-2-user-authentication.",
        Some("step-01-select-story"),
    ));
    insta::assert_snapshot!(shown(&context.messages()));
}

#[test]
fn a_run_goes_on_at_a_later_node() {
    let package = package("create-story-micro");
    let variables = json!({"storyKey": "1-2-user-authentication", "epicNum": 1, "storyTitle": "User Authentication"});
    let done = ["step-01-select-story", "step-02-discover-inputs", "step-03-extract-context"];
    let artifacts = ["artifacts/create-story/target.md", "artifacts/create-story/context.md"];
    let run_state = run_state("step-04-generate-story", &done, variables, &artifacts);
    let context = composed(&package, &run_state, RunIntent::Continue);
    insta::assert_snapshot!(shown(&context.messages()));
}

#[test]
fn another_agent_takes_over_at_the_end_node() {
    let package = package("create-story-micro");
    let variables = json!({"storyKey": "1-2-user-authentication"});
    let run_state = run_state("end-99", &["step-05-update-sprint-status"], variables, &[]);
    let context = composed(&package, &run_state, RunIntent::Continue);
    let text = shown(&context.messages());
    assert!(text.contains("You are Sam (Summarizer)."), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_decision_lists_its_branches_and_rules() {
    let package = package("hello-branch");
    let variables = json!({"projectType": "greenfield"});
    let run_state = run_state("decide-02-project-type", &["step-01-intake"], variables, &[]);
    let context = composed(&package, &run_state, RunIntent::Continue);
    insta::assert_snapshot!(shown(&context.messages()[3..]));
}

#[test]
fn a_completed_run_has_no_node() {
    let package = package("create-story-micro");
    let mut run_state = run_state("end-99", &["end-99"], json!({}), &["artifacts/x.md"]);
    run_state.complete = true;
    let mut context = composed(&package, &run_state, RunIntent::Continue);
    context.user_input(user_input("Thanks. What is still open?", None));
    insta::assert_snapshot!(shown(&context.messages()[3..]));
}

#[test]
fn a_later_anchor_at_the_same_node_repeats_neither_protocol_nor_step() {
    let package = package("create-story-micro");
    let workflow = &package.workflows()[0];
    let node = workflow.graph.node("step-01-select-story").unwrap();
    let directive = run_directive(&Directive {
        intent: RunIntent::Resume,
        workflow,
        active: ActiveNode::Node(node),
        agent: &package.agents()[0].id,
        autopilot: Autopilot::Off,
        protocol: Protocol::StandsAbove,
        state: StateTool::Patch,
        caller: None,
    });
    let brief =
        node_brief(workflow, node, &Map::new(), StepText::StandsAbove, StateTool::Patch, &[]);
    insta::assert_snapshot!(format!("{directive}\n=====\n{brief}"));
}

#[test]
fn a_step_that_is_too_long_is_to_be_read() {
    let package = package("create-story-micro");
    let workflow = &package.workflows()[0];
    let node = workflow.graph.node("step-01-select-story").unwrap();
    let brief = node_brief(
        workflow,
        node,
        &Map::new(),
        StepText::Inline { up_to: 100 },
        StateTool::Patch,
        &[],
    );
    assert!(brief.ends_with(
        "bytes and is not repeated here: read @pkg/steps/step-01-select-story.md with fs.read before you do anything else."
    ));
}

#[test]
fn a_strict_brief_names_the_tools_of_the_state_and_nothing_that_they_replace() {
    let package = package("hello-branch");
    let workflow = &package.workflows()[0];
    let brief = |node: &str| {
        let node = workflow.graph.node(node).unwrap();
        node_brief(workflow, node, &Map::new(), StepText::StandsAbove, StateTool::Runtime, &[])
    };
    let decision = brief("decide-02-project-type");
    assert!(decision.contains(
        "- Then set variables.projectType and move along the edge that you decide for, in one call of runtime.complete_node: variables, next, and decision with label and reason. An edge with open=false"
    ), "{decision}");
    let end = brief("end-99");
    assert!(
        end.contains("call runtime.complete_node with nodeId end-99 to complete the workflow.")
    );
    for refused in ["patch", "append", "@state/workflow.md", "workflowStatus to complete"] {
        assert!(!decision.contains(refused) && !end.contains(refused), "{refused}");
    }
}

#[test]
fn templates_of_a_step_are_the_mounts_that_tools_take() {
    let mut files = example("create-story-micro");
    let step = "steps/step-04-generate-story.md";
    let text = files.text(step).replace("@pkg/", "{package-root}/");
    let text = text.replace("## Instructions", "{artifacts-root}/{storyKey}.md\n\n## Instructions");
    files.put(step, text).unwrap();
    let package = checked(&files).package.unwrap();
    let workflow = &package.workflows()[0];
    let node = workflow.graph.node("step-04-generate-story").unwrap();
    let brief = node_brief(workflow, node, &Map::new(), INLINE, StateTool::Patch, &[]);
    assert!(brief.contains("@pkg/assets/story-template.md"), "{brief}");
    assert!(brief.contains("\n@project/artifacts/{storyKey}.md\n"), "{brief}");
    assert!(!brief.contains("-root}"), "{brief}");
}

#[test]
fn long_variables_are_cut_and_counted() {
    let mut variables = Map::new();
    variables.insert("note".into(), json!("line one\nline two\u{202e}"));
    variables.insert("a\n- currentNodeId: b".into(), json!({"deep": [1, null, true]}));
    variables.insert("long".into(), json!("x".repeat(5000)));
    for number in 0..1000 {
        variables.insert(format!("v{number}"), json!(format!("value {number}")));
    }
    let many = |count: usize| (0..count).map(|number| format!("item-{number}")).collect();
    let run_state = RunState {
        current_node_id: "a\nb".into(),
        steps_completed: many(900),
        variables,
        decisions: 3,
        artifacts: many(3),
        complete: false,
        ..RunState::default()
    };
    let summary = state_summary(&run_state);
    // The middle of the lists is irrelevant here.
    let lines: Vec<&str> = summary.lines().collect();
    let interesting = |at: usize| {
        at < 5
            || at + 10 > lines.len()
            || lines[at].starts_with('-')
            || lines[at - 1].starts_with("- v")
            || lines[at].contains("long")
            || lines[at].contains("currentNodeId")
    };
    let kept: Vec<&str> =
        (0..lines.len()).filter(|at| interesting(*at)).map(|at| lines[at]).collect();
    insta::assert_snapshot!(kept.join("\n").replace(&"x".repeat(900), "<900 x>"));
}

#[test]
fn a_policy_is_told_as_it_is_enforced() {
    let servers = Some(vec!["github".into(), "a, b\n".into()]);
    let policy = Policy {
        mcp: McpPolicy { enabled: true, allowed_servers: servers },
        call_seconds: 60,
        ..Policy::default()
    };
    let open =
        Policy { mcp: McpPolicy { enabled: true, allowed_servers: None }, ..Policy::default() };
    let mut closed = Policy::default();
    closed.fs.enabled = false;
    insta::assert_snapshot!(
        [policy, open, closed].map(|policy| tool_policy(&policy)).join("\n=====\n")
    );
}

#[test]
fn an_agent_is_its_own_prompt_or_its_persona() {
    let package = package("create-story-micro");
    let mut agent = package.agents()[0].clone();
    assert!(persona(&agent).starts_with("You are Bob (Scrum Master).\nRole: Scrum Master who"));
    agent.system_prompt = Some(" \n".into());
    assert!(persona(&agent).starts_with("You are Bob"));
    agent.system_prompt = Some("Be\nbrief.".into());
    assert_eq!(persona(&agent), "Be\nbrief.");
    agent.system_prompt = Some("长".repeat(20_000));
    assert!(
        persona(&agent)
            .ends_with("(cut by the runtime: this prompt is longer than a persona may be)")
    );
}

#[test]
fn data_is_shown_as_a_bounded_preview() {
    let path = VPath::parse("@project/docs/project-context.md").unwrap();
    let small = DataContext {
        label: "project-context",
        path: &path,
        content: "# Context\n- runType: x\n\u{202e}",
    };
    let content = "line of the file\n".repeat(2000);
    let large =
        data_context(&DataContext { label: "x\n- path: y", path: &path, content: &content });
    let (head, tail) = (&large[..200], &large[large.len() - 300..]);
    insta::assert_snapshot!(format!("{}\n=====\n{head}\n=====\n{tail}", data_context(&small)));
}

#[test]
fn a_conversation_has_rules_of_its_own() {
    insta::assert_snapshot!(base_rules(RulesFor::Conversation));
}

#[test]
fn an_interrupted_call_has_a_stable_answer() {
    insta::assert_snapshot!(interrupted());
}

#[test]
fn a_strict_run_is_told_of_its_own_tools_and_of_no_patch() {
    let rules = base_rules(RulesFor::StrictRun);
    assert!(rules.contains("runtime.complete_node") && rules.contains("runtime.update_state"));
    assert!(!rules.contains("updateFrontmatter") && !rules.contains("stepsCompleted"), "{rules}");
    // Everything else is the same as in any run.
    let shared = |text: &str| text.lines().filter(|line| rules.contains(line)).count();
    let normal = base_rules(RulesFor::Run);
    assert_eq!(shared(&normal), normal.lines().count() - 2);
}
