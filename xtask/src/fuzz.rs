//! `cargo xtask fuzz`: runs each target of `fuzz/` for a while, on the stable toolchain, without touching the git tree.

mod crash;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, bail};

use crate::shell::{self, cargo};
use crash::Crash;

/// Default time for each target, in seconds.
pub(crate) const DEFAULT_SECONDS: u32 = 60;
/// Maximum number of parallel fuzzers. Each needs its own core; more than two make the output hard to follow.
const MAX_PARALLEL: usize = 2;

/// Targets to fuzz, and the time for each.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FuzzPlan {
    /// All targets when empty.
    pub(crate) targets: Vec<String>,
    /// For each target.
    pub(crate) seconds: u32,
}

impl FuzzPlan {
    /// Plans a minute of every target.
    pub(crate) fn all() -> Self {
        Self { targets: Vec::new(), seconds: DEFAULT_SECONDS }
    }

    /// Selects the targets to run, of those that exist.
    fn choose(&self, existing: Vec<String>) -> anyhow::Result<Vec<String>> {
        if self.targets.is_empty() {
            return Ok(existing);
        }
        if let Some(unknown) = self.targets.iter().find(|name| !existing.contains(name)) {
            bail!("unknown fuzz target `{unknown}`; the targets are {}", existing.join(", "));
        }
        Ok(self.targets.clone())
    }
}

/// Builds the targets and runs them. Fails if one found a crash.
pub(crate) fn run(root: &Path, plan: &FuzzPlan) -> anyhow::Result<()> {
    let existing = list_targets(&root.join("fuzz/fuzz_targets"))?;
    if existing.is_empty() && plan.targets.is_empty() {
        println!("no fuzz target in fuzz/fuzz_targets; nothing to run");
        return Ok(());
    }
    let targets = plan.choose(existing)?;
    shell::CARGO_FUZZ.ensure(root)?;
    for target in &targets {
        shell::run(&mut cargo_fuzz(root, "build", target, plan.seconds))?;
    }
    let scratch = shell::target_dir(root).join("fuzz-smoke");
    println!(
        "fuzzing {} for {} s each; logs and grown corpora in {}",
        targets.join(", "),
        plan.seconds,
        scratch.display()
    );
    let jobs = targets
        .iter()
        .map(|target| FuzzJob::prepare(root, &scratch, target, plan.seconds))
        .collect::<anyhow::Result<Vec<_>>>()?;
    match run_all(&jobs).as_slice() {
        [] => Ok(()),
        failed => bail!("fuzzing failed for {}", failed.join(", ")),
    }
}

/// Returns a command of cargo-fuzz for a target. The sanitizers need a nightly toolchain; without one, coverage still
/// guides the fuzzer. Only a long run is worth an optimised build, which takes minutes.
fn cargo_fuzz(root: &Path, verb: &str, target: &str, seconds: u32) -> Command {
    let mut command = cargo(root, &["fuzz", verb, "-s", "none"]);
    if seconds <= DEFAULT_SECONDS {
        command.arg("-D");
    }
    command.arg(target);
    command
}

/// Lists the names of the `.rs` files in the folder, sorted; none if there is no folder.
fn list_targets(folder: &Path) -> anyhow::Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Target that is ready to run.
struct FuzzJob {
    root: PathBuf,
    target: String,
    seconds: u32,
    /// Starts as a copy of the committed seeds; libFuzzer adds its finds here, not in the git tree.
    corpus: PathBuf,
    log: PathBuf,
}

enum FuzzVerdict {
    Clean {
        last_status: String,
    },
    Crashed(Crash),
    /// The fuzzer failed without naming an input: an error of its own, not of the target.
    Broken {
        log_tail: String,
    },
}

impl FuzzJob {
    fn prepare(root: &Path, scratch: &Path, target: &str, seconds: u32) -> anyhow::Result<Self> {
        let corpus = scratch.join("corpus").join(target);
        copy_files(&root.join("fuzz/corpus").join(target), &corpus)?;
        let log = scratch.join(format!("{target}.log"));
        Ok(Self { root: root.to_path_buf(), target: target.to_string(), seconds, corpus, log })
    }

    fn command(&self) -> Command {
        let mut command = cargo_fuzz(&self.root, "run", &self.target, self.seconds);
        command.arg(&self.corpus).arg("--");
        command.arg(format!("-max_total_time={}", self.seconds));
        command.args(["-rss_limit_mb=2048", "-timeout=10", "-print_final_stats=1"]);
        command
    }

