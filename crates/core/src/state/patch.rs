//! The `update` object of `fs.apply_patch`: a closed list of changes that a model may make to the state.

use crewagent_format::frontmatter::{Edit, Frontmatter, MAX_BYTES};
use crewagent_format::package::workflow::Decision;
use crewagent_format::wording::{kind, nearest, quoted, ticked};
use serde_json::{Map, Value as Json};

use super::document::{STATE_FILE, StateDocument};
use super::edits::{merge_variables, push, set};
use super::project_path::ProjectPath;
use crate::refusal::{Refusal, RefusalCode};

/// Keys of `update`, each nested (`{"variables": {"set": {…}}}`), dotted (`{"variables.set": {…}}`) or flat
/// (`{"variables": {…}}`).
/// `workflowStatus.set` completes a workflow, as a variable of that name in `variables.set` does.
pub const KEYS: [&str; 7] = [
    "stepsCompleted.append",
    "variables.set",
    "decisionLog.append",
    "artifacts.append",
    "currentNodeId.set",
    "updatedAt.set",
    "workflowStatus.set",
];

const EXAMPLE: &str = r#"Example: {"variables": {"set": {"topic": "x"}}, "stepsCompleted": {"append": ["a"]}, "currentNodeId": {"set": "b"}}."#;

/// Key beside those of [`KEYS`] that says which files the change leaves as they are; understood, not offered.
const KEEP: &str = "keep";

/// Changes of the state that a model asks for. The guard decides if they are legal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateUpdate {
    pub steps_completed: Vec<String>,
    /// New values of variables; others stay.
    pub variables: Map<String, Json>,
    /// Branches taken, as `{from, to, label, reason?, decidedAt?}`.
    pub decision_log: Vec<Json>,
    pub artifacts: Vec<ProjectPath>,
    pub current_node_id: Option<String>,
    /// Time of the update, as RFC 3339; the runtime sets it if it is absent.
    pub updated_at: Option<String>,
    /// `complete` ends the run.
    pub workflow_status: Option<String>,
    /// Keys of lists that are given flat. If such a list begins with what the document has, only the rest is new.
    pub whole_lists: Vec<&'static str>,
    /// Outputs of the node that are right as they are, though this visit did not write them.
    pub keep: Vec<ProjectPath>,
}

impl StateUpdate {
    /// Parses an `update` object and reports all mistakes at once. Null counts as absent.
    pub fn parse(update: &Json) -> Result<Self, Refusal> {
        let Json::Object(entries) = update else {
            let message = format!("`update` must be an object, but this is {}.", kind(update));
            return Err(invalid(message));
        };
        let mut reading = UpdateReader::default();
        for (key, value) in entries {
            reading.entry(key, value);
        }
        reading.finish()
    }

    /// Returns the edits that make these changes in a document. An artifact that it already names is not added again.
    pub fn edits(&self, document: &StateDocument) -> Vec<Edit> {
        let mut edits = merge_variables(document.variables(), &self.variables);
        let front = document.front();
        let is_same = |given: &Json, known: &Decision| {
            let says =
                |key: &str, value: &str| given.get(key).and_then(Json::as_str) == Some(value);
            says("from", &known.from) && says("to", &known.to) && says("label", &known.label)
        };
        let decisions = self.added("decisionLog", &self.decision_log, &front.decision_log, is_same);
        edits.extend(decisions.iter().map(|entry| push("decisionLog", entry.clone())));
        let known = &front.artifacts;
        let mut added: Vec<&str> = Vec::new();
        for path in self.artifacts.iter().map(ProjectPath::as_str) {
            if !known.iter().any(|old| old == path) && !added.contains(&path) {
                added.push(path);
                edits.push(push("artifacts", path));
            }
        }
        let steps = self.added(
            "stepsCompleted",
            &self.steps_completed,
            &front.steps_completed,
            |given, known| given == known,
        );
        edits.extend(steps.iter().map(|id| push("stepsCompleted", id.as_str())));
        let values = [
            ("currentNodeId", &self.current_node_id),
            ("workflowStatus", &self.workflow_status),
            ("updatedAt", &self.updated_at),
        ];
        for (key, value) in values {
            edits.extend(value.as_deref().map(|value| set(key, value)));
        }
        edits
    }

