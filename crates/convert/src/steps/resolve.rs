//! Files behind the mentions of one text: steps, workflows and other files of the source.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use crate::references::{ReferenceTarget, References, WrittenAt};
use crate::source_tree::{SourceTree, folder_of, join, name_of};

use super::mention::{Mention, Spelling, mentions};
use super::words::natural;

/// Most names that are replaced inside of each other.
const MAX_DEPTH: usize = 8;

/// File that a mention means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// A step file.
    Step(String),
    /// The file of a workflow, a task or a skill.
    Workflow(String),
    /// Another file of the source.
    File(String),
}

/// Names and folders against which the mentions of one file are resolved.
pub(super) struct Resolver<'t> {
    tree: &'t SourceTree<'t>,
    references: &'t References<'t>,
    file: String,
    base: String,
    /// Values of names, the nearest first: of the file, of its workflow.
    names: [BTreeMap<String, String>; 2],
    known: RefCell<HashMap<String, Option<Meant>>>,
    beside: RefCell<HashMap<String, Option<String>>>,
}

/// Mention whose file was found.
#[derive(Clone, Debug)]
pub(super) struct FoundFile<'a> {
    pub(super) mention: Mention<'a>,
    pub(super) meant: Meant,
}

impl<'t> Resolver<'t> {
    /// Makes a resolver for a file of a workflow whose folder is `base`.
    pub(super) fn new(
        tree: &'t SourceTree<'t>,
        references: &'t References<'t>,
        (file, base): (&str, &str),
        names: [BTreeMap<String, String>; 2],
    ) -> Self {
        Self {
            tree,
            references,
            file: file.to_owned(),
            base: base.to_owned(),
            names,
            known: RefCell::default(),
            beside: RefCell::default(),
        }
    }

    /// Returns the path of the text.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the value of a name as it is written.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.names.iter().find_map(|names| names.get(name)).map(String::as_str)
    }

    /// Finds the files that a line mentions.
    pub(super) fn found<'a>(&self, line: &'a str) -> Vec<FoundFile<'a>> {
        let all = mentions(line).into_iter();
        all.filter_map(|mention| Some(FoundFile { mention, meant: self.file_of(mention.written)? }))
            .collect()
    }

    /// Returns the file that a mention means.
    pub(super) fn file_of(&self, written: Spelling<'_>) -> Option<Meant> {
        match written {
            Spelling::Name(name) => self.path(self.value(name)?),
            Spelling::Path(path) => self.path(path),
            Spelling::Word(word) => {
                let file = self.references.skill(word)?;
                self.tree.files().contains(&file).then_some(Meant::Workflow(file))
            }
        }
    }

    /// Returns the file behind a written path.
    pub(super) fn path(&self, written: &str) -> Option<Meant> {
        if let Some(known) = self.known.borrow().get(written) {
            return known.clone();
        }
        let meant = self.search(written);
        self.known.borrow_mut().insert(written.to_owned(), meant.clone());
        meant
    }

    fn search(&self, written: &str) -> Option<Meant> {
        let path = self.expanded(written);
        if path.contains('*') {
            return None;
        }
        let at = WrittenAt { file: &self.file, base: &self.base };
        match self.references.resolve(&path, at) {
            ReferenceTarget::File(file) => Some(self.kind(file)),
            ReferenceTarget::Folder(folder) => {
                let entry = ["workflow.md", "SKILL.md", "workflow.yaml", "workflow.xml"]
                    .into_iter()
                    .map(|name| join(&folder, name))
                    .find(|file| self.tree.files().contains(file))?;
                Some(Meant::Workflow(entry))
            }
            ReferenceTarget::Missing(_)
            | ReferenceTarget::Elsewhere
            | ReferenceTarget::NotAPath => None,
        }
    }

    fn kind(&self, file: String) -> Meant {
        if is_step_file(&file) {
            Meant::Step(file)
        } else if is_workflow_file(&file) {
            Meant::Workflow(file)
        } else {
            Meant::File(file)
        }
    }

    /// Returns a written path with the names replaced that the workflow gives a value.
    pub(super) fn expanded(&self, written: &str) -> String {
        let mut text = written.to_owned();
        for _ in 0..MAX_DEPTH {
            let Some((start, end, value)) = self.first_name(&text) else { break };
            if text.len() + value.len() > 4096 {
                break;
            }
            let value = value.to_owned();
            text.replace_range(start..end, &value);
        }
        text
    }

    fn first_name(&self, text: &str) -> Option<(usize, usize, &str)> {
        let mut from = 0;
        loop {
            let start = from + text.get(from..)?.find('{')?;
            let length = text.get(start..)?.find('}')? + 1;
            let mut end = start + length;
            if text.get(start..)?.starts_with("{{") && text.get(end..)?.starts_with('}') {
                end += 1;
            }
            let name = text.get(start..end)?.trim_matches(['{', '}']);
            match self.value(name) {
                Some(value) if !value.contains(&format!("{{{name}}}")) => {
                    return Some((start, end, value));
                }
                _ => from = start + 1,
            }
        }
    }

    /// Finds the step beside this one whose file name begins so, such as `step-03`, if there is one.
    pub(super) fn step_beside(&self, prefix: &str) -> Option<String> {
        if let Some(known) = self.beside.borrow().get(prefix) {
            return known.clone();
        }
        let step = self.search_beside(prefix);
        self.beside.borrow_mut().insert(prefix.to_owned(), step.clone());
        step
    }

    fn search_beside(&self, prefix: &str) -> Option<String> {
        let folder = folder_of(&self.file);
        let mut hits = self
            .tree
            .below(folder)
            .filter(|path| folder_of(path) == folder && is_step_file(path))
            .filter(|path| {
                let rest = name_of(path).strip_prefix(prefix);
                rest.is_some_and(|rest| rest.starts_with(['-', '_', '.']))
            });
        let first = hits.next()?;
        hits.next().is_none().then(|| first.to_owned())
    }
}

