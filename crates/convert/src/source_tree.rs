//! A source as it was found: its files, their texts, and where its parts lie in the package.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::syntax::yaml;

use crate::ConvertOptions;
use crate::detect::{SourceShape, is_configuration};
use crate::document::SourceDocument;
pub(crate) use crate::paths::{below, folder_of, is_below, join, name_of};
use crate::source_files::SourceFiles;
use crate::source_text::SourceText;

/// Files of a source with their texts and its layout.
pub(crate) struct SourceTree<'a> {
    files: &'a SourceFiles,
    shape: SourceShape,
    texts: BTreeMap<&'a str, SourceText>,
    /// Path in the package of each file that is copied.
    places: BTreeMap<&'a str, String>,
    /// File at each path of the package.
    sources: BTreeMap<String, &'a str>,
    /// Files that equal another one of the same place.
    doubles: BTreeMap<&'a str, &'a str>,
    /// Files that are not copied and differ from the one of the same place.
    hidden: BTreeSet<&'a str>,
    /// Folder in the package of each module, by its code.
    modules: BTreeMap<String, String>,
    /// Folder of each skill, by its name.
    skills: BTreeMap<String, String>,
}

/// Code and folder of a module of a tree.
struct TreeModule {
    folder: String,
    code: String,
}

impl<'a> SourceTree<'a> {
    /// Looks at a source.
    pub(crate) fn new(files: &'a SourceFiles, options: &ConvertOptions) -> Self {
        let shape = SourceShape::detect(&mut files.paths()).unwrap_or_default();
        let wanted = |path: &&str| shape.wants(path);
        let texts: BTreeMap<&str, SourceText> = files
            .paths()
            .filter(wanted)
            .filter_map(|path| Some((path, SourceText::decode(files.get(path)?)?)))
            .collect();
        let mut tree = Self {
            files,
            texts,
            places: BTreeMap::new(),
            sources: BTreeMap::new(),
            doubles: BTreeMap::new(),
            hidden: BTreeSet::new(),
            modules: BTreeMap::new(),
            skills: BTreeMap::new(),
            shape,
        };
        tree.place_all(options);
        tree
    }

    fn place_all(&mut self, options: &ConvertOptions) {
        let skills = self.skill_roots();
        let modules = self.tree_modules(options);
        let mut claims: Vec<(usize, &'a str, String)> = Vec::new();
        for path in self.files.paths().filter(|path| self.shape.wants(path)) {
            if let Some((rank, place)) = self.place(path, &skills, &modules, options) {
                claims.push((rank, path, place));
            }
        }
        // The newest shape has the first claim to a place.
        claims.sort();
        for (_, path, place) in claims {
            match self.sources.get(&place) {
                None => {
                    self.sources.insert(place.clone(), path);
                    self.places.insert(path, place);
                }
                Some(first) if self.files.get(first) == self.files.get(path) => {
                    self.doubles.insert(path, first);
                }
                Some(_) => drop(self.hidden.insert(path)),
            }
        }
        for place in self.sources.keys() {
            let mut parts = place.split('/');
            let (Some("bmad"), Some(code), Some(_)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if !code.starts_with(['_', '.']) && !["custom", "scripts"].contains(&code) {
                self.modules.insert(code.to_owned(), format!("bmad/{code}"));
            }
        }
        let skills: Vec<(String, String)> = skills
            .into_iter()
            .filter(|root| self.places.contains_key(join(root, "SKILL.md").as_str()))
            .map(|root| (skill_name(&root, options), root))
            .collect();
        self.skills = skills.into_iter().collect();
    }

    /// Returns the outermost folders that hold a `SKILL.md`.
    fn skill_roots(&self) -> BTreeSet<String> {
        let wanted = |path: &&str| self.shape.wants(path) && name_of(path) == "SKILL.md";
        let all: BTreeSet<&str> = self.files.paths().filter(wanted).map(folder_of).collect();
        let is_outermost = |folder: &&&str| {
            let mut above = **folder;
            while !above.is_empty() {
                above = folder_of(above);
                if all.contains(above) {
                    return false;
                }
            }
            true
        };
        all.iter().filter(is_outermost).map(|folder| (*folder).to_owned()).collect()
    }

    fn tree_modules(&self, options: &ConvertOptions) -> Vec<TreeModule> {
        let code = |folder: &str| {
            let text = self.text(&join(folder, "module.yaml"))?;
            let tree = yaml::parse(text.text()).ok()?;
            let code = tree.get("code")?.tree.as_str()?.to_owned();
            (!code.is_empty() && !code.contains('/')).then_some(code)
        };
        let name = |folder: &str| {
            let name = if folder.is_empty() { options.name.as_str() } else { name_of(folder) };
            name.to_owned()
        };
        let modules = self.shape.modules.iter().map(|folder| TreeModule {
            code: code(folder).unwrap_or_else(|| name(folder)),
            folder: folder.clone(),
        });
        let mut modules: Vec<TreeModule> = modules.collect();
        // The innermost folder of a path decides.
        modules.sort_by_key(|module| std::cmp::Reverse(module.folder.len()));
        modules
    }

    /// Returns the path of a file in the package, and the rank of its claim.
    fn place(
        &self,
        path: &'a str,
        skills: &BTreeSet<String>,
        modules: &[TreeModule],
        options: &ConvertOptions,
    ) -> Option<(usize, String)> {
        if self.is_configuration(path) || path == "package.json" {
            return None;
        }
        let above = |folder: &&String| is_below(path, folder);
        if let Some(root) = skills.iter().find(above) {
            let rank = self.shape.skill_folders.iter().position(|folder| is_below(root, folder));
            let rest = below(path, root)?;
            return Some((
                rank.unwrap_or(90),
                format!("skills/{}/{rest}", skill_name(root, options)),
            ));
        }
        if self.shape.skill_folders.iter().any(|folder| is_below(path, folder)) {
            // A file beside the skills of a folder.
            return None;
        }
        if let Some(at) = self.shape.installations.iter().position(|root| is_below(path, root)) {
            let rest = below(path, self.shape.installations.get(at)?)?;
            return Some((100 + at, format!("bmad/{rest}")));
        }
        if let Some(module) = modules.iter().find(|module| is_below(path, &module.folder)) {
            return Some((200, format!("bmad/{}/{}", module.code, below(path, &module.folder)?)));
        }
        if let Some(root) = self.shape.old_installations.iter().find(above) {
            return Some((300, format!("bmad/{}", below(path, root)?)));
        }
        let rest = path.strip_prefix("src/").unwrap_or(path);
        Some((200, format!("bmad/{rest}")))
    }

    /// Returns true for configuration of the project or a person: it is read, and not copied.
    pub(crate) fn is_configuration(&self, path: &str) -> bool {
        let roots = self.shape.installations.iter().chain(&self.shape.old_installations);
        let mut rest =
            roots.filter(|root| is_below(path, root)).filter_map(|root| below(path, root));
        rest.any(is_configuration) || name_of(path).contains(".user.")
    }

    /// Leaves a file out of the package.
    pub(crate) fn leave_out(&mut self, path: &str) {
        if let Some(place) = self.places.remove(path) {
            self.sources.remove(&place);
        }
    }

    /// Iterates over the files that differ from the one that has their place, sorted.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        self.hidden.iter().copied()
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &'a SourceFiles {
        self.files
    }

    /// Returns the shape.
    pub(crate) fn shape(&self) -> &SourceShape {
        &self.shape
    }

    /// Returns the text of a file, if it is one.
    pub(crate) fn text(&self, path: &str) -> Option<&SourceText> {
        self.texts.get(path)
    }

    /// Reads a Markdown file.
    pub(crate) fn document(&self, path: &str) -> Option<SourceDocument> {
        self.text(path).map(|text| SourceDocument::read(text.text()))
    }

    /// Iterates over the content files, sorted: those that the package gets.
    pub(crate) fn content(&self) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        self.places.keys().copied()
    }

