//! `cargo xtask bmad`: fetches the public versions of BMAD that the importer is tested with, and installs each into a project.
//!
//! Everything is in `bmad` in cargo's target folder. Nothing of it is ever committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::shell;
use crate::steps::CiContext;

/// npm package of the content.
const PACKAGE: &str = "bmad-method";
/// Versions, with the program of each that installs it into a project.
const VERSIONS: [(&str, &str); 2] =
    [("6.0.4", "tools/cli/bmad-cli.js"), ("6.11.0", "tools/installer/bmad-cli.js")];
/// Environment variable that names the folder to the tests.
const VARIABLE: &str = "CREWAGENT_BMAD";

/// Fetches what is missing and runs the tests with it.
pub(crate) fn test(context: &CiContext<'_>) -> anyhow::Result<()> {
    let folder = prepare(context.root)?;
    // With the whole workspace: for one package alone cargo recompiles the libraries with fewer features.
    let args = ["test", "--locked", "--workspace", "--test", "it", "--", "public::"];
    shell::run(context.cargo(&args).env(VARIABLE, &folder))
}

/// Fetches what is missing, and says how the tests find it.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let folder = prepare(root)?;
    println!("export {VARIABLE}={}", folder.display());
    Ok(())
}

/// Returns the folder with all versions, and fetches those that are missing.
fn prepare(root: &Path) -> anyhow::Result<PathBuf> {
    let folder = shell::target_dir(root).join("bmad");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (version, installer) in VERSIONS {
        let unpacked = folder.join(version);
        if !unpacked.join("package.json").is_file() {
            unpack(&folder, version)?;
        }
        let project = folder.join(format!("{version}-installed"));
        if !project.join("_bmad").is_dir() {
            install(&unpacked, installer, &project)?;
        }
    }
    Ok(folder)
}

/// Fetches a version with the registry's client, unpacks it, and installs the libraries of its programs.
fn unpack(folder: &Path, version: &str) -> anyhow::Result<()> {
    println!("fetching {PACKAGE} {version} from npm into {} (once)", folder.display());
    let staging = folder.join(format!("{version}.new"));
    if staging.exists() {
        fs::remove_dir_all(&staging).context("cannot remove an unfinished version")?;
    }
    fs::create_dir_all(&staging).context("cannot create the folder of a version")?;
    let name = format!("{PACKAGE}@{version}");
    shell::run(Command::new("npm").args(["pack", &name, "--silent"]).current_dir(&staging))?;
    let archive = format!("{PACKAGE}-{version}.tgz");
    shell::run(Command::new("tar").args(["-xzf", &archive]).current_dir(&staging))?;
    let package = staging.join("package");
    let mut libraries = Command::new("npm");
    libraries
        .args(["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&package);
    shell::run(&mut libraries)?;
    fs::rename(&package, folder.join(version)).context("cannot finish the version")?;
    fs::remove_dir_all(&staging).context("cannot remove the staging folder")
}

/// Installs a version into a project, without questions.
fn install(unpacked: &Path, installer: &str, project: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(project).context("cannot create the project")?;
    let mut install = Command::new("node");
    install
        .arg(unpacked.join(installer))
        .arg("install")
        .arg("--directory")
        .arg(project)
        .args(["--modules", "bmm", "--tools", "claude-code", "--user-name", "Ana", "--yes"])
        .stdin(Stdio::null())
        .current_dir(unpacked);
    shell::run(&mut install)
}
