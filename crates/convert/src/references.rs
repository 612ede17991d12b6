//! References between files: a written path, in any spelling, becomes a file of the source.

use crate::detect::ROOT_NAMES;
use crate::source_tree::{SourceTree, folder_of, join, name_of};

/// Longest text that can be a path.
const MAX_PATH_BYTES: usize = 512;
/// Endings of files that content names.
const ENDINGS: [&str; 14] = [
    "md", "yaml", "yml", "xml", "csv", "toml", "json", "txt", "py", "js", "html", "sh", "mjs", "ts",
];
/// Placeholders that stand for the folder of the workflow or skill.
const BASES: [&str; 8] = [
    "installed_path",
    "installed-path",
    "workflow_path",
    "workflow-path",
    "skill-root",
    "skill_root",
    "skill_path",
    "skill-path",
];
/// Placeholders that stand for the project.
const PROJECTS: [&str; 4] = ["project-root", "project_root", "project-path", "project_path"];
/// Folders below a root that installers write, so that a source need not have them.
const GENERATED: [&str; 6] = ["_config", "_cfg", "_memory", "custom", "render", "_data"];

/// Target of a written path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceTarget {
    /// A file of the source.
    File(String),
    /// A folder of the source.
    Folder(String),
    /// A path of the source that has no file there; for findings.
    Missing(String),
    /// A path of the project, the run or the user's computer, or one with a hole.
    Elsewhere,
    /// No path at all.
    NotAPath,
}

impl ReferenceTarget {
    /// Returns the file, if it is one.
    pub(crate) fn file(self) -> Option<String> {
        if let Self::File(path) = self { Some(path) } else { None }
    }
}

/// Text that holds a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenAt<'a> {
    /// File that holds the text.
    pub(crate) file: &'a str,
    /// Folder of the workflow or skill, which `{installed_path}` and `{skill-root}` mean.
    pub(crate) base: &'a str,
}

/// Resolves written paths.
pub(crate) struct References<'a> {
    tree: &'a SourceTree<'a>,
}

