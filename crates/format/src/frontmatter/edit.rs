//! Edits of frontmatter that change one key, leave every other byte alone, and are verified afterwards. Only this
//! module uses `yaml-edit`.

use std::str::FromStr;

use serde_json::Value as Json;
use thiserror::Error;
use yaml_edit::{AsYaml, Document, Mapping, ScalarValue, Sequence};

use super::{Frontmatter, is_same, splice};
use crate::syntax::{Entry, Tree, Value};
use crate::text::is_unsafe_char;

/// Number of values that are set by a syntax tree, which takes the square of their number.
const FEW: usize = 32;

/// Change of the frontmatter. A path names a key of the frontmatter, or a key inside its maps, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Sets the value of a key; creates missing maps on the path.
    Set { path: Vec<String>, value: Json },
    /// Appends to a list; creates a missing or null one.
    Push { path: Vec<String>, value: Json },
    /// Removes a key, if present.
    Remove { path: Vec<String> },
}

/// Reason why an edit was not made. The document is unchanged.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EditError {
    /// The path is empty, or leads through a value that is not a map.
    #[error("`{0}` is not a map, so it has no keys to change")]
    NotAMap(String),
    #[error("`{0}` is not a list, so nothing can be added to it")]
    NotAList(String),
    /// The edited text does not have the requested meaning.
    #[error(
        "the YAML around `{0}` cannot be edited safely; rewrite this part of the frontmatter in plain style"
    )]
    Unsafe(String),
}

impl Frontmatter {
    /// Applies the edits in order, all or none. If one cannot be made in place, the whole value of its key is rewritten:
    /// its comments are lost, every other key keeps its bytes.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self, EditError> {
        if let Some(after) = self.edited_together(edits) {
            return Ok(after);
        }
        if edits.iter().map(Edit::values).sum::<usize>() > FEW {
            return self.with_keys_rewritten(edits);
        }
        edits.iter().try_fold(self.clone(), |document, edit| match document.edited_once(edit) {
            Err(EditError::Unsafe(_)) => document.with_keys_rewritten(std::slice::from_ref(edit)),
            result => result,
        })
    }

    /// Writes the whole values of all keys that the edits change, once, in a time that grows with the text alone.
    fn with_keys_rewritten(&self, edits: &[Edit]) -> Result<Self, EditError> {
        let wanted = self.apply_edits(edits)?;
        let place = edits.first().map(|edit| edit.path().join(".")).unwrap_or_default();
        let after = splice::rewritten(self, &wanted.touched, &wanted.said)
            .and_then(|inside| self.with_inside(&inside))
            .filter(|after| self.is_kept_in(after, &wanted));
        after.ok_or(EditError::Unsafe(place))
    }

    /// Applies all edits at once and verifies the result once; `None` if that fails.
    fn edited_together(&self, edits: &[Edit]) -> Option<Self> {
        let wanted = self.apply_edits(edits).ok()?;
        if wanted.is_said_in(self) {
            return Some(self.clone());
        }
        let after = self.with_inside(&splice::spliced(self, edits)?)?;
        self.is_kept_in(&after, &wanted).then_some(after)
    }

    fn apply_edits<'e>(&self, edits: &'e [Edit]) -> Result<Wanted<'e>, EditError> {
        let mut touched: Vec<&String> = Vec::new();
        for key in edits.iter().filter_map(|edit| edit.path().first()) {
            if !touched.contains(&key) {
                touched.push(key);
            }
        }
        let before = self.entries().iter().filter(|entry| touched.contains(&&entry.key));
        let mut said =
            before.map(|entry| (entry.key.clone(), entry.tree.to_json())).collect::<Json>();
        edits.iter().try_for_each(|edit| apply_to_json(&mut said, edit))?;
        Ok(Wanted { touched, said })
    }

    pub(super) fn newline(&self) -> &'static str {
        let fence = self.text.get(..self.yaml.start).unwrap_or_default();
        if fence.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    fn with_inside(&self, inside: &str) -> Option<Self> {
        let before = self.text.get(..self.yaml.start).unwrap_or_default();
        let after = self.text.get(self.yaml.end..).unwrap_or_default();
        Self::parse([before, inside, after].concat()).ok()
    }

    /// Verifies an edit: the edited keys have the requested values, and all other bytes are unchanged.
    fn is_kept_in(&self, after: &Self, wanted: &Wanted<'_>) -> bool {
        let mut others = self.entries().iter().filter(|entry| !wanted.is_about(entry));
        wanted.is_said_in(after)
            && after.body() == self.body()
            && after.entries().iter().filter(|entry| !wanted.is_about(entry)).count()
                == others.clone().count()
            && others.all(|entry| {
                after.tree().get(&entry.key).is_some_and(|now| {
                    entry_bytes(self, entry) == entry_bytes(after, now)
                        && is_same(&entry.tree, &now.tree)
                })
            })
    }

    fn edited_once(&self, edit: &Edit) -> Result<Self, EditError> {
        if matches!(edit, Edit::Remove { .. }) && !has(&self.tree().to_json(), edit.path()) {
            return Ok(self.clone());
        }
        let wanted = self.apply_edits(std::slice::from_ref(edit))?;
        if wanted.is_said_in(self) {
            return Ok(self.clone());
        }
        let unsafe_edit = || EditError::Unsafe(edit.path().join("."));
        let inside = edited_yaml(self.inside(), self.newline(), edit)?;
        let after = self.with_inside(&inside).ok_or_else(unsafe_edit)?;
        if self.is_kept_in(&after, &wanted) { Ok(after) } else { Err(unsafe_edit()) }
    }
}

