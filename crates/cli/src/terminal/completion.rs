//! Completion of the input line: words of the caller, and paths of the project.

use std::path::{Component, Path, PathBuf};

use crewagent_format::text::is_unsafe_char;

/// The mount that project paths begin with.
const PROJECT: &str = "@project/";
/// Maximum of folder entries that are read.
const LOOKED_AT: usize = 5_000;
/// Maximum of completions that are offered.
const OFFERED: usize = 200;

/// The words and paths that can be completed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    project: Option<PathBuf>,
}

/// The completions, and the position of the text that they replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completions {
    pub(crate) start: usize,
    pub(crate) offers: Vec<String>,
}

impl Vocabulary {
    /// Creates a vocabulary of first words, such as `/help` or the triggers of a menu, and the folder behind
    /// `@project/`.
    pub(crate) fn new(words: Vec<String>, project: Option<PathBuf>) -> Self {
        Self { words, project }
    }

    /// Returns the completions of the text before the cursor.
    pub(crate) fn completions(&self, line: &str, cursor: usize) -> Completions {
        let typed = line.get(..cursor).unwrap_or(line);
        let start = typed
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + typed[at..].chars().next().map_or(1, char::len_utf8));
        let word = &typed[start..];
        if let Some(project) = &self.project
            && !word.is_empty()
        {
            let offers = match word.strip_prefix(PROJECT) {
                Some(path) => paths(project, path),
                None if PROJECT.starts_with(word) => vec![PROJECT.to_owned()],
                None => Vec::new(),
            };
            if !offers.is_empty() {
                return Completions { start, offers };
            }
        }
        let fits = |word: &&String| !typed.is_empty() && word.starts_with(typed);
        let offers = self.words.iter().filter(fits).take(OFFERED).cloned().collect();
        Completions { start: 0, offers }
    }

    /// Returns the missing rest of the only completion.
    pub(crate) fn hint(&self, line: &str, cursor: usize) -> Option<String> {
        if cursor < line.len() {
            return None;
        }
        let Completions { start, offers } = self.completions(line, cursor);
        let [only] = &offers[..] else { return None };
        only.strip_prefix(line.get(start..)?).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

/// Returns the project entries that a path may mean. Folders end with `/`.
fn paths(project: &Path, typed: &str) -> Vec<String> {
    let (folder, beginning) = typed.rsplit_once('/').unwrap_or(("", typed));
    if !Path::new(folder).components().all(|part| matches!(part, Component::Normal(_))) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(project.join(folder)) else { return Vec::new() };
    let mut offers: Vec<String> = entries
        .take(LOOKED_AT)
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_offered = name.starts_with(beginning)
                && name != ".git"
                && !name.chars().any(|c| is_unsafe_char(c) || c.is_whitespace());
            let end = if entry.path().is_dir() { "/" } else { "" };
            let between = if folder.is_empty() { "" } else { "/" };
            is_offered.then(|| format!("{PROJECT}{folder}{between}{name}{end}"))
        })
        .collect();
    offers.sort_unstable();
    offers.truncate(OFFERED);
    offers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_offers(line: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["docs/一.md", "docs/two.md", ".git/config", "draft.md", "a b.md"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let words = ["/help", "/halt", "*menu"].map(str::to_owned).into();
        let vocabulary = Vocabulary::new(words, Some(folder.path().to_owned()));
        assert_eq!(vocabulary.completions(line, line.len()).offers, expected, "{line:?}");
        let hint = match expected {
            [only] => only.strip_prefix(&line[line.rfind(' ').map_or(0, |at| at + 1)..]),
            _ => None,
        };
        let hint = hint.filter(|hint| !hint.is_empty()).map(str::to_owned);
        assert_eq!(vocabulary.hint(line, line.len()), hint, "{line:?}");
    }

    #[test]
    fn words_begin_an_input() {
        check_offers("/h", &["/help", "/halt"]);
        check_offers("/he", &["/help"]);
        check_offers("/help", &["/help"]);
        check_offers("*", &["*menu"]);
        check_offers("say /he", &[]);
        check_offers("", &[]);
    }

    #[test]
    fn paths_of_the_project_are_found_in_the_project() {
        check_offers("see @p", &["@project/"]);
        check_offers("see @project/", &["@project/docs/", "@project/draft.md"]);
        check_offers("see @project/dr", &["@project/draft.md"]);
        check_offers("@project/docs/", &["@project/docs/two.md", "@project/docs/一.md"]);
        check_offers("@project/docs/一", &["@project/docs/一.md"]);
        check_offers("@project/../", &[]);
        check_offers("@project/nowhere/", &[]);
    }
}
