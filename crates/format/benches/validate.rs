//! Benchmark of the check: its time, and that the time grows no faster than the package.
//!
//! `cargo bench --bench validate` prints the table and fails when a goal is missed; `cargo xtask accept docs` also
//! writes the table into `docs/performance.md`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads the clock and stops at the first surprise"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crewagent_format::package::check;
use crewagent_testkit::package::{MemoryFiles, generated};
use crewagent_testkit::report;

/// Maximum ratio of times for ten times the size.
const GROWTH_GOAL: f64 = 12.0;
/// Maximum time for the largest package.
const TIME_GOAL: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let sizes = [(500, 2_000), (5_000, 20_000)];
    let packages: Vec<MemoryFiles> = sizes
        .iter()
        .map(|(nodes, edges)| MemoryFiles::new(generated(*nodes, *edges)).unwrap())
        .collect();
    for files in &packages {
        let checked = check(files, &semver::Version::new(0, 1, 0));
        assert!(checked.findings.is_empty(), "{:?}", checked.findings.iter().next());
        assert!(checked.package.is_some());
    }
    // Interleaved, so that other load on the machine affects both.
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); packages.len()];
    for _ in 0..15 {
        for (files, times) in packages.iter().zip(&mut times) {
            let start = Instant::now();
            std::hint::black_box(check(files, &semver::Version::new(0, 1, 0)));
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times.iter_mut().map(|times| report::median(times)).collect();
    let growth = medians[1].as_secs_f64() / medians[0].as_secs_f64();
    let mut rows =
        String::from("| nodes | edges | files | median | goal |\n|--:|--:|--:|--:|--:|\n");
    for ((nodes, edges), median) in sizes.iter().zip(&medians) {
        let goal = if *nodes == 5_000 { "≤ 300 ms" } else { "" };
        rows += &format!(
            "| {nodes} | {edges} | {} | {} | {goal} |\n",
            nodes + 4,
            report::millis(*median)
        );
    }
    rows += &format!("| ×10 | ×10 | | **{growth:.1}×** the time | ≤ {GROWTH_GOAL:.0}× |\n");
    report::publish("validate", &rows);
    if growth <= GROWTH_GOAL && medians[1] <= TIME_GOAL {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