struct Wanted<'e> {
    /// Top-level keys that the edits change.
    touched: Vec<&'e String>,
    /// Their values afterwards; an absent key was removed.
    said: Json,
}

impl Wanted<'_> {
    fn is_about(&self, entry: &Entry) -> bool {
        self.touched.iter().any(|key| **key == entry.key)
    }

    fn is_said_in(&self, document: &Frontmatter) -> bool {
        let mut touched = document.entries().iter().filter(|entry| self.is_about(entry));
        self.said.as_object().is_some_and(|said| {
            said.len() == touched.clone().count()
                && touched
                    .all(|entry| said.get(&entry.key).is_some_and(|value| says(&entry.tree, value)))
        })
    }
}

impl Edit {
    /// Counts the values that it writes.
    fn values(&self) -> usize {
        fn count(value: &Json) -> usize {
            match value {
                Json::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
                Json::Object(map) => 1 + map.values().map(count).sum::<usize>(),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 1,
            }
        }
        match self {
            Self::Set { value, .. } | Self::Push { value, .. } => count(value),
            Self::Remove { .. } => 1,
        }
    }

    fn path(&self) -> &[String] {
        match self {
            Self::Set { path, .. } | Self::Push { path, .. } | Self::Remove { path } => path,
        }
    }
}

fn apply_to_json(root: &mut Json, edit: &Edit) -> Result<(), EditError> {
    let Some((last, parents)) = edit.path().split_last() else {
        return Err(EditError::NotAMap(String::new()));
    };
    let mut at = root;
    for (depth, key) in parents.iter().enumerate() {
        let map = at.as_object_mut().ok_or_else(|| not_a_map(edit, depth))?;
        at = map.entry(key.clone()).or_insert(Json::Null);
        if at.is_null() {
            *at = Json::Object(serde_json::Map::new());
        }
    }
    let map = at.as_object_mut().ok_or_else(|| not_a_map(edit, parents.len()))?;
    match edit {
        Edit::Set { value, .. } => {
            map.insert(last.clone(), value.clone());
        }
        Edit::Remove { .. } => {
            map.shift_remove(last);
        }
        Edit::Push { value, .. } => match map.entry(last.clone()).or_insert(Json::Null) {
            Json::Array(items) => items.push(value.clone()),
            slot @ Json::Null => *slot = Json::Array(vec![value.clone()]),
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                return Err(EditError::NotAList(edit.path().join(".")));
            }
        },
    }
    Ok(())
}

fn not_a_map(edit: &Edit, depth: usize) -> EditError {
    EditError::NotAMap(edit.path().get(..depth).unwrap_or_default().join("."))
}