/// Returns true for a Markdown file that is named like a step or lies in a folder of steps.
pub(super) fn is_step_file(path: &str) -> bool {
    let Some(stem) = stem(path) else { return false };
    if is_entry_name(path) {
        return false;
    }
    let folder = name_of(folder_of(path)).to_ascii_lowercase();
    has_step_name(path)
        || folder.strip_prefix("step").is_some_and(|rest| {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            rest.is_empty() || rest.starts_with(['-', '_'])
        })
        || (folder.ends_with("-steps") || folder.ends_with("_steps")) && !stem.is_empty()
}

/// Returns true for a Markdown file named `step-*`, `step_*` or like `step1`.
pub(super) fn has_step_name(path: &str) -> bool {
    let stem = stem(path).unwrap_or_default().to_ascii_lowercase();
    stem.strip_prefix("step").is_some_and(|rest| {
        rest.starts_with(['-', '_']) || rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns true for a file that can be the entry of a workflow.
pub(super) fn is_entry_name(path: &str) -> bool {
    let Some(stem) = stem(path) else { return false };
    let stem = stem.to_ascii_lowercase();
    stem == "workflow"
        || stem == "skill"
        || stem.starts_with("workflow-")
        || stem.starts_with("workflow_")
}

/// Returns true for a file that is a workflow, a task or a skill of its own.
fn is_workflow_file(path: &str) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    let document = [".md", ".yaml", ".yml", ".xml"].iter().any(|end| name.ends_with(end));
    let folder = name_of(folder_of(path)).to_ascii_lowercase();
    is_entry_name(path)
        || name.ends_with(".xml")
        || (document
            && (name.starts_with("workflow.") || matches!(folder.as_str(), "tasks" | "task")))
}

/// Returns the name of a Markdown file without its extension.
pub(super) fn stem(path: &str) -> Option<&str> {
    let name = name_of(path);
    let (stem, extension) = name.rsplit_once('.')?;
    extension.eq_ignore_ascii_case("md").then_some(stem)
}

/// Sorts paths as people count, folder by folder.
pub(super) fn sort_naturally(paths: &mut [String]) {
    paths.sort_by(|one, two| natural(one, two));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_known_by_name_or_folder() {
        for path in [
            "a/step-01.md",
            "step_2.md",
            "a/steps/intro.md",
            "x/steps-c/a.md",
            "x/new-steps/a.md",
            "s/Step1.md",
        ] {
            assert!(is_step_file(path), "{path}");
        }
        for path in [
            "a/stepping.md",
            "steps/workflow.md",
            "steps/SKILL.md",
            "steps/data.csv",
            "footsteps/a.md",
        ] {
            assert!(!is_step_file(path), "{path}");
        }
    }

    #[test]
    fn entries_and_tasks_are_known_by_name() {
        for path in [
            "a/workflow.md",
            "a/workflow-new.md",
            "s/SKILL.md",
            "a/workflow.xml",
            "core/tasks/help.md",
            "t/x.xml",
        ] {
            assert!(is_workflow_file(path), "{path}");
        }
        for path in ["a/template.md", "a/workflows.md", "tasks/data.csv"] {
            assert!(!is_workflow_file(path), "{path}");
        }
    }
}
