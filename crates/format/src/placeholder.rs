//! Placeholders in the names of files: `<name>`, `{name}` and `{{name}}` stand for a variable of the run.

/// Maximum length of a placeholder's name; longer text in brackets is none.
const MAX_NAME: usize = 128;

/// Templates that name a mount at the beginning of a path, and are not variables.
pub const ROOTS: &[&str] = &["project-root", "artifacts-root", "package-root", "state-root"];

/// Names that have a value in every run of a package with configuration.
pub const SYSTEM: &[&str] = &[
    "date",
    "installed_path",
    "project-root",
    "project_name",
    "skill-name",
    "skill-root",
    "time",
    "timestamp",
    "user_name",
];

/// Names that have a value wherever foreign configuration of a project is read.
pub const FOREIGN: &[&str] =
    &["communication_language", "document_output_language", "output_folder"];

/// Puts values in the place of `{name}` and `{{name}}`, in one pass: an inserted value is not looked at again. A name
/// without a value stays as it is.
pub fn fill<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let found = at_start(from).and_then(|(name, length)| Some((value(name)?, length)));
        let (insert, length) = found.unwrap_or(("{", 1));
        filled.push_str(insert);
        rest = from.get(length..).unwrap_or_default();
    }
    filled.push_str(rest);
    filled
}

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
    fn values_are_put_in_once_and_unknown_names_stay() {
        let value = |name: &str| match name {
            "a" => Some("{b}"),
            "b" => Some("x"),
            _ => None,
        };
        for (text, expected) in [
            ("{a}/{b}/{c}", "{b}/x/{c}"),
            ("{{b}}-{{ b }}", "x-x"),
            ("{ b", "{ b"),
            ("<b>", "<b>"),
            ("{{c}}", "{{c}}"),
            ("{{{b}", "{{x"),
        ] {
            assert_eq!(fill(text, value), expected, "{text}");
        }
    }

    #[test]
    fn a_name_in_brackets_is_a_variable() {
        check_names("artifacts/<key>/{n}-{{ title }}.md", &["key", "n", "title"]);
        check_names("{artifacts-root}/<key>.md", &["key"]);
        check_names("artifacts/{artifacts-root}.md", &["artifacts-root"]);
        check_names("artifacts/a < b {not a name} {}.md", &[]);
    }
}
