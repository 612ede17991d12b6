//! Kills the real binary: after a line of its output, in the middle of a system call, and on a full disk. An
//! independent check of the engine's proofs. See docs/reliability.md.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "what is left out is said")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crewagent_testkit::report::proven;
use serde_json::Value as Json;

use crate::support::{CliFixture, Ran, copy_folder, example, repository};

const KEY: &str = "1-2-user-authentication";
const PACKAGE: &str = "create-story-micro";

/// The first golden run, with its own store and project.
struct CrashFixture {
    world: CliFixture,
    golden: PathBuf,
    model: String,
}

/// The result of a run, without ids and times.
#[derive(Debug, PartialEq)]
struct Picture {
    project: BTreeMap<PathBuf, Vec<u8>>,
    document: String,
}

impl CrashFixture {
    fn new() -> Self {
        let world = CliFixture::new();
        assert_eq!(world.run(&["package", "import", &example(PACKAGE)]).code, 0);
        let golden = repository().join("crates/engine/tests/golden/001-create-story-micro");
        let model = format!("scripted:{}", golden.join("scenario.yaml").display());
        let fixture = Self { world, golden, model };
        fixture.reset();
        fixture
    }

    fn reset(&self) {
        for name in ["store/projects", "project"] {
            let _ = fs::remove_dir_all(self.world.path(name));
        }
        copy_folder(&self.golden.join("project"), &self.world.path("project"));
    }

    fn start(&self) -> Vec<&str> {
        let model = self.model.as_str();
        let run = ["run", PACKAGE, "--agent", "sm", "--project", "project"];
        let how = ["--model", model, "--json", "--input", KEY];
        run.into_iter().chain(how).collect()
    }

    /// Resumes the run until it is complete. Starts it if there is none yet.
    fn complete(&self, case: &str) -> Picture {
        let mut input = Vec::new();
        for _ in 0..4 {
            let ran = match self.run_folder() {
                None => self.world.run(&self.start()),
                Some(_) => {
                    let mut command = vec!["resume", "latest", "--model", &self.model, "--json"];
                    command.append(&mut input);
                    self.world.run(&command)
                }
            };
            match ran.code {
                0 => return self.picture(),
                3 => input = vec!["--input", KEY],
                _ if is_complete(&ran) => return self.picture(),
                _ => panic!("{case}: {ran:?}"),
            }
        }
        panic!("{case}: the run does not come to its end")
    }

    /// Returns the folder of the only run.
    fn run_folder(&self) -> Option<PathBuf> {
        let projects = fs::read_dir(self.world.path("store/projects")).ok()?;
        let runs =
            projects.filter_map(|entry| fs::read_dir(entry.unwrap().path().join("runs")).ok());
        let mut folders = runs
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
        let first = folders.next();
        assert_eq!(folders.next(), None, "there are two runs");
        first
    }

