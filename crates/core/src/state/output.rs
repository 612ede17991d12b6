//! Declared outputs: their placeholders filled from the variables, and the file that they name.

use crewagent_format::placeholder::{self, ROOTS};
use serde_json::{Map, Value as Json};

use super::project_path::ProjectPath;

/// Declared output with the current variables filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// File or folder of the project.
    File(ProjectPath),
    /// Output without a name, because a placeholder has no simple value. The text is the reason.
    Open(String),
    /// Pattern with `*` or `?`, which names no single file.
    Pattern(String),
    /// Path outside the project, so the output cannot exist. The text is the reason.
    Outside(String),
}

impl Output {
    /// Fills the placeholders `<name>`, `{name}` and `{{name}}` of a declared output. Values that are not texts,
    /// numbers or booleans, blank ones, and placeholders fill nothing.
    pub fn of(declared: &str, variables: &Map<String, Json>) -> Self {
        let mut filled = String::new();
        let mut unfilled: Vec<&str> = Vec::new();
        let mut rest = declared;
        while let Some(at) = rest.find(['<', '{']) {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            let Some((name, length)) = placeholder::at_start(from) else {
                let (bracket, after) = from.split_at(1);
                filled.push_str(bracket);
                rest = after;
                continue;
            };
            let (written, after) = from.split_at(length);
            if filled.is_empty() && ROOTS.contains(&name) {
                filled.push_str(written);
            } else if let Some(value) = variables.get(name).and_then(simple) {
                filled.push_str(&value);
            } else {
                unfilled.push(name);
            }
            rest = after;
        }
        filled.push_str(rest);
        if !unfilled.is_empty() {
            return Self::Open(format!(
                "no simple value for {}",
                crewagent_format::wording::ticked(&unfilled)
            ));
        }
        if declared.contains(['*', '?']) {
            return Self::Pattern(filled);
        }
        match ProjectPath::parse(&filled) {
            Ok(path) => Self::File(path),
            Err(refusal) => Self::Outside(refusal.message),
        }
    }
}

/// Returns a text with all of its placeholders in one form, `{name}`, and their names.
pub(crate) fn placeholders(text: &str) -> (String, Vec<&str>) {
    let (mut uniform, mut names, mut rest) = (String::new(), Vec::new(), text);
    while let Some(at) = rest.find(['<', '{']) {
        let (before, from) = rest.split_at(at);
        uniform.push_str(before);
        let (name, length) = match placeholder::at_start(from) {
            Some((name, length)) => (Some(name), length),
            None => (None, 1),
        };
        let (written, after) = from.split_at(length);
        uniform.push_str(&name.map_or_else(|| written.to_owned(), |name| format!("{{{name}}}")));
        names.extend(name);
        rest = after;
    }
    uniform.push_str(rest);
    (uniform, names)
}

/// Returns true if a value is blank, or a placeholder `<…>` that was copied instead of filled in.
pub(crate) fn is_blank(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text == "…" || (text.starts_with('<') && text.ends_with('>'))
}

/// Returns true if the text of a file is a placeholder that was copied from an example, such as `<text>`. An element of
/// a markup language is none.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', '>', '\n']) && !inner.ends_with('/'))
}

/// Returns true if a path fits a pattern: `?` stands for one character of a name, `*` for any number of them, and `**`
/// for any number of folders as well.
pub fn matches_pattern(path: &str, pattern: &str) -> bool {
    let pattern =
        ProjectPath::parse(pattern).map_or_else(|_| pattern.to_owned(), |p| p.to_string());
    let (path, pattern): (Vec<char>, Vec<char>) =
        (path.chars().collect(), pattern.chars().collect());
    // For each kind of star: the position behind it in the pattern, and the end of what it stands for in the path.
    let (mut at, mut next, mut star, mut deep) = (0, 0, None, None);
    while at < path.len() {
        match pattern.get(next) {
            Some('*') if pattern.get(next + 1) == Some(&'*') => {
                next += if pattern.get(next + 2) == Some(&'/') { 3 } else { 2 };
                (star, deep) = (None, Some((next, at)));
            }
            Some('*') => {
                next += 1;
                star = Some((next, at));
            }
            Some(wanted) if *wanted == path[at] || (*wanted == '?' && path[at] != '/') => {
                (at, next) = (at + 1, next + 1);
            }
            Some(_) | None => {
                star = star.filter(|(_, end): &(usize, usize)| path[*end] != '/');
                let last = if star.is_some() { &mut star } else { &mut deep };
                let Some((after, end)) = last else { return false };
                *end += 1;
                (at, next) = (*end, *after);
            }
        }
    }
    pattern[next..].iter().all(|rest| *rest == '*')
}

