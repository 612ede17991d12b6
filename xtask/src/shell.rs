//! Calls of other programs: cargo, git, and the cargo tools that the checks need.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// Returns the workspace's root, which is the parent folder of xtask.
pub(crate) fn repo_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Returns cargo's target folder.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    // `join` keeps an absolute path unchanged.
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Returns a command of the cargo that runs this program, with these arguments, in this folder.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(args).stdin(Stdio::null());
    command
}

/// Runs a command with its output shown. Fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = command_line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and returns its standard output.
pub(crate) fn capture(command: &mut Command) -> anyhow::Result<String> {
    let line = command_line(command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({})\n{}", output.status, stderr.trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` wrote no UTF-8"))
}

/// Program that cargo finds as `cargo NAME`, and the version to install if it is missing.
pub(crate) struct CargoTool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

pub(crate) const CARGO_DENY: CargoTool = CargoTool { name: "deny", version: "0.20.2" };
pub(crate) const CARGO_FUZZ: CargoTool = CargoTool { name: "fuzz", version: "0.13.2" };

impl CargoTool {
    /// Installs the tool unless any version is installed.
    pub(crate) fn ensure(&self, root: &Path) -> anyhow::Result<()> {
        if has_subcommand(root, self.name) {
            return Ok(());
        }
        let package = format!("cargo-{}", self.name);
        println!("{package} is not installed; installing {} (a few minutes, once)", self.version);
        // The tools do little, so a debug build, which takes less time, is enough.
        let args = ["install", "--debug", "--locked", "--version", self.version, &package];
        run(&mut cargo(root, &args))
    }
}

/// Returns true if `cargo NAME` exists.
pub(crate) fn has_subcommand(root: &Path, name: &str) -> bool {
    let mut command = cargo(root, &[name, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the command as a user would type it, cargo without its path.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        line.push(' ');
        if arg.contains(char::is_whitespace) {
            line.push_str(&format!("{arg:?}"));
        } else {
            line.push_str(&arg);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(repo_root().join("xtask/Cargo.toml").is_file());
    }

    #[test]
    fn a_command_prints_as_one_would_type_it() {
        let mut command = Command::new("/some/where/cargo");
        command.args(["test", "two words"]);
        assert_eq!(command_line(&command), r#"cargo test "two words""#);
    }

    #[test]
    fn a_failed_command_says_which() {
        let mut command = cargo(&repo_root(), &["no-such-subcommand"]);
        let error = run(command.stderr(Stdio::null())).unwrap_err();
        assert!(error.to_string().contains("cargo no-such-subcommand"), "{error}");
        let error = capture(&mut cargo(&repo_root(), &["no-such-subcommand"])).unwrap_err();
        assert!(error.to_string().contains("no such command"), "{error}");
    }

    #[test]
    fn a_missing_subcommand_is_noticed() {
        assert!(has_subcommand(&repo_root(), "fmt"));
        assert!(!has_subcommand(&repo_root(), "no-such-subcommand"));
    }
}
