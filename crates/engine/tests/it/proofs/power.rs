//! D2: the power fails after every operation. Every possible state of the disk is checked, and in some of them the run
//! is actually resumed.

mod judge;
mod platter;
mod tape;

use std::collections::HashMap;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;

use crewagent_engine::disk::Disk;
use crewagent_format::integrity::Digest;

use self::judge::{Files, Judge, Places};
use self::platter::{Contents, Id, Names, Node, Platter, ROOT};
use self::tape::{DiskOperation, Entry, Tape};
use super::fixture::{ProofFixture, clock};
use super::kill::Calm;
use super::record::{Scale, proven, scale};
use super::twelve::{Piece, twelve};

#[derive(Default)]
struct State {
    files: Files,
    folders: Vec<String>,
}

/// Limits of the check.
struct Effort {
    /// Contents of one file.
    contents: usize,
    /// States after one operation.
    states: usize,
    /// Number of operations between two resumed runs; 0 means that none is resumed.
    every: usize,
}

/// A small random generator, so that every build checks the same states.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// The chosen content or listing of each unsure file or folder.
type Choice = HashMap<Id, usize>;

struct Options {
    contents: HashMap<Id, Rc<Contents>>,
    listings: HashMap<Id, Vec<Names>>,
    /// Unsure files and folders, with the number of their possibilities.
    counts: Vec<(Id, usize)>,
}

impl Options {
    fn of(platter: &Platter, most: usize) -> Self {
        let (mut contents, mut listings) = (HashMap::new(), HashMap::new());
        let mut counts = Vec::new();
        for id in platter.unsure() {
            let count = match platter.node(id) {
                Node::File { .. } => {
                    let all = platter.contents(id, most);
                    let count = all.len();
                    contents.insert(id, all);
                    count
                }
                Node::Folder { .. } => {
                    let all = platter.listings(id);
                    let count = all.len();
                    listings.insert(id, all);
                    count
                }
            };
            counts.push((id, count));
        }
        Self { contents, listings, counts }
    }

    /// Returns all combinations, or `most` of them: none, all, each one by itself, and random ones.
    fn choices(&self, most: usize, random: &mut Random) -> Vec<Choice> {
        let product = self.counts.iter().try_fold(1_usize, |all, (_, count)| {
            all.checked_mul(*count).filter(|all| *all <= most)
        });
        let nth = |mut n: usize| -> Choice {
            let digit = |(id, count): &(Id, usize)| {
                let digit = n % count;
                n /= count;
                (*id, digit)
            };
            self.counts.iter().map(digit).collect()
        };
        match product {
            Some(product) => (0..product).map(nth).collect(),
            None => {
                let first: Choice = self.counts.iter().map(|(id, _)| (*id, 0)).collect();
                let last: Choice = self.counts.iter().map(|(id, count)| (*id, count - 1)).collect();
                let mut all = vec![first, last];
                while all.len() < most {
                    let drawn = self.counts.iter().map(|(id, count)| (*id, random.below(*count)));
                    all.push(drawn.collect());
                }
                all
            }
        }
    }

    fn state(&self, platter: &Platter, choice: &Choice) -> State {
        let mut state = State::default();
        self.walk(platter, choice, ROOT, "", &mut state);
        state
    }

    fn walk(&self, platter: &Platter, choice: &Choice, at: Id, path: &str, state: &mut State) {
        match platter.node(at) {
            Node::File { flushed, .. } => {
                let chosen = choice.get(&at).map(|n| self.contents[&at][*n].clone());
                state.files.insert(path.to_owned(), chosen.unwrap_or_else(|| flushed.clone()));
            }
            Node::Folder { flushed, .. } => {
                state.folders.push(path.to_owned());
                let names = choice.get(&at).map_or(flushed, |n| &self.listings[&at][*n]);
                for (name, id) in names {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                    self.walk(platter, choice, *id, &path, state);
                }
            }
        }
    }
}

/// The recorded operations of a run, and the disk before it.
struct Taped {
    entries: Vec<Entry>,
    platter: Platter,
    places: Places,
}

fn taped(fixture: &ProofFixture) -> Taped {
    fixture.reset();
    let tape = Arc::new(Tape::default());
    let process = fixture.observe(tape.disk(), &clock(0), &mut |seq| tape.hear(seq));
    process.end.unwrap();
    let run = fixture.run_folder().unwrap();
    let run = run.strip_prefix(fixture.root()).unwrap().to_str().unwrap().to_owned();
    let mut platter = Platter::new();
    platter.settle("home/", b"");
    let mut places = Places { run, before: Default::default() };
    for (name, content) in &fixture.piece.project {
        platter.settle(&format!("project/{name}"), content.as_bytes());
        places.before.insert(format!("@project/{name}"), Digest::of(content.as_bytes()));
    }
    Taped { entries: tape.entries(), platter, places }
}

/// Returns the path of a file from the root of the fixture.
fn path_of(label: &str, run: &str) -> String {
    let path = match label.split_once('/') {
        _ if label.is_empty() => "home".to_owned(),
        Some(("@project", rest)) => format!("project/{rest}"),
        Some(("@state", rest)) => format!("{run}/state/{rest}"),
        _ if label == "@project" => "project".to_owned(),
        _ if label == "@state" => format!("{run}/state"),
        _ => format!("home/{label}"),
    };
    path.trim_end_matches('/').to_owned()
}