    /// Returns the entries of a list that are new.
    fn added<'u, T, U>(
        &self,
        key: &str,
        given: &'u [T],
        known: &[U],
        is_same: impl Fn(&T, &U) -> bool,
    ) -> &'u [T] {
        let restates = self.whole_lists.contains(&key)
            && given.len() >= known.len()
            && given.iter().zip(known).all(|(given, known)| is_same(given, known));
        if restates { &given[known.len()..] } else { given }
    }

    /// Returns the document with these changes, for the guard to check. Other bytes are kept.
    pub fn apply(&self, document: &StateDocument) -> Result<Frontmatter, Refusal> {
        let frontmatter = document.frontmatter();
        let present = frontmatter.text().len() - frontmatter.body().len();
        let size = present + self.size();
        if size > MAX_BYTES {
            let message = format!(
                "The frontmatter of {STATE_FILE} would have about {size} bytes; the limit is {MAX_BYTES}."
            );
            return Err(Refusal::new(RefusalCode::WriteLimit, message)
                .hint("Write long texts to files under @project/artifacts and keep only their paths in variables."));
        }
        frontmatter.edited(&self.edits(document)).map_err(|error| {
            let message = format!("The update cannot be made in {STATE_FILE}: {error}.");
            Refusal::new(RefusalCode::InvalidFrontmatter, message)
        })
    }

    fn size(&self) -> usize {
        let steps: usize = self.steps_completed.iter().map(String::len).sum();
        let paths: usize = self.artifacts.iter().map(|path| path.as_str().len()).sum();
        let decisions: usize = self.decision_log.iter().map(|entry| entry.to_string().len()).sum();
        let variables = serde_json::to_string(&self.variables).map_or(0, |text| text.len());
        steps + paths + decisions + variables
    }
}

/// Update that is being parsed, with its mistakes.
#[derive(Default)]
struct UpdateReader {
    update: StateUpdate,
    seen: Vec<String>,
    unknown: Vec<String>,
    wrong: Vec<String>,
}

impl UpdateReader {
    fn entry(&mut self, key: &str, value: &Json) {
        if key == KEEP {
            match paths(value) {
                Ok(keep) => self.update.keep = keep,
                Err(why) => self.wrong.push(format!("`{KEEP}` {why}")),
            }
            return;
        }
        let owner = |known: &&&str| known.split('.').next() == Some(key);
        match (KEYS.iter().find(owner), value) {
            (None, _) => self.operation(key, value),
            (Some(_), Json::Null) => {}
            (Some(known), Json::Object(values)) if is_flat(known, values) => {
                self.operation(known, value);
            }
            (Some(_), Json::Object(operations)) => {
                for (name, value) in operations {
                    self.operation(&format!("{key}.{name}"), value);
                }
            }
            (Some(known), _) => {
                let list = known.strip_suffix(".append").filter(|_| value.is_array());
                self.update.whole_lists.extend(list);
                self.operation(known, value);
            }
        }
    }

    fn operation(&mut self, key: &str, value: &Json) {
        if !KEYS.contains(&key) {
            self.unknown.push(key.to_owned());
        } else if self.seen.iter().any(|seen| seen == key) {
            self.wrong.push(format!("`{key}` is given twice"));
        } else if !value.is_null() {
            self.seen.push(key.to_owned());
            if let Err(why) = self.known_operation(key, value) {
                self.wrong.push(format!("`{key}` {why}"));
            }
        }
    }

    fn known_operation(&mut self, key: &str, value: &Json) -> Result<(), String> {
        let update = &mut self.update;
        match key {
            "stepsCompleted.append" => {
                update.steps_completed = texts(value)?.into_iter().map(str::to_owned).collect();
            }
            "variables.set" => {
                let map = value
                    .as_object()
                    .ok_or_else(|| format!("must be an object, but it is {}", kind(value)))?;
                update.variables = map.clone();
            }
            "decisionLog.append" => {
                let items = list(value)?;
                if let Some(other) = items.iter().find(|item| !item.is_object()) {
                    return Err(format!(
                        "must hold objects like {{\"from\", \"to\", \"label\", \"reason\"}}, but one is {}",
                        kind(other)
                    ));
                }
                update.decision_log = items.clone();
            }
            "artifacts.append" => update.artifacts = paths(value)?,
            "currentNodeId.set" => update.current_node_id = Some(text(value)?),
            "updatedAt.set" => update.updated_at = Some(text(value)?),
            _ => update.workflow_status = Some(text(value)?),
        }
        Ok(())
    }

    fn finish(self) -> Result<StateUpdate, Refusal> {
        let mut problems = self.wrong;
        if !self.unknown.is_empty() {
            let shown: Vec<String> = self.unknown.iter().take(20).map(|key| unknown(key)).collect();
            problems.insert(0, format!("unknown keys: {}", shown.join(", ")));
        } else if problems.is_empty()
            && self.update == StateUpdate::default()
            && self.seen.is_empty()
        {
            problems.push("it says nothing".to_owned());
        }
        if problems.is_empty() {
            return Ok(self.update);
        }
        let mut refusal = invalid(format!("`update` cannot be used: {}.", problems.join("; ")));
        if !self.unknown.is_empty() {
            let some: Vec<String> = self.unknown.into_iter().take(20).collect();
            refusal = refusal.detail("unknownKeys", some);
        }
        Err(refusal)
    }
}

