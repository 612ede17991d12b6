//! A folder and a file are swapped with links to the outside continuously while tools work on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::mounts::{Before, MountResult};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::fixture::{MountsFixture, REAL, SECRET, describe, vpath, writable};
use crate::proofs::record::{Scale, proven, scale};
use crate::support::write;

/// Operations of a sample, enough for thousands of swaps in between.
const SAMPLE_OPERATIONS: usize = 50_000;
const FULL_OPERATIONS: usize = 1_000_000;
const THREADS: usize = 3;

/// Numbers of operations by result.
#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    /// Refused as leading out, which shows that the race took place.
    refused: AtomicUsize,
}

impl Counts {
    /// Counts an answer. The caller checks the content.
    fn count<T>(&self, answer: MountResult<T>) -> Option<T> {
        match answer.unwrap() {
            Ok(value) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                Some(value)
            }
            Err(refusal) => {
                let text = describe(&refusal);
                assert!(!text.contains(SECRET) && !text.contains(REAL), "{text}");
                if refusal.code == RefusalCode::Sandbox {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                } else {
                    let harmless = [RefusalCode::NotFound, RefusalCode::InvalidArguments];
                    assert!(harmless.contains(&refusal.code), "{text}");
                }
                None
            }
        }
    }
}

fn operation(fixture: &MountsFixture, counts: &Counts, index: usize) {
    let is_inside = |bytes: &[u8]| assert_eq!(bytes, b"inside", "{index}");
    let mounts = &fixture.mounts;
    match index % 16 {
        0 => {
            let path = writable(&format!("@project/swap/new-{}.txt", index % 50));
            counts.count(mounts.replace(&path, b"written", Before::Anything));
        }
        1 => {
            let path = writable(&format!("@project/swap/made-{}/x/new.txt", index % 50));
            counts.count(mounts.replace(&path, b"written", Before::Anything));
        }
        2 => {
            counts.count(mounts.replace(
                &writable("@project/file.txt"),
                b"inside",
                Before::Anything,
            ));
        }
        3 => {
            let listed = counts.count(mounts.list(&vpath("@project/swap"), 2, 500));
            assert!(listed.is_none_or(|listed| {
                !listed.entries.iter().any(|name| name.contains("only-outside"))
            }));
        }
        4 => {
            let found = counts.count(fixture.search(SECRET, "@project/swap/data.txt"));
            assert!(found.is_none_or(|found| found.matches.is_empty()));
        }
        5 if index % 160 == 5 => {
            let found = counts.count(fixture.search(SECRET, "@project"));
            assert!(found.is_none_or(|found| found.matches.is_empty()));
        }
        6 => {
            let stat = counts.count(mounts.stat(&vpath("@project/swap/data.txt")));
            assert!(stat.is_none_or(|stat| stat.size == 6));
        }
        7..=10 => {
            counts
                .count(mounts.read(&vpath("@project/file.txt"), 99))
                .inspect(|read| is_inside(&read.bytes));
        }
        _ => {
            let read = counts.count(mounts.read(&vpath("@project/swap/data.txt"), 99));
            read.inspect(|read| is_inside(&read.bytes));
        }
    }
}

/// Returns a folder in memory if there is one, because a disk would be flushed 25,000 times.
fn fast_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let usable = tempfile::tempdir_in(memory).is_ok();
    if usable { memory.to_owned() } else { env!("CARGO_TARGET_TMPDIR").into() }
}

#[test]
fn swapping_a_folder_for_a_link_wins_nothing() {
    let fixture = MountsFixture::in_folder(&fast_folder());
    let project = fixture.project();
    write(&project, "swap/data.txt", "inside");
    write(&project, "file.txt", "inside");
    write(&fixture.outside(), "data.txt", SECRET);
    write(&fixture.outside(), "only-outside", SECRET);
    std::os::unix::fs::symlink("../outside", project.join("swap-link")).unwrap();
    std::os::unix::fs::symlink("../outside/secret.txt", project.join("file-link")).unwrap();
    let before = fixture.around();
    let operations = match scale() {
        Scale::Sample => SAMPLE_OPERATIONS,
        Scale::Full => FULL_OPERATIONS,
    };
    let (counts, next, done) = (Counts::default(), AtomicUsize::new(0), AtomicBool::new(false));
    let swaps = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0_usize;
            while !done.load(Ordering::Relaxed) {
                exchange(&project.join("swap"), &project.join("swap-link"));
                exchange(&project.join("file.txt"), &project.join("file-link"));
                swaps += 1;
            }
            swaps
        });
        let work = || {
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && index < operations
            {
                operation(&fixture, &counts, index);
            }
        };
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let failed = workers.into_iter().map(|worker| worker.join()).filter(Result::is_err).count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0);
        swapper.join().unwrap()
    });
    let (done, refused) = (counts.done.into_inner(), counts.refused.into_inner());
    println!("{swaps} swaps; {done} operations were done, {refused} refused");
    assert!(done > 1_000 && refused > 1_000 && swaps > 1_000, "there was no race");
    assert_eq!(fixture.around(), before, "something outside was changed");
    let result =
        format!("{operations} operations while folders and files are swapped for links; 0 escapes");
    proven("P1-race", &result);
}

/// Swaps two names atomically.
fn exchange(one: &Path, other: &Path) {
    // A write may have replaced the file at the same time; then there is nothing to swap for a moment.
    let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
    assert!(fs::symlink_metadata(other).is_ok());
}
