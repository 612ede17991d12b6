//! Documents of a workflow: what a menu saves and where, what a step creates, and what its frontmatter records.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::choice::{Menu, MenuChoice};
use super::mention::{Mention, Spelling, mentions};
use super::page::{FenceKind, MarkdownPage, PageLine};
use super::resolve::Resolver;
use super::words::{begins, find, has, has_any, tidy};

/// Endings of documents.
const DOCUMENTS: &[&str] = &["csv", "htm", "html", "json", "md", "txt", "xml", "yaml", "yml"];

/// Save of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Save {
    /// Path with bindings; `None` for "the document".
    pub(super) to: Option<String>,
    pub(super) replace: bool,
    pub(super) key: Option<String>,
}

/// Use that a text makes of documents.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentUse {
    pub(super) saves: Vec<Save>,
    /// Documents that it creates, in order.
    pub(super) creates: Vec<String>,
    /// Documents that its keys name, or that it writes to.
    pub(super) names: Vec<String>,
    /// Value that it records, and the line.
    pub(super) records: Option<(Json, u32)>,
    /// Variables that it sets.
    pub(super) sets: Vec<String>,
}

/// Reads what a text says about documents.
pub(super) fn papers(
    page: &MarkdownPage<'_>,
    menu: &Menu,
    resolver: &Resolver<'_>,
    own: Own<'_>,
) -> DocumentUse {
    let mut papers = DocumentUse { records: records(page, own), ..DocumentUse::default() };
    let written = says(page, &["already written", "no additional append", "already saved"]);
    for choice in menu.choices.iter().filter(|_| !written) {
        papers.saves.extend(save_of(page, menu, choice, resolver));
    }
    for (index, line) in page.lines.iter().enumerate() {
        let shell = line.fence == FenceKind::Code;
        if line.excluded || (line.fence == FenceKind::Shown) {
            continue;
        }
        let lower = line.content.to_ascii_lowercase();
        let tells = is_after_choice(&lower) || is_append(&lower);
        if !shell && !written && line.level == 0 && menu.keys_of(index).is_none() && tells {
            papers.saves.extend(save_on(line, 0, resolver, None));
        }
        created(line.content, &lower, shell, resolver, &mut papers);
        if !shell {
            set(line.content, &lower, &mut papers.sets);
        }
    }
    for (name, value) in own.keys {
        let lower = name.to_ascii_lowercase();
        let fits = lower.contains("output") || lower.starts_with("wip");
        if let (true, Some(path)) = (fits, document(value, resolver)) {
            add(&mut papers.names, path);
        }
    }
    papers
}

/// Names of the text itself.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    /// Keys of its frontmatter.
    pub(super) keys: &'a BTreeMap<String, String>,
    /// Stem of its file.
    pub(super) stem: &'a str,
}

fn says(page: &MarkdownPage<'_>, phrases: &[&str]) -> bool {
    page.instructions().any(|(_, line)| {
        let lower = line.content.to_ascii_lowercase();
        phrases.iter().any(|phrase| lower.contains(phrase))
    })
}

/// Returns true for a line that tells what to do once the user has chosen.
fn is_after_choice(lower: &str) -> bool {
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    begins(
        plain,
        &[
            "when user",
            "when the user",
            "after user",
            "after the user",
            "once user",
            "once the user",
        ],
    ) && has_any(lower, &["selects", "chooses", "confirms", "approves"])
}

/// Returns true for `Append to document:`.
fn is_append(lower: &str) -> bool {
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    begins(
        plain,
        &["append to document", "append to the document", "append to file", "append to the file"],
    )
}

/// Returns the save of an option.
fn save_of(
    page: &MarkdownPage<'_>,
    menu: &Menu,
    choice: &MenuChoice,
    resolver: &Resolver<'_>,
) -> Option<Save> {
    let mut found: Option<Save> = None;
    for index in &choice.said {
        let handling = menu.handlings.get(*index)?;
        for at in handling.header..handling.end.min(handling.header + 60) {
            let Some(line) = page.lines.get(at).filter(|line| line.instructs()) else { continue };
            let mine = at == handling.header
                || menu.keys_of(at).is_none_or(|keys| keys.contains(&choice.key));
            let from = if at == handling.header { handling.inline } else { 0 };
            let save = save_on(line, from, resolver, Some(&choice.key)).filter(|_| mine);
            found = match (found, save) {
                (Some(mut known), Some(save)) => {
                    known.replace |= save.replace;
                    known.to = known.to.or(save.to);
                    Some(known)
                }
                (known, save) => known.or(save),
            };
        }
    }
    if choice.said.is_empty() {
        let lower = choice.label.to_ascii_lowercase();
        let saves = has_any(&lower, &["save", "append"]) && !has_any(&lower, &["exit", "unsaved"]);
        return saves.then(|| Save { to: None, replace: false, key: Some(choice.key.clone()) });
    }
    found
}