    fn run(&self) -> anyhow::Result<FuzzVerdict> {
        let log = File::create(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let status = self
            .command()
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
            .context("cannot start cargo fuzz")?;
        // A crash message may quote the input, so the log need not be UTF-8.
        let text = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        if status.success() {
            return Ok(FuzzVerdict::Clean { last_status: last_status(&text) });
        }
        Ok(match Crash::find(&text, &self.root, &self.target) {
            Some(crash) => FuzzVerdict::Crashed(crash),
            None => FuzzVerdict::Broken { log_tail: crash::tail(&text) },
        })
    }

    fn describe(&self, result: &anyhow::Result<FuzzVerdict>) -> String {
        let Self { target, log, .. } = self;
        match result {
            Ok(FuzzVerdict::Clean { last_status }) => format!("{target}: clean: {last_status}"),
            Ok(FuzzVerdict::Crashed(crash)) => format!("{target}: FOUND A CRASH\n{crash}"),
            Ok(FuzzVerdict::Broken { log_tail }) => {
                format!("{target}: the fuzzer failed; the end of {}:\n{log_tail}", log.display())
            }
            Err(error) => format!("{target}: {error:#}"),
        }
    }
}

/// Runs the jobs, a few at a time, reports each as it ends, and returns the targets that failed.
fn run_all(jobs: &[FuzzJob]) -> Vec<&str> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failed = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = job.run();
            // A single call, so that two workers do not mix their lines.
            println!("{}", job.describe(&result));
            if !matches!(result, Ok(FuzzVerdict::Clean { .. })) {
                failed.push(job.target.as_str());
            }
        }
        failed
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(MAX_PARALLEL)).map(|_| scope.spawn(worker)).collect();
        let failed = workers.into_iter().flat_map(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        failed.collect()
    })
}

/// Returns libFuzzer's last progress line: inputs tried, coverage, size of the corpus.
fn last_status(log: &str) -> String {
    let is_status = |line: &&str| line.starts_with('#') && line.contains("cov:");
    let line = log.lines().rev().find(is_status).unwrap_or("no progress line in its log");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Copies the files of a folder into another. Either may be missing.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    if !from.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn targets_are_the_rust_files_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["graph.rs", "archive.rs", "notes.md"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(list_targets(folder.path()).unwrap(), ["archive", "graph"]);
    }

    #[test]
    fn without_a_fuzz_folder_the_run_passes() {
        let root = tempfile::tempdir().unwrap();
        run(root.path(), &FuzzPlan { targets: Vec::new(), seconds: 1 }).unwrap();
    }

    #[test]
    fn a_named_target_must_exist() {
        let plan = FuzzPlan { targets: names(&["graph"]), seconds: 1 };
        assert_eq!(plan.choose(names(&["archive", "graph"])).unwrap(), ["graph"]);
        let error = plan.choose(names(&["archive"])).unwrap_err().to_string();
        assert!(error.contains("`graph`") && error.contains("archive"), "{error}");
    }

    #[test]
    fn no_named_target_means_all() {
        let plan = FuzzPlan { targets: Vec::new(), seconds: 1 };
        assert_eq!(plan.choose(names(&["archive", "graph"])).unwrap(), ["archive", "graph"]);
    }

    #[test]
    fn a_run_grows_a_copy_of_the_committed_corpus() {
        let root = tempfile::tempdir().unwrap();
        let seeds = root.path().join("fuzz/corpus/graph");
        fs::create_dir_all(&seeds).unwrap();
        fs::write(seeds.join("empty-object"), "{}").unwrap();
        let scratch = root.path().join("target/fuzz-smoke");
        let job = FuzzJob::prepare(root.path(), &scratch, "graph", 7).unwrap();
        assert_eq!(fs::read_to_string(job.corpus.join("empty-object")).unwrap(), "{}");
        let line = shell::command_line(&job.command());
        assert!(job.corpus.starts_with(&scratch) && line.contains(job.corpus.to_str().unwrap()));
        for flag in ["-s none", "-max_total_time=7", "-rss_limit_mb=2048", "-timeout=10"] {
            assert!(line.contains(flag), "{line}");
        }
    }

    #[test]
    fn the_last_progress_line_is_the_status() {
        let log = "#8\tNEW cov: 5 ft: 6\n#99\tDONE   cov: 7 ft: 9 corp: 3/9b\nstat::x: 1\n";
        assert_eq!(last_status(log), "#99 DONE cov: 7 ft: 9 corp: 3/9b");
    }
}
