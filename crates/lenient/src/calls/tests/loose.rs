//! Tests of loose forms, and of the slips that they repair.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value as Json;

use super::super::{CallsInText, TextCalls, cut_invented, read};
use super::{check_noticed, check_words, is_offered, read_all};

/// Checks the calls and the text that remains. The stricter modes only notice the calls.
fn check(content: &str, words: &str, calls: &[(&str, &str)]) {
    let expected = TextCalls {
        words: words.to_owned(),
        calls: calls.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect(),
        unreadable: None,
    };
    assert_eq!(read_all(content), expected, "{content}");
    for mode in [CallsInText::Never, CallsInText::Tagged] {
        let expected = TextCalls {
            words: content.to_owned(),
            calls: Vec::new(),
            unreadable: Some("calls in text are not carried out here".to_owned()),
        };
        assert_eq!(read(content, mode, &is_offered), expected, "{content}");
    }
}

fn check_read(content: &str, words: &str) {
    check(content, words, &[("fs_read", READ)]);
}

const READ: &str = r#"{"path":"a.md"}"#;
const CALL: &str = r#"{"name": "fs_read", "arguments": {"path": "a.md"}}"#;

#[test]
fn slip_13_a_fenced_call_behind_a_sentence() {
    check_read(
        &format!("I will read the file now.\n\n```json\n{CALL}\n```"),
        "I will read the file now.",
    );
}

#[test]
fn slip_14_a_tagged_call() {
    let content = format!("<tool_call>\n{CALL}\n</tool_call>");
    let found = read(&content, CallsInText::Tagged, &is_offered);
    assert_eq!((found.words.as_str(), found.calls.len()), ("", 1));
    assert_eq!(read_all(&content), found);
}

#[test]
fn slip_15_a_bare_object_with_parameters() {
    let content = r#"{"name": "fs_read", "parameters": {"path": "a.md"}}"#;
    let found = read(content, CallsInText::Tagged, &is_offered);
    assert_eq!(found.calls, [("fs_read".to_owned(), READ.to_owned())]);
    assert_eq!(read_all(content), found);
}

#[test]
fn slip_16_react() {
    let content = "Thought: I need the file.\nAction: fs_read\nAction Input: {\"path\": \"a.md\"}";
    check_read(content, "Thought: I need the file.");
}

#[test]
fn slip_17_react_with_an_invented_observation() {
    let content = "Thought: I need it.\nAction: fs_read\nAction Input: {\"path\": \"a.md\"}\n\
        Observation: It says hello.\nThought: Now I know.\nAction: fs_write\n\
        Action Input: {\"path\": \"b.md\", \"content\": \"hello\"}\nObservation: Written.\nFinal Answer: Done.";
    check_read(content, "Thought: I need it.");
}

#[test]
fn slip_18_a_call_of_python() {
    check("fs.read(path=\"a.md\")", "", &[("fs.read", READ)]);
}

