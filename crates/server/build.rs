//! Puts the web app into the binary.
//!
//! It is built here with npm, from `web/`, unless `CREWAGENT_WEB_DIST` names a folder with a built one. Where that is not
//! possible a debug build goes on without it, and its page says what is missing; a release build fails and says what to
//! do. `CREWAGENT_WEB` may be `auto` (this), `require` (a debug build fails, too) or `skip`.
#![allow(clippy::disallowed_methods, reason = "the web app is built by npm")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["CREWAGENT_WEB", "CREWAGENT_WEB_DIST"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let out = PathBuf::from(out);
    let mut files = Vec::new();
    if let Some(dist) = dist(&out)? {
        gather(&dist, &dist, &mut files)?;
    }
    files.sort();
    let mut code = String::from("const WEB: &[Asset] = &[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    Asset {{ path: {name:?}, bytes: include_bytes!({path:?}) }},");
    }
    code.push_str("];\n");
    fs::write(out.join("web.rs"), code)
}

/// The folder with the web app, if it is wanted and can be had.
fn dist(out: &Path) -> io::Result<Option<PathBuf>> {
    let wish = env::var("CREWAGENT_WEB").unwrap_or_else(|_| "auto".to_owned());
    let is_needed = match wish.as_str() {
        "skip" => return Ok(None),
        "auto" => env::var("PROFILE").is_ok_and(|profile| profile == "release"),
        "require" => true,
        other => {
            let message = format!("CREWAGENT_WEB is `{other}`; it may be auto, require or skip");
            return Err(io::Error::other(message));
        }
    };
    let found = match env::var_os("CREWAGENT_WEB_DIST") {
        Some(folder) => built(PathBuf::from(folder)),
        None => build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web"), out),
    };
    match found {
        Ok(dist) => Ok(Some(dist)),
        Err(why) if is_needed => Err(io::Error::other(format!(
            "{why}\nThree ways out: install Node.js 20.19 or newer with npm and build again; name a folder with a built web app in CREWAGENT_WEB_DIST; or set CREWAGENT_WEB=skip for a program without it."
        ))),
        Err(why) => {
            println!("cargo:warning=the web app is left out: {}", why.replace('\n', " "));
            Ok(None)
        }
    }
}

/// A folder that somebody else has built.
fn built(dist: PathBuf) -> Result<PathBuf, String> {
    println!("cargo:rerun-if-changed={}", dist.display());
    if dist.join("index.html").is_file() {
        Ok(dist)
    } else {
        Err(format!("there is no web app in `{}`", dist.display()))
    }
}

/// Builds it with npm. What npm installs stays beside the sources; what is built goes to the folder of this build.
fn build(web: &Path, out: &Path) -> Result<PathBuf, String> {
    let sources = [
        "src",
        "public",
        "index.html",
        "package.json",
        "package-lock.json",
        "svelte.config.js",
        "tsconfig.json",
        "vite.config.ts",
    ];
    for source in sources {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
    if !web.join("package.json").is_file() {
        return Err("the folder `web` is not there".to_owned());
    }
    if !is_installed(web) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let dist = out.join("web");
    let target = dist.to_string_lossy().into_owned();
    npm(web, &["run", "build", "--", "--outDir", &target, "--emptyOutDir", "--logLevel", "warn"])?;
    built(dist)
}

/// Whether npm has installed what the lock file says.
fn is_installed(web: &Path) -> bool {
    let changed = |name: &str| fs::metadata(web.join(name)).and_then(|about| about.modified());
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Ok(installed), Ok(locked)) => installed >= locked,
        (_, _) => false,
    }
}

fn npm(web: &Path, args: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let done = Command::new(program).args(args).current_dir(web).output();
    let output = done.map_err(|error| format!("npm cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("`npm {}` failed:\n{}", args.join(" "), last.join("\n")))
}

/// Every file of a folder, with its name in the app.
fn gather(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            let name = name.components().map(|part| part.as_os_str().to_string_lossy());
            files.push((name.collect::<Vec<_>>().join("/"), path.canonicalize()?));
        }
    }
    Ok(())
}
