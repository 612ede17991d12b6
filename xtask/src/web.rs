//! `cargo xtask test --only web` and `--only browser`: the web app on its own, and in a real browser against the real program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::mcp;
use crate::shell::{self, cargo};

/// Where the web app is.
const FOLDER: &str = "web";
/// What browsers that can be driven are called.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// What is installed where there is no browser: it, and fonts for the languages and signs that the tests show.
const PACKAGES: [&str; 3] = ["chromium", "fonts-noto-cjk", "fonts-noto-color-emoji"];

/// Types, unit tests, the build, and how large it may be.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    install(root)?;
    for script in ["check", "test", "build", "budget"] {
        shell::run(npm(root).args(["run", script]))?;
    }
    Ok(())
}

/// The program with the app in it, driven in a browser.
pub(crate) fn drive(root: &Path) -> anyhow::Result<()> {
    let browser = browser()?;
    install(root)?;
    let servers = mcp::installed(root)?;
    shell::run(cargo(root, &["build", "--locked", "--workspace"]).env("CREWAGENT_WEB", "require"))?;
    let program = shell::target_dir(root).join("debug/crewagent");
    // The second one goes through the states that the pictures of the guide show, and compares the guide with them.
    for args in [&["run", "e2e"][..], &["run", "pictures", "--", "--check"]] {
        shell::run(
            npm(root)
                .args(args)
                .env("CREWAGENT_BIN", &program)
                .env("CREWAGENT_BROWSER", &browser)
                .env(mcp::VARIABLE, &servers),
        )?;
    }
    Ok(())
}

/// Installs what the lock file names.
fn install(root: &Path) -> anyhow::Result<()> {
    shell::run(npm(root).args(["ci", "--no-audit", "--no-fund"])).context(
        "this needs Node.js 20.19 or later with npm; install it, or leave the steps out with `--skip web --skip browser`",
    )
}

fn npm(root: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(root.join(FOLDER));
    npm
}

/// A browser, installed where that is possible.
fn browser() -> anyhow::Result<PathBuf> {
    if let Some(browser) = find() {
        return Ok(browser);
    }
    println!("no browser is there; trying to install {}", PACKAGES.join(", "));
    let update = shell::run(Command::new("apt-get").arg("update"));
    let install = update.and_then(|()| {
        shell::run(
            Command::new("apt-get")
                .args(["install", "-y", "--no-install-recommends"])
                .args(PACKAGES)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )
    });
    match (install, find()) {
        (Ok(()), Some(browser)) => Ok(browser),
        (_, _) => bail!(
            "no Chromium is there and none could be installed; install it, name it in CREWAGENT_BROWSER, or leave the step out with `--skip browser`"
        ),
    }
}

fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CREWAGENT_BROWSER") {
        return Some(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let places =
        BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}