fn simple(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.trim().to_owned()).filter(|text| !is_blank(text)),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(declared: &str, variables: Json) -> Output {
        Output::of(declared, variables.as_object().unwrap())
    }

    fn check_file(declared: &str, variables: Json, expected: &str) {
        assert_eq!(
            of(declared, variables),
            Output::File(ProjectPath::parse(expected).unwrap()),
            "{declared}"
        );
    }

    #[test]
    fn placeholders_are_filled_from_simple_values() {
        let variables = json!({"key": "1-2-login", "n": 3, "ok": true, "dir": "a/b"});
        check_file("artifacts/x.md", variables.clone(), "artifacts/x.md");
        check_file("artifacts/<key>.md", variables.clone(), "artifacts/1-2-login.md");
        check_file("artifacts/{key}-{n}.md", variables.clone(), "artifacts/1-2-login-3.md");
        check_file("artifacts/{{ key }}/<ok>.md", variables.clone(), "artifacts/1-2-login/true.md");
        check_file("artifacts/<dir>/x.md", variables.clone(), "artifacts/a/b/x.md");
        check_file("{artifacts-root}/<key>.md", variables.clone(), "artifacts/1-2-login.md");
        check_file("@project/artifacts/x.md", variables.clone(), "artifacts/x.md");
        check_file("artifacts/<not a name>.md", variables.clone(), "artifacts/<not a name>.md");
        check_file("artifacts/a{b", variables, "artifacts/a{b");
        check_file("artifacts/{state-root}.md", json!({"state-root": "x"}), "artifacts/x.md");
    }

    #[test]
    fn a_text_full_of_brackets_takes_no_longer_than_any_other() {
        let declared = "{".repeat(1 << 20);
        assert!(matches!(of(&declared, json!({})), Output::Outside(_)));
    }

    #[test]
    fn a_value_is_not_filled_twice() {
        check_file("artifacts/<a>.md", json!({"a": "1<b>", "b": "x"}), "artifacts/1<b>.md");
    }

    #[test]
    fn an_output_without_a_simple_value_is_open() {
        for value in [
            json!({}),
            json!({"key": null}),
            json!({"key": " "}),
            json!({"key": "<key>"}),
            json!({"key": []}),
            json!({"key": {}}),
        ] {
            assert!(matches!(of("artifacts/<key>.md", value.clone()), Output::Open(_)), "{value}");
        }
        let Output::Open(why) = of("artifacts/<a>/{b}.md", json!({})) else { panic!() };
        assert_eq!(why, "no simple value for `a`, `b`");
        assert_eq!(
            of("artifacts/{key}-*.md", json!({"key": "a"})),
            Output::Pattern("artifacts/a-*.md".to_owned())
        );
    }

    #[test]
    fn a_pattern_fits_the_files_that_it_describes() {
        for (path, pattern, expected) in [
            ("artifacts/a.md", "artifacts/*.md", true),
            ("artifacts/a.md", "@project/artifacts/*.md", true),
            ("artifacts/b/a.md", "artifacts/*.md", false),
            ("artifacts/b/a.md", "artifacts/**/*.md", true),
            ("artifacts/a.md", "artifacts/**/*.md", true),
            ("artifacts/a1.md", "artifacts/a?.md", true),
            ("artifacts/a.md", "artifacts/a?.md", false),
            ("artifacts/shard-1-of-2.md", "artifacts/shard-*-of-*.md", true),
            ("artifacts/shard-1.md", "artifacts/shard-*-of-*.md", false),
            ("artifacts/", "artifacts/*", true),
            ("other/a.md", "artifacts/*", false),
        ] {
            assert_eq!(matches_pattern(path, pattern), expected, "{path} {pattern}");
        }
        assert!(!matches_pattern(&"a".repeat(10_000), &"*a".repeat(1_000).replace("*a", "*b")));
    }

    #[test]
    fn only_a_mark_for_a_text_is_a_placeholder() {
        for text in ["<text>", " <the whole story>\n"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["", "text", "<a>b</a>", "<config/>", "<a>\n<b>", "a < b > c"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }

    #[test]
    fn a_value_never_leads_out_of_the_project() {
        for value in [
            "../../etc/passwd",
            "/etc/passwd",
            "a/../../x",
            "..",
            "a\\b",
            "C:x",
            "a\0b",
            "con",
            "a\u{202e}b",
        ] {
            for declared in ["artifacts/<key>", "<key>"] {
                let output = of(declared, json!({"key": value}));
                assert!(
                    matches!(output, Output::Outside(_)),
                    "{declared} with {value:?}: {output:?}"
                );
            }
        }
        for value in ["@state/workflow.md", "@pkg/agents.json", "{state-root}/workflow.md"] {
            assert!(matches!(of("<key>", json!({"key": value})), Output::Outside(_)), "{value}");
        }
    }
}
