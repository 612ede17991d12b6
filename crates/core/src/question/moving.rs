//! The question before a move, where the user wants to agree to each.

use super::Question;

/// File that changes together with a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFile {
    /// Path as the user knows it.
    pub path: String,
    /// Number of lines afterwards; none if the file is removed.
    pub lines: Option<usize>,
}

/// Returns the question before a move between two nodes, which are named by their titles.
pub fn before_move(from: &str, to: &str, files: &[MovedFile]) -> Question {
    let written = files.iter().filter_map(|file| {
        let lines = file.lines?;
        let word = if lines == 1 { "line" } else { "lines" };
        Some(format!("{} ({lines} {word})", file.path))
    });
    let removed = files.iter().filter(|file| file.lines.is_none()).map(|file| file.path.clone());
    let mut text = format!("Go on from \"{from}\" to \"{to}\"?");
    for (verb, files) in [("Writes", written.collect()), ("Removes", removed.collect::<Vec<_>>())] {
        if !files.is_empty() {
            text.push_str(&format!(" {verb} {}.", files.join(", ")));
        }
    }
    Question::confirm(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: Option<usize>) -> MovedFile {
        MovedFile { path: path.to_owned(), lines }
    }

    fn check(files: &[MovedFile], expected: &str) {
        let question = before_move("Select the story", "Discover the input documents", files);
        assert_eq!(question.question, expected);
    }

    #[test]
    fn the_question_before_a_move_names_both_nodes_and_all_files() {
        let asked = r#"Go on from "Select the story" to "Discover the input documents"?"#;
        check(&[], asked);
        check(
            &[file("artifacts/create-story/target.md", Some(4))],
            &format!("{asked} Writes artifacts/create-story/target.md (4 lines)."),
        );
        check(
            &[file("a.md", Some(1)), file("old.md", None), file("b.md", Some(2))],
            &format!("{asked} Writes a.md (1 line), b.md (2 lines). Removes old.md."),
        );
    }
}
