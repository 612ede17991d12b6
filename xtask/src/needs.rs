//! Requirements of the steps on the machine: checked before the first step, and installed where possible.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::shell;
use crate::steps::CiStep;

/// Oldest Node version that supports the lock file of the web app.
const OLDEST_NODE: (u32, u32) = (20, 19);
/// Oldest Python version that supports the lists of packages.
const OLDEST_PYTHON: (u32, u32) = (3, 11);
/// Names of supported browsers.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Requirement of steps that cargo does not provide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    Rustfmt,
    Clippy,
    Compiler,
    CppCompiler,
    Node,
    Python,
    Browser,
}

impl Need {
    fn name(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustfmt (`rustup component add rustfmt`)",
            Self::Clippy => "clippy (`rustup component add clippy`)",
            Self::Compiler => "a C compiler called `cc`",
            Self::CppCompiler => "a C++ compiler called `c++`",
            Self::Node => "Node.js 20.19 or later with npm",
            Self::Python => "Python 3.11 or later with venv, as `python3` or named in PYTHON",
            Self::Browser => "Chromium, in the PATH or named in CREWAGENT_BROWSER",
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Rustfmt => answers("cargo", &["fmt", "--version"]),
            Self::Clippy => answers("cargo", &["clippy", "--version"]),
            Self::Compiler => answers("cc", &["--version"]),
            Self::CppCompiler => answers("c++", &["--version"]),
            Self::Node => {
                version("node", "v").is_some_and(|found| found >= OLDEST_NODE)
                    && answers("npm", &["--version"])
            }
            Self::Python => {
                let python = python();
                version(&python, "Python ").is_some_and(|found| found >= OLDEST_PYTHON)
                    && answers(&python, &["-c", "import venv, ensurepip"])
            }
            Self::Browser => browser().is_some(),
        }
    }

    /// Returns the packages of Debian and Ubuntu that provide it; none for what the user configured.
    fn packages(self) -> &'static [&'static str] {
        let is_named = |variable| std::env::var_os(variable).is_some();
        match self {
            Self::Python if is_named("PYTHON") => &[],
            Self::Browser if is_named("CREWAGENT_BROWSER") => &[],
            // These belong to the toolchain.
            Self::Rustfmt | Self::Clippy => &[],
            Self::Compiler => &["gcc", "libc6-dev"],
            Self::CppCompiler => &["g++"],
            Self::Node => &["nodejs", "npm"],
            Self::Python => &["python3", "python3-venv"],
            // The tests show texts in Chinese and emoji.
            Self::Browser => &["chromium", "fonts-noto-cjk", "fonts-noto-color-emoji"],
        }
    }
}

/// Checks that all requirements of the steps are met, and installs or names the missing ones.
pub(crate) fn ensure(steps: &[CiStep]) -> anyhow::Result<()> {
    let mut missing = missing(steps);
    let packages: Vec<_> = missing.keys().flat_map(|need| need.packages()).copied().collect();
    if !packages.is_empty() && answers("apt-get", &["--version"]) {
        println!("missing here: {}; trying to install", list(missing.keys()));
        if let Err(error) = install(&packages) {
            println!("{error:#}");
        }
        missing.retain(|need, _| !need.is_met());
    }
    if missing.is_empty() {
        return Ok(());
    }
    let lines = missing.iter().map(|(need, steps)| {
        let skips: Vec<_> = steps.iter().map(|step| format!("--skip {}", step.name())).collect();
        format!(
            "  {}: install it, or leave out what needs it with `{}`",
            need.name(),
            skips.join(" ")
        )
    });
    bail!("this machine lacks\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the missing requirements, with the steps that need them.
fn missing(steps: &[CiStep]) -> BTreeMap<Need, Vec<CiStep>> {
    let mut needs: BTreeMap<Need, Vec<CiStep>> = BTreeMap::new();
    for step in steps {
        for need in step.needs() {
            needs.entry(*need).or_default().push(*step);
        }
    }
    needs.retain(|need, _| !need.is_met());
    needs
}

fn list<'a>(needs: impl Iterator<Item = &'a Need>) -> String {
    needs.map(|need| need.name()).collect::<Vec<_>>().join(", ")
}

fn install(packages: &[&str]) -> anyhow::Result<()> {
    shell::run(Command::new("apt-get").arg("update"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends"]).args(packages);
    shell::run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Returns the Python of this machine: `PYTHON`, or else `python3`.
pub(crate) fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Returns the browser of this machine: `CREWAGENT_BROWSER`, or else one in the PATH.
pub(crate) fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CREWAGENT_BROWSER") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places =
        BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// Returns true if the program starts and succeeds.
fn answers(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn version(program: &str, prefix: &str) -> Option<(u32, u32)> {
    minor_version(&shell::capture(Command::new(program).arg("--version")).ok()?, prefix)
}

/// Parses `(3, 11)` out of `Python 3.11.7`.
fn minor_version(text: &str, prefix: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix(prefix)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(minor_version("Python 3.11.7\n", "Python "), Some((3, 11)));
        assert_eq!(minor_version("Python 3.14.0rc1", "Python "), Some((3, 14)));
        assert_eq!(minor_version("v20.19.2\n", "v"), Some((20, 19)));
        assert!(minor_version("v20.9.0", "v") < Some(OLDEST_NODE));
        assert_eq!(minor_version("snake", "v"), None);
    }

    #[test]
    fn what_builds_this_test_is_there() {
        assert!(answers("cargo", &["--version"]));
        assert!(!answers("no-such-program", &[]));
        assert!(missing(&[]).is_empty());
    }
}
