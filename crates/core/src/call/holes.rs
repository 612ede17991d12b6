//! Holes of a template that a written text still has: `{{name}}`.

/// Maximum number of reported holes.
const MAX_HOLES: usize = 3;
/// Maximum length of the text between the braces, in bytes.
const MAX_NAME: usize = 60;

/// Returns the first holes of a text, each once.
///
/// A hole is a name between double braces. `${{ … }}` is an expression of other tools, and `{{#if}}` a command.
pub(super) fn holes(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("{{")).map(|next| at + next) {
        at = start + 2;
        let is_expression = text.get(..start).is_some_and(|before| before.ends_with('$'));
        let Some(name) = name_at(text, at).filter(|_| !is_expression) else { continue };
        at += name.len() + 2;
        let hole = format!("{{{{{name}}}}}");
        if !found.contains(&hole) {
            found.push(hole);
        }
        if found.len() == MAX_HOLES {
            break;
        }
    }
    found
}

/// Returns the text between braces that open before this offset, if it is a name.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    let rest = rest.get(..rest.floor_char_boundary(MAX_NAME + 2))?;
    let inner = rest.get(..rest.find("}}")?)?;
    let name = inner.trim_matches(' ');
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_name && name.chars().all(is_part)).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_holes(text: &str, expected: &[&str]) {
        assert_eq!(holes(text), expected, "{text}");
    }

    #[test]
    fn names_in_double_braces_are_holes() {
        check_holes("", &[]);
        check_holes("Story {{epicNum}}.{{storyNum}}", &["{{epicNum}}", "{{storyNum}}"]);
        check_holes(
            "{{ story_title }} {{a.b-c}} {{中}}",
            &["{{ story_title }}", "{{a.b-c}}", "{{中}}"],
        );
        check_holes("{{a}}{{a}} {{{a}}}", &["{{a}}"]);
        check_holes("{{a}}{{b}}{{c}}{{d}}", &["{{a}}", "{{b}}", "{{c}}"]);
    }

    #[test]
    fn other_braces_are_none() {
        check_holes("${{ secrets.KEY }} {{#if x}} {{/if}} {{}} {{ }} {{1}} {{a b}} {a}", &[]);
        check_holes("{{a\n}} {{a", &[]);
        check_holes(&format!("{{{{{}}}}}", "x".repeat(61)), &[]);
        check_holes(&"{{".repeat(100_000), &[]);
        check_holes(&"{{é".repeat(100_000), &[]);
    }
}
