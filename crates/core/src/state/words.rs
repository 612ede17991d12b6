//! Lists of names as a model reads them: bounded, however long the list is.

use std::fmt::Display;

/// How many items of a list are spelled out.
const SHOWN: usize = 20;

/// Names in backticks: `a`, `b` and 3 more.
pub(super) fn ticked<T: Display>(items: &[T]) -> String {
    joined(items.iter().map(|item| format!("`{item}`")))
}

/// Texts with commas between them, and a count of those that are left out.
pub(super) fn joined(items: impl IntoIterator<Item = String>) -> String {
    let mut items = items.into_iter();
    let mut text = items.by_ref().take(SHOWN).collect::<Vec<_>>().join(", ");
    let more = items.count();
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_and_counted() {
        assert_eq!(ticked(&["a", "b"]), "`a`, `b`");
        let many: Vec<usize> = (0..25).collect();
        assert!(ticked(&many).ends_with("`19` and 5 more"));
        assert_eq!(ticked::<&str>(&[]), "");
    }
}
