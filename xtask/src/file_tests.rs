//! The tests of some source files: found by their paths, built with the workspace, run from their own test binaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use crate::repo::Repo;
use crate::shell::{self, cargo};

/// Filters for the tests of the chosen files, by the binary that holds them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FileTests(BTreeMap<TestBinary, BTreeSet<String>>);

/// Test binary: the folder of its crate, and the flag that selects it in cargo, such as `--lib` or `--test it`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TestBinary {
    folder: String,
    target: String,
}

/// Fields of cargo's message about a built file that are read here.
#[derive(Debug, Deserialize)]
struct BuiltArtifact {
    manifest_path: PathBuf,
    target: ArtifactTarget,
    profile: ArtifactProfile,
    executable: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct ArtifactTarget {
    kind: Vec<String>,
    name: String,
}

#[derive(Debug, Deserialize)]
struct ArtifactProfile {
    test: bool,
}

impl FileTests {
    /// Selects the tests of the files that the predicate accepts by path and text.
    pub(crate) fn of(repo: &Repo, is_chosen: impl Fn(&str, &str) -> bool) -> Self {
        let mut tests = Self::default();
        for (path, _) in repo.texts_ending(".rs").filter(|(path, text)| is_chosen(path, text)) {
            if let Some((binary, filter)) = TestBinary::of(path) {
                tests.0.entry(binary).or_default().insert(filter);
            }
        }
        tests
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Builds the binaries and runs the selected tests of each, all of them even if one fails.
    pub(crate) fn run(
        &self,
        root: &Path,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> anyhow::Result<()> {
        ensure!(!self.is_empty(), "no file has such tests");
        let built = self.build(root, flags)?;
        let mut failed = Vec::new();
        // In reverse, because the histories of core are made from the golden journals that the engine's tests write.
        for (binary, filters) in self.0.iter().rev() {
            let program = built.get(binary).with_context(|| {
                format!("cargo built no tests for {} {}", binary.folder, binary.target)
            })?;
            let mut command = Command::new(program);
            let folder = root.join("crates").join(&binary.folder);
            // As cargo runs it.
            command.current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
            command.args(filters).envs(variables.iter().copied()).stdin(Stdio::null());
            if let Err(error) = shell::run(&mut command) {
                failed.push(format!("{error:#}"));
            }
        }
        ensure!(failed.is_empty(), "{}", failed.join("\n"));
        Ok(())
    }

    /// Builds with the whole workspace, because cargo recompiles the libraries for a part of it.
    fn build(&self, root: &Path, flags: &[&str]) -> anyhow::Result<BTreeMap<TestBinary, PathBuf>> {
        let targets: BTreeSet<_> = self.0.keys().map(|binary| binary.target.as_str()).collect();
        let mut build = cargo(root, &["test", "--locked", "--workspace", "--no-run"]);
        build.args(targets.iter().flat_map(|target| target.split(' '))).args(flags);
        build.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
        let line = shell::command_line(&build);
        println!("$ {line}");
        let output = build.output().with_context(|| format!("cannot start `{line}`"))?;
        if !output.status.success() {
            bail!("`{line}` failed ({})", output.status);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        Ok(messages.lines().filter_map(built_test).collect())
    }
}

/// Parses a message of cargo; none if it is not about a test binary.
fn built_test(message: &str) -> Option<(TestBinary, PathBuf)> {
    let artifact: BuiltArtifact = serde_json::from_str(message).ok()?;
    let program = artifact.executable.filter(|_| artifact.profile.test)?;
    let folder = artifact.manifest_path.parent()?.file_name()?.to_string_lossy().into_owned();
    let target = match artifact.target.kind.first()?.as_str() {
        "test" => format!("--test {}", artifact.target.name),
        "bin" => "--bins".to_owned(),
        _ => "--lib".to_owned(),
    };
    Some((TestBinary { folder, target }, program))
}

impl TestBinary {
    /// Returns the binary that holds a file, and the filter that selects the file's tests.
    fn of(path: &str) -> Option<(Self, String)> {
        let (folder, rest) = path.strip_prefix("crates/")?.split_once('/')?;
        let (kind, file) = rest.strip_suffix(".rs")?.split_once('/')?;
        let (target, module) = match kind {
            "tests" => {
                let (binary, module) = file.split_once('/')?;
                (format!("--test {binary}"), module)
            }
            // A program has no library to test.
            "src" if folder == "cli" => ("--bins".to_owned(), file),
            "src" => ("--lib".to_owned(), file),
            _ => return None,
        };
        Some((Self { folder: folder.to_owned(), target }, module.replace('/', "::") + "::"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(folder: &str, target: &str) -> TestBinary {
        TestBinary { folder: folder.to_owned(), target: target.to_owned() }
    }

    fn check_file(path: &str, expected: Option<(TestBinary, &str)>) {
        let expected = expected.map(|(binary, filter)| (binary, filter.to_owned()));
        assert_eq!(TestBinary::of(path), expected, "{path}");
    }

    #[test]
    fn a_test_file_belongs_to_a_binary_and_has_a_filter() {
        let in_tests = binary("engine", "--test it");
        check_file("crates/engine/tests/it/golden.rs", Some((in_tests.clone(), "golden::")));
        check_file("crates/engine/tests/it/a/b.rs", Some((in_tests, "a::b::")));
        check_file("crates/core/src/a/tests.rs", Some((binary("core", "--lib"), "a::tests::")));
        check_file("crates/cli/src/a.rs", Some((binary("cli", "--bins"), "a::")));
        check_file("crates/core/benches/a.rs", None);
        check_file("xtask/src/a.rs", None);
    }

    #[test]
    fn files_of_one_binary_are_run_together() {
        let files = [("crates/a/tests/it/b.rs", "x"), ("crates/a/tests/it/c.rs", "x")];
        let tests = FileTests::of(&Repo::of(&files), |_, text| text == "x");
        let filters = BTreeSet::from(["b::".to_owned(), "c::".to_owned()]);
        assert_eq!(tests, FileTests(BTreeMap::from([(binary("a", "--test it"), filters)])));
        assert!(FileTests::of(&Repo::of(&files), |path, _| path.is_empty()).is_empty());
    }

    #[test]
    fn messages_of_cargo_name_the_binaries() {
        let message = |kind: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/crates/a/Cargo.toml","target":{{"kind":["{kind}"],"name":"it"}},"profile":{{"test":{test}}},"executable":"/t/it"}}"#
            )
        };
        let program = PathBuf::from("/t/it");
        let found = |kind, test| built_test(&message(kind, test));
        assert_eq!(found("test", true), Some((binary("a", "--test it"), program.clone())));
        assert_eq!(found("lib", true), Some((binary("a", "--lib"), program)));
        assert_eq!(found("bin", false), None);
        assert_eq!(built_test(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