/// Returns true if an object under a key is its value, not a list of operations.
fn is_flat(known: &str, values: &Map<String, Json>) -> bool {
    known == "variables.set" && !values.is_empty() && !values.contains_key("set")
}

fn invalid(message: String) -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, message)
        .hint(format!("Known keys: {}. {EXAMPLE}", ticked(KEYS)))
        .detail("knownKeys", KEYS.to_vec())
}

fn unknown(key: &str) -> String {
    match nearest(key, KEYS) {
        Some(similar) => format!("{} (did you mean `{similar}`?)", quoted(key)),
        None => quoted(key),
    }
}

fn list(value: &Json) -> Result<&Vec<Json>, String> {
    value.as_array().ok_or_else(|| format!("must be a list, but it is {}", kind(value)))
}

fn texts(value: &Json) -> Result<Vec<&str>, String> {
    let text = |item: &'_ Json| -> Result<(), String> {
        item.as_str()
            .map(|_| ())
            .ok_or_else(|| format!("must hold strings, but one item is {}", kind(item)))
    };
    let items = list(value)?;
    items.iter().try_for_each(text)?;
    Ok(items.iter().filter_map(Json::as_str).collect())
}

fn paths(value: &Json) -> Result<Vec<ProjectPath>, String> {
    let paths = texts(value)?.into_iter().map(ProjectPath::parse);
    let read: Result<Vec<ProjectPath>, Refusal> = paths.collect();
    read.map_err(|refusal| format!("holds a bad path: {}", refusal.message.trim_end_matches('.')))
}

