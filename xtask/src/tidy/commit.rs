//! Subject of a commit: `topic: subject`, short, one idea.

use std::path::Path;
use std::process::Command;

use super::{TidyFinding, TidyRule};
use crate::shell;

/// Number of characters that `git log --oneline` shows in a narrow terminal.
const MAX_CHARACTERS: usize = 72;

/// Checks the subject of the last commit that is no merge; a folder without commits has none.
pub(super) fn check(root: &Path) -> Vec<TidyFinding> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["log", "-1", "--no-merges", "--format=%s"]);
    let subject = shell::capture(&mut git).unwrap_or_default();
    let problem = problem_of(subject.trim_end());
    problem.into_iter().map(|problem| TidyRule::Commit.at("HEAD", 1, problem)).collect()
}

fn problem_of(subject: &str) -> Option<String> {
    let length = subject.chars().count();
    let is_topic = |topic: &str| !topic.is_empty() && !topic.contains(char::is_whitespace);
    let has_topic = subject.split_once(": ").is_some_and(|(topic, _)| is_topic(topic));
    if subject.is_empty() {
        None
    } else if length > MAX_CHARACTERS {
        Some(format!(
            "the subject has {length} characters, {MAX_CHARACTERS} are allowed; move the reason to the body"
        ))
    } else if subject.contains(';') {
        Some("the subject has a `;`; make one commit of each idea".to_owned())
    } else if !has_topic {
        Some("the subject has no topic; write `topic: subject`".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_subject(subject: &str, expected: Option<&str>) {
        let problem = problem_of(subject);
        match expected {
            Some(part) => {
                assert!(problem.as_ref().is_some_and(|p| p.contains(part)), "{problem:?}")
            }
            None => assert_eq!(problem, None, "{subject}"),
        }
    }

    #[test]
    fn a_subject_is_short_has_a_topic_and_one_idea() {
        check_subject("web: show a stop once", None);
        check_subject(&format!("web: {}", "x".repeat(67)), None);
        check_subject(&format!("web: {}", "x".repeat(68)), Some("73 characters"));
        check_subject("web: show a stop once; name events", Some("`;`"));
        check_subject("Show a stop once", Some("no topic"));
        check_subject("the page: shows a stop", Some("no topic"));
    }
}
