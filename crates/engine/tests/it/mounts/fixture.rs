//! Three mounts, and a place beside them that must never be reached.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::mounts::{Before, MountResult, Mounts, Roots};
use crewagent_engine::tools::list::{List, list};
use crewagent_engine::tools::search::{Search, SearchResult, search};
use tempfile::TempDir;

use crate::support::{snapshot, write};

/// Content of the files outside, which occurs nowhere inside.
pub(crate) const SECRET: &str = "canary-5d2c9f";
/// Part of every real path, and of no virtual one.
pub(crate) const REAL: &str = "realroot-77c1";

pub(crate) struct MountsFixture {
    /// Removed at the end.
    pub(crate) scratch: TempDir,
    pub(crate) mounts: Mounts,
}

impl MountsFixture {
    pub(crate) fn new() -> Self {
        Self::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    pub(crate) fn in_folder(folder: &Path) -> Self {
        let scratch = tempfile::Builder::new().prefix(REAL).tempdir_in(folder).unwrap();
        let root = scratch.path();
        for folder in ["project/sub", "package", "state/logs", "outside/deep", "project-evil"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        write(root, "project/inside.txt", "inside\n");
        write(root, "project/sub/inside.txt", "inside sub\n");
        write(root, "package/step.md", "step\n");
        write(root, "state/workflow.md", "state\n");
        write(root, "state/logs/execution.jsonl", "{}\n");
        for name in [
            "outside/secret.txt",
            "outside/deep/secret.txt",
            "project-evil/secret.txt",
            "secret.txt",
        ] {
            write(root, name, SECRET);
        }
        let mounts = Mounts::open(&Roots {
            project: root.join("project"),
            package: root.join("package"),
            state: root.join("state"),
        });
        Self { mounts: mounts.unwrap(), scratch }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.scratch.path().join("outside")
    }

    /// Returns everything that no tool may change.
    pub(crate) fn around(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let root = self.scratch.path();
        let mut all: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| (entry.unwrap().path(), 0, Vec::new()))
            .collect();
        all.sort();
        for folder in ["outside", "project-evil", "package", "state/logs"] {
            all.extend(snapshot(&root.join(folder)));
        }
        all.push((root.join("secret.txt"), 0, fs::read(root.join("secret.txt")).unwrap()));
        all
    }

    pub(crate) fn replace(&self, path: &str, content: &str) -> MountResult<()> {
        self.mounts.replace(&writable(path), content.as_bytes(), Before::Anything)
    }

    /// Puts a path from a model through every operation, and returns all answers.
    pub(crate) fn attack(&self, text: &str) -> Vec<String> {
        let mounts = &self.mounts;
        let mut answers = crate::tools::fixture::attack(mounts, text);
        let path = match VPath::parse(text) {
            Ok(path) => path,
            Err(refusal) => {
                answers.push(describe(&refusal));
                return answers;
            }
        };
        answers.extend([
            answer(
                mounts
                    .read(&path, 1 << 20)
                    .map(|read| read.map(|read| String::from_utf8_lossy(&read.bytes).into_owned())),
            ),
            answer(mounts.stat(&path)),
            answer(mounts.exists(&path)),
            answer(list(mounts, &List { path: path.clone(), depth: 3 })),
            answer(self.search(SECRET, text)),
        ]);
        match WritablePath::new(path) {
            Ok(path) => {
                answers.push(answer(mounts.append(&path, b"more", Before::Anything, 1 << 20)));
                answers.push(answer(mounts.replace(&path, b"written", Before::Nothing)));
                answers.push(answer(mounts.replace(&path, b"written", Before::Anything)));
            }
            Err(refusal) => answers.push(describe(&refusal)),
        }
        answers
    }

    pub(crate) fn search(&self, query: &str, path: &str) -> MountResult<SearchResult> {
        let request = Search::new(query, vpath(path));
        search(&self.mounts, &request, &Deadline::default())
    }
}

/// Returns everything that a model could see of an answer, and more.
pub(crate) fn answer<T: Debug>(answer: MountResult<T>) -> String {
    match answer {
        Ok(Ok(value)) => format!("{value:?}"),
        Ok(Err(refusal)) => describe(&refusal),
        Err(error) => format!("{error} {error:?}"),
    }
}

pub(crate) fn describe(refusal: &Refusal) -> String {
    refusal.to_json().to_string()
}

pub(crate) fn vpath(text: &str) -> VPath {
    VPath::parse(text).unwrap()
}

pub(crate) fn writable(text: &str) -> WritablePath {
    WritablePath::new(vpath(text)).unwrap()
}

#[track_caller]
pub(crate) fn check_code<T: Debug>(answer: MountResult<T>, expected: RefusalCode) -> Refusal {
    match answer.unwrap() {
        Err(refusal) if refusal.code == expected => refusal,
        other => panic!("{expected:?} was expected, not {other:?}"),
    }
}

#[track_caller]
pub(crate) fn check_clean(context: &str, answers: &[String]) {
    for answer in answers {
        assert!(!answer.contains(SECRET), "{context}: reads the secret: {answer}");
        assert!(!answer.contains(REAL), "{context}: tells a real path: {answer}");
    }
}
