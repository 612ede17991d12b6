//! `docs/tools-reference.md`: every tool with its arguments, and answers and refusals that were really given.
//!
//! `cargo xtask accept reference` rewrites the page.

use std::fmt::Write as _;

use crewagent_core::call::schema::tools;
use crewagent_core::policy::{Policy, StateTool};
use crewagent_core::refusal::RefusalCode;
use crewagent_core::tool::{Tool, ToolSpec, render};
use crewagent_engine::tools::list::MAX_DEPTH;
use crewagent_engine::tools::search::{DEFAULT_CONTEXT, DEFAULT_MATCHES, MAX_CONTEXT, MAX_MATCHES};
use crewagent_testkit::fixture::repository;
use serde_json::{Value as Json, json};

use super::fixture::ToolsFixture;

const PAGE: &str = "docs/tools-reference.md";

const HEAD: &str = "\
# Reference of the tools

What a tool takes, what it answers, and what its refusals mean: for authors of steps and [scenarios](scenarios.md). How tools behave in a
run, and what limits them, is in [tools.md](tools.md). A test writes this page: every answer below was given by the tool.

- **Paths** begin with a mount: `@project` (the user's folder), `@pkg` (the package, read only), `@state` (the run). A path without a mount
  is in the project.
- **Names.** Scenarios and the journal say `fs.read`, models see `fs_read`; either is understood.
- **Arguments** that are not in the column *told* are understood and not described to models, because every request pays for a
  description.
- **Answers** are JSON in the journal, in `--json` and in scenarios. A model reads the text below the JSON.
";

/// An argument: its name, its type, its meaning.
type Argument = (&'static str, &'static str, &'static str);

const PATH: Argument = ("path", "text", "the file");
const IF_MATCH: Argument =
    ("ifMatchSha256", "text", "refuse with `E_PRECONDITION_FAILED` if the file has another digest");

fn arguments(tool: Tool) -> Vec<Argument> {
    match tool {
        Tool::Read => vec![
            PATH,
            ("startLine", "number", "first line to read, from 1"),
            ("endLine", "number", "last line to read, inclusive"),
        ],
        Tool::List => vec![
            ("path", "text", "the folder"),
            ("depth", "number", "levels of folders to list; 1 when absent, at most {MAX_DEPTH}"),
        ],
        Tool::Search => vec![
            ("query", "text", "the text to find, or a regular expression"),
            ("path", "text", "the file or folder to search; the project when absent"),
            (
                "globs",
                "list of text",
                "only files that fit one of these, such as `*.md`; `!` excludes",
            ),
            ("regex", "yes or no", "read `query` as a regular expression"),
            ("caseSensitive", "yes or no", "tell upper from lower case"),
            (
                "before",
                "number",
                "lines to show before each hit; {DEFAULT_CONTEXT} when absent, at most {MAX_CONTEXT}",
            ),
            ("after", "number", "the same after each hit"),
            (
                "maxMatches",
                "number",
                "the most hits to answer with; {DEFAULT_MATCHES} when absent, at most {MAX_MATCHES}",
            ),
        ],
        Tool::Write => vec![
            PATH,
            ("content", "text", "the whole text, or the text to append"),
            (
                "mode",
                "text",
                "`overwrite` when absent; `append`; `create` refuses if the file exists",
            ),
            IF_MATCH,
        ],
        Tool::Patch => vec![
            PATH,
            (
                "operation",
                "text",
                "`replace` (with `edits`), `diff` or `updateFrontmatter` (with `update`); follows from the others when absent",
            ),
            (
                "update",
                "object",
                "changes of the state document, for packages that edit it: `currentNodeId`, `stepsCompleted`, `variables`, …",
            ),
            (
                "edits",
                "list of objects",
                "`old` is replaced by `new`; `old` must occur once, or `all` be true",
            ),
            ("diff", "text", "a unified diff, or one that begins with `*** Begin Patch`"),
            IF_MATCH,
        ],
        Tool::Move => vec![PATH, ("to", "text", "its new path, where no file may be"), IF_MATCH],
        Tool::Delete => vec![PATH, IF_MATCH],
        Tool::AskUser | Tool::Gate | Tool::CompleteNode | Tool::UpdateState => run_arguments(tool),
    }
}

fn run_arguments(tool: Tool) -> Vec<Argument> {
    match tool {
        Tool::AskUser => vec![
            ("question", "text", "the question"),
            (
                "options",
                "list of text",
                "what can be chosen; an item may be an object with `value`, `label` and `description`",
            ),
            ("fields", "list of text", "names of texts to fill in"),
            (
                "kind",
                "text",
                "`text`, `choice`, `confirm` or `form`; follows from the others when absent",
            ),
            ("multi", "yes or no", "several options may be chosen"),
            ("schema", "object", "JSON Schema of a form, instead of `fields`"),
        ],
        Tool::Gate => vec![
            (
                "drafts",
                "list of text",
                "drafts to show; those of the visit that are not saved when absent",
            ),
            ("note", "text", "what the user is asked"),
            ("variables", "object", "variables that are set when the user goes on"),
            ("draft", "text", "one draft"),
            ("choose", "text", "ignored: the user chooses"),
            ("reason", "text", "reason for the decision log"),
        ],
        Tool::CompleteNode => vec![
            ("variables", "object", "variables to set"),
            (
                "files",
                "list of objects",
                "files to write, each with `path` and `content`, at most 16",
            ),
            ("next", "text", "label or node of the way on, where there are several"),
            ("reason", "text", "why this way; logged with a decision"),
            ("nodeId", "text", "must be the current node"),
            ("node", "text", "the same as `nodeId`"),
            ("decision", "object", "`label` and `reason`, instead of `next` and `reason`"),
            ("artifacts", "list of text", "files to add to the artifacts of the run"),
            ("keep", "list of text", "outputs of an earlier visit or run that count as they are"),
        ],
        Tool::UpdateState => vec![
            ("variables", "object", "variables to set"),
            ("artifacts", "list of text", "files to add to the artifacts of the run"),
        ],
        Tool::Read
        | Tool::List
        | Tool::Search
        | Tool::Write
        | Tool::Patch
        | Tool::Move
        | Tool::Delete => Vec::new(),
    }
}

/// Returns calls that show what a tool answers, each with a title.
fn calls(tool: Tool) -> Vec<(&'static str, Json)> {
    match tool {
        Tool::Read => vec![
            ("A file", json!({ "path": "@project/docs/plan.md" })),
            ("Lines of a file", json!({ "path": "docs/plan.md", "startLine": 3, "endLine": 4 })),
            ("No file", json!({ "path": "@project/docs/plam.md" })),
            ("A path out of the mount", json!({ "path": "@project/../secrets" })),
        ],
        Tool::List => vec![("A folder", json!({ "path": "@project", "depth": 2 }))],
        Tool::Search => vec![
            ("Hits", json!({ "query": "login", "path": "@project" })),
            ("No hit", json!({ "query": "logout", "globs": ["*.md"] })),
        ],
        Tool::Write => vec![
            (
                "A new file",
                json!({ "path": "@project/artifacts/notes.md", "content": "# Notes\n\ndraft\n" }),
            ),
            ("A file of the package", json!({ "path": "@pkg/step.md", "content": "x" })),
            ("Missing arguments", json!({ "path": "@project/artifacts/notes.md", "text": 5 })),
        ],
        Tool::Patch => vec![
            (
                "An edit",
                json!({ "path": "docs/plan.md", "edits": [{ "old": "one day", "new": "two days" }] }),
            ),
            (
                "Text that is not there",
                json!({ "path": "docs/plan.md", "edits": [{ "old": "three days", "new": "x" }] }),
            ),
        ],
        Tool::Move => vec![(
            "A move",
            json!({ "path": "@project/docs/plan.md", "to": "@project/docs/old-plan.md" }),
        )],
        Tool::Delete => vec![("A file", json!({ "path": "@project/docs/plan.md" }))],
        // A question waits for the user, so it has no answer here.
        Tool::AskUser | Tool::Gate => Vec::new(),
        Tool::CompleteNode => vec![
            (
                "A node with one way on",
                json!({
                    "variables": { "projectType": "greenfield" },
                    "files": [{ "path": "artifacts/intake.md", "content": "# Intake\n\nA login for two clerks.\n" }],
                }),
            ),
            ("An output that is missing", json!({ "variables": { "projectType": "greenfield" } })),
        ],
        Tool::UpdateState => vec![("A variable", json!({ "variables": { "topic": "login" } }))],
    }
}

/// Returns the policy of a run in which every tool is told.
fn policy() -> Policy {
    Policy { tells_moves: true, ..Policy::default() }.with_state(StateTool::Runtime)
}

fn fixture() -> ToolsFixture {
    let fixture = ToolsFixture { policy: policy(), ..ToolsFixture::new() };
    fixture.put("@project/docs/plan.md", "# Plan\n\nThe login takes one day.\nThe report waits.\n");
    fixture.put("@project/src/login.rs", "fn login() {}\n");
    fixture
}

/// Describes the answers of `ui.ask_user`, which come from the user.
const ASKED: &str = "\
The run waits, and the answer is the user's: `{\"ok\":true,\"answer\":\"…\"}`. A chosen option is its `value`, several are a list, a
confirmation is `true` or `false`, a form is an object. `words` has the user's text if it is none of the options.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut told = tools(&policy());
    told.extend(tools(&policy().with_state(StateTool::Patch)));
    // Only workflows with gates have this one.
    let gated = tools(&Policy { tells_gates: true, ..policy() }).into_iter();
    told.extend(gated.filter(|spec| spec.name == Tool::Gate.name()));
    for tool in Tool::ALL {
        let own: Vec<&ToolSpec> = told.iter().filter(|spec| spec.name == tool.name()).collect();
        write!(page, "\n## {}\n\n", tool.name()).unwrap();
        match own.first() {
            Some(spec) => writeln!(page, "{}", spec.description).unwrap(),
            None => writeln!(page, "Understood, and never offered to models.").unwrap(),
        }
        table(&mut page, tool, &own);
        write!(page, "\n```json\n{}\n```\n", tool.example()).unwrap();
        if tool == Tool::AskUser {
            write!(page, "\n{ASKED}").unwrap();
        }
        for (title, call) in calls(tool) {
            example(&mut page, tool, title, &call);
        }
    }
    codes(&mut page);
    page
}

/// Writes the arguments, and checks that they are those that the code reads.
fn table(page: &mut String, tool: Tool, told: &[&ToolSpec]) {
    let arguments = arguments(tool);
    let names: Vec<&str> = arguments.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(names, tool.parameters(), "the arguments of {} in this test", tool.name());
    page.push_str("\n| argument | type | told | meaning |\n|---|---|---|---|\n");
    for (name, kind, meaning) in arguments {
        let is_told = told.iter().any(|spec| spec.parameters["properties"].get(name).is_some());
        let required = told.iter().any(|spec| {
            spec.parameters["required"].as_array().is_some_and(|names| names.contains(&json!(name)))
        });
        let meaning = with_limits(meaning);
        let (required, is_told) =
            (if required { ", required" } else { "" }, if is_told { "yes" } else { "" });
        writeln!(page, "| `{name}` | {kind}{required} | {is_told} | {meaning} |").unwrap();
    }
}

/// Returns a meaning with the numbers of the code.
fn with_limits(meaning: &str) -> String {
    let limits = [
        ("{MAX_DEPTH}", MAX_DEPTH),
        ("{DEFAULT_CONTEXT}", DEFAULT_CONTEXT),
        ("{MAX_CONTEXT}", MAX_CONTEXT),
        ("{DEFAULT_MATCHES}", DEFAULT_MATCHES),
        ("{MAX_MATCHES}", MAX_MATCHES),
    ];
    limits
        .iter()
        .fold(meaning.to_owned(), |text, (name, value)| text.replace(name, &value.to_string()))
}

/// Writes a call with its answer as JSON and as a model reads it.
fn example(page: &mut String, tool: Tool, title: &str, arguments: &Json) {
    let answer = fixture().call(tool.name(), arguments.clone());
    let read = render::render(tool.name(), &arguments.to_string(), answer.text()).into_owned();
    write!(
        page,
        "\n{title}: `{arguments}`\n\n```json\n{}\n```\n\n```text\n{}\n```\n",
        answer.text(),
        read.trim_end()
    )
    .unwrap();
}

/// Writes the codes of refusals with the meaning that the code gives them.
fn codes(page: &mut String) {
    page.push_str("\n## Codes\n\n| code | meaning |\n|---|---|\n");
    let schema = serde_json::to_value(schemars::schema_for!(RefusalCode)).unwrap();
    for one in schema["oneOf"].as_array().unwrap() {
        let (code, meaning) =
            (one["const"].as_str().unwrap(), one["description"].as_str().unwrap());
        let meaning = meaning.trim_end_matches('.').replace('\n', " ");
        writeln!(page, "| `{code}` | {meaning} |").unwrap();
    }
    page.push_str(
        "\nA refusal is an answer: the run continues, and the model can correct itself. The message says what to do; `details` has data for\nprograms, such as `allowedNext`.\n",
    );
}

#[test]
fn the_reference_of_the_tools_is_what_they_do() {
    let path = repository().join(PAGE);
    let page = page();
    if crewagent_testkit::accept::is_accepting("reference") {
        std::fs::write(&path, &page).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "{PAGE} is out of step: run `cargo xtask accept reference`");
}