/// Beginning of a path, resolved.
enum Start<'p> {
    /// Below the root that content calls `_bmad`.
    Root(&'p str),
    /// Below the folder of the workflow or skill.
    Base(&'p str),
    /// Below the folder of the file: `./` or `../`.
    Beside(&'p str),
    /// Begins with another placeholder, which could stand for the folder of the workflow.
    Hole(&'p str),
    /// Below the project or absolute.
    Outside,
    /// A bare path.
    Bare(&'p str),
}

impl<'a> References<'a> {
    /// Makes a resolver for a source.
    pub(crate) fn new(tree: &'a SourceTree<'a>) -> Self {
        Self { tree }
    }

    /// Resolves a path: from the BMAD root (by any name or placeholder), from the file, from the folder of the workflow
    /// or skill, or a bare name that only one file nearby has.
    pub(crate) fn resolve(&self, written: &str, at: WrittenAt<'_>) -> ReferenceTarget {
        let text = bare(written);
        if !looks_like_path(text) {
            return self.skill(text).map_or(ReferenceTarget::NotAPath, ReferenceTarget::File);
        }
        let text = text.replace('\\', "/");
        let start = self.start(&text);
        let rest = match &start {
            Start::Root(rest)
            | Start::Base(rest)
            | Start::Beside(rest)
            | Start::Hole(rest)
            | Start::Bare(rest) => rest.trim_end_matches('/'),
            Start::Outside => return ReferenceTarget::Elsewhere,
        };
        if rest.contains(['{', '}', '*', '<', '>', '[', ']', '?', '$', '|']) {
            return ReferenceTarget::Elsewhere;
        }
        match start {
            Start::Root(_) => self.below_root(rest),
            Start::Base(_) => {
                self.found(&join(at.base, rest)).unwrap_or_else(|| missing(at.base, rest))
            }
            Start::Hole(_) => self.found_near(rest, at).unwrap_or(ReferenceTarget::Elsewhere),
            Start::Beside(_) => self.beside(rest, at),
            Start::Bare(_) => self.bare(rest, at),
            Start::Outside => ReferenceTarget::Elsewhere,
        }
    }

    /// Returns the `SKILL.md` of a skill by the skill's name.
    pub(crate) fn skill(&self, name: &str) -> Option<String> {
        let name = name.trim().trim_start_matches('/');
        let name = name.strip_prefix("skill:").unwrap_or(name);
        let folder = self.tree.skills().get(name)?;
        Some(join(folder, "SKILL.md"))
    }

    fn start<'p>(&self, text: &'p str) -> Start<'p> {
        let text = text.strip_prefix("@pkg/").unwrap_or(text);
        let text = text.strip_prefix('@').unwrap_or(text);
        if let Some((name, rest)) = placeholder(text) {
            if BASES.contains(&name) {
                return Start::Base(rest);
            }
            if PROJECTS.contains(&name) {
                return self.below_project(rest);
            }
            return if names_root(name) { Start::Root(rest) } else { Start::Hole(rest) };
        }
        if text.starts_with("./") || text.starts_with("../") {
            return Start::Beside(text);
        }
        if text.starts_with(['/', '~']) || text.contains("://") {
            return Start::Outside;
        }
        let (first, rest) = text.split_once('/').unwrap_or((text, ""));
        if ROOT_NAMES.contains(&first) && !rest.is_empty() {
            return Start::Root(rest);
        }
        Start::Bare(text)
    }

    /// Resolves what follows the project's root: the BMAD root by any name, skills, or a file of the project.
    fn below_project<'p>(&self, rest: &'p str) -> Start<'p> {
        if let Some((name, below)) = placeholder(rest) {
            let first = below.split('/').next().unwrap_or_default();
            let is_root = names_root(name) || self.tree.modules().contains_key(first);
            return if is_root { Start::Root(below) } else { Start::Outside };
        }
        let (first, below) = rest.split_once('/').unwrap_or((rest, ""));
        if ROOT_NAMES.contains(&first) && !below.is_empty() {
            return Start::Root(below);
        }
        if first.starts_with('.')
            && let Some(below) = below.strip_prefix("skills/")
        {
            return Start::Root(below);
        }
        Start::Outside
    }

    fn below_root(&self, rest: &str) -> ReferenceTarget {
        let mut tries = vec![format!("bmad/{rest}")];
        let parts: Vec<&str> = rest.split('/').collect();
        if let Some(at) = parts.iter().position(|part| self.tree.skills().contains_key(*part)) {
            tries.push(format!("skills/{}", parts.get(at..).unwrap_or_default().join("/")));
        }
        // A tree says `src/modules/x` for what is installed as `_bmad/x`.
        let without =
            rest.strip_prefix("src/").map(|rest| rest.strip_prefix("modules/").unwrap_or(rest));
        tries.extend(without.map(|rest| format!("bmad/{rest}")));
        for place in tries {
            if let Some(path) = self.tree.at_package_path(&place) {
                return ReferenceTarget::File(path.to_owned());
            }
            if self.tree.has_package_folder(&place) {
                return ReferenceTarget::Folder(place);
            }
        }
        let first = parts.first().copied().unwrap_or_default();
        let is_generated =
            GENERATED.contains(&first) || matches!(parts.as_slice(), [_] | [_, "config.yaml"]);
        if is_generated {
            ReferenceTarget::Elsewhere
        } else {
            ReferenceTarget::Missing(format!("_bmad/{rest}"))
        }
    }

    fn beside(&self, rest: &str, at: WrittenAt<'_>) -> ReferenceTarget {
        let folder = folder_of(at.file);
        let Some(path) = walk(folder, rest) else { return ReferenceTarget::Elsewhere };
        let other = walk(at.base, rest);
        self.found(&path)
            .or_else(|| self.found(other.as_deref()?))
            .unwrap_or(ReferenceTarget::Missing(path))
    }

    fn bare(&self, rest: &str, at: WrittenAt<'_>) -> ReferenceTarget {
        if let Some(found) = self.found_near(rest, at) {
            return found;
        }
        if rest.contains('/') {
            let below = self.below_root(rest);
            if matches!(below, ReferenceTarget::File(_) | ReferenceTarget::Folder(_)) {
                return below;
            }
        }
        ReferenceTarget::Elsewhere
    }

    /// Looks beside the file, in the folder of the workflow, and for a bare name that one file nearby has.
    fn found_near(&self, rest: &str, at: WrittenAt<'_>) -> Option<ReferenceTarget> {
        let near = [folder_of(at.file), at.base];
        for folder in near {
            if let Some(found) = walk(folder, rest).and_then(|path| self.found(&path)) {
                return Some(found);
            }
        }
        if rest.contains('/') {
            return None;
        }
        near.into_iter().find_map(|folder| {
            let mut same = self.tree.below(folder).filter(|path| name_of(path) == rest);
            let first = same.next()?;
            (!folder.is_empty() && same.next().is_none())
                .then(|| ReferenceTarget::File(first.to_owned()))
        })
    }

    fn found(&self, path: &str) -> Option<ReferenceTarget> {
        if self.tree.package_path(path).is_some() {
            let path = self.tree.double_of(path).unwrap_or(path);
            return Some(ReferenceTarget::File(path.to_owned()));
        }
        let is_folder = !path.is_empty() && self.tree.below(path).next().is_some();
        is_folder.then(|| ReferenceTarget::Folder(path.to_owned()))
    }
}

fn missing(base: &str, rest: &str) -> ReferenceTarget {
    walk(base, rest).map_or(ReferenceTarget::Elsewhere, ReferenceTarget::Missing)
}