    fn journal(&self) -> Vec<Json> {
        let Some(folder) = self.run_folder() else { return Vec::new() };
        let text = fs::read_to_string(folder.join("state/logs/execution.jsonl")).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn picture(&self) -> Picture {
        let mut project = BTreeMap::new();
        collect(&self.world.path("project"), &self.world.path("project"), &mut project);
        let document = self.run_folder().unwrap().join("state/workflow.md");
        let text = fs::read_to_string(document).unwrap();
        let is_same =
            |line: &&str| !["runId", "updatedAt", "decidedAt"].iter().any(|key| line.contains(key));
        Picture { project, document: text.lines().filter(is_same).collect::<Vec<_>>().join("\n") }
    }
}

/// Returns true if the run was complete: `resume latest` finds no unfinished run when the process died after its last
/// line.
fn is_complete(ran: &Ran) -> bool {
    ran.err.contains("there is no unfinished run")
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

fn calm() -> Picture {
    let fixture = CrashFixture::new();
    assert_eq!(fixture.world.run(&fixture.start()).code, 0);
    fixture.picture()
}

fn is_full() -> bool {
    std::env::var("PROOF_SCALE").as_deref() == Ok("full")
}

/// Runs the binary, kills it after this many lines, and returns them.
fn kill_after(fixture: &CrashFixture, lines: usize) -> Vec<Json> {
    let mut child = fixture
        .world
        .command()
        .args(fixture.start())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let seen: Vec<Json> =
        out.lines().take(lines).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}

/// Checks that results printed before the kill are in the journal.
fn check_kept(events: &[Json], journal: &[Json], case: &str) {
    for event in events.iter().filter(|event| event.get("key").is_some()) {
        let same = |record: &&Json| record["seq"] == event["seq"] && record["key"] == event["key"];
        assert!(journal.iter().any(|record| same(&record)), "{case}: {event} was told and is lost");
    }
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let calm = calm();
    let fixture = CrashFixture::new();
    let points = if is_full() { 200 } else { 40 };
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut died = 0;
    for _ in 0..points {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let lines = 1 + usize::try_from(random % 400).unwrap();
        let case = format!("killed after {lines} lines");
        fixture.reset();
        let events = kill_after(&fixture, lines);
        let journal = fixture.journal();
        died += usize::from(!journal.iter().any(|event| event["type"] == "run.finished"));
        check_kept(&events, &journal, &case);
        assert_eq!(fixture.complete(&case), calm, "{case}");
    }
    assert!(died > points / 2, "only {died} of {points} were killed before their end");
    proven("B1", &format!("{died} kills; 0 failures"));
}

/// System calls, with the distance between the calls in which the process is killed.
const CALLS: [(&str, usize, usize); 9] = [
    ("fdatasync", 7, 1),
    ("fsync", 9, 1),
    ("rename", 4, 1),
    ("renameat", 3, 1),
    ("renameat2", 2, 1),
    ("openat2", 30, 3),
    ("write", 77, 5),
    ("mkdir", 3, 1),
    ("ftruncate", 1, 1),
];

/// Runs the binary under strace, which kills it in the Nth call. Returns true if it did.
fn kill_in(fixture: &CrashFixture, call: &str, n: usize) -> bool {
    let log = fixture.world.path("strace.log");
    let _ = fs::remove_file(&log);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:signal=SIGKILL:when={n}")])
        .arg(env!("CARGO_BIN_EXE_crewagent"))
        .args(fixture.start())
        .env_clear()
        .env("CREWAGENT_HOME", fixture.world.path("store"))
        .current_dir(fixture.world.folder.path())
        .stdin(Stdio::null());
    let ran = command.output().unwrap();
    let killed = fs::read_to_string(log).unwrap().contains("killed by SIGKILL");
    assert!(killed || ran.status.success(), "{call} {n}: {ran:?}");
    killed
}

#[test]
fn a_run_that_dies_inside_a_system_call_goes_on_where_it_was() {
    if let Err(why) = strace_works() {
        println!("left out: {why}");
        return;
    }
    let calm = calm();
    let all: Vec<(&str, usize)> =
        CALLS.iter().map(|(call, few, all)| (*call, if is_full() { *all } else { *few })).collect();
    let (one, other) = all.split_at(all.len() / 2);
    let sweep = |calls: &[(&str, usize)]| -> usize {
        let fixture = CrashFixture::new();
        let mut deaths = 0;
        for (call, step) in calls {
            let mut killed = 0;
            for n in (1..).step_by(*step) {
                fixture.reset();
                if !kill_in(&fixture, call, n) {
                    break;
                }
                killed += 1;
                let case = format!("killed in {call} number {n}");
                assert_eq!(fixture.complete(&case), calm, "{case}");
            }
            assert!(killed > 0, "nobody was killed in {call}");
            deaths += killed;
        }
        deaths
    };
    let deaths = std::thread::scope(|scope| {
        let first = scope.spawn(|| sweep(one));
        sweep(other) + first.join().unwrap()
    });
    proven("B2", &format!("{deaths} kills in {} kinds of system call; 0 failures", CALLS.len()));
}

fn strace_works() -> Result<(), String> {
    let tried = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    match tried {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => {
            Err(format!("strace may not trace here: {}", String::from_utf8_lossy(&ran.stderr)))
        }
        Err(error) => Err(format!("strace cannot be run: {error}")),
    }
}

/// Runs on a disk of a few kilobytes, enlarges it, and resumes. The last line has both exit codes.
const FULL_DISK: &str = r#"
set -u
mount -t tmpfs -o size="$SIZE"k tmpfs "$DISK" || { echo "left out: no tmpfs"; exit 0; }
cp -r "$SEED/." "$DISK/" || { echo "left out: too small"; exit 0; }
cd "$DISK"
"$BIN" run "$PACKAGE" --agent sm --project project --model "$MODEL" --json --input "$KEY" >/dev/null 2>"$OUT/err"
FIRST=$?
mount -o remount,size=16m "$DISK"
if ls -d store/projects/*/runs/2* >/dev/null 2>&1; then THERE=yes; else THERE=no; fi
SECOND=0
if [ "$FIRST" != 0 ]; then
  if [ "$THERE" = yes ]; then
    "$BIN" resume latest --model "$MODEL" --json --no-input >/dev/null 2>"$OUT/err2"; SECOND=$?
    [ "$SECOND" = 3 ] && { "$BIN" resume latest --model "$MODEL" --json --input "$KEY" >/dev/null 2>"$OUT/err2"; SECOND=$?; }
  else
    "$BIN" run "$PACKAGE" --agent sm --project project --model "$MODEL" --json --input "$KEY" >/dev/null 2>"$OUT/err2"; SECOND=$?
  fi
fi
diff -r "$EXPECTED" project || SECOND=99
echo "first $FIRST there $THERE second $SECOND"
"#;

#[test]
fn a_full_disk_is_said_and_survived() {
    let permitted = Command::new("unshare").args(["-rm", "true"]).output();
    if !permitted.is_ok_and(|ran| ran.status.success()) {
        println!("left out: this user may not make a mount namespace");
        return;
    }
    let fixture = CrashFixture::new();
    let seed = fixture.world.path("seed");
    copy_folder(&fixture.world.path("store"), &seed.join("store"));
    copy_folder(&fixture.golden.join("project"), &seed.join("project"));
    for folder in ["disk", "out"] {
        fs::create_dir(fixture.world.path(folder)).unwrap();
    }
    let (mut filled, mut there) = (0, 0);
    for size in (140..420).step_by(if is_full() { 4 } else { 28 }) {
        let ran = Command::new("unshare")
            .args(["-rm", "sh", "-c", FULL_DISK])
            .env("SIZE", size.to_string())
            .env("DISK", fixture.world.path("disk"))
            .env("OUT", fixture.world.path("out"))
            .env("SEED", &seed)
            .env("BIN", env!("CARGO_BIN_EXE_crewagent"))
            .env("PACKAGE", PACKAGE)
            .env("MODEL", &fixture.model)
            .env("KEY", KEY)
            .env("EXPECTED", fixture.golden.join("expected"))
            .env("CREWAGENT_HOME", fixture.world.path("disk/store"))
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        let last = out.lines().last().unwrap_or_default();
        if last.starts_with("left out") {
            continue;
        }
        let said = fs::read_to_string(fixture.world.path("out/err")).unwrap();
        assert!(last.ends_with("second 0"), "{size} KiB: {out}\n{said}");
        if !last.starts_with("first 0") {
            assert!(last.starts_with("first 1 "), "{size} KiB: {last}");
            assert!(said.contains("No space left on device"), "{size} KiB: {said}");
            filled += 1;
            there += usize::from(last.contains("there yes"));
        }
    }
    assert!(filled > 0 && there > 0, "no disk was too small: {filled}, {there}");
    proven(
        "B3",
        &format!("{filled} full disks, {there} of them in the middle of a run; 0 failures"),
    );
}
