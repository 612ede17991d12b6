//! Placeholders in the names of files: `<name>`, `{name}` and `{{name}}` stand for a variable of the run.

/// Maximum length of a placeholder's name; longer text in brackets is none.
const MAX_NAME: usize = 128;

/// Templates that name a mount at the beginning of a path, and are not variables.
pub const ROOTS: &[&str] = &["project-root", "artifacts-root", "package-root", "state-root"];

/// Returns the name in the placeholder at the start of a text, with the placeholder's length.
pub fn at_start(text: &str) -> Option<(&str, usize)> {
    [("{{", "}}"), ("{", "}"), ("<", ">")].into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        // The search is bounded, so that a text full of brackets takes no longer than any other.
        let near = &inside[..inside.floor_char_boundary(MAX_NAME + close.len())];
        let name = near.get(..near.find(close)?)?;
        let is_name =
            name.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        (is_name && !name.trim().is_empty())
            .then_some((name.trim(), open.len() + name.len() + close.len()))
    })
}

/// Iterates over the variables in the name of a file.
pub fn names(path: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let from = path.get(at..)?;
            let start = from.find(['<', '{'])?;
            match at_start(&from[start..]) {
                Some((name, length)) => {
                    let is_root = at + start == 0 && ROOTS.contains(&name);
                    at += start + length;
                    if !is_root {
                        return Some(name);
                    }
                }
                None => at += start + 1,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_names(path: &str, expected: &[&str]) {
        assert_eq!(names(path).collect::<Vec<_>>(), expected, "{path}");
    }

    #[test]
    fn a_name_in_brackets_is_a_variable() {
        check_names("artifacts/<key>/{n}-{{ title }}.md", &["key", "n", "title"]);
        check_names("{artifacts-root}/<key>.md", &["key"]);
        check_names("artifacts/{artifacts-root}.md", &["artifacts-root"]);
        check_names("artifacts/a < b {not a name} {}.md", &[]);
    }
}
