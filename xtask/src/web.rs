//! Checks of the web app: on its own, and in a real browser with the real program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::steps::CiContext;
use crate::{mcp, needs, shell};

/// Folder of the web app.
const FOLDER: &str = "web";
/// Checks types, unit tests, the build and its size, and returns the folder with the built app.
pub(crate) fn check(root: &Path) -> anyhow::Result<PathBuf> {
    install(root)?;
    for script in ["check", "test", "build", "budget"] {
        shell::run(npm(root).args(["run", script]))?;
    }
    let built = shell::target_dir(root).join("web-dist");
    copy_changed(&root.join(FOLDER).join("dist"), &built)?;
    Ok(built)
}

/// Drives the program with the app in it in a browser.
pub(crate) fn drive(context: &CiContext<'_>) -> anyhow::Result<()> {
    run_in_browser(context, &["run", "e2e"])
}

/// Drives the app with ten thousand messages, a large graph and many runs, and measures its speed.
pub(crate) fn load(context: &CiContext<'_>) -> anyhow::Result<()> {
    run_in_browser(context, &["run", "e2e:load"])?;
    run_in_browser(context, &["run", "bench"])
}

/// Compares the pictures of the guide with the states that they show.
pub(crate) fn check_pictures(context: &CiContext<'_>) -> anyhow::Result<()> {
    run_in_browser(context, &["run", "pictures", "--", "--check"])
}

/// Builds the program with the app in it, and runs a script of npm that drives it.
fn run_in_browser(context: &CiContext<'_>, script: &[&str]) -> anyhow::Result<()> {
    let browser = needs::browser().context("there is no browser")?;
    if !context.has_web_app() {
        install(context.root)?;
    }
    let servers = mcp::installed(context.root)?;
    if !context.has_program() {
        let args = ["build", "--locked", "--workspace"];
        shell::run(context.cargo(&args).env("CREWAGENT_WEB", "require"))?;
    }
    let program = shell::target_dir(context.root).join("debug/crewagent");
    shell::run(
        npm(context.root)
            .args(script)
            .env("CREWAGENT_BIN", program)
            .env("CREWAGENT_BROWSER", browser)
            .env(mcp::VARIABLE, servers),
    )
}

/// Installs the packages of the lock file.
fn install(root: &Path) -> anyhow::Result<()> {
    shell::run(npm(root).args(["ci", "--no-audit", "--no-fund"]))
}

fn npm(root: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(root.join(FOLDER));
    npm
}

/// Makes a folder equal to another, and writes only files that differ, because cargo compares their times.
fn copy_changed(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let wanted: BTreeSet<String> = files(from)?.into_iter().collect();
    for stale in files(to)?.into_iter().filter(|name| !wanted.contains(name)) {
        fs::remove_file(to.join(stale))?;
    }
    for name in &wanted {
        let (source, target) = (from.join(name), to.join(name));
        let bytes =
            fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        if fs::read(&target).is_ok_and(|old| old == bytes) {
            continue;
        }
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&target, bytes).with_context(|| format!("cannot write {}", target.display()))?;
    }
    Ok(())
}

/// Returns the paths of all files below a folder, sorted.
fn files(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            found
                .extend(files(&entry.path())?.into_iter().map(|inside| format!("{name}/{inside}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_differ_are_written() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("assets")).unwrap();
        fs::write(from.join("index.html"), "a").unwrap();
        fs::write(from.join("assets/a.js"), "b").unwrap();
        copy_changed(&from, &to).unwrap();
        let written = fs::metadata(to.join("index.html")).unwrap().modified().unwrap();
        fs::remove_file(from.join("assets/a.js")).unwrap();
        fs::write(from.join("assets/b.js"), "c").unwrap();
        copy_changed(&from, &to).unwrap();
        assert_eq!(files(&to).unwrap(), ["assets/b.js", "index.html"]);
        assert_eq!(fs::metadata(to.join("index.html")).unwrap().modified().unwrap(), written);
    }

    #[test]
    fn npm_knows_the_scripts() {
        let package =
            fs::read_to_string(shell::repo_root().join(FOLDER).join("package.json")).unwrap();
        for script in ["check", "test", "build", "budget", "e2e", "e2e:load", "bench", "pictures"] {
            assert!(package.contains(&format!("\"{script}\": ")), "{script}");
        }
    }
}
