//! Scope of a source: the folders in which its content lies, found by names alone, so that the rest of a project is never
//! scanned.

use crate::may_hold_content;

/// Names that the root of an installation has.
const ROOTS: [&str; 3] = ["_bmad", ".bmad", "bmad"];
/// Folders of an installation of the fourth version or older.
const OLD_ROOTS: [&str; 2] = [".bmad-core", "bmad-core"];
/// Folders that are never content, at any depth.
const IGNORED: [&str; 3] = ["node_modules", "__pycache__", "render"];
/// Files at the root of a source that are read besides its content: they say what version it is.
const ROOT_FILES: [&str; 1] = ["package.json"];

/// Names of a source, as the place that holds it lists them.
pub trait SourceListing {
    /// Lists the names of the folders in a folder. The empty path is the root.
    fn folders(&self, folder: &str) -> Vec<String>;

    /// Lists the names of the files in a folder.
    fn files(&self, folder: &str) -> Vec<String>;

    /// Returns true if there is a file of this path.
    fn has_file(&self, path: &str) -> bool;
}

/// Content that a source may be limited to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceContent {
    /// Whatever is there.
    #[default]
    Any,
    /// Installations, trees and workflows, with the skills that belong to them.
    Bmad,
    /// Skills alone.
    Skills,
}

/// Folders of a source in which its content lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceScope {
    /// Paths of the folders, sorted. The empty path is the whole source.
    folders: Vec<String>,
    has_installation: bool,
}

impl SourceScope {
    /// Looks at the root of a source and finds where its content lies. Looks into no other folder than those that could hold some.
    pub fn of(listing: &dyn SourceListing, content: SourceContent) -> Self {
        let mut scope = Self::default();
        let children = listing.folders("");
        if content != SourceContent::Skills {
            scope.add_installations(listing, &children);
            if content == SourceContent::Any || scope.has_installation {
                scope.add_skills(listing, &children);
            }
            scope.add_tree(listing, &children);
        } else {
            scope.add_skills(listing, &children);
        }
        if scope.folders.is_empty() {
            scope.add_itself(listing, &children, content);
        }
        scope.folders.sort();
        scope.folders.dedup();
        scope
    }

    /// Returns true if no content was found.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns true if the source is a project with an installation in it.
    pub fn has_installation(&self) -> bool {
        self.has_installation
    }

    /// Returns true if a folder may hold content, or a folder with content.
    pub fn enters(&self, folder: &str) -> bool {
        let is_above =
            |own: &String| own.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        !is_ignored(folder) && (self.holds(folder) || self.folders.iter().any(is_above))
    }

    /// Returns true if a file is read.
    pub fn takes(&self, file: &str) -> bool {
        let is_told = ROOT_FILES.contains(&file) && !self.is_empty();
        is_told || self.holds(file) && !is_ignored(file) && may_hold_content(file)
    }