#[test]
fn slip_19_a_block_of_python_with_two_calls() {
    let content = "Let me look.\n```python\nfs_read(path='a.md')\n\n# then\nfs_list(path=\"docs\", depth=2)\n```\n";
    let list = ("fs_list", r#"{"path":"docs","depth":2}"#);
    check(content, "Let me look.", &[("fs_read", READ), list]);
}

#[test]
fn slip_20_marks_of_templates() {
    for content in [
        "<function=fs_read>\n<parameter=path>\na.md\n</parameter>\n</function>".to_owned(),
        format!("[TOOL_CALLS][{CALL}]"),
    ] {
        let found = read(&content, CallsInText::Tagged, &is_offered);
        assert_eq!(found.calls, [("fs_read".to_owned(), READ.to_owned())], "{content}");
    }
}

#[test]
fn slip_21_a_tag_that_is_cut_off() {
    check_noticed(
        "<tool_call>\n{\"name\": \"fs_read\", \"arguments\": {\"pa",
        "it is cut off or not valid",
    );
}

#[test]
fn slip_22_a_block_with_an_unknown_tool() {
    let content =
        "I list it.\n```json\n{\"name\": \"run_shell\", \"arguments\": {\"cmd\": \"ls\"}}\n```";
    check_noticed(content, "there is no tool run_shell");
}

#[test]
fn slip_24_a_fenced_finishing_call_with_files() {
    let content = "The step is done.\n\n```json\n{\n  \"name\": \"complete_node\",\n  \"arguments\": {\n    \
        \"variables\": {\"storyKey\": \"1-2-login\"},\n    \"files\": [{\"path\": \"artifacts/x.md\", \
        \"content\": \"# Target\\n```sh\\nls\\n```\\n\"}]\n  }\n}\n```\n";
    let arguments = "{\"variables\":{\"storyKey\":\"1-2-login\"},\"files\":[{\"path\":\"artifacts/x.md\",\
        \"content\":\"# Target\\n```sh\\nls\\n```\\n\"}]}";
    check(content, "The step is done.", &[("complete_node", arguments)]);
}

#[test]
fn slip_25_a_fenced_call_where_only_marked_ones_are_read() {
    let content = format!("I will read the file now.\n\n```json\n{CALL}\n```");
    let found = read(&content, CallsInText::Tagged, &is_offered);
    assert_eq!(found.calls, []);
    assert_eq!(found.words, content);
    assert_eq!(found.unreadable.as_deref(), Some("calls in text are not carried out here"));
}

#[test]
fn objects_in_blocks_are_calls_under_any_usual_key() {
    for object in [
        CALL,
        r#"{"tool": "fs_read", "args": {"path": "a.md"}}"#,
        r#"{"tool_name": "fs_read", "tool_input": {"path": "a.md"}}"#,
        r#"{"action": "fs_read", "action_input": {"path": "a.md"}}"#,
        r#"{"function": "fs_read", "parameters": {"path": "a.md"}}"#,
        r#"{"id": "c1", "type": "function", "function": {"name": "fs_read", "arguments": "{\"path\": \"a.md\"}"}}"#,
        r#"{"name": "functions.fs_read", "input": {"path": "a.md"}}"#,
        r#"{"fs_read": {"path": "a.md"}}"#,
        r#"{"tool_calls": [{"name": "fs_read", "arguments": {"path": "a.md"}}]}"#,
        r#"[{"name": "fs_read", "arguments": {"path": "a.md"}}]"#,
        "{'name': 'fs_read', 'arguments': {'path': 'a.md',},}",
        "{name: \"fs_read\", arguments: {path: \"a.md\"}}",
    ] {
        check_read(&format!("```json\n{object}\n```"), "");
        check_read(&format!("~~~~\n{object}\n~~~~\nThen more."), "Then more.");
        check_read(&format!("Look:\n```tool_call\n{object}"), "Look:");
    }
    check(
        "```json\n{\"name\": \"a\", \"arguments\": {}}\n{\"name\": \"b\"}\n```",
        "",
        &[("a", "{}"), ("b", "{}")],
    );
    check_read(&format!("I read it.\n{CALL}\nThen I go on."), "I read it.\n\nThen I go on.");
}

#[test]
fn a_line_or_a_block_may_name_the_tool_of_an_object() {
    check_read("fs_read {\"path\": \"a.md\"}", "");
    check_read("`fs_read {\"path\": \"a.md\"}`", "");
    check_read("I read it.\nfs_read: {\"path\": \"a.md\"}\n", "I read it.");
    check_read("**fs_read**\n\n```json\n{\"path\": \"a.md\"}\n```\n", "");
    check_read("Tool: fs_read\n{\n  \"path\": \"a.md\"\n}", "");
    check_read("Calling the `fs_read` tool with:\n```\n{'path': 'a.md'}\n```", "");
    check_read("```fs_read\n{\"path\": \"a.md\"}\n```", "");
    check_read("```json fs_read\n{\"path\": \"a.md\"}\n```", "");
    check_read("```\nfs_read {\"path\": \"a.md\"}\n```", "");
    check_read("```\nfs_read\n{\"path\": \"a.md\"}\n```", "");
    check(
        "complete_node {\"variables\":{\"x\":\"1\"}}",
        "",
        &[("complete_node", "{\"variables\":{\"x\":\"1\"}}")],
    );
}

#[test]
fn react_is_read_in_its_variants() {
    check_read("Action: `fs_read`\nAction Input:\n```json\n{\"path\": \"a.md\"}\n```\n", "");
    check_read("**Action:** fs_read\n**Action Input:** {'path': 'a.md'}\n", "");
    check_read(
        "Action:\n```json\n{\"action\": \"fs_read\", \"action_input\": {\"path\": \"a.md\"}}\n```",
        "",
    );
    check_read("Action: fs_read(path=\"a.md\")", "");
    check_read("```\nAction: fs_read\nAction Input: {\"path\": \"a.md\"}\n```", "");
    check("Action: fs_list\nAction Input: None\n", "", &[("fs_list", "{}")]);
    check("Action: fs_list\nAction Input:", "", &[("fs_list", "{}")]);
}

#[test]
fn calls_of_python_are_read_with_python_values() {
    check_read("```tool_code\nprint(default_api.fs_read(path='a.md'))\n```", "");
    check_read("```py\ntext = fs_read(path = 'a.md')\n```", "");
    check_read("`fs_read(path=\"a.md\")`", "");
    check_read("fs_read({\"path\": \"a.md\"});", "");
    check_read("```python\nfs_read(path='a.md')```\n", "");
    check("fs_list()", "", &[("fs_list", "{}")]);
    check(
        "fs_write(\n    path='b.md',\n    content='''# Title\n\nIt's \"good\".\n''',\n    x=[True, None, ('a', 1.5)],\n)",
        "",
        &[(
            "fs_write",
            r##"{"path":"b.md","content":"# Title\n\nIt's \"good\".\n","x":[true,null,["a",1.5]]}"##,
        )],
    );
}

#[test]
fn elements_are_read() {
    check_read("<fs_read>\n<path>a.md</path>\n</fs_read>", "");
    check_read("I read it.\n<fs_read>{\"path\": \"a.md\"}</fs_read>\nWell.", "I read it.\n\nWell.");
    check_read("```xml\n<fs_read>\n<path>a.md</path>\n</fs_read>\n```", "");
    check("<fs_list></fs_list>", "", &[("fs_list", "{}")]);
    check(
        "<fs_write>\n<path>b.md</path>\n<content>\n# A\n<b>x</b>\n</content>\n</fs_write>",
        "",
        &[("fs_write", r##"{"path":"b.md","content":"# A\n<b>x</b>"}"##)],
    );
    check(
        "<fs_read><path>a.md</path></fs_read> <fs_list></fs_list>",
        "",
        &[("fs_read", READ), ("fs_list", "{}")],
    );
}

#[test]
fn aliases_are_carried_out_under_their_name() {
    check("read_file(path=\"a.md\")", "", &[("read_file", READ)]);
}

#[test]
fn at_most_eight_calls_are_carried_out() {
    let found = read_all(&"fs_read(path='a.md')\n".repeat(12));
    assert_eq!((found.words.as_str(), found.calls.len()), ("", 8));
    let list = format!("```json\n[{}]\n```", [CALL; 9].join(","));
    assert_eq!(read_all(&list).calls.len(), 8);
}

#[test]
fn text_around_a_call_has_at_most_four_hundred_bytes() {
    let call = format!("```json\n{CALL}\n```");
    let around =
        |bytes: usize| format!("{}\n{call}\n{}", "x".repeat(bytes / 2), "y".repeat(bytes / 2));
    // Two line breaks stand between the two.
    assert_eq!(read_all(&around(398)).calls.len(), 1);
    check_words(&around(400));
    check_words(&format!("{call}\n{}", "好".repeat(140)));
    check_words(&format!("{}\n{call}", "x".repeat(500)));
    let invented = format!("{call}\nObservation: {}", "x".repeat(5000));
    assert_eq!(read_all(&invented).calls.len(), 1, "what is invented does not count");
}

#[test]
fn loose_calls_that_are_cut_or_broken_are_only_noticed() {
    let unclosed = "it ends before its arguments are closed";
    for content in [
        "```json\n{\"name\": \"fs_read\", \"arguments\": {\"path\": \"a.md\"}",
        "```json\n{\"name\": \"fs_read\", \"arguments\": {\"path\": \"a.m",
        "{\"name\": \"fs_read\", \"arguments\": {\"path\": \"a.m",
        "fs_read {\"path\": \"a.",
        "fs_read(path=\"a.",
        "fs_read(path=\"a.md\"",
        "fs_write(path='b', content='''fs_read(path=\"a.md\")\n",
        "Action: fs_read\nAction Input: {\"path\": ",
        "<fs_read>\n<path>a.md</path>",
    ] {
        check_noticed(content, unclosed);
    }
    let invalid = "its arguments are not valid JSON";
    for content in [
        "```json\n{\"name\": \"fs_write\", \"arguments\": {\"content\": \"say \"hi\"\"}}\n```",
        "```json\n{\"name\": \"fs_read\", \"arguments\": {\"path\": \"a\" \"b\": 1}}\n```\nfs_list()",
        "fs_read {\"path\": \"a\", \"path\": \"b\"}",
        "fs_read(path=name)",
        "Action: fs_read\nAction Input: {\"path\": a.md}",
        "<fs_read>{\"path\": \"a\"} {}</fs_read>",
    ] {
        check_noticed(content, invalid);
    }
    let no_object = "its arguments are no JSON object";
    check_noticed("Action: fs_read\nAction Input: a.md", no_object);
    check_noticed("```json\n{\"name\": \"fs_read\", \"arguments\": [1]}\n```", no_object);
    check_noticed("<fs_read>a.md</fs_read>", no_object);
    check_noticed("fs_read(\"a.md\")", "its arguments have no names");
    check_noticed("Action: shell\nAction Input: {\"cmd\": \"ls\"}", "there is no tool shell");
    check_noticed("```json\n{\"tool\": \"shell\", \"args\": {}}\n```", "there is no tool shell");
    check_noticed(
        "```python\ntext = fs_read(path='a.md')\nfor line in text: print(line)\n```",
        "it stands between other code",
    );
}

#[test]
fn the_content_of_a_broken_call_is_never_carried_out() {
    for content in [
        "fs_write(path='b', content='say 'hi'\nfs_read(path=\"a.md\")\n')",
        "Action: fs_write\nAction Input: {\"content\": \"x \"y\"\n<tool_call>{\"name\": \"fs_read\"}</tool_call>\n\"}",
        "fs_write {\"content\": \"\nfs_read(path='a.md')\n",
        "```json\n{\"name\": \"fs_write\", \"arguments\": {\"content\": \"a \"b\"\n```\n<tool_call>{\"name\": \"fs_read\"}\n\"}}\n```",
        "```json\n{\"name\": \"rm\", \"arguments\": {}}\n```\nfs_read(path='a.md')",
    ] {
        assert_eq!(read_all(content).calls, [], "{content}");
        assert!(read_all(content).unreadable.is_some(), "{content}");
    }
}

const PIECES: &[&str] = &[
    "```json\n",
    "```python\n",
    "```\n",
    "~~~\n",
    "\n",
    "\n\n",
    " ",
    "Well. ",
    "fs_read",
    "fs.list",
    "rm",
    "(path='a.md')",
    "(",
    ")",
    "{\"path\": \"a.md\"}",
    "{",
    "}",
    "{\"name\": \"fs_read\", \"arguments\": {}}",
    "{\"name\": \"rm\", \"arguments\": {}}",
    "Action: ",
    "Action Input: ",
    "Observation: ",
    "User: ",
    "<fs_read>",
    "</fs_read>",
    "<path>a</path>",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "\"",
    "'''",
    "`",
    "**",
    "# ",
    ",",
    ":",
    "=",
    "print(",
    "é好",
    "<function=fs_read>",
    "</function>",
];

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn calls_are_offered_closed_and_few(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24),
    ) {
        let content = pieces.concat();
        let found = read_all(&content);
        for (name, arguments) in &found.calls {
            prop_assert!(is_offered(name), "{}", name);
            let arguments: Json = serde_json::from_str(arguments).unwrap();
            prop_assert!(arguments.is_object());
        }
        if found.calls.is_empty() {
            prop_assert_eq!(&found.words, &content);
        }
        let never = read(&content, CallsInText::Never, &is_offered);
        prop_assert!(never.calls.is_empty() && never.words == content);
        prop_assert_eq!(never.unreadable.is_some(), !found.calls.is_empty() || found.unreadable.is_some());
        prop_assert!(read(&content, CallsInText::All, &|_| false).calls.is_empty());
        let cut = cut_invented(&content);
        prop_assert!(content.starts_with(cut));
        prop_assert_eq!(cut_invented(cut), cut);
    }
}
