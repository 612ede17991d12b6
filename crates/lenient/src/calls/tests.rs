//! Tests of calls in text, in every known form.

mod loose;
mod words;

use super::{CallsInText, TextCalls, cut_invented, detect, read};

/// Returns true for the tools that these tests offer.
fn is_offered(name: &str) -> bool {
    [
        "fs_read",
        "fs.read",
        "fs_list",
        "fs.list",
        "fs_write",
        "fs.write",
        "complete_node",
        "read_file",
        "a",
        "b",
    ]
    .contains(&name)
}

fn read_all(content: &str) -> TextCalls {
    read(content, CallsInText::All, &is_offered)
}

fn calls(content: &str) -> Vec<(String, String)> {
    read(content, CallsInText::Tagged, &is_offered).calls
}

/// Checks that the content is a marked call with a path, and the text that remains.
fn check_call(content: &str, words: &str) {
    assert!(detect(content), "{content}");
    let expected = vec![("fs_read".to_owned(), r#"{"path":"@project/a.md"}"#.to_owned())];
    for mode in [CallsInText::Tagged, CallsInText::All] {
        let found = read(content, mode, &is_offered);
        assert_eq!((found.words.as_str(), found.calls), (words, expected.clone()), "{content}");
        assert_eq!(found.unreadable, None, "{content}");
    }
    let found = read(content, CallsInText::Never, &is_offered);
    assert_eq!((found.words.as_str(), found.calls), (content, Vec::new()));
    assert_eq!(found.unreadable.as_deref(), Some("calls in text are not carried out here"));
    let found = read(content, CallsInText::All, &|_| false);
    assert_eq!((found.words.as_str(), found.calls), (content, Vec::new()));
    assert_eq!(found.unreadable.as_deref(), Some("there is no tool fs_read"));
}

/// Checks that a call is noticed but not carried out, and why, whatever the mode.
fn check_noticed(content: &str, why: &str) {
    for mode in [CallsInText::Never, CallsInText::Tagged, CallsInText::All] {
        let expected = TextCalls {
            words: content.to_owned(),
            calls: Vec::new(),
            unreadable: Some(why.to_owned()),
        };
        assert_eq!(read(content, mode, &is_offered), expected, "{content}");
    }
}

/// Checks that a content is text and nothing else, whatever the mode.
fn check_words(content: &str) {
    assert!(!detect(content), "{content}");
    for mode in [CallsInText::Never, CallsInText::Tagged, CallsInText::All] {
        let expected = TextCalls { words: content.to_owned(), calls: Vec::new(), unreadable: None };
        assert_eq!(read(content, mode, &is_offered), expected, "{content}");
    }
}

const JSON: &str = r#"{"name": "fs_read", "arguments": {"path": "@project/a.md"}}"#;

#[test]
fn marked_calls_are_found_in_every_form() {
    let qwen = "<function=fs_read>\n<parameter=path>\n@project/a.md\n</parameter>\n</function>";
    check_call(qwen, "");
    check_call(&format!("I read it.\n\n<tool_call>\n{qwen}\n</tool_call>"), "I read it.");
    check_call(&format!("Now:\n{qwen}\n</tool_call>\n"), "Now:");
    check_call("<function=fs_read>{\"path\": \"@project/a.md\"}</function>", "");
    check_call(&format!("<tool_call>\n{JSON}\n</tool_call>"), "");
    check_call("<tool_call>{'name': 'fs_read', 'arguments': {'path': '@project/a.md'}}", "");
    check_call(&format!("Reading.\n<tool_call>{JSON}"), "Reading.");
    check_call(&format!("[TOOL_REQUEST]{JSON}[END_TOOL_REQUEST] Done."), "Done.");
    check_call(&format!("[TOOL_CALLS][{JSON}]"), "");
    check_call("[TOOL_CALLS]fs_read[ARGS]{\"path\": \"@project/a.md\"}", "");
    check_call("[TOOL_CALLS]fs_read{\"path\": \"@project/a.md\"}", "");
    check_call(
        "<|python_tag|>{\"name\": \"fs_read\", \"parameters\": {\"path\": \"@project/a.md\"}}<|eom_id|>",
        "",
    );
    check_call(
        "<tool_call>fs_read\n<arg_key>path</arg_key>\n<arg_value>@project/a.md</arg_value>\n</tool_call>",
        "",
    );
    check_call(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.fs_read:0<|tool_call_argument_begin|>\
         {\"path\": \"@project/a.md\"}<|tool_call_end|><|tool_calls_section_end|>",
        "",
    );
    check_call(
        "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs_read\n```json\n\
         {\"path\": \"@project/a.md\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "Hm.",
    );
    check_call(
        "<｜tool▁call▁begin｜>fs_read<｜tool▁sep｜>{\"path\": \"@project/a.md\"}<｜tool▁call▁end｜>",
        "",
    );
    check_call(
        "<function_calls>\n<invoke name=\"fs_read\">\n<parameter name=\"path\">@project/a.md</parameter>\n\
         </invoke>\n</function_calls>",
        "",
    );
    check_call(
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"fs_read\">\n<｜DSML｜parameter name=\"path\" \
         string=\"true\">@project/a.md</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "",
    );
    check_call(
        "<|channel|>commentary to=functions.fs_read <|constrain|>json<|message|>\
         {\"path\": \"@project/a.md\"}<|call|>",
        "",
    );
    check_call(JSON, "");
    check_call(&format!("[{JSON}]"), "");
    check_call("\n{\"name\": \"fs_read\", \"parameters\": {\"path\": \"@project/a.md\"}}\n", "");
    check_call(
        "{\"type\":\"function\",\"function\":{\"name\":\"fs_read\",\"arguments\":\"{\\\"path\\\":\\\"@project/a.md\\\"}\"}}",
        "",
    );
}

#[test]
fn several_calls_keep_their_order() {
    let content = "First.\n<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>\n\
        <tool_call>{\"name\":\"b\"}</tool_call>\nLast.";
    let found = read(content, CallsInText::Tagged, &is_offered);
    assert_eq!(found.words.split_whitespace().collect::<Vec<_>>(), ["First.", "Last."]);
    assert_eq!(found.calls, [("a".to_owned(), "{}".to_owned()), ("b".to_owned(), "{}".to_owned())]);
    let list = "[{\"name\":\"a\",\"arguments\":{}},{\"name\":\"b\",\"parameters\":{\"x\":1}}]";
    assert_eq!(calls(list).len(), 2);
    let kimi = "<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
        .repeat(12);
    assert_eq!(calls(&kimi).len(), 12);
    let mistral = "[TOOL_CALLS]a{}[TOOL_CALLS]b{\"x\": 1}";
    assert_eq!(calls(mistral).len(), 2);
}

#[test]
fn what_a_call_contains_does_not_hide_the_next_one() {
    let content = "<function=fs_write>\n<parameter=content>\n```sh\n<function=fs_read>\n</parameter>\n</function>\n\
        <function=fs_read>\n<parameter=path>\na\n</parameter>\n</function>";
    let found = calls(content);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].1, "{\"content\":\"```sh\\n<function=fs_read>\"}");
}

#[test]
fn what_a_call_contains_is_not_invented() {
    let content = "<function=fs_write>\n<parameter=content>\nUser: hi\nObservation: x\n</parameter>\n</function>\n\
        Well.\nUser: go on\n<function=fs_read>\n<parameter=path>\na\n</parameter>\n</function>";
    let found = read(content, CallsInText::Tagged, &is_offered);
    assert_eq!(found.words, "Well.");
    assert_eq!(found.calls.len(), 1, "calls behind invented words are none");
    assert!(found.calls[0].1.contains("User: hi\\nObservation: x"));
}

#[test]
fn marked_calls_that_are_cut_or_broken_are_only_noticed() {
    let why = "it is cut off or not valid";
    for content in [
        "<function=fs_read>\n<parameter=path>\n@proj",
        "<tool_call>{\"name\": \"fs_read\", \"argum",
        "<tool_call>\n{\"name\": fs_read}\n</tool_call>",
        "Well. [TOOL_REQUEST]{\"name\":",
        "[TOOL_CALLS][{\"name\": \"fs_read\"",
        "<invoke name=\"fs_read\">",
        "<|tool_call_begin|>functions.fs_read:0<|tool_call_argument_begin|>{\"pa",
    ] {
        assert!(detect(content), "{content}");
        check_noticed(content, why);
    }
    check_noticed("<tool_call>{\"name\": \"rm\"}</tool_call>", "there is no tool rm");
    check_noticed("{\"name\": \"rm\", \"arguments\": {}}", "there is no tool rm");
}

#[test]
fn a_boolean_of_older_settings_is_read() {
    let parsed = |text: &str| serde_json::from_str::<CallsInText>(text);
    assert_eq!(parsed("true").unwrap(), CallsInText::All);
    assert_eq!(parsed("false").unwrap(), CallsInText::Never);
    for mode in [CallsInText::Never, CallsInText::Tagged, CallsInText::All] {
        assert_eq!(parsed(&serde_json::to_string(&mode).unwrap()).unwrap(), mode);
    }
    let problem = parsed("\"some\"").unwrap_err().to_string();
    assert!(problem.contains("`never`, `tagged` or `all`"), "{problem}");
    assert!(parsed("1").is_err());
}

fn check_cut(text: &str, expected: &str) {
    assert_eq!(cut_invented(text), expected, "{text}");
    assert_eq!(cut_invented(cut_invented(text)), expected, "{text}");
}

#[test]
fn invented_answers_and_everything_behind_them_are_cut() {
    check_cut("", "");
    check_cut("All is well.\n", "All is well.\n");
    check_cut("I ask.\n\nUser: yes\nThen I go on.", "I ask.");
    check_cut("I read.\nObservation: it is empty\nDone.", "I read.");
    check_cut("I read.\n<tool_response>\n{}", "I read.");
    check_cut("USER_INPUT\n- forNodeId: x\nyes", "");
    check_cut(
        "The User: a person. See Observation: none.",
        "The User: a person. See Observation: none.",
    );
    check_cut("```\nUser: hi\n```\nso", "```\nUser: hi\n```\nso");
    check_cut("  ```\nUser: hi\n  ```\nUser: yes", "  ```\nUser: hi\n  ```");
    check_cut("~~~\nObservation: x\nnever closed", "~~~\nObservation: x\nnever closed");
    check_cut("好的。\nUser: 继续", "好的。");
}

#[test]
fn hostile_words_are_looked_through_soon() {
    for unit in [
        "<tool_call>{\"",
        "`",
        "``` ",
        "<function=a>",
        "[TOOL_CALLS]a{",
        "\n```\n~~~\n",
        "` `` ",
        "<|channel|>to=<|message|>",
        "\n{\"name\": \"a\", \"arguments\": {",
        "\n[{\"name\": \"a\"",
        "\n```json\n{\"name\": \"x",
        "\n```\na(x='",
        "\na(x=",
        "\na {\"",
        "\na\n{",
        "\n<a>",
        "\n<a> b",
        "<a><x>1</x>",
        "\nAction: a\nAction Input: {\"",
        "\nAction:",
        "```\nAction:\n",
        "```\na\n",
        "\na\n```\n{}x\n",
        "\n```json\n{'a': 1}\n```",
        "\n```python\n# x\n",
        "\n",
        "\n**",
        "{\"a\":",
        "[{",
        "\"\"\"",
    ] {
        let content = unit.repeat(50_000);
        detect(&content);
        read_all(&content);
        read_all(&format!("a(x={content}"));
        read_all(&format!("```python\n{content}"));
        read_all(&format!("```json\n{content}"));
        cut_invented(&content);
    }
    let ticks: String = (1..1500).map(|n| "`".repeat(n) + " ").collect();
    assert!(!detect(&ticks));
}
