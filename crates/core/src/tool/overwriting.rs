//! Overwriting files that the run did not write: objections to a text that replaces what the model does not know.

use std::collections::HashMap;

use super::render::counted;
use crate::refusal::{Refusal, RefusalCode};

/// A file against what the model has seen of it in this visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenState {
    Unseen,
    /// The model has seen another content.
    Changed,
    Seen,
}

/// A file of the user that a text would replace.
#[derive(Clone, Copy, Debug)]
pub struct Overwriting<'a> {
    /// Path from the root of the project.
    pub path: &'a str,
    /// Size of the file.
    pub bytes: u64,
    /// Content of the file; none if it is too large to be compared.
    pub old: Option<&'a [u8]>,
    pub new: &'a [u8],
    pub seen: SeenState,
}

impl Overwriting<'_> {
    /// Returns why the text may not replace the file without another word; none if it may.
    pub fn objection(&self) -> Option<String> {
        let lines = self.old.map(|old| lines(old).count());
        let why = match (self.seen, self.old) {
            (SeenState::Unseen, _) => "you have not read it".to_owned(),
            (SeenState::Changed, _) => "it has changed since you saw it".to_owned(),
            (SeenState::Seen, None) => "your text replaces all of it".to_owned(),
            (SeenState::Seen, Some(old)) => {
                let (kept, all) = (kept_lines(old, self.new), lines.unwrap_or_default());
                if kept * 2 >= all {
                    return None;
                }
                let noun = if all == 1 { "line" } else { "lines" };
                format!("your text keeps {kept} of its {all} {noun}")
            }
        };
        let size = counted(self.bytes, "byte");
        let size = match lines {
            Some(lines) => format!("{}, {size}", counted(lines as u64, "line")),
            None => size,
        };
        Some(format!("{} is the user's: {size}, and {why}.", self.path))
    }
}

/// Returns the refusal of a call that would overwrite files of the user.
pub fn overwriting_refusal(objections: &[String]) -> Refusal {
    Refusal::new(RefusalCode::Precondition, objections.join(" ")).hint(
        "Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.",
    )
}

/// Counts the lines of the old content that the new one has as well, each as often as both have it.
fn kept_lines(old: &[u8], new: &[u8]) -> usize {
    let mut there: HashMap<&[u8], usize> = HashMap::new();
    for line in lines(new) {
        *there.entry(line).or_default() += 1;
    }
    let mut kept = 0;
    for line in lines(old) {
        if let Some(left) = there.get_mut(line).filter(|left| **left > 0) {
            *left -= 1;
            kept += 1;
        }
    }
    kept
}

/// Returns the lines of a content without blanks at their ends.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";

    fn check_objection(new: &str, seen: SeenState, expected: Option<&str>) {
        let path = "artifacts/sprint-status.yaml";
        let old = Some(OLD.as_bytes());
        let file = Overwriting { path, bytes: 128, old, new: new.as_bytes(), seen };
        assert_eq!(file.objection().as_deref(), expected);
    }

    #[test]
    fn a_file_that_was_not_read_is_not_replaced() {
        let expected = "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and you have not read it.";
        check_objection(OLD, SeenState::Unseen, Some(expected));
        let refusal = overwriting_refusal(&[expected.to_owned()]);
        assert_eq!(
            refusal.to_json()["error"]["message"],
            "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and you have not read it. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it."
        );
        assert_eq!(refusal.code, RefusalCode::Precondition);
    }

    #[test]
    fn a_file_that_changed_is_not_replaced() {
        let expected = "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and it has changed since you saw it.";
        check_objection(OLD, SeenState::Changed, Some(expected));
    }

    #[test]
    fn a_text_keeps_half_of_the_lines() {
        let lost =
            "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and your text keeps";
        check_objection("x\n", SeenState::Seen, Some(&format!("{lost} 0 of its 5 lines.")));
        let two = "  epic-1: in-progress\ndevelopment_status:\ndevelopment_status:\n";
        check_objection(two, SeenState::Seen, Some(&format!("{lost} 2 of its 5 lines.")));
        let three = format!("{two}  1-1-project-setup: done\r\n");
        check_objection(&three, SeenState::Seen, None);
        check_objection(OLD, SeenState::Seen, None);
    }
}
