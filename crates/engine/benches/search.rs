//! Measures `fs.search` over a generated tree against `rg` on the same tree in the same run.
//!
//! `cargo bench -p crewagent-engine --bench search`. Fails if a search takes more than 1.15 times as long. The tree has
//! 200 MB; with `SEARCH_GB=1` it has 1 GB in 50,000 files.
#![allow(clippy::disallowed_methods, reason = "it is compared with another program")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crewagent_core::vpath::VPath;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::mounts::{Mounts, Roots};
use crewagent_engine::tools::search::{DEFAULT_PATH, Search, SearchResult, Syntax, search};
use crewagent_testkit::report;

const GOAL: f64 = 1.15;
const ROUNDS: usize = 15;
/// Bytes in a file.
const FILE: usize = 20_000;
/// Files in a folder.
const FOLDER: usize = 50;
/// One file in this many has the needle.
const NEEDLE_EVERY: usize = 1_500;

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, but without the flag, and there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("a search takes more than {GOAL} times as long as rg");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the benchmark cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Case {
    name: &'static str,
    query: &'static str,
    syntax: Syntax,
    /// Flags that make `rg` do the same.
    flags: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case {
        name: "a text, ignoring case",
        query: "Needle In The Haystack",
        syntax: Syntax::Literal,
        flags: &["-i", "-F"],
    },
    Case {
        name: "an expression with a literal",
        query: r"needle\s+\w+\s+the haystack",
        syntax: Syntax::Regex,
        flags: &["-i"],
    },
    Case {
        name: "a text that does not occur",
        query: "quite another needle",
        syntax: Syntax::Literal,
        flags: &["-i", "-F"],
    },
];

fn run() -> Result<bool, Box<dyn Error>> {
    let version = Command::new("rg").arg("--version").output();
    let Ok(version) = version else {
        println!("`rg` is not installed: there is nothing to compare with.");
        return Ok(true);
    };
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.split_whitespace().nth(1).unwrap_or("of unknown version").to_owned();
    let files = if std::env::var("SEARCH_GB").is_ok_and(|gb| gb == "1") { 50_000 } else { 10_000 };
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let project = scratch.path().join("project");
    let needles = write_tree(&project, files)?;
    let other = scratch.path().join("other");
    fs::create_dir(&other)?;
    let mounts =
        Mounts::open(&Roots { project: project.clone(), package: other.clone(), state: other })?;
    let megabytes = files * FILE / 1_000_000;
    let mut table = format!(
        "| {files} files, {megabytes} MB, warm | `rg` {version} | `fs.search` | ratio | goal |\n\
         |---|--:|--:|--:|--:|\n"
    );
    let mut passed = true;
    for case in &CASES {
        let expected = if case.query.contains("another") { 0 } else { needles };
        let (theirs, ours) = compare(case, &project, &mounts, expected)?;
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        passed &= ratio <= GOAL;
        let (theirs, ours) = (report::millis(theirs), report::millis(ours));
        writeln!(table, "| {} | {theirs} | {ours} | **{ratio:.2}** | ≤ {GOAL} |", case.name)?;
    }
    report::publish("search", &table);
    Ok(passed)
}

/// Returns the medians of both; each goes first in half of the rounds.
fn compare(
    case: &Case,
    project: &Path,
    mounts: &Mounts,
    expected: usize,
) -> Result<(Duration, Duration), Box<dyn Error>> {
    let theirs = || -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        let output = Command::new("rg")
            .args(["--no-config", "-n", "--column", "--no-heading", "-B1", "-A1"])
            .args(case.flags)
            .args(["--", case.query, "."])
            .current_dir(project)
            .stderr(Stdio::inherit())
            .output()?;
        let time = start.elapsed();
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        assert_eq!(
            text.matches("needle in the haystack, at last").count(),
            expected,
            "rg finds something else"
        );
        Ok(time)
    };
    let path = VPath::parse(DEFAULT_PATH).map_err(|refusal| refusal.message)?;
    let ours = || -> Result<Duration, Box<dyn Error>> {
        let mut request = Search::new(case.query, path.clone());
        request.syntax = case.syntax;
        request.max_matches = 500;
        let start = Instant::now();
        let found: SearchResult =
            search(mounts, &request, &Deadline::default())?.map_err(|refusal| refusal.message)?;
        let time = start.elapsed();
        assert_eq!(found.matches.len(), expected, "we find something else");
        assert!(!found.truncated);
        Ok(time)
    };
    // The first round of each only warms up.
    theirs()?;
    ours()?;
    let (mut their_times, mut our_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            their_times.push(theirs()?);
            our_times.push(ours()?);
        } else {
            our_times.push(ours()?);
            their_times.push(theirs()?);
        }
    }
    Ok((report::median(&mut their_times), report::median(&mut our_times)))
}

/// Writes text files in nested folders, some of them ignored, hidden or binary. Returns the number of lines with the
/// needle.
fn write_tree(root: &Path, files: usize) -> Result<usize, Box<dyn Error>> {
    let mut random = Random(42);
    let mut needles = 0;
    for index in 0..files {
        let folder = root.join(format!("part-{:02}/module-{:03}", index % 17, index / FOLDER));
        if index % FOLDER < 17 {
            fs::create_dir_all(&folder)?;
        }
        let mut text = String::with_capacity(FILE + 80);
        while text.len() < FILE {
            random.line(&mut text);
            if text.len() > FILE / 2 && index % NEEDLE_EVERY == 7 && !text.contains("needle in") {
                text.push_str("here is the needle in the haystack, at last\n");
                needles += 1;
            }
        }
        fs::write(folder.join(format!("file-{index}.txt")), text)?;
    }
    // Without this folder, rg does not read `.gitignore`.
    fs::create_dir(root.join(".git"))?;
    fs::write(root.join(".gitignore"), "target/\n*.log\n/part-00/module-000/\n!*.txt\n")?;
    for (name, content) in [
        ("target/out.txt", "needle in the haystack"),
        (".hidden/x.txt", "needle in the haystack"),
        ("x.log", "needle in the haystack"),
        ("binary.bin", "needle in the haystack\n\0\n"),
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        fs::write(path, content)?;
    }
    // `target/` and `module-000` are ignored as folders, so a needle in them is not found.
    let ignored = (0..FOLDER).filter(|index| index % 17 == 0 && index % NEEDLE_EVERY == 7).count();
    Ok(needles - ignored)
}

/// A generator of words that look like code, always the same ones.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn line(&mut self, text: &mut String) {
        const WORDS: [&str; 16] = [
            "let",
            "value",
            "return",
            "the",
            "needless",
            "function",
            "in",
            "haystacks",
            "match",
            "self",
            "Result",
            "stack",
            "index",
            "for",
            "public",
            "String",
        ];
        let count = 4 + self.next() % 8;
        for _ in 0..count {
            let word = WORDS[(self.next() % 16) as usize];
            text.push_str(word);
            text.push(' ');
        }
        text.push('\n');
    }
}