/// Resolves `.` and `..` below a folder; `None` if the path leaves the source.
fn walk(folder: &str, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns a written path without quotes, brackets and a sign for including around it.
fn bare(written: &str) -> &str {
    let text = written.trim().trim_matches(['`', '"', '\'']).trim();
    let snapshot = text.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    match snapshot.and_then(|inside| inside.split_once(':')) {
        Some((_, path)) => path.trim(),
        None => text,
    }
}

fn looks_like_path(text: &str) -> bool {
    if text.is_empty() || text.len() > MAX_PATH_BYTES || text.contains(['\n', '\t']) {
        return false;
    }
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    let has_ending = ending.is_some_and(|ending| ENDINGS.contains(&ending));
    let starts_well = text.starts_with(['{', '.', '_', '@', '/'])
        || text.chars().next().is_some_and(char::is_alphanumeric);
    starts_well && (has_ending || text.contains('/')) && !text.contains(": ")
}

/// Splits a leading placeholder off a path: its name, and what follows the slash.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = match text.strip_prefix("{{") {
        Some(inside) => inside.split_once("}}")?,
        None => text.strip_prefix('{')?.split_once('}')?,
    };
    Some((inside.trim().trim_start_matches('.'), rest.strip_prefix('/')?))
}

/// Returns true for a placeholder that stands for the name of the root.
fn names_root(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("bmad")
        && ["folder", "path", "root", "dir"].iter().any(|part| name.contains(part))
        || name == "bmad"
        || name == "_bmad"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConvertOptions;
    use crate::source_files::SourceFiles;

    const FILES: [&str; 9] = [
        "_bmad/_config/manifest.yaml",
        "_bmad/abc/workflows/one/workflow.md",
        "_bmad/abc/workflows/one/steps/step-01-a.md",
        "_bmad/abc/workflows/one/steps/step-02-b.md",
        "_bmad/abc/workflows/two/steps/step-01-a.md",
        "_bmad/abc/tasks/t.xml",
        "_bmad/abc/data/list.csv",
        ".claude/skills/hello/SKILL.md",
        ".claude/skills/hello/references/r.md",
    ];

    fn check(written: &str, expected: ReferenceTarget) {
        let mut files = SourceFiles::default();
        for path in FILES {
            files.insert(path, *b"x");
        }
        let options = ConvertOptions::default();
        let tree = SourceTree::new(&files, &options);
        let at = WrittenAt {
            file: "_bmad/abc/workflows/one/steps/step-01-a.md",
            base: "_bmad/abc/workflows/one",
        };
        assert_eq!(References::new(&tree).resolve(written, at), expected, "{written}");
    }

    fn check_file(written: &str, expected: &str) {
        check(written, ReferenceTarget::File(expected.to_owned()));
    }

    #[test]
    fn a_path_is_found_in_every_spelling() {
        let second = "_bmad/abc/workflows/one/steps/step-02-b.md";
        for written in [
            "{project-root}/_bmad/abc/workflows/one/steps/step-02-b.md",
            "{project-root}/.bmad/abc/workflows/one/steps/step-02-b.md",
            "{project-root}/{bmad_folder}/abc/workflows/one/steps/step-02-b.md",
            "{project-root}/{anything}/abc/workflows/one/steps/step-02-b.md",
            "@{project-root}/_bmad/abc/workflows/one/steps/step-02-b.md",
            "_bmad/abc/workflows/one/steps/step-02-b.md",
            "bmad/abc/workflows/one/steps/step-02-b.md",
            "{installed_path}/steps/step-02-b.md",
            "{workflow_path}/steps/step-02-b.md",
            "{some_path}/steps/step-02-b.md",
            "./step-02-b.md",
            "./steps/step-02-b.md",
            "../steps/step-02-b.md",
            "steps/step-02-b.md",
            "step-02-b.md",
            "`step-02-b.md`",
            "[[bmad-snapshot:step-02-b.md]]",
            "abc/workflows/one/steps/step-02-b.md",
        ] {
            check_file(written, second);
        }
        check_file("{project-root}/_bmad/abc/hello/SKILL.md", ".claude/skills/hello/SKILL.md");
        check_file(
            "{project-root}/.claude/skills/hello/references/r.md",
            ".claude/skills/hello/references/r.md",
        );
        check_file("hello", ".claude/skills/hello/SKILL.md");
        check_file("skill:hello", ".claude/skills/hello/SKILL.md");
    }

    #[test]
    fn what_is_not_here_is_missing_and_what_is_elsewhere_is_left_alone() {
        let missing = |path: &str| ReferenceTarget::Missing(path.to_owned());
        check("{project-root}/_bmad/abc/none.md", missing("_bmad/abc/none.md"));
        check("./none.md", missing("_bmad/abc/workflows/one/steps/none.md"));
        check("{installed_path}/none.md", missing("_bmad/abc/workflows/one/none.md"));
        for elsewhere in [
            "{project-root}/docs/x.md",
            "{output_folder}/x.md",
            "{project-root}/_bmad/_config/agent-manifest.csv",
            "{project-root}/_bmad/abc/config.yaml",
            "./step-{n}.md",
            "{planning_artifacts}/*prd*.md",
            "/etc/passwd.md",
            "https://example.org/x.md",
            "../../../../../../x.md",
        ] {
            check(elsewhere, ReferenceTarget::Elsewhere);
        }
        for no_path in ["", "hello there", "C", "a: b/c", "step"] {
            check(no_path, ReferenceTarget::NotAPath);
        }
        check(
            "{project-root}/_bmad/abc/workflows/two",
            ReferenceTarget::Folder("bmad/abc/workflows/two".to_owned()),
        );
    }
}
