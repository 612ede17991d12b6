//! Tests of the messages about invalid scenario files.

use super::*;
use crate::scripted::ScenarioError;

fn check_wrong(text: &str, expected: &[&str]) {
    let error = Scripted::parse("s.yaml", text).unwrap_err().to_string();
    assert_eq!(error.lines().collect::<Vec<_>>(), expected);
}

fn check_reply(reply: &str, expected: &str) {
    let text = format!("scenario: x\nnodes:\n  a:\n    - {reply}\n");
    check_wrong(&text, &[&format!("s.yaml:4: {expected}")]);
}

#[test]
fn every_mistake_is_named_with_its_line() {
    check_wrong(
        "scenario: x\nnode: {}\nnodes:\n  a:\n    - sya: hi\n    - say: [1]\n  b: nothing\ncomplete:\n  - say: ok\n    times: 0\n",
        &[
            "s.yaml:2: the file has no key `node`; did you mean `nodes`?",
            "s.yaml:5: a reply has no key `sya`; did you mean `say`?",
            "s.yaml:5: a reply must do something; write `say: \"\"` for an empty one",
            "s.yaml:6: `say` must be a text, but this is a list",
            "s.yaml:7: node `b` must be a list, but this is a string",
            "s.yaml:10: `times` must be from 1 to 10000",
        ],
    );
}

#[test]
fn a_file_must_be_a_map_with_a_title() {
    check_wrong("- a\n", &["s.yaml:1: the file must be a map, but this is a list"]);
    check_wrong("nodes: {}\n", &["s.yaml:1: the file must say in `scenario` what it is about"]);
    check_wrong("", &["s.yaml:1: the file must say in `scenario` what it is about"]);
}

#[test]
fn syntax_mistakes_have_lines_too() {
    let error = Scripted::parse("s.yaml", "scenario: x\nnodes: [\n").unwrap_err().to_string();
    assert!(error.starts_with("s.yaml:"), "{error}");
    let error = Scripted::parse("s.json", "{\n\"scenario\": \"x\",\n}").unwrap_err().to_string();
    assert!(error.starts_with("s.json:2: "), "{error}");
    let twice = Scripted::parse("s.yaml", "scenario: x\nscenario: y\n").unwrap_err().to_string();
    assert!(twice.starts_with("s.yaml:2: "), "{twice}");
}

#[test]
fn replies_are_checked_before_they_are_needed() {
    check_reply("{}", "a reply must do something; write `say: \"\"` for an empty one");
    check_reply("when: {turn: 1}", "a reply must do something; write `say: \"\"` for an empty one");
    check_reply("any: []", "`any` must have an alternative");
    check_reply(
        "{any: [{say: a}], say: b}",
        "a reply with `any` has no key `say`; known are `any`, `times`",
    );
    check_reply("{say: a, finish: done}", "`finish` must be one of `stop`, `length`, `filter`");
    check_reply("{say: a, usage: {input: -1}}", "`input` must be a whole number from 0");
    check_reply("{say: a, usage: {cost: x}}", "`cost` must be a number");
    check_reply("{say: a, pace: {characters: 0}}", "`characters` must be from 1 to 10000");
    check_reply(
        "{fault: {fail: hard}}",
        "`fail` must be one of `auth`, `rate`, `window`, `timeout`, `network`, `malformed`",
    );
    for fault in ["{}", "{hang: false}", "{hang: true, fail: auth}", "{message: x}"] {
        let message = "`fault` must have either `fail` with a kind, or `hang: true`";
        check_reply(&format!("{{fault: {fault}}}"), message);
    }
}