fn edited_yaml(inside: &str, newline: &str, edit: &Edit) -> Result<String, EditError> {
    let unsafe_edit = || EditError::Unsafe(edit.path().join("."));
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if inside.lines().all(blank) {
        // Only comments or nothing: the new key goes below them.
        return Ok(format!(
            "{inside}{}{newline}",
            rendered(edit).trim_end().replace('\n', newline)
        ));
    }
    let document = Document::from_str(inside).map_err(|_| unsafe_edit())?;
    edit_document(&document, edit).ok_or_else(unsafe_edit)?;
    Ok(ended(document.to_string(), inside, newline))
}

/// Applies an edit to the syntax tree.
fn edit_document(document: &Document, edit: &Edit) -> Option<()> {
    let (last, parents) = edit.path().split_last()?;
    let mut at = document.as_mapping()?;
    for (depth, key) in parents.iter().enumerate() {
        match at.get_mapping(key) {
            Some(inner) => at = inner,
            None => {
                // A map on the path is missing or null: write the rest of the path as one new value.
                let rest = edit.path().get(depth + 1..).unwrap_or_default();
                let value = rest.iter().rev().fold(edit.leaf(), |value, key| {
                    Json::Object(serde_json::Map::from_iter([(key.clone(), value)]))
                });
                put(&at, key, &value);
                return Some(());
            }
        }
    }
    match edit {
        Edit::Set { value, .. } => put(&at, last, value),
        Edit::Remove { .. } => drop(at.remove(last)),
        Edit::Push { value, .. } => match at.get_sequence(last).filter(|list| !list.is_empty()) {
            Some(list) => push(&list, value),
            None => put(&at, last, &Json::Array(vec![value.clone()])),
        },
    }
    Some(())
}

/// Returns the bytes of an entry, from its key to the end of its value.
fn entry_bytes<'d>(document: &'d Frontmatter, entry: &Entry) -> Option<&'d str> {
    document.text.get(entry.key_span.start..entry.tree.span.end.max(entry.key_span.end))
}

/// Returns true if a tree equals this value; like comparing `to_json`, but without the copy.
fn says(tree: &Tree, wanted: &Json) -> bool {
    match (&tree.value, wanted) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(value), Json::Bool(wanted)) => value == wanted,
        (Value::Number(value), Json::Number(wanted)) => value == wanted,
        (Value::String(value), Json::String(wanted)) => value == wanted,
        (Value::List(items), Json::Array(wanted)) => {
            items.len() == wanted.len()
                && items.iter().zip(wanted).all(|(item, wanted)| says(item, wanted))
        }
        (Value::Map(entries), Json::Object(wanted)) => {
            let is_wanted = |entry: &Entry| {
                wanted.get(&entry.key).is_some_and(|value| says(&entry.tree, value))
            };
            entries.len() == wanted.len() && entries.iter().all(is_wanted)
        }
        _ => false,
    }
}

fn has(root: &Json, path: &[String]) -> bool {
    let mut at = Some(root);
    for key in path {
        at = at.and_then(|value| value.get(key));
    }
    at.is_some()
}

impl Edit {
    fn leaf(&self) -> Json {
        match self {
            Self::Set { value, .. } => value.clone(),
            Self::Push { value, .. } => Json::Array(vec![value.clone()]),
            Self::Remove { .. } => Json::Null,
        }
    }
}

/// Ends the text with a line break, because the closing fence needs a line of its own.
fn ended(mut text: String, before: &str, newline: &str) -> String {
    if !text.is_empty() && !text.ends_with('\n') && (before.is_empty() || before.ends_with('\n')) {
        text.push_str(newline);
    }
    text
}

/// Renders the edit as new YAML, for a frontmatter without keys.
fn rendered(edit: &Edit) -> String {
    let fresh = Mapping::new();
    let mut path = edit.path().iter();
    let Some(first) = path.next() else { return String::new() };
    let value = path.rev().fold(edit.leaf(), |value, key| {
        Json::Object(serde_json::Map::from_iter([(key.clone(), value)]))
    });
    put(&fresh, first, &value);
    fresh.to_string()
}

