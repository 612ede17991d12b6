//! Detection of a source by its shape: which folders of it hold content, and of which kind.

use std::collections::BTreeSet;

use crate::paths::{is_below, name_of};

/// Kind of a source. Where a source is of several kinds, the first of this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// A project with an installation.
    Installation,
    /// Folders of skills, or one skill.
    Skills,
    /// Modules as their authors keep them.
    Tree,
    /// A folder with one workflow.
    Workflow,
    /// An installation of the time before modules.
    OldInstallation,
}

impl SourceKind {
    /// Returns the word in the report.
    pub fn word(self) -> &'static str {
        match self {
            Self::Installation => "installation",
            Self::Skills => "skills",
            Self::Tree => "tree",
            Self::Workflow => "workflow",
            Self::OldInstallation => "old-installation",
        }
    }
}

/// Names of an installation's folder.
pub(crate) const ROOT_NAMES: [&str; 3] = ["_bmad", ".bmad", "bmad"];
const OLD_ROOT_NAMES: [&str; 2] = [".bmad-core", "bmad-core"];
/// Folders of skills that are looked at before all others.
const SKILL_FOLDERS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// Names of files and folders that are never content.
const LITTER: [&str; 11] = [
    ".git",
    ".svn",
    ".hg",
    ".jj",
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "__MACOSX",
    "__pycache__",
    "node_modules",
    ".pytest_cache",
];

/// Folders of a source that hold content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceShape {
    /// Installations, the newest shape first.
    pub(crate) installations: Vec<String>,
    /// Folders of skills; the empty one is the source itself.
    pub(crate) skill_folders: Vec<String>,
    /// The source is one skill.
    pub(crate) is_skill: bool,
    /// Folders with a `module.yaml`.
    pub(crate) modules: Vec<String>,
    /// The source is a folder with one workflow.
    pub(crate) is_workflow: bool,
    pub(crate) old_installations: Vec<String>,
    /// The source has folders only, as the folder of a tree's modules has.
    has_only_folders: bool,
    is_package: bool,
}

/// Detects a foreign source by the names of its files.
pub fn is_foreign(paths: &mut dyn Iterator<Item = &str>) -> Option<SourceKind> {
    SourceShape::detect(paths)?.kind()
}

/// Returns true if a conversion may read this file of a folder. It is the rule for one name; [`SourceShape::wants`]
/// knows the folder, and keeps a reader away from the rest of a project.
pub fn may_hold_content(path: &str) -> bool {
    let is_installers = ROOT_NAMES.iter().any(|root| {
        let rest = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| rest.starts_with("render/") || rest.starts_with("_config/ides/"))
    });
    !path.is_empty() && !is_installers && !path.split('/').any(|part| LITTER.contains(&part))
}

impl SourceShape {
    /// Detects the shape of a folder by the names of its files. Names that are more than four folders deep are not
    /// needed. `None` if nothing was found.
    pub fn detect(paths: &mut dyn Iterator<Item = &str>) -> Option<Self> {
        let mut names = Names::default();
        for path in paths.filter(|path| may_hold_content(path)) {
            names.add(path);
        }
        let shape = names.shape();
        (shape.is_package || shape.kind().is_some()).then_some(shape)
    }

    /// Returns the kind of the source; `None` for a package of our own.
    pub fn kind(&self) -> Option<SourceKind> {
        if self.is_package {
            None
        } else if !self.installations.is_empty() {
            Some(SourceKind::Installation)
        } else if self.is_skill || !self.skill_folders.is_empty() {
            Some(SourceKind::Skills)
        } else if !self.modules.is_empty() {
            Some(SourceKind::Tree)
        } else if self.is_workflow {
            Some(SourceKind::Workflow)
        } else if !self.old_installations.is_empty() {
            Some(SourceKind::OldInstallation)
        } else {
            None
        }
    }

    /// Returns true if a conversion of this source reads the file.
    pub fn wants(&self, path: &str) -> bool {
        if !may_hold_content(path) {
            return false;
        }
        let own =
            [&self.installations, &self.skill_folders, &self.modules, &self.old_installations];
        path == "package.json"
            || self.is_skill
            || self.is_workflow
            || own.into_iter().flatten().any(|folder| is_below(path, folder))
            || self.is_beside_modules(path)
    }

    /// Returns true for a file beside the modules of a tree, which content names; not in a project, whose own code is
    /// in `src/`.
    fn is_beside_modules(&self, path: &str) -> bool {
        let is_beside = |module: &String| {
            is_below(module, "src") && is_below(path, "src") || self.has_only_folders
        };
        self.installations.is_empty() && self.modules.iter().any(is_beside)
    }
}

