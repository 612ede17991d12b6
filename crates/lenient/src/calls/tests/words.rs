//! Tests of texts that are about calls, or look like them, and hold none.

use super::check_words;

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
    check_words("a ` b");
    check_words("I will now read the file with fs_read.");
    check_words("fs_read is the tool for that.");
    check_words("fs_read");
    check_words("I use `fs_read(path=\"a.md\")` for that.");
    check_words("fs_read(path) reads a file.");
    check_words("fs_read {path} reads a file.");
    check_words("fs_read {path: string, startLine?: number}");
    check_words("fs_read {\"path\": \"a\"} reads a file.");
    check_words("<fs_read> is a tag.");
    check_words("Use <fs_read> here.\n<path>x</path>");
    check_words("Action: read the file, then write it.");
    check_words("Action: fs_read");
    check_words("Action Input: {\"path\": \"a\"}");
    check_words("Call the tool fs_read with a path, then fs_list.\n{\"path\": \"a\"}");
    check_words("The arguments of fs_read are in this file:\n{\"path\": \"a\"}");
    check_words("好的，我现在进入下一步。");
}

#[test]
fn documents_of_json_are_no_calls() {
    check_words("{\"name\": \"Ada\", \"age\": 36}");
    check_words("{\"name\": \"my-package\", \"type\": \"module\"}");
    check_words("[1, 2]");
    check_words("[]");
    check_words("[{}]");
    check_words("{\"parameters\": {}}");
    check_words("{\"arguments\": {\"a\": 1}}");
    check_words("[{\"name\": \"a.md\", \"size\": 3}]");
    check_words("{\"name\": \"fs_read\", \"version\": \"1.0\", \"arguments\": {}}");
    check_words("{\"example\": {\"name\": \"fs_read\", \"arguments\": {}}}");
    let schema = "{\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}}}";
    check_words(&format!("{{\"name\": \"fs_read\", \"parameters\": {schema}}}"));
    check_words(&format!(
        "```json\n{{\"type\": \"function\", \"function\": {{\"name\": \"fs_read\", \"parameters\": {schema}}}}}\n```"
    ));
    check_words(
        "{\"type\": \"function\", \"function\": {\"name\": \"x\", \"description\": \"y\", \"parameters\": {}}}",
    );
    check_words("```json\n{\"name\": \"app\", \"input\": \"main.js\"}\n```");
    check_words(
        "```json\n{\"mcpServers\": {\"git\": {\"command\": \"uvx\", \"args\": [\"x\"]}}}\n```",
    );
    check_words("```json\n{\"path\": \"a.md\"}\n```");
    check_words("```json\n{\"a\": 1, // not JSON\n}\n```");
    check_words("```toml\n[package]\nname = \"fs_read\"\n```");
}

#[test]
fn a_readme_with_code_is_no_call() {
    check_words(
        "# Tool\n\nInstall it:\n\n```bash\ncargo install tool\ntool read --path a.md\n```\n\n\
         Configure it:\n\n```json\n{\n  \"name\": \"tool\",\n  \"arguments\": [\"--fast\"],\n  \"retries\": 3\n}\n```\n\n\
         ```yaml\nname: fs_read\narguments:\n  path: a.md\n```\n",
    );
    check_words("```sh\nfs_read(path=\"a.md\")\n```");
    check_words("```js\nfs.read({ path: \"a.md\" });\n```");
    check_words("```rust\nfs_read(path = \"a.md\");\n```");
}

#[test]
fn python_that_calls_no_tool_is_no_call() {
    check_words("```python\nimport os\n\nprint(os.listdir(path='.'))\n```");
    check_words("print(\"hello\")");
    check_words("open(file='a.md')");
    check_words("```python\ndef fs_reader(path):\n    return open(path)\n```");
    check_words("```python\nx = 3\n# fs_read(path='a.md')\n```");
    check_words("x == fs_read");
}

#[test]
fn a_tutorial_that_shows_calls_is_no_call() {
    let prose = "This chapter explains how an agent reads a file. The model names a tool and gives its arguments as an \
        object. The runtime checks both, carries the call out and answers with the numbered lines of the file. ";
    let call = "```json\n{\"name\": \"fs_read\", \"arguments\": {\"path\": \"a.md\"}}\n```";
    for shown in [
        call,
        "```python\nfs_read(path='a.md')\n```",
        "Action: fs_read\nAction Input: {\"path\": \"a.md\"}",
        "fs_read {\"path\": \"a.md\"}",
        "<fs_read><path>a.md</path></fs_read>",
        "```json\n{\"name\": \"run_shell\", \"arguments\": {\"cmd\": \"ls\"}}\n```",
        "```json\n{\"name\": \"fs_read\", \"arguments\": {...}}\n```",
        "```python\nfs_read(path=...)\n```",
        "fs_read {\"path\": ...}",
        "fs_read(path=...)",
        "Action: fs_read\nAction Input: {...}",
    ] {
        check_words(&format!("# Calls\n\n{prose}\n\n{shown}\n\n{prose}"));
        check_words(&format!("{shown}\n\n{prose}{prose}{prose}"));
        check_words(&format!("{prose}{prose}{prose}\n\n{shown}"));
    }
    check_words(&format!(
        "{prose}\n```json\n{{\"path\": \"x\"}}\n```\n{prose}\n{call}\n{call}\n{prose}"
    ));
}