fn put(map: &Mapping, key: &str, value: &Json) {
    // A key such as `1` or `true` is read as text, but the library would not write it as text.
    let bare = ScalarValue::parse(key);
    if map.find_entry_by_key(&bare).is_some() {
        return with_yaml(value, &mut |yaml| map.set(&bare, yaml));
    }
    with_scalar(key, &mut |key| with_yaml(value, &mut |yaml| map.set(key, yaml)));
}

fn push(list: &Sequence, value: &Json) {
    with_yaml(value, &mut |yaml| list.push(yaml));
}

/// Builds the YAML node of a JSON value and passes it to `use_it`. Collections are in block style, empty ones are `[]`
/// and `{}`.
fn with_yaml(value: &Json, use_it: &mut dyn FnMut(&dyn AsYaml)) {
    match value {
        Json::Null => use_it(&ScalarValue::null()),
        Json::Bool(value) => use_it(value),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => use_it(&whole),
            (_, Some(whole), _) => use_it(&whole),
            (.., fraction) => use_it(&fraction.unwrap_or_default()),
        },
        Json::String(text) => with_scalar(text, use_it),
        Json::Array(items) if items.is_empty() => use_it(&Sequence::new_flow()),
        Json::Array(items) => {
            let list = Sequence::new();
            items.iter().for_each(|item| push(&list, item));
            use_it(&list);
        }
        Json::Object(map) if map.is_empty() => use_it(&Mapping::new_flow()),
        Json::Object(map) => {
            let fresh = Mapping::new();
            map.iter().for_each(|(key, value)| put(&fresh, key, value));
            use_it(&fresh);
        }
    }
}

/// Builds a scalar: plain if every reader takes it for this string, double-quoted otherwise.
fn with_scalar(text: &str, use_it: &mut dyn FnMut(&dyn AsYaml)) {
    if is_plain(text) {
        return use_it(&ScalarValue::plain(text));
    }
    // Quoted here, because the library escapes every non-ASCII letter, and people read these documents.
    match Document::from_str(&double_quoted(text)).ok().and_then(|document| document.as_scalar()) {
        Some(scalar) => use_it(&scalar),
        None => use_it(&ScalarValue::double_quoted(text)),
    }
}