/// Names that decide about the shape.
#[derive(Default)]
struct Names {
    is_package: bool,
    has_files: bool,
    roots: BTreeSet<Root>,
    skill_folders: BTreeSet<String>,
    is_skill: bool,
    modules: BTreeSet<String>,
    old: BTreeSet<String>,
    has_steps: bool,
    has_entry: bool,
    has_configuration: bool,
    has_instructions: bool,
}

/// Evidence for an installation; the newest shape is the smallest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Root {
    age: u8,
    name: usize,
    folder: String,
}

impl Names {
    fn add(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('/').take(6).collect();
        match parts.as_slice() {
            ["bmad.json"] => self.is_package = true,
            ["SKILL.md"] => self.is_skill = true,
            ["module.yaml"] => self.add_module(""),
            [folder, "module.yaml"] | ["src", folder, "module.yaml"] => {
                let folder = path.strip_suffix("/module.yaml").unwrap_or(folder);
                if !ROOT_NAMES.contains(&parts[0]) {
                    self.add_module(folder);
                }
            }
            [folder, "SKILL.md"] if !folder.starts_with('.') => {
                self.skill_folders.insert(String::new());
            }
            [hidden, "skills", _, "SKILL.md"] if hidden.starts_with('.') => {
                self.skill_folders.insert(format!("{hidden}/skills"));
            }
            [root, "core-config.yaml"] if OLD_ROOT_NAMES.contains(root) => {
                self.old.insert((*root).to_owned());
            }
            _ => {}
        }
        self.add_root(&parts);
        self.add_workflow(&parts);
    }

    fn add_module(&mut self, folder: &str) {
        self.modules.insert(folder.to_owned());
    }

    fn add_root(&mut self, parts: &[&str]) {
        let age = |rest: &[&str]| match rest {
            ["config.toml"] => Some(0),
            ["_config", "manifest.yaml"] => Some(1),
            ["_cfg", "manifest.yaml"] => Some(2),
            [folder, "config.yaml"] if *folder != "_memory" => Some(3),
            _ => None,
        };
        let [first, rest @ ..] = parts else { return };
        if let Some(name) = ROOT_NAMES.iter().position(|name| name == first)
            && let Some(age) = age(rest)
        {
            self.roots.insert(Root { age, name, folder: (*first).to_owned() });
        }
        // The folder of an installation itself.
        if let Some(age @ (1 | 2)) = age(parts) {
            self.roots.insert(Root { age, name: ROOT_NAMES.len(), folder: String::new() });
        }
    }

    fn add_workflow(&mut self, parts: &[&str]) {
        let Some(name) = parts.last() else { return };
        self.has_files |= parts.len() == 1;
        match parts.len() {
            1 => {
                self.has_entry |= is_entry_name(name);
                self.has_configuration |= name.ends_with(".yaml") || name.ends_with(".yml");
                self.has_instructions |= name.contains("instructions")
                    && (name.ends_with(".md") || name.ends_with(".xml"));
                self.has_steps |= is_step_name(name);
            }
            2 => self.has_steps |= is_step_name(name),
            _ => {}
        }
    }

    fn shape(self) -> SourceShape {
        let mut installations: Vec<String> = Vec::new();
        for root in self.roots {
            if !installations.contains(&root.folder) {
                installations.push(root.folder);
            }
        }
        // The folder of an installation itself holds skills and modules of its own.
        let is_inside = installations.iter().any(String::is_empty);
        let mut skill_folders: Vec<String> = self
            .skill_folders
            .into_iter()
            .filter(|folder| !(is_inside && folder.is_empty()))
            .collect();
        skill_folders.sort_by_key(|folder| {
            let known = SKILL_FOLDERS.iter().position(|known| known == folder);
            (known.unwrap_or(SKILL_FOLDERS.len()), folder.clone())
        });
        let modules: Vec<String> =
            if is_inside { Vec::new() } else { self.modules.into_iter().collect() };
        let is_alone = installations.is_empty() && skill_folders.is_empty() && modules.is_empty();
        let is_skill = self.is_skill && is_alone;
        let is_workflow = is_alone
            && !is_skill
            && (self.has_entry && self.has_steps
                || self.has_configuration && self.has_instructions);
        SourceShape {
            installations,
            skill_folders,
            is_skill,
            modules,
            is_workflow,
            old_installations: self.old.into_iter().collect(),
            has_only_folders: !self.has_files,
            is_package: self.is_package,
        }
    }
}

