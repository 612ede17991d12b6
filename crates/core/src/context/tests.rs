//! Tests of contexts, case by case.

use std::sync::Arc;

use serde_json::{Map, json};

use super::*;
use crate::tool::ToolSpec;

pub(super) fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "fs_read".into(),
        arguments: arguments.into(),
        extra: Map::new(),
    }
}

pub(super) fn reply(words: &str, calls: Vec<ToolCall>) -> Reply {
    Reply {
        content: (!words.is_empty()).then(|| words.to_owned()),
        tool_calls: calls,
        ..Reply::default()
    }
}

/// Adds a reply with calls whose results have this size.
fn work(context: &mut Context, words: &str, ids: &[&str], bytes: usize) {
    context.reply(&reply(words, ids.iter().map(|id| call(id, "{}")).collect()), &holds_object);
    for id in ids {
        context.answer(id, "r".repeat(bytes).into());
    }
}

/// Renders a message per line: its role, and at most 40 characters of its text or calls.
fn shown(context: &Context) -> String {
    let short = |text: &str| text.chars().take(40).collect::<String>();
    let line = |message: &Arc<Message>| match &**message {
        Message::System { content } => format!("system {}", short(content)),
        Message::User { content } => format!("user {}", short(content)),
        Message::Assistant { content, tool_calls, .. } => {
            let calls: Vec<&str> = tool_calls.iter().map(|call| call.id.as_str()).collect();
            format!("assistant {} [{}]", short(content.as_deref().unwrap_or("-")), calls.join(" "))
        }
        Message::Tool { tool_call_id, content } => {
            format!("tool {tool_call_id} {}", short(content.inline().map_or("blob", |text| text)))
        }
    };
    context.messages().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a context at its first node: rules, an anchor, the user's message.
fn begun(window_tokens: u64) -> Context {
    // The sizes below were chosen for four bytes per token.
    let mut context = Context::new((window_tokens * 4).div_ceil(3));
    context.set_system(vec!["rules".into(), "persona".into()]);
    context.anchor(vec!["directive".into(), "brief".into()]);
    context.user_input("go".into());
    context
}

fn tools() -> Digest {
    tools_digest(&[])
}

#[test]
fn a_context_grows_at_its_end() {
    let mut context = begun(100_000);
    work(&mut context, "I look.", &["a", "b"], 3);
    context.nudge("well?".into());
    context.reply(&reply("Done.", vec![]), &holds_object);
    insta::assert_snapshot!(shown(&context), @r"
    system rules
    system persona
    user directive
    user brief
    user go
    assistant I look. [a b]
    tool a rrr
    tool b rrr
    user well?
    assistant Done. []
    ");
    assert_eq!((context.len(), context.check()), (10, Ok(())));
}

#[test]
fn what_the_runtime_wrote_is_told_once() {
    let mut context = begun(100_000);
    let texts = |context: &mut Context| -> Vec<String> {
        let text = |message: Message| match message {
            Message::System { content } | Message::User { content } => content.to_string(),
            Message::Tool { tool_call_id, .. } => tool_call_id,
            Message::Assistant { .. } => "assistant".to_owned(),
        };
        context.take_added().into_iter().map(text).collect()
    };
    assert_eq!(texts(&mut context), ["rules", "persona", "directive", "brief", "go"]);
    work(&mut context, "", &["a"], 1);
    context.set_system(vec!["rules".into(), "persona".into()]);
    assert!(texts(&mut context).is_empty());
    context.reply(&reply("", vec![call("b", "{}")]), &holds_object);
    context.set_system(vec!["rules".into(), "other".into()]);
    context.settle();
    assert_eq!(texts(&mut context), ["rules", "other", "b"]);
    assert!(context.check().is_ok());
}

#[test]
fn an_empty_reply_leaves_no_message() {
    let mut context = begun(100_000);
    let before = context.sha256(tools());
    context.reply(&reply(" \n", vec![]), &holds_object);
    assert_eq!((context.len(), context.sha256(tools())), (5, before));
}

#[test]
fn arguments_that_are_no_object_are_not_repeated() {
    let mut context = begun(100_000);
    let calls = ["{\"path\":\"@project/a\"}", "{\"path\":", "[]", ""];
    let calls = calls.iter().enumerate().map(|(at, text)| call(&format!("c{at}"), text)).collect();
    context.reply(&reply("", calls), &holds_object);
    let messages = context.messages();
    let Message::Assistant { tool_calls, .. } = &*messages[5].clone() else { panic!() };
    let texts: Vec<_> =
        tool_calls.iter().map(|call| call.arguments.inline().unwrap().to_string()).collect();
    assert_eq!(texts, ["{\"path\":\"@project/a\"}", "{}", "{}", "{}"]);
}

#[test]
fn answers_are_sent_in_the_order_of_the_calls() {
    let mut context = begun(100_000);
    context
        .reply(&reply("", vec![call("a", "{}"), call("b", "{}"), call("c", "{}")]), &holds_object);
    context.answer("c", "3".into());
    context.answer("b", "2".into());
    context.answer("b", "again".into());
    context.answer("nobody", "x".into());
    assert_eq!(context.len(), 6);
    assert_eq!(context.check(), Err(ContextProblem::Unanswered("a".into())));
    context.answer("a", "1".into());
    let tail: Vec<String> = shown(&context).lines().skip(6).map(str::to_owned).collect();
    assert_eq!(tail, ["tool a 1", "tool b 2", "tool c 3"]);
}

#[test]
fn an_open_call_is_settled_before_anything_follows_it() {
    let mut context = begun(100_000);
    context.reply(&reply("", vec![call("a", "{}"), call("b", "{}")]), &holds_object);
    context.answer("b", "known".into());
    context.user_input("stop that".into());
    insta::assert_snapshot!(shown(&context).lines().skip(6).collect::<Vec<_>>().join("\n"), @r#"
    tool a {"ok":false,"error":{"code":"E_UNKNOWN_O
    tool b known
    user stop that
    "#);
}

#[test]
fn nothing_but_the_rules_stays_when_a_node_is_left() {
    let mut context = begun(100_000);
    work(&mut context, "I look.", &["a"], 9);
    context.reply(&reply("Thanks.", vec![]), &holds_object);
    context.leave_node();
    context.anchor(vec!["next node".into()]);
    insta::assert_snapshot!(shown(&context), @r"
    system rules
    system persona
    user next node
    ");
}

#[test]
fn the_oldest_calls_are_cut_first_and_their_words_stay() {
    let mut context = begun(4000);
    for number in 0..8 {
        work(&mut context, &format!("turn {number}"), &["a"], 2000);
    }
    let cut = context.fit().unwrap();
    assert!(context.fits());
    assert_eq!(cut, Cut { messages: 8, bytes: 4 * 2011 });
    insta::assert_snapshot!(shown(&context), @r"
    system rules
    system persona
    user directive
    user brief
    user go
    assistant turn 0 []
    assistant turn 1 []
    assistant turn 2 []
    assistant turn 3 []
    assistant turn 4 [a]
    tool a rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
    assistant turn 5 [a]
    tool a rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
    assistant turn 6 [a]
    tool a rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
    assistant turn 7 [a]
    tool a rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
    ");
    assert_eq!(context.fit(), None);
}

#[test]
fn words_are_cut_when_calls_are_not_enough() {
    let mut context = begun(2000);
    for number in 0..4 {
        context.reply(&reply(&format!("{number}{}", "w".repeat(1900)), vec![]), &holds_object);
        context.anchor(vec![format!("anchor {number}")]);
        context.user_input(format!("input {number}"));
    }
    work(&mut context, "", &["a"], 1000);
    context.fit().unwrap();
    assert!(context.fits());
    insta::assert_snapshot!(shown(&context), @r"
    system rules
    system persona
    user directive
    user brief
    user input 2
    assistant 3wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww []
    user anchor 3
    user input 3
    assistant - [a]
    tool a rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
    ");
    // The next requests begin with the same messages as this one.
    context.reply(&reply("A few words more.", vec![]), &holds_object);
    assert_eq!(context.fit(), None);
}

#[test]
fn an_answer_that_does_not_fit_keeps_its_beginning() {
    let mut context = begun(2000);
    context
        .reply(&reply("", vec![call("a", "{}"), call("b", "{}"), call("c", "{}")]), &holds_object);
    context.answer("a", "small".into());
    context.answer("b", "b\"\n".repeat(3000).into());
    context.answer("c", "c".repeat(33 * 1024).into());
    let cut = context.fit().unwrap();
    assert_eq!(cut.messages, 2);
    assert!(context.fits() && context.check().is_ok());
    let text = |message: &Arc<Message>| {
        let Message::Tool { content, .. } = &**message else { panic!("{message:?}") };
        content.inline().unwrap().clone()
    };
    let texts: Vec<Arc<str>> = context.messages()[6..].iter().map(text).collect();
    assert_eq!(&*texts[0], "small");
    let answer: serde_json::Value = serde_json::from_str(&texts[1]).unwrap();
    assert!(answer["head"].as_str().unwrap().len() > 1000 && texts[1].len() < 2000);
    assert_eq!((&answer["truncated"], &answer["bytes"]), (&json!(true), &json!(9000)));
    insta::assert_snapshot!(texts[2], @r#"{"truncated":true,"bytes":33792,"note":"… cut by the runtime: the answer does not fit the context. Ask for less: search first, then read a window of lines."}"#);
    assert_eq!(context.fit(), None);
}

#[test]
fn what_always_stays_may_be_too_large() {
    let mut context = begun(100);
    context.user_input("u".repeat(1000));
    context.fit();
    assert!(!context.fits());
    assert_eq!(shown(&context).lines().count(), 5);
}

#[test]
fn a_digest_depends_on_messages_and_tools_alone() {
    let whole = begun(100_000);
    let mut other = Context::new(7);
    other.user_input("dropped".into());
    other.leave_node();
    other.blocks.clear();
    other.anchor(vec!["directive".into()]);
    other.anchor(vec!["brief".into()]);
    other.nudge("go".into());
    other.set_system(vec!["x".into()]);
    other.set_system(vec!["rules".into(), "persona".into()]);
    other.recount();
    assert_eq!(whole.messages(), other.messages());
    assert_eq!(whole.sha256(tools()), other.sha256(tools()));
    let tool =
        ToolSpec { name: "fs.read".into(), description: String::new(), parameters: json!({}) };
    assert_ne!(whole.sha256(tools()), whole.sha256(tools_digest(&[tool])));
    let mut swapped = Context::new(7);
    swapped.set_system(vec!["rules".into(), "persona".into()]);
    swapped.anchor(vec!["brief".into(), "directive".into()]);
    swapped.user_input("go".into());
    assert_ne!(whole.sha256(tools()), swapped.sha256(tools()));
}

#[test]
fn what_a_provider_wants_back_counts() {
    let mut context = begun(100_000);
    let before = context.bytes();
    let mut answer = reply("x", vec![]);
    answer.extra.insert("reasoning_content".into(), json!("t".repeat(100)));
    context.reply(&answer, &holds_object);
    assert!(context.bytes() > before + 100);
}

fn check_problem(messages: &[Message], expected: ContextProblem) {
    assert_eq!(check_messages(messages), Err(expected));
}

#[test]
fn a_request_is_checked() {
    let calls = |ids: &[&str]| Message::Assistant {
        content: None,
        tool_calls: ids.iter().map(|id| call(id, "{}")).collect(),
        from: None,
        extra: Map::new(),
    };
    let answer = |id: &str| Message::Tool { tool_call_id: id.into(), content: "{}".into() };
    let user = || Message::user("x");
    assert_eq!(check_messages(&[user(), calls(&["a", "b"]), answer("a"), answer("b")]), Ok(()));
    assert_eq!(check_messages(&[calls(&["a"]), answer("a"), calls(&["a"]), answer("a")]), Ok(()));
    check_problem(&[calls(&["a"])], ContextProblem::Unanswered("a".into()));
    check_problem(&[calls(&["a"]), user(), answer("a")], ContextProblem::Unanswered("a".into()));
    check_problem(&[calls(&["a"]), answer("a"), answer("a")], ContextProblem::Orphan("a".into()));
    check_problem(&[user(), answer("a")], ContextProblem::Orphan("a".into()));
    check_problem(&[calls(&["a", "a"])], ContextProblem::RepeatedId("a".into()));
    check_problem(&[user(), Message::system("x")], ContextProblem::LateSystem);
}