/// Returns true if a text needs no quotes: it begins with a letter, has no character with a meaning in YAML, and is no
/// YAML keyword. Quotes in case of doubt.
pub(super) fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 3] = ["null", "true", "false"];
    text.starts_with(char::is_alphabetic)
        && !text.ends_with(' ')
        && text.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' ' | '<' | '>' | '(' | ')')
        })
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Quotes a text as JSON does and escapes the characters that YAML forbids.
pub(super) fn double_quoted(text: &str) -> String {
    let mut quoted = String::new();
    for c in Json::from(text).to_string().chars() {
        match u32::from(c) {
            code if is_unsafe_char(c) && code > 0xffff => {
                quoted.push_str(&format!("\\U{code:08x}"))
            }
            code if is_unsafe_char(c) => quoted.push_str(&format!("\\u{code:04x}")),
            _ => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::syntax::yaml;

    const STATE: &str = "---\n# the state of a run\nschemaVersion: \"1.1\"\nworkflowType: story   # what it is\ncurrentNodeId: step-01   # here\nstepsCompleted: []\nvariables:\n  storyKey: \"1-2\" # from the user\n  nested: {a: 1}\ndecisionLog:\n  # the first one\n  - from: a\n    to: b\n    label: next\nartifacts:\n- artifacts/x.md\nupdatedAt:\n---\n\n# Body\n";

    fn set(path: &[&str], value: Json) -> Edit {
        Edit::Set { path: path.iter().map(|key| (*key).to_owned()).collect(), value }
    }

    fn push(path: &str, value: Json) -> Edit {
        Edit::Push { path: vec![path.to_owned()], value }
    }

    /// Checks that the edit replaces `old` by `new` in the text and nothing else, with either line ending.
    fn check_edit(edit: &Edit, old: &str, new: &str) {
        for newline in ["\n", "\r\n"] {
            let before = Frontmatter::parse(STATE.replace('\n', newline)).unwrap();
            let after = before.edited(std::slice::from_ref(edit)).unwrap();
            let expected = STATE.replacen(old, new, 1).replace('\n', newline);
            assert_eq!(&**after.text(), expected, "{edit:?} with {newline:?}");
        }
    }

    #[test]
    fn the_edits_of_a_run_touch_only_their_key() {
        check_edit(
            &set(&["currentNodeId"], json!("step-02")),
            "currentNodeId: step-01",
            "currentNodeId: step-02",
        );
        check_edit(
            &push("stepsCompleted", json!("step-01")),
            "stepsCompleted: []",
            "stepsCompleted:\n  - step-01",
        );
        check_edit(
            &push("artifacts", json!("artifacts/y.md")),
            "- artifacts/x.md\n",
            "- artifacts/x.md\n- artifacts/y.md\n",
        );
        check_edit(
            &set(&["variables", "storyKey"], json!("2-1")),
            "storyKey: \"1-2\"",
            "storyKey: \"2-1\"",
        );
        check_edit(
            &set(&["variables", "topic"], json!("a: b")),
            "nested: {a: 1}\n",
            "nested: {a: 1}\n  topic: \"a: b\"\n",
        );
        check_edit(&set(&["variables", "nested", "b"], json!(2)), "{a: 1}", "{a: 1, b: 2}");
        check_edit(
            &set(&["updatedAt"], json!("2026-01-02T03:04:05Z")),
            "updatedAt:",
            "updatedAt: \"2026-01-02T03:04:05Z\"",
        );
        check_edit(
            &set(&["workflowStatus"], json!("complete")),
            "updatedAt:\n",
            "updatedAt:\nworkflowStatus: complete\n",
        );
        let decision = json!({"from": "b", "to": "c", "label": "yes", "reason": "it is: clear"});
        let added = "    label: next\n  - from: b\n    to: c\n    label: 'yes'\n    reason: \"it is: clear\"\n";
        check_edit(&push("decisionLog", decision), "    label: next\n", added);
        check_edit(&Edit::Remove { path: vec!["updatedAt".into()] }, "updatedAt:\n", "");
    }

    #[test]
    fn an_edit_that_changes_nothing_changes_no_byte() {
        check_edit(&set(&["currentNodeId"], json!("step-01")), "", "");
        check_edit(&Edit::Remove { path: vec!["absent".into()] }, "", "");
    }

    #[test]
    fn a_value_that_cannot_be_edited_in_place_is_written_anew() {
        let nested = json!({"deep": {"list": [1, {"x": "y: z"}]}});
        for before in
            ["variables: {a: 1}\n", "variables: {a: [1, 2]} # note\n", "variables: &v\n  a: 1\n"]
        {
            let document = Frontmatter::parse(format!("---\n{before}---\n")).unwrap();
            let after = document.edited(&[set(&["variables", "new"], nested.clone())]).unwrap();
            assert_eq!(after.tree().to_json()["variables"]["new"], nested, "{before}");
        }
    }

    #[test]
    fn many_edits_are_made_at_once_in_any_style() {
        const COUNT: usize = 3000;
        let values = [
            json!("plain"),
            json!([1, {"a": "b\u{2028}c"}]),
            json!(null),
            json!(0.5),
            json!({"x": {"y": []}}),
        ];
        let name = |at: usize| format!("v{at}");
        let edits: Vec<Edit> = (0..COUNT)
            .map(|at| set(&["variables", &name(at)], values[at % values.len()].clone()))
            .collect();
        for variables in
            ["{}", "{v0: old, kept: 1}", "\n  v1: old # note\n  kept: |\n    two\n    lines"]
        {
            for newline in ["\n", "\r\n"] {
                let text = format!(
                    "---\na: 1 # first\nvariables: {variables}\n# last\nz: [x,  y]\n---\nBody\n"
                );
                let before = Frontmatter::parse(text.replace('\n', newline)).unwrap();
                let after = before.edited(&edits).unwrap();
                for line in ["a: 1 # first", "# last", "z: [x,  y]"] {
                    assert!(after.text().contains(&format!("{line}{newline}")), "{line}");
                }
                let json = after.tree().to_json();
                let map = json["variables"].as_object().unwrap();
                assert_eq!(map.len(), COUNT + usize::from(variables != "{}"));
                assert!((0..COUNT).all(|at| map[&name(at)] == values[at % values.len()]));
                assert_eq!(map.get("kept"), before.tree().to_json()["variables"].get("kept"));
            }
        }
    }

    #[test]
    fn several_edits_are_made_together_or_not_at_all() {
        let before = Frontmatter::parse(STATE).unwrap();
        let good = set(&["currentNodeId"], json!("step-02"));
        let bad = push("workflowType", json!("x"));
        assert_eq!(
            before.edited(&[good.clone(), bad]).unwrap_err(),
            EditError::NotAList("workflowType".into())
        );
        let through = set(&["workflowType", "x"], json!(1));
        assert_eq!(
            before.edited(&[good, through]).unwrap_err(),
            EditError::NotAMap("workflowType".into())
        );
    }

    #[test]
    fn letters_of_every_language_stay_readable() {
        check_edit(
            &set(&["currentNodeId"], json!("Zoë, 李: x")),
            "currentNodeId: step-01",
            "currentNodeId: \"Zoë, 李: x\"",
        );
        check_edit(
            &push("stepsCompleted", json!("\u{9b}\u{e0041}")),
            "stepsCompleted: []",
            "stepsCompleted:\n  - \"\\u009b\\U000e0041\"",
        );
    }

    #[track_caller]
    fn check_plain(text: &str, expected: bool) {
        assert_eq!(is_plain(text), expected, "{text:?}");
        if expected {
            let read = yaml::parse(text).unwrap();
            assert_eq!(read.as_str(), Some(text));
        }
    }

    #[test]
    fn a_text_without_quotes_is_read_as_that_text() {
        for text in ["a", "step-01", "a/b_c.d", "two  words", "x <y> (z)", "e5", "Zoë", "nullable"]
        {
            check_plain(text, true);
        }
        for text in
            ["", " a", "a ", "1", "-a", ".inf", "~", "null", "True", "FALSE", "a: b", "a #b"]
        {
            check_plain(text, false);
        }
        let letters: Vec<char> = ('\0'..=char::MAX).filter(|c| c.is_alphanumeric()).collect();
        for letters in letters.chunks(500) {
            check_plain(&format!("a{}", letters.iter().collect::<String>()), true);
        }
        for first in letters.iter().filter(|c| c.is_alphabetic()).step_by(50) {
            check_plain(&format!("{first}-"), true);
        }
    }

    #[test]
    fn odd_keys_and_missing_parents_are_no_obstacle() {
        let edited = |text: &str, edit: Edit| {
            Frontmatter::parse(text).unwrap().edited(&[edit]).unwrap().text().to_string()
        };
        let remove = |path: &[&str]| Edit::Remove {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
        };
        assert_eq!(edited("---\nv:\n---\n", remove(&["v", "x"])), "---\nv:\n---\n");
        assert_eq!(edited("---\nv: 1\n---\n", remove(&["w", "x"])), "---\nv: 1\n---\n");
        assert_eq!(
            edited("---\nv:\n  1: x\n  true: y\n---\n", set(&["v", "1"], json!("z"))),
            "---\nv:\n  1: z\n  true: y\n---\n"
        );
        assert_eq!(edited("---\r\n---\r\n", set(&["a"], json!("x"))), "---\r\na: x\r\n---\r\n");
    }

    #[test]
    fn keys_go_into_an_empty_frontmatter() {
        for text in ["---\n---\nbody", "---\n# note\n---\nbody"] {
            let after =
                Frontmatter::parse(text).unwrap().edited(&[set(&["a", "b"], json!([1]))]).unwrap();
            assert_eq!(after.tree().to_json(), json!({"a": {"b": [1]}}));
            assert_eq!(after.body(), "body");
        }
    }
}
