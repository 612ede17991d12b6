//! Whole prompts as a model reads them, for the examples of the format.

use std::sync::Arc;

use crewagent_core::context::Context;
use crewagent_core::event::{InputState, NodeEntered, SurveyedInput, SurveyedOutput};
use crewagent_core::message::Message;
use crewagent_core::policy::{McpPolicy, Policy, StateTool};
use crewagent_core::prompt::{
    Brief, DataContext, Directive, NodeMessage, RulesFor, RunIntent, RunNote, SaidExchange,
    SummaryOf, conversation, data_context, earlier_words, inputs, interrupted, menu, node_brief,
    node_message, persona, post_run_message, progress, rules, run_note, state_summary, tool_policy,
    user_input,
};
use crewagent_core::settings::Mode;
use crewagent_core::state::run_state::{PastDecision, RunState};
use crewagent_core::vpath::VPath;
use crewagent_format::package::agents::Agent;
use crewagent_format::package::{Package, Workflow};
use crewagent_testkit::fixture::{checked, example};
use serde_json::{Map, Value as Json, json};

/// Maximum size of a step that the brief repeats, as in the default settings.
const INLINE: u64 = 16 * 1024;

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

/// Returns the brief of a node without any surveyed file.
fn brief_of<'a>(
    workflow: &'a Workflow,
    node: &str,
    run_state: &'a RunState,
    survey: &'a NodeEntered,
) -> Brief<'a> {
    Brief {
        workflow,
        node: workflow.graph.node(node).unwrap(),
        variables: &run_state.variables,
        survey,
        progress: progress(&workflow.graph, run_state),
        left_along: None,
        caller: None,
        not_executed: &[],
        state: StateTool::Runtime,
        step_bytes: INLINE,
    }
}

/// Composes all layers for a run at this position.
fn composed(
    package: &Package,
    run_state: &RunState,
    intent: RunIntent,
    survey: &NodeEntered,
) -> Context {
    let workflow = &package.workflows()[0];
    let agent = effective(package, workflow, &run_state.current_node_id);
    let directive =
        Directive { intent, workflow, mode: Mode::Autopilot, state: StateTool::Runtime };
    let text = if run_state.complete {
        post_run_message(intent, workflow, run_state, &[])
    } else {
        node_message(&NodeMessage {
            directive,
            introduces: intent == RunIntent::Start,
            run_state,
            last_call: None,
            said: &[],
            saved: &[],
            data: None,
            config: None,
            brief: brief_of(workflow, &run_state.current_node_id, run_state, survey),
        })
    };
    let mut context = Context::new(128_000);
    let policy = Policy::default().tightened(agent.tools.as_ref());
    let layers = [
        Some(rules(RulesFor::Run(StateTool::Runtime))),
        tool_policy(&policy),
        Some(persona(agent)),
    ];
    context.set_system(layers.into_iter().flatten().collect());
    context.anchor(vec![text]);
    context
}

/// Returns a file of the project as a survey shows it.
fn shown_input(path: &str, text: &str) -> SurveyedInput {
    SurveyedInput {
        path: path.to_owned(),
        state: InputState::Shown,
        bytes: text.len() as u64,
        lines: text.lines().count() as u64,
        sha256: None,
        text: Some(text.to_owned()),
    }
}

fn missing_input(path: &str) -> SurveyedInput {
    SurveyedInput {
        state: InputState::Missing,
        bytes: 0,
        lines: 0,
        text: None,
        ..shown_input(path, "")
    }
}

fn output(path: &str, bytes: u64, own: bool) -> SurveyedOutput {
    SurveyedOutput { path: path.to_owned(), exists: bytes > 0, own, bytes, sha256: None }
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
    let status = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";
    let survey = NodeEntered {
        visit: 1,
        inputs: vec![shown_input("@project/artifacts/sprint-status.yaml", status)],
        outputs: vec![output("artifacts/create-story/target.md", 0, false)],
        ..NodeEntered::default()
    };
    let mut context = composed(&package, &run_state, RunIntent::Start, &survey);
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
    let survey = NodeEntered {
        visit: 1,
        inputs: vec![
            shown_input("@project/artifacts/create-story/context.md", "# Context\n"),
            shown_input("@pkg/assets/story-template.md", "# Story {{epicNum}}\n```text\nx\n```\n"),
            missing_input("@project/artifacts/ux.md"),
        ],
        outputs: vec![output("artifacts/stories/1-2-user-authentication.md", 1997, false)],
        ..NodeEntered::default()
    };
    let context = composed(&package, &run_state, RunIntent::Continue, &survey);
    insta::assert_snapshot!(shown(&context.messages()));
}