#[test]
fn calls_are_checked_before_they_are_needed() {
    const FORM: &str = "a call must be one tool with its arguments, such as `fs.read: {path: \"@project/a.md\"}`, or have a key `tool`";
    check_reply("calls: [fs.read]", "a call must be a map, but this is a string");
    check_reply("calls: [{}]", FORM);
    check_reply("calls: [{fs.read: {}, fs.list: {}}]", FORM);
    check_reply(
        "calls: [{tool: a, args: {}}]",
        "a call has no key `args`; known are `tool`, `arguments`, `raw`, `id`, `times`",
    );
    check_reply(
        "calls: [{tool: a, raw: x, arguments: {}}]",
        "a call has either `arguments` or `raw`, not both",
    );
    check_reply(
        "calls: [{tool: a, id: x, times: 2}]",
        "calls alike cannot share one `id`; leave it out",
    );
    check_reply(
        "calls: [{fs.raed: {path: a}}]",
        "there is no tool `fs.raed`; did you mean `fs.read`? To call it all the same, write `tool: fs.raed`",
    );
    for fine in ["fs.read: {}", "fs_read: {}", "git.status: {}", "shell.exec: {}", "tool: fs.raed"]
    {
        scripted(&format!("scenario: x\nnodes:\n  a:\n    - calls: [{{{fine}}}]\n"));
    }
}

#[test]
fn conditions_are_checked_before_they_are_needed() {
    check_reply("{when: {inputs: x}, say: a}", "`when` has no key `inputs`; did you mean `input`?");
    check_reply(
        "{when: {refused: E_NOPE}, say: a}",
        "`refused` must be the code of a refusal, such as `E_INVALID_TRANSITION`, but this is \"E_NOPE\"",
    );
    check_reply(
        "{when: {answers: [fine]}, say: a}",
        "an answer must be the code of a refusal, such as `E_INVALID_TRANSITION`, or `ok`, or `any`, but this is \"fine\"",
    );
    let text = "scenario: x\nnodes:\n  a:\n    - {when: {input: '('}, say: a}\n";
    let error = Scripted::parse("s.yaml", text).unwrap_err().to_string();
    assert!(error.starts_with("s.yaml:4: `input` is not a regular expression: "), "{error}");
}

#[test]
fn templates_are_checked_before_they_are_needed() {
    const KNOWN: &str = "known are {{input}}, {{turn}}, {{node}}, {{nodeTurn}}, {{n}}, {{variables.NAME}}, {{last.PATH}}, {{answers.N.PATH}}, {{repeat:TEXT:TIMES}}, {{braces}}";
    check_reply("say: 'a {{inptu}}'", &format!("`say`: {{{{inptu}}}} is not a template; {KNOWN}"));
    check_reply(
        "say: '{{variables}}'",
        &format!("`say`: {{{{variables}}}} is not a template; {KNOWN}"),
    );
    check_reply(
        "calls: [{fs.read: {path: ['{{x}}']}}]",
        &format!("an argument: {{{{x}}}} is not a template; {KNOWN}"),
    );
    check_reply(
        "say: 'a {{input'",
        "`say`: a template is opened with `{{` and never closed; write {{braces}} for the braces themselves",
    );
    for bad in ["repeat:x", "repeat:x:many", "repeat::3"] {
        check_reply(
            &format!("say: '{{{{{bad}}}}}'"),
            &format!("`say`: {{{{{bad}}}}} must have the form {{{{repeat:TEXT:TIMES}}}}"),
        );
    }
    check_reply(
        "say: '{{repeat:xx:99999999}}'",
        "`say`: {{repeat:xx:99999999}} would make more than 67108864 bytes",
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.yaml");
    let error = Scripted::load(&path).unwrap_err();
    assert!(matches!(error, ScenarioError::Unreadable { .. }));
    assert!(error.to_string().contains("none.yaml"), "{error}");
    std::fs::write(&path, "scenario: from a file\n").unwrap();
    assert_eq!(Scripted::load(&path).unwrap().title(), "from a file");
}

#[test]
fn a_scenario_has_a_limit() {
    let text = format!("scenario: x\n# {}\n", "x".repeat(4 << 20));
    check_wrong(&text, &["s.yaml:1: a scenario may have 4194304 bytes, and this one has more"]);
}
