//! Process that plays against the model, and its measurements.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crewagent_testkit::loopback::{AnswerPlan, Recording};
use crewagent_testkit::process;

use super::Failure;
use super::fixture::BenchFixture;

/// Interval of memory samples.
const LOOK: Duration = Duration::from_millis(20);
/// Delay of the last answer in milliseconds, so that the memory of a process is sampled after its work.
pub(crate) const HOLD: u64 = 100;
/// Time limit of every process.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Measurements of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played {
    /// From its start to its first request.
    pub(crate) start: Duration,
    /// From the end of answer n to the end of request n + 1.
    pub(crate) overheads: Vec<Duration>,
    /// Processor time.
    pub(crate) time: Duration,
    /// Peak memory, in KiB.
    pub(crate) memory: u64,
    /// Standard output, if it was captured.
    pub(crate) output: String,
    /// Records of the model.
    pub(crate) records: Recording,
}

/// Treatment of a process's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Dropped,
    Kept,
}

/// Plays a plan to its end.
pub(crate) fn play(
    fixture: &BenchFixture,
    plan: &AnswerPlan,
    mut command: Command,
    output: Output,
) -> Result<Played, Failure> {
    fixture.server.play(plan)?;
    let stdout = match output {
        Output::Dropped => Stdio::null(),
        Output::Kept => Stdio::piped(),
    };
    let before = process::time_of_children();
    let began = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn()?;
    let id = child.id().to_string();
    let looked = thread::spawn(move || {
        let (mut memory, mut waited) = (0, Duration::ZERO);
        // A process that has ended has no memory, even before it is waited for.
        loop {
            let now = process::peak_memory(&id);
            if now == 0 || waited > TIMEOUT {
                return memory;
            }
            memory = now;
            thread::sleep(LOOK);
            waited += LOOK;
        }
    });
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let said = thread::spawn(move || err.as_mut().map(std::io::read_to_string));
    let output = out.as_mut().map(std::io::read_to_string).transpose()?.unwrap_or_default();
    child.wait()?;
    let time = process::time_of_children().saturating_sub(before);
    let memory = looked.join().map_err(|_| "the memory was not looked at")?;
    let said = said.join().ok().flatten().transpose()?.unwrap_or_default();
    let records = fixture.server.records()?;
    if records.requests.len() != plan.answers.len() || records.refused > 0 {
        let (asked, planned) =
            (records.requests.len() as u64 + records.refused, plan.answers.len());
        return Err(format!("{asked} requests came instead of {planned}:\n{output}{said}").into());
    }
    let first = Duration::from_nanos(records.requests.first().map_or(0, |first| first.arrived));
    let overheads = records.overheads().into_iter().flatten().map(Duration::from_nanos).collect();
    Ok(Played { start: first.saturating_sub(began), overheads, time, memory, output, records })
}