    /// Returns true if a path is one of the folders, or lies below one.
    fn holds(&self, path: &str) -> bool {
        self.folders.iter().any(|own| {
            own.is_empty()
                || path
                    .strip_prefix(own.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn add_installations(&mut self, listing: &dyn SourceListing, children: &[String]) {
        for child in children {
            let is_old = OLD_ROOTS.contains(&child.as_str())
                && listing.has_file(&format!("{child}/core-config.yaml"));
            let is_new = ROOTS.contains(&child.as_str()) && is_installation(listing, child);
            if is_old || is_new {
                self.folders.push(child.clone());
                self.has_installation = true;
            }
        }
    }

    fn add_skills(&mut self, listing: &dyn SourceListing, children: &[String]) {
        for child in children.iter().filter(|child| child.starts_with('.')) {
            let folder = format!("{child}/skills");
            if !skills_in(listing, &folder).is_empty() {
                self.folders.push(folder);
            }
        }
    }

    fn add_tree(&mut self, listing: &dyn SourceListing, children: &[String]) {
        let is_module = |folder: &str| listing.has_file(&below(folder, "module.yaml"));
        if is_module("") {
            return self.folders.push(String::new());
        }
        let has_src = children.iter().any(|child| child == "src");
        let in_src = |name: &String| is_module(&below("src", name));
        if has_src && (is_module("src") || listing.folders("src").iter().any(in_src)) {
            return self.folders.push("src".to_owned());
        }
        let modules: Vec<&String> = children.iter().filter(|child| is_module(child)).collect();
        if modules.is_empty() {
            return;
        }
        if self.folders.is_empty() {
            // Modules share files with folders beside them.
            self.folders.push(String::new());
        } else {
            self.folders.extend(modules.into_iter().cloned());
        }
    }

    /// Adds the source if it is itself what others have inside.
    fn add_itself(
        &mut self,
        listing: &dyn SourceListing,
        children: &[String],
        content: SourceContent,
    ) {
        if listing.has_file("SKILL.md") {
            return self.folders.push(String::new());
        }
        let skills = skills_in(listing, "");
        if !skills.is_empty() {
            return self.folders.extend(skills);
        }
        let is_itself = || {
            let has = |name: &str| children.iter().any(|child| child == name);
            let is_module = has("agents") || has("workflows") || has("tasks") || has("skills");
            is_installation(listing, "")
                || listing.has_file("core-config.yaml")
                || is_module && listing.has_file("config.yaml")
                || listing.files("").iter().any(|name| is_entry(name))
        };
        if content != SourceContent::Skills && is_itself() {
            self.folders.push(String::new());
        }
    }
}

/// Returns true if a folder looks like the root of an installation.
fn is_installation(listing: &dyn SourceListing, folder: &str) -> bool {
    let has = |name: &str| listing.has_file(&below(folder, name));
    // A `config.toml` alone would take many a project for an installation of its own.
    has("_config/manifest.yaml")
        || has("_cfg/manifest.yaml")
        || !folder.is_empty()
            && (has("config.toml")
                || listing
                    .folders(folder)
                    .iter()
                    .any(|module| has(&format!("{module}/config.yaml"))))
}

/// Returns true if a file may begin a workflow.
fn is_entry(name: &str) -> bool {
    let is_workflow = |stem: &str| stem == "workflow" || stem.starts_with("workflow-");
    match name.rsplit_once('.') {
        Some((stem, "md")) => is_workflow(stem) || stem == "instructions",
        Some((stem, "yaml" | "yml" | "xml")) => is_workflow(stem),
        Some(_) | None => false,
    }
}

/// Lists the paths of the skills in a folder.
fn skills_in(listing: &dyn SourceListing, folder: &str) -> Vec<String> {
    let names = listing.folders(folder).into_iter();
    let paths = names.map(|name| below(folder, &name));
    paths.filter(|path| !is_ignored(path) && listing.has_file(&below(path, "SKILL.md"))).collect()
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn is_ignored(path: &str) -> bool {
    path.split('/').any(|name| IGNORED.contains(&name))
        || format!("/{path}/").contains("/_config/ides/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of files.
    struct Names(Vec<&'static str>);

    impl SourceListing for Names {
        fn folders(&self, folder: &str) -> Vec<String> {
            let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let names = self.0.iter().filter_map(|path| {
                Some(path.strip_prefix(start.as_str())?.split_once('/')?.0.to_owned())
            });
            let mut names: Vec<String> = names.collect();
            names.sort();
            names.dedup();
            names
        }

        fn files(&self, folder: &str) -> Vec<String> {
            let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let rests = self.0.iter().filter_map(|path| path.strip_prefix(start.as_str()));
            rests.filter(|rest| !rest.contains('/')).map(str::to_owned).collect()
        }

        fn has_file(&self, path: &str) -> bool {
            self.0.contains(&path)
        }
    }

    #[track_caller]
    fn check(files: &[&'static str], expected: &[&str]) {
        let names = Names(files.to_vec());
        assert_eq!(SourceScope::of(&names, SourceContent::Any).folders, expected, "{files:?}");
    }

    #[test]
    fn an_installation_is_read_with_its_skills_and_nothing_else() {
        check(
            &[
                "_bmad/_config/manifest.yaml",
                ".claude/skills/a/SKILL.md",
                "src/main.rs",
                "docs/a.md",
            ],
            &[".claude/skills", "_bmad"],
        );
        check(&[".bmad/_cfg/manifest.yaml"], &[".bmad"]);
        check(&["bmad/config.toml"], &["bmad"]);
        check(&["bmad/core/config.yaml"], &["bmad"]);
        check(&["bmad/notes.md", "_bmad/notes.md"], &[]);
        check(&[".bmad-core/core-config.yaml"], &[".bmad-core"]);
        check(&["_config/manifest.yaml", "core/agents/a.md"], &[""]);
    }

    #[test]
    fn skills_are_found_in_hidden_folders_and_in_the_source_itself() {
        check(
            &[".agents/skills/a/SKILL.md", ".x/skills/b/SKILL.md"],
            &[".agents/skills", ".x/skills"],
        );
        check(&[".claude/skills/a/notes.md", ".claude/settings.json"], &[]);
        check(&["one/SKILL.md", "two/SKILL.md", "three/README.md"], &["one", "two"]);
        check(&["SKILL.md", "references/a.md"], &[""]);
    }

    #[test]
    fn a_tree_is_found_by_its_modules() {
        check(&["module.yaml", "agents/a.yaml"], &[""]);
        check(&["src/module.yaml", "package.json", "docs/a.md"], &["src"]);
        check(&["src/one/module.yaml", "src/shared/a.md", "test/a.js"], &["src"]);
        check(&["one/module.yaml", "shared/a.md"], &[""]);
        check(&["_bmad/config.toml", "one/module.yaml", "app/a.md"], &["_bmad", "one"]);
        check(&["src/main.rs", "README.md"], &[]);
    }

    #[test]
    fn one_workflow_is_a_source() {
        check(&["workflow.md", "steps/step-01.md"], &[""]);
        check(&["workflow.yaml", "instructions.xml"], &[""]);
        check(&["workflows.md", "README.md"], &[]);
        check(&["_bmad/config.toml", "workflow.md"], &["_bmad"]);
    }

    #[test]
    fn content_can_be_limited() {
        let names = Names(vec!["_bmad/config.toml", ".claude/skills/a/SKILL.md"]);
        assert_eq!(SourceScope::of(&names, SourceContent::Skills).folders, [".claude/skills"]);
        assert_eq!(
            SourceScope::of(&names, SourceContent::Bmad).folders,
            [".claude/skills", "_bmad"]
        );
        let skills = Names(vec![".claude/skills/a/SKILL.md"]);
        assert!(SourceScope::of(&skills, SourceContent::Bmad).is_empty());
    }

    #[test]
    fn folders_are_pruned() {
        let names = Names(vec!["_bmad/config.toml", ".claude/skills/a/SKILL.md"]);
        let scope = SourceScope::of(&names, SourceContent::Any);
        for folder in
            ["_bmad", "_bmad/core", ".claude", ".claude/skills", ".claude/skills/a/references"]
        {
            assert!(scope.enters(folder), "{folder}");
        }
        for folder in [
            "src",
            ".claude/commands",
            "_bmadx",
            "_bmad/_config/ides",
            "_bmad/node_modules",
            "_bmad/render",
        ] {
            assert!(!scope.enters(folder), "{folder}");
        }
        assert!(scope.takes("package.json") && scope.takes("_bmad/core/a.md"));
        assert!(!scope.takes("src/a.md") && !scope.takes("README.md"));
    }
}
