//! The limit of open files of this process, and the number of workers it allows.

/// Files that a working run may have open: its lock and journal, folders behind its mounts, files, its socket.
const FILES_PER_RUN: u64 = 16;
/// Files for everything else: connections, requests that read, tool servers.
const OTHER_FILES: u64 = 512;
/// Runs that may work at the same time, however many files there are.
const MAX_RUNS: u64 = 512;
/// Runs that may work at the same time, however few files there are.
const MIN_RUNS: u64 = 8;

/// Raises the limit of this process as far as its runs need it and the system allows. The default is often 1,024.
pub(crate) fn raise() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let needed = OTHER_FILES + MAX_RUNS * FILES_PER_RUN;
        let wanted = maximum.map_or(needed, |maximum| maximum.min(needed));
        if current.is_some_and(|current| current < wanted) {
            // If it is not granted, fewer runs work at the same time.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}

/// Returns the number of runs that may work at the same time.
pub(crate) fn runs() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None;
    runs_with(files)
}

fn runs_with(files: Option<u64>) -> usize {
    let runs = files.map_or(MAX_RUNS, |files| files.saturating_sub(OTHER_FILES) / FILES_PER_RUN);
    usize::try_from(runs.clamp(MIN_RUNS, MAX_RUNS)).unwrap_or(usize::MAX)
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