/// Returns the save that a line tells, from an offset on.
fn save_on(
    line: &PageLine<'_>,
    from: usize,
    resolver: &Resolver<'_>,
    key: Option<&str>,
) -> Option<Save> {
    let text = line.content.get(from..)?;
    let lower = text.to_ascii_lowercase();
    if lower.contains("append nothing")
        || lower.contains("frontmatter:") && !has_any(&lower, &["save", "append"])
    {
        return None;
    }
    let key = key.map(str::to_owned);
    let whole = [
        "replace the document",
        "replace the entire document",
        "replace the whole document",
        "replace the complete document",
        "replace the existing document",
        "replace entire document",
        "replace the file",
        "replace the entire file",
        "replace the content of",
        "overwrite the document",
    ];
    if whole.iter().any(|phrase| lower.contains(phrase)) {
        return Some(Save { to: target(text, &lower, 0, resolver).flatten(), replace: true, key });
    }
    let verbs = ["append", "appends", "save", "saves", "write"];
    let at = verbs.iter().filter_map(|verb| find(&lower, verb)).min()?;
    let before = lower.get(..at).unwrap_or_default();
    let near = before.get(before.floor_char_boundary(at.saturating_sub(12))..).unwrap_or_default();
    if has_any(near, &["not", "never", "don't", "no"]) || has(near, "frontmatter") {
        return None;
    }
    target(text, &lower, at, resolver).map(|to| Save { to, replace: false, key })
}

/// Returns the document behind a verb, if one is meant: `Some(None)` for "the document".
fn target(text: &str, lower: &str, at: usize, resolver: &Resolver<'_>) -> Option<Option<String>> {
    let stop = [", then", ", update", "; ", ". ", " and update", ", and update", ", add "]
        .iter()
        .filter_map(|stop| Some(at + lower.get(at..)?.find(stop)?))
        .min()
        .unwrap_or(text.len());
    let clause = text.get(at..stop)?;
    for mention in mentions(clause) {
        let Some(path) = written(&mention, resolver) else { continue };
        let after = clause.get(mention.end..).unwrap_or_default().to_ascii_lowercase();
        let after = after.trim_start_matches(|c: char| !c.is_alphanumeric());
        return (!begins(after, &["frontmatter", "front"])).then_some(Some(path));
    }
    let lower = tidy(clause).to_ascii_lowercase();
    if has(&lower, "frontmatter") {
        return None;
    }
    let words = [
        "all",
        "analysis",
        "content",
        "decision",
        "decisions",
        "document",
        "file",
        "it",
        "output",
        "patterns",
        "report",
        "result",
        "results",
        "rules",
        "section",
        "sections",
        "spec",
        "story",
        "structure",
        "summary",
        "the following",
        "this",
        "these",
        "confirmation",
        "plan",
    ];
    has_any(&lower, &words).then_some(None)
}

/// Returns the document that a mention means, with bindings.
fn written(mention: &Mention<'_>, resolver: &Resolver<'_>) -> Option<String> {
    match mention.written {
        Spelling::Name(name) => document(resolver.value(name)?, resolver),
        Spelling::Path(path) => document(path, resolver),
        Spelling::Word(_) => None,
    }
}

/// Returns the path of a document of the project; `None` for a file of the source, a glob, or a hole.
fn document(value: &str, resolver: &Resolver<'_>) -> Option<String> {
    let path = resolver.expanded(value.trim());
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let fits = DOCUMENTS.contains(&extension.as_str())
        && !stem.is_empty()
        && !path.contains(['*', ' ', '\n', '`', '[', ']'])
        && path.len() <= 1024
        && (path.contains('/') || path.starts_with('{'))
        && !path.starts_with("./")
        && !path.starts_with("../");
    (fits && resolver.path(value.trim()).is_none() && !path.contains("/_")).then_some(path)
}

