//! Tests of the choice and the content of replies.

use crewagent_core::event::Finish;
use crewagent_core::payload::Payload;
use crewagent_core::usage::Usage;

use super::*;
use crate::scripted::Pace;

const TWO_NODES: &str = r#"
scenario: two nodes
nodes:
  a:
    - say: first
    - say: second and third
      times: 2
    - say: fourth
  b:
    - say: at b
complete:
  - say: closing
  - say: later
"#;

fn arguments(reply: &Reply, at: usize) -> Json {
    let Payload::Inline(text) = &reply.tool_calls[at].arguments else { panic!("not inline") };
    serde_json::from_str(text).unwrap()
}

#[test]
fn replies_are_counted_by_node_over_all_visits() {
    let model = scripted(TWO_NODES);
    let words: Vec<String> = (1..=4).map(|turn| say(&model, &request("a", turn, vec![]))).collect();
    assert_eq!(words, ["first", "second and third", "second and third", "fourth"]);
    assert_eq!(say(&model, &request("b", 1, vec![])), "at b");
    assert_eq!(model.title(), "two nodes");
}

#[test]
fn after_completion_the_replies_have_a_list_of_their_own() {
    let model = scripted(TWO_NODES);
    for (turn, words) in [(1, "closing"), (2, "later")] {
        let mut asked = request("", turn, vec![]);
        asked.place.node_id = None;
        assert_eq!(say(&model, &asked), words);
    }
}

#[test]
fn a_request_without_reply_names_node_and_turn() {
    check_derailed(
        TWO_NODES,
        &request("b", 2, vec![]),
        "The scenario s.yaml has no reply left for turn 12 (request 2 at node `b`). Add one to the file, or give it `otherwise`.",
    );
    check_derailed(
        TWO_NODES,
        &request("c", 1, vec![]),
        "The scenario s.yaml has no reply left for turn 11 (request 1 at node `c`). Add one to the file, or give it `otherwise`.",
    );
    check_derailed(
        "scenario: x\nnodes:\n  colect: [{say: a}]\n",
        &request("collect", 1, vec![]),
        "The scenario s.yaml has no reply left for turn 11 (request 1 at node `collect`). It has replies for `colect`: correct the name, or give it `otherwise`.",
    );
    let model = scripted(&format!("{TWO_NODES}otherwise: {{say: \"still at {{{{node}}}}\"}}\n"));
    assert_eq!(say(&model, &request("b", 9, vec![])), "still at b");
}

#[test]
fn the_first_alternative_that_fits_is_given() {
    let model = scripted(
        r#"
scenario: x
nodes:
  a:
    - any:
        - when: {input: "^\\d+-\\d+-"}
          say: "a key: {{input}}"
        - when: {input: "(?i)stop"}
          say: stopped
        - say: neither
"#,
    );
    let at = |input: &str| say(&model, &with_input(request("a", 1, vec![]), input));
    assert_eq!(at("  1-2-user-authentication\n"), "a key: 1-2-user-authentication");
    assert_eq!(at("please STOP"), "stopped");
    assert_eq!(at("what?"), "neither");
    assert_eq!(say(&model, &request("a", 1, vec![])), "neither");
}

fn when(condition: &str) -> String {
    format!("scenario: x\nnodes:\n  a:\n    - when: {condition}\n      say: yes\n")
}

fn check_fits(condition: &str, request: &Request) {
    assert_eq!(say(&scripted(&when(condition)), request), "yes", "{condition}");
}

fn check_unfit(condition: &str, request: &Request, why: &str) {
    let node_turn = request.place.node_turn;
    let turn = request.place.turn;
    let expected = format!(
        "The run left the scenario s.yaml: the reply of line 4 does not fit turn {turn} (request {node_turn} at node `a`): {why}."
    );
    check_derailed(&when(condition), request, &expected);
}

