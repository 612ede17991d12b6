//! `cargo xtask nightly --only mcp`: tests the MCP client with servers of other authors, installed from npm and PyPI.
//!
//! Everything is in `mcp-servers` in cargo's target folder, installed once for each list of versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::python::PythonEnvironment;
use crate::shell;
use crate::steps::CiContext;

/// Folder of the lists of versions and the tests.
const SOURCES: &str = "crates/adapters/tests/mcp";
/// Python environment.
const TIME: &str = "time";
/// Environment variable that names the folder to the tests.
pub(crate) const VARIABLE: &str = "CREWAGENT_MCP_SERVERS";
/// Lists of the exact packages for npm.
const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs what is missing and runs the tests.
pub(crate) fn run(context: &CiContext<'_>) -> anyhow::Result<()> {
    let folder = installed(context.root)?;
    PythonEnvironment::new(&folder, TIME).ensure(&context.root.join(SOURCES))?;
    // With the whole workspace: for one package alone cargo recompiles the libraries with fewer features.
    let args = ["test", "--locked", "--workspace", "--test", "mcp"];
    shell::run(context.cargo(&args).env(VARIABLE, &folder))
}

/// Returns the folder with the servers from npm, and installs them if they are missing.
pub(crate) fn installed(root: &Path) -> anyhow::Result<PathBuf> {
    let folder = shell::target_dir(root).join("mcp-servers");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    npm(&folder, &root.join(SOURCES))?;
    Ok(folder)
}

/// Installs the npm packages, unless exactly these are installed.
fn npm(folder: &Path, sources: &Path) -> anyhow::Result<()> {
    let stamp = folder.join("node_modules/installed.json");
    let list =
        fs::read_to_string(sources.join(LISTS[1])).context("cannot read package-lock.json")?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == list) {
        return Ok(());
    }
    println!("installing MCP servers from npm into {} (once)", folder.display());
    for name in LISTS {
        fs::copy(sources.join(name), folder.join(name))
            .context("cannot copy a list of versions")?;
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    shell::run(&mut install)?;
    fs::write(&stamp, list).context("cannot finish the installation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_exact_versions() {
        let sources = shell::repo_root().join(SOURCES);
        for line in fs::read_to_string(sources.join("time-requirements.txt")).unwrap().lines() {
            assert!(line.starts_with('#') || line.contains("=="), "`{line}`");
        }
        let package = fs::read_to_string(sources.join(LISTS[0])).unwrap();
        let versions = package.lines().filter(|line| line.contains("@modelcontextprotocol/"));
        assert!(versions.clone().count() >= 2);
        assert!(versions.clone().all(|line| !line.contains('^') && !line.contains('~')));
    }
}
