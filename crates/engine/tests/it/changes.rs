//! Reverting what a run changed: hunks, steps, and files that were changed outside of the run since.

use std::fs;
use std::path::PathBuf;

use crewagent_core::event::{EventKind, UserEvent};
use crewagent_core::policy::rules::{RuleSet, Source};
use crewagent_core::run::history::named;
use crewagent_engine::changes::{
    ChangesError, HunkSide, Prospect, RevertOutcome, RevertScope, RunChanges,
};
use crewagent_engine::disk::Disk;
use crewagent_engine::store::{Of, RunError, RunId};
use crewagent_format::integrity::Digest;

use crate::golden_fixture::{GoldenFixture, tree};
use crate::proofs::fixture::{ProofFixture, clock};
use crate::proofs::twelve::twelve;

const REVIEW: &str = "artifacts/draft-review/review.md";
const DRAFT: &str = "artifacts/draft-review/draft.md";

/// A run that drafts, reviews, revises and reviews again.
struct ChangesFixture {
    golden_fixture: GoldenFixture,
    id: RunId,
}

impl ChangesFixture {
    fn set() -> Self {
        let golden_fixture = GoldenFixture::set("004-loop-with-exit");
        let id = golden_fixture.play().id;
        Self { golden_fixture, id }
    }

    fn changes(&self) -> RunChanges {
        RunChanges::of(&self.golden_fixture.store(Disk::real()), &self.id).unwrap()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.golden_fixture.project().join(path)
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn seq(&self, visit: &str) -> u64 {
        named(self.changes().visits(), visit).unwrap().seq
    }

    fn plan_revert(&self, scope: RevertScope) -> Vec<(String, Prospect, Vec<String>)> {
        let way = self.changes().plan_revert(scope).unwrap();
        way.into_iter().map(|file| (file.path, file.prospect, file.later)).collect()
    }
}

fn all(changes: &RunChanges, scope: RevertScope) -> Vec<(String, Option<Digest>)> {
    let way = changes.plan_revert(scope).unwrap();
    way.into_iter().map(|file| (file.path, file.now)).collect()
}

#[test]
fn the_hunks_of_a_file_are_taken_back_one_by_one() {
    let fixture = ChangesFixture::set();
    let lines: Vec<String> = (1..=30).map(|line| format!("line {line}\r\n")).collect();
    // The run created the draft, so its current text is compared with an empty one.
    let hunks = fixture.changes().hunks(DRAFT).unwrap();
    assert!(hunks.created && hunks.is_current && hunks.hunks.len() == 1);
    assert!(hunks.hunks[0].lines.iter().all(|line| line.side == HunkSide::Now));
    fs::write(fixture.path(DRAFT), lines.concat()).unwrap();
    let stale = fixture.changes().revert_hunk(DRAFT, hunks.now, hunks.hunks[0].range);
    assert!(matches!(stale, Err(ChangesError::Stale(_))), "{stale:?}");
    assert_eq!(fixture.text(DRAFT), Some(lines.concat()));
    let hunks = fixture.changes().hunks(DRAFT).unwrap();
    assert!(!hunks.is_current);
    fixture.changes().revert_hunk(DRAFT, hunks.now, hunks.hunks[0].range).unwrap();
    assert_eq!(fixture.text(DRAFT), None, "the run made it, so it goes");
    assert!(matches!(fixture.changes().hunks(DRAFT), Err(ChangesError::Refused(_))));
}

#[test]
fn a_hunk_that_is_not_one_of_the_file_is_refused() {
    let fixture = ChangesFixture::set();
    let hunks = fixture.changes().hunks(DRAFT).unwrap();
    let mut other = hunks.hunks[0].range;
    other.new_lines -= 1;
    let before = fixture.text(DRAFT);
    let refused = fixture.changes().revert_hunk(DRAFT, hunks.now, other);
    assert!(matches!(refused, Err(ChangesError::Stale(_))), "{refused:?}");
    assert_eq!(fixture.text(DRAFT), before);
    assert!(matches!(fixture.changes().hunks("notes/wiki.md"), Err(ChangesError::Unchanged(_))));
    fs::write(fixture.path(DRAFT), [0xff, 0xfe]).unwrap();
    assert!(matches!(fixture.changes().hunks(DRAFT), Err(ChangesError::NotText(_))));
}

#[test]
fn a_step_is_taken_back_and_says_who_wrote_there_later() {
    let fixture = ChangesFixture::set();
    let revise = RevertScope::Step(fixture.seq("step-03-revise"));
    let later = vec!["decide-02-review".to_owned()];
    let expected = [
        (DRAFT.to_owned(), Prospect::Ready, Vec::new()),
        (REVIEW.to_owned(), Prospect::Ready, later),
    ];
    assert_eq!(fixture.plan_revert(revise), expected);
    let changes = fixture.changes();
    for (path, outcome) in changes.revert(revise, &all(&changes, revise)).unwrap() {
        assert_eq!(outcome, RevertOutcome::Reverted, "{path}");
    }
    assert!(!fixture.text(DRAFT).unwrap().contains("four days"));
    assert!(!fixture.text(REVIEW).unwrap().contains("Answer to round 1"));
    assert!(fixture.text(REVIEW).unwrap().contains("Round 1"));
    assert!(fixture.plan_revert(revise).iter().all(|(_, prospect, _)| *prospect == Prospect::Done));
    // The content that the run wrote can still be shown.
    let last = changes.span(REVIEW, None).unwrap().1.after.unwrap();
    let image = changes.image(REVIEW, last, 1 << 20).unwrap().unwrap();
    assert!(String::from_utf8(image).unwrap().contains("Round 2"));
}

#[test]
fn what_somebody_else_has_changed_is_left_alone() {
    let fixture = ChangesFixture::set();
    let first = RevertScope::Onward(fixture.seq("step-01-draft"));
    let agreed = all(&fixture.changes(), first);
    fs::write(fixture.path(REVIEW), "my own words\n").unwrap();
    let conflict = |(path, prospect, _): &(String, Prospect, Vec<String>)| {
        (*prospect == Prospect::Conflict).then(|| path.clone())
    };
    let way = fixture.plan_revert(first);
    assert_eq!(way.iter().filter_map(conflict).collect::<Vec<_>>(), [REVIEW]);
    let outcomes = fixture.changes().revert(first, &agreed).unwrap();
    let left: Vec<&String> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome != RevertOutcome::Reverted)
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, [REVIEW]);
    assert_eq!(fixture.text(REVIEW).as_deref(), Some("my own words\n"));
    assert_eq!(fixture.text(DRAFT), None);
    assert!(matches!(
        fixture.changes().plan_revert(RevertScope::Step(2)),
        Err(ChangesError::NoVisit(2))
    ));
}