    /// Iterates over all files that take part in the conversion, sorted.
    pub(crate) fn read(&self) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        self.files.paths().filter(|path| self.shape.wants(path))
    }

    /// Iterates over the content files below a folder, at any depth.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        self.files.below(folder).filter(|path| self.places.contains_key(path))
    }

    /// Returns the file that stands for another one of the same place and content.
    pub(crate) fn double_of(&self, path: &str) -> Option<&'a str> {
        self.doubles.get(path).copied()
    }

    /// Returns the folders of modules in the package, by their codes.
    pub(crate) fn modules(&self) -> &BTreeMap<String, String> {
        &self.modules
    }

    /// Returns the folders of skills, by their names.
    pub(crate) fn skills(&self) -> &BTreeMap<String, String> {
        &self.skills
    }

    /// Returns the code of the module that a file belongs to.
    pub(crate) fn module_of(&self, path: &str) -> Option<&str> {
        let place = self.places.get(path)?;
        let code = match place.strip_prefix("bmad/") {
            Some(rest) => rest.split_once('/')?.0,
            None => self.shape.modules.iter().find_map(|folder| {
                let text =
                    is_below(path, folder).then(|| self.text(&join(folder, "module.yaml")))??;
                let line = text.text().lines().find_map(|line| line.strip_prefix("code:"))?;
                let code =
                    line.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
                self.modules.get_key_value(code).map(|(code, _)| code.as_str())
            })?,
        };
        self.modules.get_key_value(code).map(|(code, _)| code.as_str())
    }

    /// Returns the path of a file in the package; `None` if it is not copied.
    pub(crate) fn package_path(&self, path: &str) -> Option<&str> {
        let path = self.doubles.get(path).copied().unwrap_or(path);
        self.places.get(path).map(String::as_str)
    }

    /// Returns the file at a path of the package.
    pub(crate) fn at_package_path(&self, place: &str) -> Option<&'a str> {
        self.sources.get(place).copied()
    }

    /// Returns true if the package has files below a folder.
    pub(crate) fn has_package_folder(&self, folder: &str) -> bool {
        let start = format!("{folder}/");
        self.sources.range(start.clone()..).next().is_some_and(|(path, _)| path.starts_with(&start))
    }

    /// Iterates over the files that are copied: path in the package, path in the source.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.sources.iter().map(|(place, path)| (place.as_str(), *path))
    }

    /// Returns the mount path of a file, such as `@pkg/bmad/core/x.md`.
    pub(crate) fn mount_path(&self, path: &str) -> Option<String> {
        Some(format!("@pkg/{}", self.package_path(path)?))
    }

    /// Returns the bytes of a file.
    pub(crate) fn bytes(&self, path: &str) -> Option<&'a Arc<[u8]>> {
        self.files.get(path)
    }
}

fn skill_name(root: &str, options: &ConvertOptions) -> String {
    let name = if root.is_empty() { options.name.as_str() } else { name_of(root) };
    if name.is_empty() { "skill".to_owned() } else { name.to_owned() }
}
