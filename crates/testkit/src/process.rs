//! The cost of a process, as the system counts it: memory, processor time, threads, descriptors. Zero where the system
//! does not say; only Linux does.

use std::fs;
use std::time::Duration;

/// A tick of the processor times in `/proc`, the same on every Linux since 2.6.
const TICK: Duration = Duration::from_millis(10);

/// Returns the peak memory of a process, in KiB; `self` is this one.
pub fn peak_memory(process: &str) -> u64 {
    status(process, "VmHWM:")
}

/// Returns the current memory of a process, in KiB.
pub fn memory(process: &str) -> u64 {
    status(process, "VmRSS:")
}

/// Returns the memory that a process has filled itself, in KiB: without the pages of its program, which differ with
/// the way it was built.
pub fn own_memory(process: &str) -> u64 {
    status(process, "RssAnon:")
}

/// Returns the threads of a process.
pub fn threads(process: &str) -> u64 {
    status(process, "Threads:")
}

fn status(process: &str, key: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Returns the processor time of all children of this process that have ended and were waited for.
pub fn time_of_children() -> Duration {
    // utime, stime, cutime and cstime are the fields 14 to 17; the second one, a name, may have blanks and ends with `)`.
    ticks("self", 15).saturating_add(ticks("self", 16))
}

/// Returns the processor time of this process, all of its threads together.
pub fn time() -> Duration {
    ticks("self", 13).saturating_add(ticks("self", 14))
}

fn ticks(process: &str, field: usize) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let rest = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let number = rest.split(' ').nth(field - 2).and_then(|number| number.parse::<u32>().ok());
    TICK * number.unwrap_or_default()
}

/// The open descriptors of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// Everything.
    pub all: usize,
    /// Sockets.
    pub sockets: usize,
}

/// Returns the open descriptors of this process.
pub fn descriptors() -> Descriptors {
    let mut found = Descriptors::default();
    for entry in fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        found.all += 1;
        found.sockets += usize::from(target.to_string_lossy().starts_with("socket:"));
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_costs_something() {
        let now = memory("self");
        assert!(now > 0 && peak_memory("self") >= now);
        assert!(threads("self") > 0 && descriptors().all > 2);
        let before = time_of_children();
        assert!(std::process::Command::new("true").status().unwrap().success());
        assert!(time_of_children() >= before);
        assert!(time() < Duration::from_secs(3600));
    }
}
