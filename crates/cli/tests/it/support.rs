//! Runs the binary in isolation: a scratch home, no colour, no inherited environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Temporary folder with a store.
pub(crate) struct CliFixture {
    pub(crate) folder: TempDir,
}

/// The output and exit code of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl CliFixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crewagent"));
        command
            .env_clear()
            .env("CREWAGENT_HOME", self.path("store"))
            .env("TMPDIR", self.folder.path());
        command.current_dir(self.folder.path()).stdin(std::process::Stdio::null());
        command
    }

    /// Runs `crewagent` with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let output = self.command().args(args).output().unwrap();
        self.ran(output)
    }

    /// Runs `crewagent` as an unprivileged user, even when the tests run as root.
    #[cfg(unix)]
    pub(crate) fn run_without_privileges(&self, args: &[&str]) -> Ran {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        use std::os::unix::process::CommandExt as _;
        const NOBODY: u32 = 65534;
        if std::fs::metadata(self.folder.path()).unwrap().uid() != 0 {
            return self.run(args);
        }
        let binary = self.path("crewagent");
        if !binary.exists() {
            // A child copies the file: if it were open for writing here, a concurrent fork would inherit it, and it
            // could not be executed.
            let copied =
                Command::new("cp").arg(env!("CARGO_BIN_EXE_crewagent")).arg(&binary).status();
            assert!(copied.unwrap().success());
        }
        std::fs::set_permissions(self.folder.path(), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        let output = Command::new(&binary)
            .args(args)
            .env_clear()
            .env("CREWAGENT_HOME", self.path("store"))
            .current_dir(self.folder.path())
            .stdin(std::process::Stdio::null())
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .unwrap();
        self.ran(output)
    }

    #[cfg(not(unix))]
    pub(crate) fn run_without_privileges(&self, args: &[&str]) -> Ran {
        self.run(args)
    }

    /// Returns what a command printed, with the scratch folder replaced.
    pub(crate) fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            // Replaces both spellings, because the temporary folder may be behind a link.
            let real = self.folder.path().canonicalize().unwrap();
            text.replace(real.to_str().unwrap(), "[WORLD]")
                .replace(self.folder.path().to_str().unwrap(), "[WORLD]")
        };
        Ran {
            out: text(output.stdout),
            err: text(output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Creates an empty project, a package with three nodes, and a model that completes them; it asks first.
    pub(crate) fn with_tiny() -> Self {
        let world = Self::new();
        assert_eq!(world.run(&["package", "new", "tiny", "-y"]).code, 0);
        std::fs::create_dir(world.path("project")).unwrap();
        world.write("tiny.yaml", TINY);
        world
    }

    /// Runs the tiny package with this scenario.
    pub(crate) fn run_tiny(&self, scenario: &str, more: &[&str]) -> Ran {
        let model = format!("scripted:{scenario}");
        let start = ["run", "tiny", "--project", "project", "--model", &model];
        self.run(&[&start, more].concat())
    }

    /// Returns the id of the only run of the store.
    pub(crate) fn run_id(&self) -> String {
        let ran = self.run(&["runs", "list", "--all", "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{}", ran.out);
        listed["runs"][0]["runId"].as_str().unwrap().to_owned()
    }

    /// Returns every file of the store with its content, to show that nothing changed.
    pub(crate) fn store_listing(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.path("store"), "", &mut found);
        found.sort();
        found
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            found.push((format!("{name}/"), Vec::new()));
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
}

/// Patterns of the parts that differ from run to run.
pub(crate) const FILTERS: [(&str, &str); 6] = [
    (r"\d{8}-\d{6}-[a-z0-9]{5}", "[RUN]"),
    (r"[a-z]+-[a-z0-9]{5}(?P<gap>  )", "[PROJECT]$gap"),
    (r"crewagent-demo-\w{6}", "crewagent-demo-[X]"),
    (r"\d+\.\d s\b", "[TIME]"),
    (r"[\d,]+ tokens", "[N] tokens"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[WHEN]"),
];

/// A scenario for the linear package of `crewagent package new`.
const TINY: &str = include_str!("tiny.yaml");

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn example(name: &str) -> String {
    repository().join("spec/examples").join(name).to_str().unwrap().to_owned()
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}
