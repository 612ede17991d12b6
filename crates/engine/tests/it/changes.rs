//! Reverting what a run changed: hunks, steps, and files that were changed outside of the run since.

use std::fs;
use std::path::PathBuf;

use crewagent_core::integrity::Digest;
use crewagent_core::run::history::named;
use crewagent_engine::changes::{Changes, ChangesError, HunkSide, Outcome, Prospect, Scope};
use crewagent_engine::disk::Disk;
use crewagent_engine::store::RunId;

use crate::stage::Stage;

const REVIEW: &str = "artifacts/draft-review/review.md";
const DRAFT: &str = "artifacts/draft-review/draft.md";

/// A run that drafts, reviews, revises and reviews again.
struct Desk {
    stage: Stage,
    id: RunId,
}

impl Desk {
    fn set() -> Self {
        let stage = Stage::set("004-loop-with-exit");
        let id = stage.play().id;
        Self { stage, id }
    }

    fn changes(&self) -> Changes {
        Changes::of(&self.stage.store(Disk::real()), &self.id).unwrap()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.stage.project().join(path)
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn seq(&self, visit: &str) -> u64 {
        named(self.changes().visits(), visit).unwrap().seq
    }

    fn way_back(&self, scope: Scope) -> Vec<(String, Prospect, Vec<String>)> {
        let way = self.changes().way_back(scope).unwrap();
        way.into_iter().map(|file| (file.path, file.prospect, file.later)).collect()
    }
}

fn all(changes: &Changes, scope: Scope) -> Vec<(String, Option<Digest>)> {
    let way = changes.way_back(scope).unwrap();
    way.into_iter().map(|file| (file.path, file.now)).collect()
}

#[test]
fn the_hunks_of_a_file_are_taken_back_one_by_one() {
    let desk = Desk::set();
    let lines: Vec<String> = (1..=30).map(|line| format!("line {line}\r\n")).collect();
    // The run created the draft, so its current text is compared with an empty one.
    let hunks = desk.changes().hunks(DRAFT).unwrap();
    assert!(hunks.created && hunks.is_current && hunks.hunks.len() == 1);
    assert!(hunks.hunks[0].lines.iter().all(|line| line.side == HunkSide::Now));
    fs::write(desk.path(DRAFT), lines.concat()).unwrap();
    let stale = desk.changes().revert_hunk(DRAFT, hunks.now, hunks.hunks[0].range);
    assert!(matches!(stale, Err(ChangesError::Stale(_))), "{stale:?}");
    assert_eq!(desk.text(DRAFT), Some(lines.concat()));
    let hunks = desk.changes().hunks(DRAFT).unwrap();
    assert!(!hunks.is_current);
    desk.changes().revert_hunk(DRAFT, hunks.now, hunks.hunks[0].range).unwrap();
    assert_eq!(desk.text(DRAFT), None, "the run made it, so it goes");
    assert!(matches!(desk.changes().hunks(DRAFT), Err(ChangesError::Refused(_))));
}

#[test]
fn a_hunk_that_is_not_one_of_the_file_is_refused() {
    let desk = Desk::set();
    let hunks = desk.changes().hunks(DRAFT).unwrap();
    let mut other = hunks.hunks[0].range;
    other.new_lines -= 1;
    let before = desk.text(DRAFT);
    let refused = desk.changes().revert_hunk(DRAFT, hunks.now, other);
    assert!(matches!(refused, Err(ChangesError::Stale(_))), "{refused:?}");
    assert_eq!(desk.text(DRAFT), before);
    assert!(matches!(desk.changes().hunks("notes/wiki.md"), Err(ChangesError::Unchanged(_))));
    fs::write(desk.path(DRAFT), [0xff, 0xfe]).unwrap();
    assert!(matches!(desk.changes().hunks(DRAFT), Err(ChangesError::NotText(_))));
}

#[test]
fn a_step_is_taken_back_and_says_who_wrote_there_later() {
    let desk = Desk::set();
    let revise = Scope::Step(desk.seq("step-03-revise"));
    let later = vec!["decide-02-review".to_owned()];
    let expected = [
        (DRAFT.to_owned(), Prospect::Ready, Vec::new()),
        (REVIEW.to_owned(), Prospect::Ready, later),
    ];
    assert_eq!(desk.way_back(revise), expected);
    let changes = desk.changes();
    for (path, outcome) in changes.go_back(revise, &all(&changes, revise)).unwrap() {
        assert_eq!(outcome, Outcome::Reverted, "{path}");
    }
    assert!(!desk.text(DRAFT).unwrap().contains("four days"));
    assert!(!desk.text(REVIEW).unwrap().contains("Answer to round 1"));
    assert!(desk.text(REVIEW).unwrap().contains("Round 1"));
    assert!(desk.way_back(revise).iter().all(|(_, prospect, _)| *prospect == Prospect::Done));
    // The content that the run wrote can still be shown.
    let last = changes.span(REVIEW, None).unwrap().1.after.unwrap();
    let image = changes.image(REVIEW, last, 1 << 20).unwrap().unwrap();
    assert!(String::from_utf8(image).unwrap().contains("Round 2"));
}

#[test]
fn what_somebody_else_has_changed_is_left_alone() {
    let desk = Desk::set();
    let first = Scope::Onward(desk.seq("step-01-draft"));
    let agreed = all(&desk.changes(), first);
    fs::write(desk.path(REVIEW), "my own words\n").unwrap();
    let conflict = |(path, prospect, _): &(String, Prospect, Vec<String>)| {
        (*prospect == Prospect::Conflict).then(|| path.clone())
    };
    let way = desk.way_back(first);
    assert_eq!(way.iter().filter_map(conflict).collect::<Vec<_>>(), [REVIEW]);
    let outcomes = desk.changes().go_back(first, &agreed).unwrap();
    let left: Vec<&String> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome != Outcome::Reverted)
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, [REVIEW]);
    assert_eq!(desk.text(REVIEW).as_deref(), Some("my own words\n"));
    assert_eq!(desk.text(DRAFT), None);
    assert!(matches!(desk.changes().way_back(Scope::Step(2)), Err(ChangesError::NoVisit(2))));
}

#[test]
fn only_what_was_agreed_to_is_taken_back() {
    let desk = Desk::set();
    let revise = Scope::Step(desk.seq("step-03-revise"));
    let changes = desk.changes();
    let mut agreed = all(&changes, revise);
    agreed.retain(|(path, _)| path == DRAFT);
    agreed.push(("notes/wiki.md".to_owned(), Some(Digest::of(b""))));
    let review = desk.text(REVIEW);
    let outcomes = changes.go_back(revise, &agreed).unwrap();
    assert_eq!(outcomes[0], (DRAFT.to_owned(), Outcome::Reverted));
    assert!(matches!(&outcomes[1].1, Outcome::Left(_)));
    assert_eq!(desk.text(REVIEW), review);
}