#[test]
fn conditions_look_at_place_and_input() {
    let mut here = with_input(request("a", 1, vec![]), "hello");
    here.place.variables.insert("n".to_owned(), json!(2));
    check_fits("{input: ell, turn: 11, nodeTurn: 1, variables: {n: 2}}", &here);
    check_unfit("{input: ^x}", &here, r#"expected an input like /^x/, but the user said "hello""#);
    check_unfit(
        "{input: x}",
        &request("a", 1, vec![]),
        "expected an input like /x/, but the user said nothing",
    );
    check_unfit("{turn: 3}", &here, "expected turn 3, but this is 11");
    check_unfit("{nodeTurn: 3}", &here, "expected nodeTurn 3, but this is 1");
    check_unfit(
        "{variables: {n: \"2\"}}",
        &here,
        r#"expected the variable `n` to be "2", but it is "2""#,
    );
    check_unfit(
        "{variables: {m: 1}}",
        &here,
        "expected the variable `m` to be 1, but it is not set",
    );
}

#[test]
fn conditions_look_at_the_last_answers() {
    let one = request("a", 1, answered(&[json!({"ok": true}), refusal("ENOENT")]));
    check_fits("{refused: ENOENT}", &one);
    check_fits("{refused: [E_TIMEOUT, ENOENT]}", &one);
    check_fits("{answers: [ok, ENOENT]}", &one);
    check_fits("{answers: [any, [ENOENT, E_TIMEOUT]]}", &one);
    check_fits("{contains: '\"No.\"'}", &one);
    check_unfit(
        "{refused: E_TIMEOUT}",
        &one,
        r#"expected the last answer to be E_TIMEOUT, but it is "{\"ok\":false,\"error\":{\"code\":\"ENOENT\",\"message\":\"No.\"}}""#,
    );
    check_unfit(
        "{answers: ok}",
        &one,
        r#"expected answer 2 to be ok, but it is "{\"ok\":false,\"error\":{\"code\":\"ENOENT\",\"message\":\"No.\"}}""#,
    );
    check_unfit("{answers: [ok]}", &one, "expected 1 answers, but there are 2");
    check_unfit(
        "{contains: \"Yes\"}",
        &one,
        r#"expected "Yes" in the last message, but it is "{\"ok\":false,\"error\":{\"code\":\"ENOENT\",\"message\":\"No.\"}}""#,
    );
    let none = request("a", 1, vec![Message::user("go")]);
    check_unfit(
        "{refused: ENOENT}",
        &none,
        "expected a refusal (ENOENT), but no tool has answered",
    );
    check_unfit("{answers: ok}", &none, "expected answers (ok), but no call was answered");
}

#[test]
fn answers_are_those_to_the_last_reply_and_last_is_the_last_of_all() {
    let mut messages = answered(&[json!({"ok": true, "bytes": 1})]);
    messages.extend([Message::assistant("hm"), Message::user("go on")]);
    let later = request("a", 1, messages);
    check_unfit("{answers: ok}", &later, "expected answers (ok), but no call was answered");
    let model =
        scripted("{\"scenario\": \"x\", \"nodes\": {\"a\": [{\"say\": \"{{last.bytes}}\"}]}}");
    assert_eq!(say(&model, &later), "1");
}

#[test]
fn templates_are_filled_from_place_and_answers() {
    let model = scripted(
        r#"
scenario: x
nodes:
  a:
    - say: "{{node}} {{turn}} {{nodeTurn}} {{input}} {{variables.key}} {{braces}}x}} {{repeat:a:b:3}}{{repeat: :2}}|"
      calls:
        - fs.write:
            path: "@project/{{variables.key}}.md"
            sha: "{{last.sha256}}"
            next: "{{last.state.allowedNext.0.to}}"
            first: "{{answers.0.bytes}}"
            again: "{{variables.list}}"
            deep: [{ x: "n{{variables.deep.n}}" }, 7, null, true]
        - {tool: fs_list, id: mine, arguments: {path: "@project"}}
        - {tool: fs.list, arguments: {path: "d{{n}}"}, times: 2}
        - runtime.noop:
        - {tool: fs.read, raw: '{"path": {{last.bytes}}'}
"#,
    );
    let answers = [
        json!({"ok": true, "bytes": 12}),
        json!({"ok": true, "bytes": 3, "sha256": "ab", "state": {"allowedNext": [{"to": "b"}]}}),
    ];
    let mut here = with_input(request("a", 1, answered(&answers)), " hi ");
    here.place.variables = json!({"key": "1-2", "list": [1, 2], "deep": {"n": 5}})
        .as_object()
        .cloned()
        .unwrap_or_default();
    let reply = ask(&model, &here).unwrap();
    assert_eq!(reply.content.as_deref(), Some("a 11 1 hi 1-2 {{x}} a:ba:ba:b  |"));
    assert_eq!(
        arguments(&reply, 0),
        json!({"path": "@project/1-2.md", "sha": "ab", "next": "b", "first": 12, "again": [1, 2],
            "deep": [{"x": "n5"}, 7, null, true]})
    );
    let calls: Vec<(&str, &str)> =
        reply.tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(
        calls,
        [
            ("call_11_1", "fs.write"),
            ("mine", "fs_list"),
            ("call_11_3", "fs.list"),
            ("call_11_4", "fs.list"),
            ("call_11_5", "runtime.noop"),
            ("call_11_6", "fs.read")
        ]
    );
    assert_eq!(arguments(&reply, 3), json!({"path": "d2"}));
    assert_eq!(reply.tool_calls[4].arguments, "{}".into());
    assert_eq!(reply.tool_calls[5].arguments, r#"{"path": 3"#.into());
}

#[test]
fn a_template_that_finds_nothing_is_named() {
    let text = |template: &str| {
        format!("scenario: x\nnodes:\n  a:\n    - say: \"a {{{{{template}}}}}\"\n")
    };
    for template in ["input", "variables.x.y", "last.sha256", "answers.0.ok"] {
        let expected = format!(
            "The run left the scenario s.yaml: the reply of line 4 does not fit turn 11 (request 1 at node `a`): there is nothing for {{{{{template}}}}}."
        );
        check_derailed(&text(template), &request("a", 1, vec![]), &expected);
    }
}

#[test]
fn a_reply_can_be_cut_and_have_its_own_price() {
    let model = scripted(
        "scenario: x\nnodes:\n  a:\n    - {say: hi, finish: length, usage: {input: 5, output: 7, cost: 0.5}}\n    - {say: \"\", finish: filter}\n",
    );
    let reply = ask(&model, &request("a", 1, vec![])).unwrap();
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(
        reply.usage,
        Usage { input_tokens: 5, output_tokens: 7, cost: Some(0.5), ..Usage::default() }
    );
    let empty = ask(&model, &request("a", 2, vec![])).unwrap();
    assert_eq!((empty.content, empty.finish), (None, Finish::Filter));
}

#[test]
fn the_price_is_estimated_by_size() {
    let model = scripted("scenario: x\nnodes:\n  a:\n    - say: twelve bytes\n");
    let reply = ask(&model, &request("a", 1, vec![Message::user("123456789")])).unwrap();
    assert_eq!(reply.usage, Usage { input_tokens: 3, output_tokens: 3, ..Usage::default() });
}

#[test]
fn fifty_megabytes_of_arguments_are_one_line_of_a_scenario() {
    let model = scripted(
        "scenario: x\nnodes:\n  a:\n    - calls: [{tool: fs.write, raw: '{{repeat:x:52428800}}'}]\n",
    );
    let reply = ask(&model, &request("a", 1, vec![])).unwrap();
    assert_eq!(reply.tool_calls[0].arguments.bytes(), 52_428_800);
}

#[test]
fn words_come_one_by_one_and_thoughts_first() {
    let model =
        scripted("scenario: x\nnodes:\n  a:\n    - {think: hm well, say: \"one  two\\n\"}\n");
    let here = request("a", 1, vec![]);
    let (thought, text) = (Channel::Thinking, Channel::Text);
    let expected = [(thought, "hm "), (thought, "well"), (text, "one  "), (text, "two\n")];
    assert_eq!(deltas(&model, &here), expected.map(|(channel, word)| (channel, word.to_owned())));
    assert_eq!(ask(&model, &here).unwrap().extra["reasoning_content"], "hm well");
}

#[test]
fn a_pace_sets_the_pieces_and_the_narrower_one_wins() {
    let pace = Pace { characters: 4, delay: std::time::Duration::ZERO };
    let text =
        "scenario: x\nnodes:\n  a:\n    - say: äöüabc\n    - {say: abc, pace: {characters: 2}}\n";
    let model = scripted(text).paced(pace);
    let words = |turn| -> Vec<String> {
        deltas(&model, &request("a", turn, vec![])).into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(words(1), ["äöüa", "bc"]);
    assert_eq!(words(2), ["ab", "c"]);
}

fn check_fails(fault: &str, kind: ModelErrorKind, message: &str) {
    let text = format!("scenario: x\nnodes:\n  a:\n    - {{say: partly, fault: {fault}}}\n");
    let (model, mut heard) = (scripted(&text), String::new());
    let mut tell = |progress: Progress| heard.push_str(&words(progress).text);
    let error = model
        .reply(
            &request("a", 1, vec![]),
            &mut RequestCache::default(),
            &mut tell,
            &Deadline::default(),
        )
        .unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (kind, message));
    assert_eq!(heard, "partly");
}

#[test]
fn faults_come_after_the_words() {
    check_fails("{fail: auth}", ModelErrorKind::Auth, "The model refused the key.");
    check_fails("{fail: rate, message: Wait.}", ModelErrorKind::Rate, "Wait.");
    check_fails("{fail: window, message: Long.}", ModelErrorKind::Window, "Long.");
    check_fails("{fail: timeout, message: Late.}", ModelErrorKind::Timeout, "Late.");
    check_fails("{fail: network, message: Gone.}", ModelErrorKind::Network, "Gone.");
    check_fails("{fail: malformed, message: Odd.}", ModelErrorKind::Malformed, "Odd.");
}

#[test]
fn whoever_hangs_or_is_slow_can_be_cancelled() {
    let slow = "{say: \"a b\", pace: {characters: 1, milliseconds: 3600000}}";
    for reply in ["{fault: {hang: true}}", "{say: long, fault: {hang: true}}", slow] {
        let model = scripted(&format!("scenario: x\nnodes:\n  a:\n    - {reply}\n"));
        let (cancel, here) = (Cancel::default(), request("a", 1, vec![]));
        let (other, until) = (cancel.clone(), Deadline::whenever(&cancel));
        let (start, started) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                started.recv().unwrap();
                other.cancel();
            });
            start.send(()).unwrap();
            let error =
                model.reply(&here, &mut RequestCache::default(), &mut |_| {}, &until).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Cancelled);
        });
    }
}

#[test]
fn a_cancelled_request_gets_no_reply() {
    let (model, cancel) = (scripted(TWO_NODES), Cancel::default());
    cancel.cancel();
    let error = model
        .reply(
            &request("a", 1, vec![]),
            &mut RequestCache::default(),
            &mut |_| {},
            &Deadline::whenever(&cancel),
        )
        .unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
}
