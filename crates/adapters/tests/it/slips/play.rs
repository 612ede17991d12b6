//! Good plays: the replies that lead a workflow from node to node to its end, and the files that they leave.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::reply::{Reply, call};

/// First node of the story.
pub(crate) const SELECT: &str = "step-01-select-story";
/// Second node of the story.
pub(crate) const DISCOVER: &str = "step-02-discover-inputs";
/// Third node of the story.
pub(crate) const EXTRACT: &str = "step-03-extract-context";
/// Node that writes the story.
pub(crate) const GENERATE: &str = "step-04-generate-story";
/// Node that changes the sprint status; it declares neither outputs nor variables.
pub(crate) const UPDATE: &str = "step-05-update-sprint-status";
/// Last node of every workflow here.
pub(crate) const END: &str = "end-99";
/// Node of the branch.
pub(crate) const DECIDE: &str = "decide-02-project-type";
/// Node of the loop, which is visited twice.
pub(crate) const REVIEW: &str = "decide-02-review";

/// Path of the sprint status.
pub(crate) const STATUS: &str = "artifacts/sprint-status.yaml";
/// The sprint status before the run.
pub(crate) const STATUS_TEXT: &str = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";
/// Path of the epics.
pub(crate) const EPICS: &str = "artifacts/epics.md";
/// The epics.
pub(crate) const EPICS_TEXT: &str = "# Epics\n\n## Epic 1: Notes\n\n### Story 1.2: User Authentication\n\nA user signs in with e-mail and password.\n";
/// Output of the first node.
pub(crate) const TARGET: &str = "artifacts/create-story/target.md";
/// Content of the output of the first node.
pub(crate) const TARGET_TEXT: &str =
    "# Target story\n- key: 1-2-user-authentication (epic 1, story 2)\n";
/// Output of the second node.
pub(crate) const INPUTS: &str = "artifacts/create-story/inputs.md";
/// Output of the node that writes the story.
pub(crate) const STORY: &str = "artifacts/stories/1-2-user-authentication.md";
/// Content of the story.
pub(crate) const STORY_TEXT: &str = "# Story 1.2: User Authentication\n\nThe code matches \\d+.\n\n## Tasks\n\n- [ ] Sign in (AC: 1)\n";
/// Output of the last node.
pub(crate) const SUMMARY: &str = "artifacts/create-story/summary.md";