/// Returns true for the name of an entry file of a workflow.
pub(crate) fn is_entry_name(name: &str) -> bool {
    let stem = name.strip_suffix(".md");
    stem.is_some_and(|stem| stem == "workflow" || stem.starts_with("workflow-"))
}

/// Returns true for the name of a step file.
pub(crate) fn is_step_name(name: &str) -> bool {
    name.ends_with(".md") && (name.starts_with("step-") || name.starts_with("step_"))
}

/// Returns true for configuration of a project or a person, which is read and never copied.
pub(crate) fn is_configuration(below_root: &str) -> bool {
    let name = name_of(below_root);
    let parts: Vec<&str> = below_root.split('/').collect();
    name.contains(".user.")
        || parts.first() == Some(&"_memory")
        || matches!(parts.as_slice(), ["config.toml" | "core-config.yaml"])
        || matches!(parts.as_slice(), [_, "config.yaml"] | ["custom", "config.toml"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(paths: &[&str]) -> Option<SourceShape> {
        SourceShape::detect(&mut paths.iter().copied())
    }

    fn check_kind(paths: &[&str], expected: Option<SourceKind>) {
        assert_eq!(is_foreign(&mut paths.iter().copied()), expected, "{paths:?}");
    }

    #[test]
    fn a_source_is_recognised_by_its_shape() {
        let installation = Some(SourceKind::Installation);
        check_kind(&["_bmad/_config/manifest.yaml", "src/main.rs"], installation);
        check_kind(&[".bmad/_cfg/manifest.yaml"], installation);
        check_kind(&["bmad/xyz/config.yaml"], installation);
        check_kind(&["_bmad/config.toml", ".claude/skills/a/SKILL.md"], installation);
        check_kind(&["_config/manifest.yaml", "core/config.yaml"], installation);
        check_kind(&["bmad/readme.md"], None);
        check_kind(&[".cursor/skills/a/SKILL.md"], Some(SourceKind::Skills));
        check_kind(&["a/SKILL.md", "b/SKILL.md"], Some(SourceKind::Skills));
        check_kind(&["SKILL.md", "references/x.md"], Some(SourceKind::Skills));
        for module in ["module.yaml", "src/module.yaml", "src/a/module.yaml", "a/module.yaml"] {
            check_kind(&[module, "readme.md"], Some(SourceKind::Tree));
        }
        check_kind(&["docs/a/b/module.yaml"], None);
        check_kind(&["workflow.md", "steps/step-01.md"], Some(SourceKind::Workflow));
        check_kind(&["workflow.yaml", "instructions.xml"], Some(SourceKind::Workflow));
        check_kind(&["workflow.md"], None);
        check_kind(&[".bmad-core/core-config.yaml"], Some(SourceKind::OldInstallation));
        check_kind(&["bmad.json", "_bmad/config.toml"], None);
        check_kind(&["README.md", "src/main.rs"], None);
        check_kind(&[], None);
    }

    #[test]
    fn the_rest_of_a_project_is_not_read() {
        let shape = detect(&[
            "_bmad/_config/manifest.yaml",
            ".claude/skills/a/SKILL.md",
            "src/main.rs",
            "package.json",
        ])
        .unwrap();
        for wanted in ["_bmad/core/x.md", ".claude/skills/a/b/c.md", "package.json"] {
            assert!(shape.wants(wanted), "{wanted}");
        }
        for other in [
            "src/main.rs",
            "docs/a.md",
            ".claude/settings.json",
            "_bmad/render/x/y.md",
            "_bmad/_config/ides/a.yaml",
            "_bmad/core/node_modules/x/y.js",
        ] {
            assert!(!shape.wants(other), "{other}");
        }
    }

    #[test]
    fn the_newest_shape_comes_first() {
        let shape = detect(&[
            "bmad/core/config.yaml",
            "_bmad/_config/manifest.yaml",
            ".bmad/config.toml",
            ".zed/skills/a/SKILL.md",
            ".agents/skills/a/SKILL.md",
        ])
        .unwrap();
        assert_eq!(shape.installations, [".bmad", "_bmad", "bmad"]);
        assert_eq!(shape.skill_folders, [".agents/skills", ".zed/skills"]);
    }

    #[test]
    fn configuration_is_told_from_content() {
        for path in [
            "config.toml",
            "bmm/config.yaml",
            "custom/config.toml",
            "custom/x.user.toml",
            "_memory/a/b.md",
        ] {
            assert!(is_configuration(path), "{path}");
        }
        for path in ["bmm/data/config.yaml", "custom/skill.toml", "_config/manifest.yaml"] {
            assert!(!is_configuration(path), "{path}");
        }
    }
}