#[test]
fn only_what_was_agreed_to_is_taken_back() {
    let fixture = ChangesFixture::set();
    let revise = RevertScope::Step(fixture.seq("step-03-revise"));
    let changes = fixture.changes();
    let mut agreed = all(&changes, revise);
    agreed.retain(|(path, _)| path == DRAFT);
    agreed.push(("notes/wiki.md".to_owned(), Some(Digest::of(b""))));
    let review = fixture.text(REVIEW);
    let outcomes = changes.revert(revise, &agreed).unwrap();
    assert_eq!(outcomes[0], (DRAFT.to_owned(), RevertOutcome::Reverted));
    assert!(matches!(&outcomes[1].1, RevertOutcome::Left(_)));
    assert_eq!(fixture.text(REVIEW), review);
}

#[test]
fn nothing_is_taken_back_below_a_run_at_work_in_another_process() {
    let fixture = ChangesFixture::set();
    let revise = RevertScope::Step(fixture.seq("step-03-revise"));
    let store = fixture.golden_fixture.store(Disk::real());
    let held = store.runs().open(&fixture.id).unwrap();
    assert!(fixture.changes().revert(revise, &[]).is_ok(), "this process works on it");
    let home = fixture.golden_fixture.scratch().join("home");
    let locks =
        tree(&home).into_keys().filter(|path| path.ends_with(&format!("{}/lock", fixture.id)));
    for lock in locks {
        fs::write(home.join(lock), r#"{"pid":4000000000,"epoch":9}"#).unwrap();
    }
    let changes = fixture.changes();
    let agreed = all(&changes, revise);
    let before = fixture.text(DRAFT);
    let in_use = |result| matches!(result, Err(ChangesError::Run(RunError::InUse { .. })));
    assert!(in_use(changes.revert(revise, &agreed).map(drop)));
    assert!(in_use(changes.revert_file(DRAFT, None, agreed[0].1)));
    let hunks = changes.hunks(DRAFT).unwrap();
    assert!(in_use(changes.revert_hunk(DRAFT, hunks.now, hunks.hunks[0].range)));
    assert_eq!(fixture.text(DRAFT), before);
    drop(held);
    assert!(fixture.changes().revert(revise, &agreed).is_ok());
}

#[test]
fn moved_and_deleted_files_are_asked_about_and_come_back() {
    let ask = ["fs.move", "fs.delete"].map(|rule| rule.parse().unwrap()).to_vec();
    let mut piece = twelve();
    piece.rules = vec![RuleSet { ask, ..RuleSet::none(Source::Settings) }];
    let fixture = ProofFixture::new(piece);
    let before = tree(&fixture.project());
    let process = fixture.process(Disk::real(), &clock(0));
    process.end.unwrap();
    let asked = process.told.iter().filter_map(|event| match &event.kind {
        EventKind::User(UserEvent::Asked(asked)) => Some(&asked.question),
        _ => None,
    });
    let asked: Vec<&str> = asked
        .filter(|question| question.approval.is_some())
        .map(|question| question.question.as_str())
        .collect();
    let expected = [
        "Allow `fs.move` to move `@project/notes/new.md` to `@project/notes/old/er.md`?",
        "Allow `fs.delete` to delete `@project/notes/log.md`?",
        "Allow `fs.apply_patch` to change 2 files?",
    ];
    assert_eq!(asked, expected);
    let after = tree(&fixture.project());
    assert!(after.contains_key("notes/old/er.md") && after.contains_key("notes/done.md"));
    assert!(!after.contains_key("notes/log.md") && !after.contains_key("notes/plan.md"));
    let store = fixture.store(Disk::real());
    let id = store.runs().list(Of::All).unwrap().runs[0].run_id.clone();
    let changes = RunChanges::of(&store, &id).unwrap();
    let first = RevertScope::Onward(changes.visits()[0].seq);
    for (path, outcome) in changes.revert(first, &all(&changes, first)).unwrap() {
        assert_eq!(outcome, RevertOutcome::Reverted, "{path}");
    }
    let files = |tree: std::collections::BTreeMap<String, Vec<u8>>| {
        tree.into_iter().filter(|(name, _)| !name.ends_with('/')).collect::<Vec<_>>()
    };
    assert!(
        files(tree(&fixture.project())) == files(before),
        "{:?}",
        tree(&fixture.project()).keys()
    );
}
