//! Tests of calls in text, in every known form.

use super::{calls, detect, split};

/// Checks that the content is a call with a path, and the text that remains.
fn check_call(content: &str, words: &str) {
    assert!(detect(content), "{content}");
    let (left, found) = split(content);
    let expected = vec![("fs_read".to_owned(), r#"{"path":"@project/a.md"}"#.to_owned())];
    assert_eq!((left.as_str(), found), (words, expected), "{content}");
}

/// Checks that a malformed call is noticed.
fn check_noticed(content: &str) {
    assert!(detect(content), "{content}");
    assert_eq!(split(content), (content.to_owned(), Vec::new()), "{content}");
}

fn check_words(content: &str) {
    assert!(!detect(content), "{content}");
    assert_eq!(split(content), (content.to_owned(), Vec::new()), "{content}");
}

const JSON: &str = r#"{"name": "fs_read", "arguments": {"path": "@project/a.md"}}"#;

#[test]
fn calls_are_found_in_every_form() {
    let qwen = "<function=fs_read>\n<parameter=path>\n@project/a.md\n</parameter>\n</function>";
    check_call(qwen, "");
    check_call(&format!("I read it.\n\n<tool_call>\n{qwen}\n</tool_call>"), "I read it.");
    check_call(&format!("Now:\n{qwen}\n</tool_call>\n"), "Now:");
    check_call("<function=fs_read>{\"path\": \"@project/a.md\"}</function>", "");
    check_call(&format!("<tool_call>\n{JSON}\n</tool_call>"), "");
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
    let (words, found) = split(content);
    assert_eq!(words.split_whitespace().collect::<Vec<_>>(), ["First.", "Last."]);
    assert_eq!(found, [("a".to_owned(), "{}".to_owned()), ("b".to_owned(), "{}".to_owned())]);
    let list = "[{\"name\":\"a\",\"arguments\":{}},{\"name\":\"b\",\"parameters\":{\"x\":1}}]";
    assert_eq!(calls(list).len(), 2);
    let kimi =
        "<|tool_call_begin|>functions.a:0<|tool_call_argument_begin|>{}<|tool_call_end|>".repeat(3);
    assert_eq!(calls(&kimi).len(), 3);
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
fn calls_that_are_cut_or_broken_are_only_noticed() {
    check_noticed("<function=fs_read>\n<parameter=path>\n@proj");
    check_noticed("<tool_call>{\"name\": \"fs_read\", \"argum");
    check_noticed("<tool_call>\n{\"name\": fs_read}\n</tool_call>");
    check_noticed("Well. [TOOL_REQUEST]{\"name\":");
    check_noticed("[TOOL_CALLS][{\"name\": \"fs_read\"");
    check_noticed("<invoke name=\"fs_read\">");
    check_noticed("<|tool_call_begin|>functions.fs_read:0<|tool_call_argument_begin|>{\"pa");
}

#[test]
fn talk_about_calls_is_no_call() {
    check_words("");
    check_words("Hello [world] <b>bold</b>");
    check_words("Use `<function=fs_read>` to read.");
    check_words("The tag <tool_call> wraps a call, and <function=> has a name.");
    check_words("```\n<tool_call>{\"name\": \"fs_read\"}</tool_call>\n```\nThat is how.");
    check_words("~~~xml\n<function=fs_read>\n</function>\n~~~\n");
    check_words("```\n<function=fs_read> in a block that never ends");
    check_words("``<function=a>`` and `` ` <function=b> ``");
    check_words("[TOOL_CALLS] is a mark, [TOOL_REQUEST] too.");
    check_words("{\"name\": \"Ada\", \"age\": 36}");
    check_words("{\"name\": \"my-package\", \"type\": \"module\"}");
    check_words("[1, 2]");
    check_words("a ` b");
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
    ] {
        let content = unit.repeat(50_000);
        detect(&content);
        calls(&content);
    }
    let ticks: String = (1..1500).map(|n| "`".repeat(n) + " ").collect();
    assert!(!detect(&ticks));
}
