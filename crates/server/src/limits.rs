//! How many files this process may have open, and how many runs can be at work with so many.

/// Files that a run at work may have open: its lock and journal, folders behind its mounts, files in hand, its socket.
const FILES_OF_A_RUN: u64 = 16;
/// Files that everything else may have open: connections, requests that read, servers of tools.
const OTHER_FILES: u64 = 512;
/// Runs that may be at work at the same time, however many files there are.
const MOST_RUNS: u64 = 512;
/// And however few.
const LEAST_RUNS: u64 = 8;

/// Raises the limit of this process as far as its runs need it and the system allows. Systems begin with a limit that
/// programs of forty years ago can live with.
pub(crate) fn raise() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let needed = OTHER_FILES + MOST_RUNS * FILES_OF_A_RUN;
        let wanted = maximum.map_or(needed, |maximum| maximum.min(needed));
        if current.is_some_and(|current| current < wanted) {
            // What is not granted means fewer runs at a time.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}

/// How many runs may be at work at the same time.
pub(crate) fn runs() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None;
    runs_with(files)
}

fn runs_with(files: Option<u64>) -> usize {
    let runs = files.map_or(MOST_RUNS, |files| files.saturating_sub(OTHER_FILES) / FILES_OF_A_RUN);
    usize::try_from(runs.clamp(LEAST_RUNS, MOST_RUNS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_runs_are_at_work_as_there_are_files_for() {
        let all = [None, Some(1 << 20), Some(8704), Some(1024), Some(256)].map(runs_with);
        assert_eq!(all, [512, 512, 512, 32, 8]);
    }
}