/// A workflow with replies that complete it.
pub(crate) struct Play {
    /// Golden folder whose package and workflow are played.
    pub(crate) golden: &'static str,
    /// Files of the project before the run.
    pub(crate) project: BTreeMap<String, String>,
    /// Visits in the order of the run: the node and its replies, of which the last one leaves it.
    pub(crate) visits: Vec<(&'static str, Vec<Reply>)>,
    /// Files of the project after the run.
    pub(crate) files: BTreeMap<String, String>,
}

impl Play {
    fn new(
        golden: &'static str,
        project: &[(&str, &str)],
        visits: Vec<(&'static str, Vec<Reply>)>,
        written: &[(&str, &str)],
    ) -> Self {
        let owned = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
        };
        let project = owned(project);
        let mut files = project.clone();
        files.extend(owned(written));
        Self { golden, project, visits, files }
    }
}

/// Returns a call that finishes a node.
pub(crate) fn complete(variables: Json, files: &[(&str, &str)]) -> Reply {
    call("complete_node", completion(variables, files))
}

/// Returns the arguments of a call that finishes a node.
pub(crate) fn completion(variables: Json, files: &[(&str, &str)]) -> Json {
    let files: Vec<Json> =
        files.iter().map(|(path, content)| json!({ "path": path, "content": content })).collect();
    json!({ "variables": variables, "files": files })
}

/// Returns the variables of the first node of the story.
pub(crate) fn target() -> Json {
    json!({ "storyKey": "1-2-user-authentication", "epicNum": 1, "storyNum": 2,
        "storyTitle": "User Authentication", "sprintStatusPath": STATUS })
}

/// Returns the variables of the second node of the story.
pub(crate) fn found() -> Json {
    json!({ "epicsPath": EPICS, "prdPath": "none", "architecturePath": "none",
        "uxPath": "none", "projectContextPath": "none" })
}

/// Returns the change of the sprint status.
pub(crate) fn ready() -> Json {
    json!({ "path": STATUS, "edits": [
        { "old": "1-2-user-authentication: backlog", "new": "1-2-user-authentication: ready-for-dev" }] })
}

/// Returns a good play of create-story-micro.
pub(crate) fn story() -> Play {
    let context = "artifacts/create-story/context.md";
    let end = complete(json!({}), &[(SUMMARY, "# Story created\n")]);
    let visits = vec![
        (SELECT, vec![complete(target(), &[(TARGET, TARGET_TEXT)])]),
        (DISCOVER, vec![complete(found(), &[(INPUTS, "# Inputs\n")])]),
        (
            EXTRACT,
            vec![complete(
                json!({ "storySummary": "Users sign in." }),
                &[(context, "# Context\n")],
            )],
        ),
        (GENERATE, vec![complete(json!({ "storyFile": STORY }), &[(STORY, STORY_TEXT)])]),
        (UPDATE, vec![call("fs_apply_patch", ready()), complete(json!({}), &[])]),
        (END, vec![end.beside("The story is ready.")]),
    ];
    let status =
        STATUS_TEXT.replace("user-authentication: backlog", "user-authentication: ready-for-dev");
    let written = [
        (TARGET, TARGET_TEXT),
        (INPUTS, "# Inputs\n"),
        (context, "# Context\n"),
        (STORY, STORY_TEXT),
        (STATUS, &status),
        (SUMMARY, "# Story created\n"),
    ];
    Play::new(
        "001-create-story-micro",
        &[(STATUS, STATUS_TEXT), (EPICS, EPICS_TEXT)],
        visits,
        &written,
    )
}

/// Returns a good play of hello-branch.
pub(crate) fn branch() -> Play {
    let [intake, plan, summary] =
        ["artifacts/intake.md", "artifacts/greenfield-plan.md", "artifacts/summary.md"];
    let written = [(intake, "# Intake\n"), (plan, "# Plan\n"), (summary, "# Summary\n")];
    let decided = json!({ "variables": { "projectType": "greenfield" }, "reason": "No code." });
    let visits = vec![
        ("step-01-intake", vec![complete(json!({}), &written[..1])]),
        (DECIDE, vec![call("complete_node", decided)]),
        ("step-03a-greenfield", vec![complete(json!({}), &written[1..2])]),
        (END, vec![complete(json!({}), &written[2..]).beside("The plan is ready.")]),
    ];
    Play::new("002-branch-greenfield", &[("README.md", "# Hall\n")], visits, &written)
}

/// Returns a good play of draft-review with one revision.
pub(crate) fn review() -> Play {
    let [draft, notes, summary] =
        ["draft", "review", "summary"].map(|name| format!("artifacts/draft-review/{name}.md"));
    let verdict = |verdict: &str, text: &str| {
        let mut call = completion(json!({ "reviewVerdict": verdict }), &[(&notes, text)]);
        call["reason"] = "As the rubric says.".into();
        call
    };
    let revised = [(draft.as_str(), "# Draft 2\n"), (&notes, "# Round 1\n- answered\n")];
    let visits = vec![
        (
            "step-01-draft",
            vec![complete(
                json!({ "docTitle": "Wiki", "revisionCount": 0 }),
                &[(&draft, "# Draft\n")],
            )],
        ),
        (REVIEW, vec![call("complete_node", verdict("revise", "# Round 1\n"))]),
        ("step-03-revise", vec![complete(json!({ "revisionCount": 1 }), &revised)]),
        (REVIEW, vec![call("complete_node", verdict("approved", "# Round 2\n"))]),
        (END, vec![complete(json!({}), &[(&summary, "# Summary\n")]).beside("Approved.")]),
    ];
    let written =
        [(draft.as_str(), "# Draft 2\n"), (&notes, "# Round 2\n"), (&summary, "# Summary\n")];
    Play::new("004-loop-with-exit", &[("notes/tools.md", "# Tools\n")], visits, &written)
}
