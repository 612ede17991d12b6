//! Measures the import of a package of 5,000 files against the system's `unzip` on the same file in the same run.
//!
//! `cargo bench -p crewagent-engine --bench import`. Fails if the import takes more than 1.5 times as long.
#![allow(clippy::disallowed_methods, reason = "it is compared with another program")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crewagent_engine::store::{ImportOutcome, Store};
use crewagent_source::PackageLimits;
use crewagent_source::pack::{PackOutput, pack};
use crewagent_testkit::package::generated;
use crewagent_testkit::report;

const FILES: usize = 5_000;
const NODES: usize = 1_000;
const EDGES: usize = 3_000;
const ROUNDS: usize = 9;
const GOAL: f64 = 1.5;

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, but without the flag, and there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("import takes more than {GOAL} times as long as unzip");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the benchmark cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    if Command::new("unzip").arg("-v").output().is_err() {
        println!("`unzip` is not installed: there is nothing to compare with.");
        return Ok(true);
    }
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let folder = scratch.path().join("package");
    let bytes = write_package(&folder)?;
    let archive = scratch.path().join("generated.bmad");
    let packed = pack(&folder, PackOutput::File(&archive), &PackageLimits::default())
        .map_err(|error| format!("{error}"))?;
    assert_eq!(packed.files, FILES);

    // Nothing is removed between the rounds, because some file systems create files slowly after many removals.
    let (mut unzips, mut imports) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let unzip = || unzip(&archive, &scratch.path().join(format!("unzip-{round}")));
        let import = || import(&archive, &scratch.path().join(format!("store-{round}")));
        // Each goes first in half of the rounds.
        let (one, other) = if round % 2 == 0 {
            let one = unzip()?;
            (one, import()?)
        } else {
            let other = import()?;
            (unzip()?, other)
        };
        unzips.push(one);
        imports.push(other);
    }
    let (unzip, import) = (report::median(&mut unzips), report::median(&mut imports));
    let ratio = import.as_secs_f64() / unzip.as_secs_f64();
    let (unpacked, packed) = (bytes / 1024, packed.packed_bytes / 1024);
    let table = format!(
        "| {FILES} files, {unpacked} KiB, packed {packed} KiB | median of {ROUNDS} | ratio | goal |\n\
         |---|--:|--:|--:|\n\
         | `unzip -q -o` | {} | 1 | |\n\
         | import: gate, check, digest, write, flush | {} | **{ratio:.2}** | ≤ {GOAL} |\n",
        report::millis(unzip),
        report::millis(import),
    );
    report::publish("import", &table);
    Ok(ratio <= GOAL)
}

fn unzip(archive: &Path, to: &Path) -> Result<Duration, Box<dyn Error>> {
    settle(archive)?;
    let start = Instant::now();
    let status =
        Command::new("unzip").args(["-q", "-o"]).arg(archive).arg("-d").arg(to).status()?;
    let time = start.elapsed();
    if status.success() { Ok(time) } else { Err(format!("unzip failed: {status}").into()) }
}

fn import(archive: &Path, home: &Path) -> Result<Duration, Box<dyn Error>> {
    settle(archive)?;
    let start = Instant::now();
    let store = Store::open(Some(home.to_owned()))?;
    let imported = store.packages().import(archive, &mut || ())?;
    let time = start.elapsed();
    assert_eq!(imported.outcome, ImportOutcome::New);
    Ok(time)
}

/// Flushes the disk, so that neither side pays for the writes of the other.
fn settle(archive: &Path) -> Result<(), Box<dyn Error>> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(fs::File::open(archive)?)?;
    fs::read(archive)?;
    Ok(())
}

/// Writes a valid package, filled up with assets of 0.5 to 20 KB.
fn write_package(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut files = generated(NODES, EDGES);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for number in files.len()..FILES {
        // Small files are more frequent than large ones, as in real packages.
        let size = (512.0 * 40_f64.powf(random.below(1_000) as f64 / 1_000.0)) as usize;
        files.push((
            format!("assets/{:02}/asset-{number:04}.md", number % 40),
            text(&mut random, size),
        ));
    }
    let mut bytes = 0;
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        fs::write(path, &content)?;
        bytes += content.len() as u64;
    }
    Ok(bytes)
}

fn text(random: &mut Random, size: usize) -> String {
    const WORDS: [&str; 12] = [
        "story",
        "the",
        "sprint",
        "of",
        "architecture",
        "and",
        "acceptance",
        "criteria",
        "review",
        "a",
        "developer",
        "decides",
    ];
    let mut text = String::new();
    while text.len() < size {
        text.push_str(WORDS[random.below(WORDS.len())]);
        // Some of the text is hard to compress, as names and numbers are.
        text.push_str(&format!("-{:x}", random.below(4_096)));
        text.push(if random.below(12) == 0 { '\n' } else { ' ' });
    }
    text.truncate(size);
    text
}

/// A small random generator, so that every run packs the same files.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
