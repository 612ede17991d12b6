//! Quoting for shells, so that every printed command can be copied.

use std::path::Path;

/// Quotes a text as one shell word.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Quotes a path as one shell word that no command takes for an option.
pub(crate) fn path(path: &Path) -> String {
    let text = path.display().to_string();
    word(&if text.starts_with('-') { format!("./{text}") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_typed_as_it_is_printed() {
        assert_eq!(word("scripted:a.yaml"), "scripted:a.yaml");
        assert_eq!(word(""), "''");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(path(Path::new("my-workflow")), "my-workflow");
        assert_eq!(path(Path::new("-dash")), "./-dash");
        assert_eq!(path(Path::new("with blank's")), "'with blank'\\''s'");
    }
}