/// Writes a state to the real disk.
fn materialise(fixture: &ProofFixture, state: &State) {
    fixture.clear();
    for folder in &state.folders {
        fs::create_dir_all(fixture.root().join(folder)).unwrap();
    }
    for (path, bytes) in &state.files {
        fs::write(fixture.root().join(path), bytes).unwrap();
    }
}

fn check_resume(fixture: &ProofFixture, calm: &Calm, state: &State, known: &[u64], case: &str) {
    materialise(fixture, state);
    let process = fixture.process(Disk::real(), &clock(1));
    if let Err(stopped) = &process.end {
        panic!("{case}: {stopped:?}");
    }
    assert!(fixture.is_complete(), "{case}");
    fixture.picture().check(&calm.picture, &case);
    let again = process.model.asked().into_iter().find(|turn| known.contains(turn));
    assert_eq!(again, None, "{case}: a reply that was flushed was asked for again");
}

/// Results of the check.
#[derive(Default)]
struct Findings {
    states: usize,
    resumed: usize,
    failures: Vec<String>,
}

/// Cuts the power after each operation of a tape, in every state of the disk.
fn examine(fixture: &ProofFixture, calm: &Calm, taped: Taped, effort: &Effort) -> Findings {
    let Taped { entries, mut platter, places } = taped;
    let journal = format!("{}/state/logs/execution.jsonl", places.run);
    let (mut judge, mut random) = (Judge::default(), Random(0x9e37_79b9_7f4a_7c15));
    let (mut heard, mut found) = (0, Findings::default());
    for (number, entry) in entries.iter().enumerate() {
        let case = match entry {
            Entry::Observed(seq) => {
                heard = *seq;
                format!("{number}: heard {seq}")
            }
            Entry::Done(label, action) => {
                let action = action.clone().on(|to| path_of(&to, &places.run));
                platter.action(&path_of(label, &places.run), &action);
                format!("{number}: {} {label}", action.name())
            }
        };
        let flushed = platter.surely(&journal).map(|bytes| judge.journal(bytes));
        let sure = flushed.as_ref().map_or(0, |told| told.events as u64).max(heard);
        let known = flushed.map_or_else(Vec::new, |told| told.replies.clone());
        let options = Options::of(&platter, effort.contents);
        let choices = options.choices(effort.states, &mut random);
        let chosen = random.below(choices.len());
        for (n, choice) in choices.iter().enumerate() {
            let state = options.state(&platter, choice);
            found.states += 1;
            if let Err(why) = judge.check(&state.files, &places, sure) {
                found.failures.push(format!("{case}: {why}"));
            }
            if n == chosen && effort.every > 0 && number % effort.every == 0 {
                found.resumed += 1;
                check_resume(fixture, calm, &state, &known, &case);
            }
        }
    }
    found
}

/// Cuts the power after every operation of a run. Returns the numbers of checked states and of resumed runs.
pub(crate) fn check_every_power_cut(piece: fn() -> Piece) -> (usize, usize) {
    let effort = match scale() {
        Scale::Sample => Effort { contents: 12, states: 80, every: 24 },
        Scale::Full => Effort { contents: 1_000, states: 4_000, every: 1 },
    };
    let fixture = ProofFixture::new(piece());
    let calm = Calm::of(&fixture);
    let Findings { states, resumed, failures } = examine(&fixture, &calm, taped(&fixture), &effort);
    let first = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {states} states are bad:\n{first}", failures.len());
    (states, resumed)
}

#[test]
fn a_power_cut_after_any_operation_loses_nothing_that_was_flushed() {
    let (states, resumed) = check_every_power_cut(twelve);
    proven(
        "D2",
        &format!("{states} states, {resumed} of them resumed to the end; 0 lost, 0 unreadable"),
    );
}

/// Proves the other half: the check detects a run that does not flush.
#[test]
fn a_flush_that_is_left_out_is_seen() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    type Left = fn(&str, &DiskOperation) -> bool;
    let left_out: [(&str, Left); 4] = [
        ("the journal", |label, action| {
            matches!(action, DiskOperation::Sync) && label.ends_with("execution.jsonl")
        }),
        ("new files", |label, action| {
            matches!(action, DiskOperation::Sync) && label.contains(".crewagent-")
        }),
        ("the folder of the document", |label, action| {
            matches!(action, DiskOperation::SyncFolder) && label == "@state"
        }),
        ("blobs", |label, action| {
            matches!(action, DiskOperation::Sync) && label.contains("/blobs/")
        }),
    ];
    for (what, is_left_out) in left_out {
        let mut taped = taped(&fixture);
        let all = taped.entries.len();
        taped.entries.retain(|entry| match entry {
            Entry::Done(label, action) => !is_left_out(label, action),
            Entry::Observed(_) => true,
        });
        assert!(taped.entries.len() < all, "{what}: there is no such flush");
        // Blobs come late; everything else shows at once.
        let most = if what == "blobs" { all } else { 150 };
        taped.entries.truncate(most);
        let effort = Effort { contents: 4, states: 8, every: 0 };
        let found = examine(&fixture, &calm, taped, &effort);
        assert!(!found.failures.is_empty(), "{what}: {} states, nothing seen", found.states);
    }
}