/// Finds the documents that a line creates.
fn created(
    text: &str,
    lower: &str,
    shell: bool,
    resolver: &Resolver<'_>,
    papers: &mut DocumentUse,
) {
    let copies = find(lower, "copy").or_else(|| find(lower, "cp"));
    let creates = ["create", "creates", "created", "initialize", "generate", "write"]
        .iter()
        .filter_map(|verb| find(lower, verb))
        .min();
    // `Create the file X as a copy of Y` names its target first.
    let copies = copies.filter(|at| creates.is_none_or(|creates| *at < creates));
    let Some(at) = copies.or(creates.filter(|_| !shell)) else { return };
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    if begins(plain, &["if", "do not", "never", "forbidden"]) && copies.is_none() {
        return;
    }
    let all: Vec<Mention<'_>> =
        mentions(text).into_iter().filter(|mention| mention.start >= at).take(8).collect();
    let paths = all.iter().filter_map(|mention| written(mention, resolver));
    // The target of a copy stands last: `Copy the template from A to B`.
    let path = if copies.is_some() { paths.last() } else { paths.take(1).last() };
    if let Some(path) = path {
        add(&mut papers.creates, path);
    }
}

/// Finds the variables that a line sets: ``Set `x = 1` ``, ``Set `{x}` = …``, ``store it as `{x}` ``.
fn set(text: &str, lower: &str, sets: &mut Vec<String>) {
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    if has(lower, "frontmatter") {
        return;
    }
    let Some(at) =
        (if begins(plain, &["set"]) { find(lower, "set") } else { find(lower, "as `{") })
    else {
        return;
    };
    let rest = text.get(at..).unwrap_or_default();
    let Some(ticked) = rest.split('`').nth(1) else { return };
    let name = ticked.split('=').next().unwrap_or_default().trim().trim_matches(['{', '}']);
    let is_name = !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name && (ticked.contains('=') || ticked.starts_with('{')) && sets.len() < 64 {
        add(sets, name.to_owned());
    }
}

fn add(list: &mut Vec<String>, value: String) {
    if list.len() < 64 && !list.contains(&value) {
        list.push(value);
    }
}

/// Returns the value that a text appends to `stepsCompleted`.
fn records(page: &MarkdownPage<'_>, own: Own<'_>) -> Option<(Json, u32)> {
    let number = step_number(own.stem);
    let mut found: Option<(Json, u32)> = None;
    let mut named: Option<(Json, u32)> = None;
    for line in page.lines.iter().filter(|line| !line.excluded) {
        let Some(at) = line.content.find("stepsCompleted") else { continue };
        let rest = line.content.get(at..).unwrap_or_default();
        let after =
            rest.trim_start_matches("stepsCompleted").trim_start_matches(['`', '*', '"', ' ']);
        let lower = line.content.to_ascii_lowercase();
        let condition =
            super::setting::is_condition(&lower) || has_any(&lower, &["example", "e.g"]);
        if let Some(list) =
            after.strip_prefix([':', '=']).map(|rest| rest.trim_start_matches(['`', ' ']))
        {
            let Some(inside) = list.strip_prefix('[').and_then(|list| list.split(']').next())
            else {
                continue;
            };
            let Some(last) =
                inside.rsplit(',').next().map(str::trim).filter(|last| !last.is_empty())
            else {
                continue;
            };
            let value = match last.parse::<u32>() {
                Ok(value) => Json::from(value),
                Err(_) => match last.trim_matches(['"', '\'', '`']) {
                    name if name.starts_with("step") => Json::from(name),
                    _ => continue,
                },
            };
            if condition {
                continue;
            }
            // The own number is the right one where a text disagrees with itself.
            let own_number = number.as_deref().and_then(|number| number.parse::<u32>().ok());
            let is_own = own_number.is_some_and(|number| value == number);
            if found.is_none() || is_own {
                found = Some((value, line.number));
            }
            continue;
        }
        let adds = has_any(
            &lower,
            &["add", "adding", "append", "added", "update", "updating", "push", "record"],
        );
        if adds
            && !condition
            && named.is_none()
            && has_any(
                &lower,
                &[
                    "step name",
                    "this step",
                    "append step",
                    "name of this step",
                    "file name",
                    "filename",
                ],
            )
        {
            let file = has_any(&lower, &["file name", "filename"]);
            let name = if file {
                format!("{}.md", own.stem)
            } else {
                own.keys.get("name").cloned().unwrap_or_else(|| own.stem.to_owned())
            };
            named = Some((Json::from(name), line.number));
        }
    }
    found.or(named)
}

/// Returns the number in the stem of a step, such as `02b`.
pub(super) fn step_number(stem: &str) -> Option<String> {
    let start = stem.find(|c: char| c.is_ascii_digit())?;
    let number: String =
        stem.get(start..)?.chars().take_while(char::is_ascii_alphanumeric).collect();
    let trimmed = number.trim_start_matches('0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}
