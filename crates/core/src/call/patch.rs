//! The arguments of `fs.apply_patch`, also nested under `patch` or several under `patches`.

use crewagent_format::integrity::Digest;
use crewagent_format::wording::{kind, ticked};
use serde_json::{Map, Value as Json};

use super::arguments::unwrapped;
use super::files::check_ends;
use super::params::{Params, Problems, real_key, same_key};
use super::{FilePatchCall, Operation, PatchCall, Tool};
use crate::refusal::Refusal;
use crate::state::document::STATE_FILE;
use crate::state::patch::StateUpdate;
use crate::tool::text_patch::{FileChangeKind, FilePatch, Replacement, TextPatch};
use crate::vpath::{Mount, VPath, WritablePath};

/// Maximum number of patches of a call.
const MAX_PATCHES: usize = 100;
/// Keys of an edit.
const EDIT: [&str; 3] = ["old", "new", "all"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum PatchKind {
    UpdateFrontmatter,
    Replace,
    Diff,
}

const KINDS: [(&str, PatchKind); 3] = [
    ("updateFrontmatter", PatchKind::UpdateFrontmatter),
    ("replace", PatchKind::Replace),
    ("diff", PatchKind::Diff),
];

impl PatchKind {
    fn name(self) -> &'static str {
        match self {
            Self::UpdateFrontmatter => "updateFrontmatter",
            Self::Replace => "replace",
            Self::Diff => "diff",
        }
    }

    /// Returns the key that holds the change.
    fn key(self) -> &'static str {
        match self {
            Self::UpdateFrontmatter => "update",
            Self::Replace => "edits",
            Self::Diff => "diff",
        }
    }
}