fn text(value: &Json) -> Result<String, String> {
    match value.as_str() {
        Some(text) => Ok(text.trim().to_owned()),
        None => Err(format!("must be a string, but it is {}", kind(value))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::fixture;

    fn parse(update: Json) -> StateUpdate {
        StateUpdate::parse(&update).unwrap()
    }

    fn check_refused(update: Json, says: &[&str]) {
        let refusal = StateUpdate::parse(&update).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArguments);
        for part in says {
            assert!(refusal.message.contains(part), "{} lacks {part}", refusal.message);
        }
        let hint = refusal.hint.unwrap();
        assert!(KEYS.iter().all(|key| hint.contains(key)), "{hint}");
    }

    #[test]
    fn nested_and_dotted_keys_mean_the_same() {
        let nested = parse(json!({
            "stepsCompleted": {"append": ["a"]}, "variables": {"set": {"x": 1}},
            "decisionLog": {"append": [{"from": "a", "to": "b", "label": "l"}]},
            "artifacts": {"append": ["./artifacts/x.md"]}, "currentNodeId": {"set": "b"},
            "updatedAt": {"set": "2026-11-15T09:30:00Z"}, "workflowStatus": {"set": "complete"}
        }));
        let dotted = parse(json!({
            "stepsCompleted.append": ["a"], "variables.set": {"x": 1},
            "decisionLog.append": [{"from": "a", "to": "b", "label": "l"}],
            "artifacts.append": ["@project/artifacts/x.md"], "currentNodeId.set": "b",
            "updatedAt.set": "2026-11-15T09:30:00Z", "workflowStatus.set": "complete"
        }));
        assert_eq!(nested, dotted);
        assert_eq!(nested.artifacts[0].as_str(), "artifacts/x.md");
        assert_eq!(nested.current_node_id.as_deref(), Some("b"));
        assert_eq!(nested.workflow_status.as_deref(), Some("complete"));
    }

    #[test]
    fn a_flat_list_that_restates_the_document_counts_by_its_tail() {
        let workflow = fixture::create_story();
        let text = workflow
            .document
            .replace("stepsCompleted: []", "stepsCompleted: [a]")
            .replace("decisionLog: []", "decisionLog: [{from: a, to: b, label: l, reason: r}]")
            .replace("artifacts: []", "artifacts: [artifacts/a.md]");
        let document = StateDocument::read(text).unwrap();
        let after = |update: Json| {
            let after = parse(update).apply(&document).unwrap();
            StateDocument::from_frontmatter(after).unwrap()
        };
        let flat = after(json!({
            "stepsCompleted": ["a", "b"], "variables": {"topic": "x"}, "currentNodeId": "c",
            "decisionLog": [{"from": "a", "to": "b", "label": "l"}, {"from": "b", "to": "c", "label": "m"}],
            "artifacts": ["artifacts/a.md", "artifacts/b.md"]
        }));
        let nested = after(json!({
            "stepsCompleted": {"append": ["b"]}, "variables": {"set": {"topic": "x"}},
            "decisionLog": {"append": [{"from": "b", "to": "c", "label": "m"}]},
            "artifacts": {"append": ["artifacts/b.md"]}, "currentNodeId": {"set": "c"}
        }));
        assert_eq!(flat.text(), nested.text());
        // A list that does not begin with the old one is new as a whole, and so is one that is appended.
        assert_eq!(after(json!({"stepsCompleted": ["b"]})).front().steps_completed, ["a", "b"]);
        let twice = after(json!({"stepsCompleted": {"append": ["a", "b"]}}));
        assert_eq!(twice.front().steps_completed, ["a", "a", "b"]);
    }

    #[test]
    fn null_counts_as_absent() {
        let update = parse(
            json!({"updatedAt": {"set": null}, "artifacts": null, "variables": {"set": {"x": null}}}),
        );
        assert_eq!(update.updated_at, None);
        assert_eq!(update.variables["x"], Json::Null);
    }

    #[test]
    fn unknown_keys_are_all_named_with_the_known_ones() {
        check_refused(
            json!({"stepsComplete": {"append": ["a"]}, "stepsCompleted": {"remove": ["a"]}, "runId.set": "x"}),
            &["\"stepsComplete\"", "\"stepsCompleted.remove\"", "\"runId.set\""],
        );
        check_refused(json!({"variables.sets": {}}), &["did you mean `variables.set`?"]);
    }

    #[test]
    fn values_of_the_wrong_kind_are_all_named() {
        check_refused(
            json!({"stepsCompleted.append": "a", "variables": {"set": []}, "currentNodeId": 7, "decisionLog.append": ["x"], "artifacts.append": [1]}),
            &[
                "`stepsCompleted.append` must be a list, but it is a string",
                "`variables.set` must be an object, but it is a list",
                "`currentNodeId.set` must be a string, but it is a number",
                "`decisionLog.append` must hold objects",
                "`artifacts.append` must hold strings",
            ],
        );
        check_refused(json!("text"), &["must be an object, but this is a string"]);
        check_refused(json!({}), &["says nothing"]);
        check_refused(
            json!({"currentNodeId": {"set": "a"}, "currentNodeId.set": "b"}),
            &["given twice"],
        );
    }

    #[test]
    fn an_artifact_outside_the_project_is_refused() {
        for path in ["../x", "/etc/passwd", "@state/workflow.md", "@pkg/x"] {
            check_refused(json!({"artifacts.append": [path]}), &["holds a bad path"]);
        }
    }

    #[test]
    fn an_update_touches_only_its_keys() {
        let workflow = fixture::create_story();
        let document = StateDocument::read(workflow.document.clone()).unwrap();
        let update = parse(json!({
            "variables.set": {"storyKey": "1-2-login", "note": "a: b\nc"}, "stepsCompleted.append": ["step-01-select-story"],
            "artifacts.append": ["artifacts/a.md", "./artifacts/a.md"], "currentNodeId.set": "step-02-discover-inputs"
        }));
        let after = update.apply(&document).unwrap();
        let expected = workflow
            .document
            .replace("variables: {}", "variables:\n  storyKey: \"1-2-login\"\n  note: \"a: b\\nc\"")
            .replace("artifacts: []", "artifacts:\n  - artifacts/a.md")
            .replace("stepsCompleted: []", "stepsCompleted:\n  - step-01-select-story")
            .replace("currentNodeId: \"\"", "currentNodeId: step-02-discover-inputs");
        assert_eq!(&**after.text(), expected);
        let after = StateDocument::from_frontmatter(after).unwrap();
        let again = parse(json!({"artifacts.append": ["artifacts/a.md"]})).apply(&after).unwrap();
        assert_eq!(again.text(), after.text());
    }

    #[test]
    fn variables_are_merged_one_level_deep() {
        let workflow = fixture::create_story();
        let document = StateDocument::read(
            workflow.document.replace("variables: {}", "variables:\n  a: {x: 1}\n  b: 2 # two"),
        )
        .unwrap();
        let after = parse(json!({"variables.set": {"a": {"y": 1}}})).apply(&document).unwrap();
        let after = StateDocument::from_frontmatter(after).unwrap();
        assert_eq!(json!(after.variables()), json!({"a": {"y": 1}, "b": 2}));
        assert!(after.text().contains("b: 2 # two\n"), "{}", after.text());
    }

    #[test]
    fn a_state_that_would_be_too_large_is_refused_with_what_to_do() {
        let workflow = fixture::create_story();
        let document = StateDocument::read(workflow.document.clone()).unwrap();
        let refusal = parse(json!({"variables.set": {"text": "x".repeat(MAX_BYTES)}}))
            .apply(&document)
            .unwrap_err();
        assert_eq!(refusal.code, RefusalCode::WriteLimit);
    }
}