#[test]
fn another_agent_takes_over_at_the_end_node() {
    let package = package("create-story-micro");
    let variables = json!({"storyKey": "1-2-user-authentication"});
    let run_state = run_state("end-99", &["step-05-update-sprint-status"], variables, &[]);
    let context = composed(&package, &run_state, RunIntent::Continue, &NodeEntered::default());
    let text = shown(&context.messages());
    assert!(text.contains("You are Sam (Summarizer)."), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_decision_lists_its_branches_as_conditions() {
    let package = package("hello-branch");
    let variables = json!({"projectType": "greenfield"});
    let run_state = run_state("decide-02-project-type", &["step-01-intake"], variables, &[]);
    let context = composed(&package, &run_state, RunIntent::Continue, &NodeEntered::default());
    insta::assert_snapshot!(shown(&context.messages()[2..]));
}

#[test]
fn a_second_visit_says_how_the_node_was_left_and_what_counts_no_more() {
    let package = package("multi-workflows");
    let id =
        |workflow: &&Workflow| workflow.id.as_ref().is_some_and(|id| id.as_str() == "draft-review");
    let workflow = package.workflows().iter().find(id).unwrap();
    let node = workflow.graph.nodes().iter().find(|node| {
        workflow.steps.get(&node.id).is_some_and(|step| !step.front.sets_variables.is_empty())
            && workflow.graph.outgoing(node.id.as_str()).count() > 1
    });
    let node = node.unwrap().id.as_str();
    let names = workflow.steps.get(node).unwrap().front.sets_variables.clone();
    let variables: Map<String, Json> =
        names.iter().map(|name| (name.clone(), json!("revise"))).collect();
    let run_state = run_state(node, &[node], Json::Object(variables), &[]);
    let survey = NodeEntered { visit: 2, ..NodeEntered::default() };
    let left = PastDecision {
        label: "revise".into(),
        reason: Some("costs are missing".into()),
        ..PastDecision::default()
    };
    let brief = Brief { left_along: Some(&left), ..brief_of(workflow, node, &run_state, &survey) };
    let text = node_brief(&brief);
    assert!(text.contains(", visit 2 (left along revise: \"costs are missing\")\n"), "{text}");
    assert!(text.contains("(was \"revise\"; set it anew)"), "{text}");
}

#[test]
fn the_document_manner_tells_of_the_document_and_of_nothing_else() {
    let package = package("hello-branch");
    let workflow = &package.workflows()[0];
    let run_state = run_state("step-01-intake", &[], json!({}), &[]);
    let survey = NodeEntered::default();
    let brief = Brief {
        state: StateTool::Patch,
        ..brief_of(workflow, "step-01-intake", &run_state, &survey)
    };
    let text = node_brief(&brief);
    assert!(text.contains("To finish: fs_apply_patch {\"path\":\"@state/workflow.md\""), "{text}");
    assert!(!text.contains("(below)"), "{text}");
    let rules = rules(RulesFor::Run(StateTool::Patch));
    assert!(rules.ends_with("stepsCompleted, artifacts, decisionLog and times are added."));
}

#[test]
fn a_completed_run_has_no_node() {
    let package = package("create-story-micro");
    let mut run_state = run_state("end-99", &["end-99"], json!({}), &["artifacts/x.md"]);
    run_state.complete = true;
    let mut context = composed(&package, &run_state, RunIntent::Continue, &NodeEntered::default());
    context.user_input(user_input("Thanks. What is still open?", None));
    insta::assert_snapshot!(shown(&context.messages()[2..]));
}

#[test]
fn an_agent_knows_its_menu() {
    let package = package("multi-workflows");
    let texts: Vec<String> = package.agents().iter().filter_map(menu).collect();
    insta::assert_snapshot!(texts.join("\n=====\n"));
}

#[test]
fn a_talk_is_told_what_became_of_a_run() {
    let note = RunNote {
        workflow: "hello-linear",
        run: "0hg3m",
        node: Some("step-02-generate"),
        wrote: &["artifacts/hello-linear/input.md".into()],
        last_words: Some("Which\ntopic?"),
    };
    assert_eq!(
        run_note(&note),
        "RUN_NOTE\n- workflow: hello-linear (run 0hg3m), at step-02-generate, waiting\n- wrote: artifacts/hello-linear/input.md\n- last words: \"Which topic?\""
    );
    let done = RunNote { node: None, wrote: &[], last_words: None, ..note };
    assert_eq!(run_note(&done), "RUN_NOTE\n- workflow: hello-linear (run 0hg3m), complete");
}

#[test]
fn a_run_is_told_the_last_words_of_the_talk_before_it() {
    let conversation: Vec<Arc<Message>> = [
        Message::user("USER_INPUT\nlong ago"),
        Message::user("RUN_NOTE\n- workflow: x (run y), complete"),
        Message::user("USER_INPUT\nA flyer."),
        Message::assistant("x".repeat(5_000)),
        Message::user("USER_INPUT\nYes."),
    ]
    .map(Arc::new)
    .to_vec();
    let earlier = earlier_words(&conversation);
    assert_eq!(earlier.len(), 3);
    assert_eq!(earlier[0], Message::user("USER_INPUT\nA flyer."));
    assert!(earlier[1].bytes() < 300, "the model's words are cut first");
    let many: Vec<Arc<Message>> = (0..9).map(|n| Arc::new(Message::user(format!("{n}")))).collect();
    assert_eq!(earlier_words(&many).len(), 6);
}

#[test]
fn an_answer_to_a_question_of_the_talk_reaches_the_run_and_an_instruction_does_not() {
    let call = json!({ "id": "c1", "type": "function", "function": {
        "name": "ui_ask_user", "arguments": "{\"question\":\"For whom?\",\"fields\":[\"reader\"]}" } });
    let conversation = [
        json!({ "role": "user", "content": "PROMPT_DIRECTIVE\n- prompt: #sharpen\n\nChange no file." }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "{\"ok\":true,\"answer\":null,\"words\":\"The team.\"}" }),
    ];
    let messages: Vec<Arc<Message>> = conversation
        .into_iter()
        .map(|message| Arc::new(serde_json::from_value(message).unwrap()))
        .collect();
    let expected = [Message::assistant("For whom?"), Message::user("USER_INPUT\nThe team.")];
    assert_eq!(earlier_words(&messages), expected);
}

#[test]
fn a_step_that_is_too_long_is_to_be_read() {
    let package = package("create-story-micro");
    let workflow = &package.workflows()[0];
    let run_state = run_state("step-01-select-story", &[], json!({}), &[]);
    let survey = NodeEntered::default();
    let brief = brief_of(workflow, "step-01-select-story", &run_state, &survey);
    let text = node_brief(&Brief { step_bytes: 100, ..brief });
    assert!(
        text.contains("bytes): read it with fs_read before you do anything else.\nTo finish"),
        "{text}"
    );
}

#[test]
fn a_long_input_is_listed_with_its_headings() {
    let listed = SurveyedInput {
        state: InputState::Listed,
        bytes: 120_345,
        lines: 3_210,
        text: Some("1|# Epics\n40|## Epic 2".into()),
        ..shown_input("@project/artifacts/epics.md", "")
    };
    let binary = SurveyedInput { lines: 0, text: None, ..listed.clone() };
    let missing =
        [missing_input("@project/artifacts/prd.md"), missing_input("@project/artifacts/ux.md")];
    let all: Vec<SurveyedInput> = [listed, binary].into_iter().chain(missing).collect();
    assert_eq!(
        inputs(&all).unwrap(),
        "INPUTS\n--- artifacts/epics.md (120,345 bytes, 3,210 lines), headings:\n1|# Epics\n40|## Epic 2\n--- artifacts/epics.md (120,345 bytes)\n--- missing: artifacts/prd.md, artifacts/ux.md"
    );
    assert_eq!(inputs(&[]), None);
}

#[test]
fn earlier_words_are_carried_and_cut_from_the_oldest() {
    let said = |asked: Option<&str>, words: &str| SaidExchange {
        asked: asked.map(Into::into),
        said: user_input(words, Some("a")).into(),
    };
    assert_eq!(
        conversation(&[said(Some("Which?"), "the second"), said(None, "and short")]).unwrap(),
        "CONVERSATION\nYou asked: Which?\nUSER_INPUT\n- forNodeId: a\nthe second\nUSER_INPUT\n- forNodeId: a\nand short"
    );
    let long = "x".repeat(5_000);
    let cut = conversation(&[said(Some(&long), "one"), said(Some(&long), "two")]).unwrap();
    assert!(cut.contains("one") && cut.contains("two") && cut.len() < 1_000, "{cut}");
    let many: Vec<SaidExchange> = (0..9).map(|n| said(None, &format!("{n}{long}"))).collect();
    let cut = conversation(&many).unwrap();
    assert!(
        cut.starts_with("CONVERSATION\n(earlier words are left out)\n") && cut.contains("\n8x")
    );
    assert!(cut.len() <= 8 * 1024 + 64 && !cut.contains("\n0x"), "{}", cut.len());
    assert_eq!(conversation(&[]), None);
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
    let run_state =
        RunState { current_node_id: "step-04-generate-story".into(), ..RunState::default() };
    let survey = NodeEntered::default();
    let brief = node_brief(&brief_of(workflow, "step-04-generate-story", &run_state, &survey));
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
    let summary =
        state_summary(&run_state, &SummaryOf { is_end: true, ..SummaryOf::default() }).unwrap();
    for line in summary.lines() {
        assert!(line.len() < 9 * 1024, "{}", line.len());
    }
    let head: Vec<String> = summary.lines().map(|line| line.chars().take(120).collect()).collect();
    let tail: Vec<String> = summary
        .lines()
        .map(|line| line.chars().skip(line.chars().count().saturating_sub(60)).collect())
        .collect();
    insta::assert_snapshot!(format!("{}\n=====\n{}", head.join("\n"), tail.join("\n")));
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
        [policy, open, closed, Policy::default()]
            .map(|policy| tool_policy(&policy).unwrap_or_default())
            .join("\n=====\n")
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
    let without = RulesFor::Conversation { has_package: false, has_agent: false };
    let with = RulesFor::Conversation { has_package: true, has_agent: true };
    insta::assert_snapshot!(format!("{}\n=====\n{}", rules(without), rules(with)));
}

#[test]
fn an_interrupted_call_has_a_stable_answer() {
    insta::assert_snapshot!(interrupted());
}