pub(super) fn patch(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<PatchCall> {
    let mut known = Tool::Patch.parameters().to_vec();
    known.extend(["patch", "patches"]);
    let arguments = with_own_keys(arguments, "", &known, problems);
    let params = Params::open(&arguments, &known, problems);
    let mut outer = arguments.clone();
    outer.retain(|key, value| Tool::Patch.parameters().contains(&key.as_str()) && !value.is_null());
    let patches = match (params.structure("patch"), params.get("patches")) {
        (None, None) => vec![one(&outer, "", problems)],
        (Some(_), Some(_)) => {
            problems.mistake("`patch` and `patches` are both there; give one");
            return None;
        }
        (Some(inner), None) => vec![nested(&outer, &inner, "patch", problems)],
        (None, Some(_)) => {
            let items = params.list("patches", problems)?;
            if items.is_empty() || items.len() > MAX_PATCHES {
                problems.mistake(format!("`patches` must have 1 to {MAX_PATCHES} items"));
                return None;
            }
            let named = items.iter().enumerate();
            let read = |(index, item)| nested(&outer, item, &format!("patches[{index}]"), problems);
            named.map(read).collect()
        }
    };
    let patches: Vec<FilePatchCall> = patches.into_iter().collect::<Option<_>>()?;
    let states = patches.iter().filter(|patch| is_state(&patch.path)).count();
    if states > 0 && states < patches.len() {
        problems.mistake(format!(
            "`{STATE_FILE}` is patched together with other files; patch it in a call of its own, after the others"
        ));
    }
    check_paths(&patches, problems);
    Some(PatchCall { patches })
}

/// Refuses to move or delete a file that another patch of the call names.
fn check_paths(patches: &[FilePatchCall], problems: &mut Problems) {
    let forms = patches
        .iter()
        .enumerate()
        .filter(|(_, patch)| matches!(patch.operation, Operation::Move { .. } | Operation::Delete));
    for (index, form) in forms {
        let others = patches.iter().enumerate().filter(|(other, _)| *other != index);
        let named: Vec<&VPath> = others.flat_map(|(_, patch)| patch.places()).collect();
        if let Some(path) = form.places().into_iter().find(|path| named.contains(path)) {
            problems.mistake(format!(
                "`{path}` is in a patch that moves or deletes a file, and in another patch; send the two in two calls"
            ));
        }
    }
}

fn is_state(path: &WritablePath) -> bool {
    path.to_string() == STATE_FILE
}

/// Reads a patch inside the arguments. Values outside it apply to it too.
fn nested(
    outer: &Map<String, Json>,
    inner: &Json,
    at: &str,
    problems: &mut Problems,
) -> Option<FilePatchCall> {
    let Json::Object(inner) = inner else {
        let hint = if inner.is_string() { "; a diff belongs in `diff`" } else { "" };
        problems.mistake(format!("`{at}` must be an object, but it is {}{hint}", kind(inner)));
        return None;
    };
    let inner = with_own_keys(inner, at, Tool::Patch.parameters(), problems);
    let mut whole = outer.clone();
    for (key, value) in inner.iter().filter(|(_, value)| !value.is_null()) {
        match whole.insert(key.clone(), value.clone()) {
            Some(other) if other != *value => {
                problems.mistake(format!("`{key}` is given twice, in `{at}` and beside it"));
            }
            Some(_) | None => {}
        }
    }
    one(&whole, at, problems)
}

/// Returns the arguments with the keys of this tool: a diff in `patch` is a `diff`, and a bare `old` and `new` are the
/// only one of `edits`.
fn with_own_keys(
    object: &Map<String, Json>,
    at: &str,
    known: &[&'static str],
    problems: &mut Problems,
) -> Map<String, Json> {
    let name = |key: &str| match at {
        "" => format!("`{key}`"),
        at => format!("`{at}.{key}`"),
    };
    let (mut own, mut edit) = (Map::new(), Map::new());
    for (key, value) in object {
        let is_known = known.contains(&key.as_str());
        let part = real_key(key, &EDIT).filter(|_| !is_known);
        let real = if is_known { None } else { real_key(key, known) };
        let is_diff = real.unwrap_or(key) == "patch"
            && value.as_str().is_some_and(|text| unwrapped(text).is_none());
        let (target, real) = match part {
            Some(part) => (&mut edit, part),
            None if is_diff => (&mut own, "diff"),
            None => (&mut own, real.unwrap_or(key)),
        };
        match target.get(real).filter(|other| !other.is_null()) {
            Some(_) if value.is_null() => {}
            Some(other) if other != value => {
                problems.mistake(same_key(&name(real), &name(key)));
            }
            Some(_) | None => {
                target.insert(real.to_owned(), value.clone());
            }
        }
    }
    if edit.values().all(Json::is_null) {
        return own;
    }
    if own.get("edits").is_some_and(|edits| !is_blank(edits)) {
        let keys: Vec<&String> = edit.keys().collect();
        problems.mistake(format!(
            "{} and {} are both there; give one",
            name("edits"),
            ticked(keys)
        ));
    } else {
        own.insert("edits".to_owned(), Json::Array(vec![Json::Object(edit)]));
    }
    own
}

fn one(object: &Map<String, Json>, at: &str, problems: &mut Problems) -> Option<FilePatchCall> {
    file(&Params::open_at(object, at, Tool::Patch.parameters(), problems), problems)
}

fn file(params: &Params<'_>, problems: &mut Problems) -> Option<FilePatchCall> {
    let path = params.writable("path", problems);
    let if_match: Option<Digest> = params.digest("ifMatchSha256", problems);
    let kind = match params.get("operation").filter(|operation| !is_blank(operation)) {
        Some(_) => params.choice("operation", &KINDS, problems)?,
        None => infer_kind(params, problems)?,
    };
    for (_, other) in KINDS.into_iter().filter(|(_, other)| *other != kind) {
        if params.get(other.key()).is_some_and(|value| !is_blank(value)) {
            problems.mistake(format!(
                "{} does not belong to the operation `{}`",
                params.name(other.key()),
                kind.name()
            ));
        }
    }
    if params.get(kind.key()).is_none() {
        let name = params.name(kind.key());
        problems.mistake(format!("{name} is missing; the operation `{}` needs it", kind.name()));
        return None;
    }
    let operation = match kind {
        PatchKind::UpdateFrontmatter => update(params, path.as_ref(), problems),
        PatchKind::Replace => edits(params, problems),
        PatchKind::Diff => diff(params, path.as_ref(), problems),
    };
    Some(FilePatchCall { path: path?, operation: operation?, if_match })
}

/// Infers the operation from the change that is given.
fn infer_kind(params: &Params<'_>, problems: &mut Problems) -> Option<PatchKind> {
    let is_given = |kind: &PatchKind| params.get(kind.key()).is_some_and(|value| !is_blank(value));
    let given: Vec<PatchKind> = KINDS.into_iter().map(|(_, kind)| kind).filter(is_given).collect();
    match given.as_slice() {
        [kind] => return Some(*kind),
        [] => {
            let name = params.name("edits");
            problems
                .mistake(format!("{name} is missing, or `diff`, or `update` for `{STATE_FILE}`"));
        }
        [..] => {
            let keys = ticked(given.iter().map(|kind| kind.key()));
            problems.mistake(format!("{keys} are given together; give one"));
        }
    }
    None
}

/// Returns true for values that models put into parameters they do not need.
fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

fn update(
    params: &Params<'_>,
    path: Option<&WritablePath>,
    problems: &mut Problems,
) -> Option<Operation> {
    if let Some(path) = path.filter(|path| !is_state(path)) {
        problems.mistake(format!(
            "the operation `updateFrontmatter` is for `{STATE_FILE}`, not for `{path}`; use `replace` or `diff` there"
        ));
    }
    let update = params.structure("update")?;
    problems.take(StateUpdate::parse(&update)).map(Operation::UpdateFrontmatter)
}

fn edits(params: &Params<'_>, problems: &mut Problems) -> Option<Operation> {
    let items = params.list("edits", problems)?;
    let mut edits = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let name = params.name(&format!("edits[{index}]"));
        let at = name.trim_matches('`');
        let Some(edit) = Params::open_inside(item, at, &EDIT, problems) else {
            continue;
        };
        let old = edit.required_text("old", problems);
        let new = edit.required_text("new", problems);
        let all = edit.flag("all", problems);
        if let (Some(old), Some(new)) = (old, new) {
            edits.push(Replacement { old: old.to_owned(), new: new.to_owned(), all });
        }
    }
    Some(Operation::Text(TextPatch::Replace(edits)))
}

fn diff(
    params: &Params<'_>,
    path: Option<&WritablePath>,
    problems: &mut Problems,
) -> Option<Operation> {
    let text = params.text("diff", problems)?;
    let patch = problems.take(FilePatch::parse(text))?;
    if let Some(path) = path {
        problems.take(patch.check_target(path.path()));
    }
    match patch.change {
        FileChangeKind::Delete => {
            check_ends(path, None, problems);
            Some(Operation::Delete)
        }
        FileChangeKind::Move { to, hunks } => {
            let to = problems.take(new_path(&to, path))?;
            check_ends(path, Some(&to), problems);
            let change = (hunks.count() > 0).then_some(FileChangeKind::Update(hunks));
            let change = change.map(|change| TextPatch::Diff(FilePatch { path: None, change }));
            Some(Operation::Move { to, change })
        }
        FileChangeKind::Add(_) | FileChangeKind::Update(_) => {
            Some(Operation::Text(TextPatch::Diff(patch)))
        }
    }
}

/// Resolves the new path that a diff names: a mount path, or one from the root of the mount that the file is in.
fn new_path(name: &str, from: Option<&WritablePath>) -> Result<WritablePath, Refusal> {
    let mount = from.map_or(Mount::Project, |path| path.path().mount());
    let plain = name.strip_prefix("./").unwrap_or(name);
    let path = match plain.starts_with(['@', '{', '/']) {
        true => VPath::parse(plain)?,
        false => VPath::parse(&format!("{}/{plain}", mount.name()))?,
    };
    WritablePath::new(path)
}
