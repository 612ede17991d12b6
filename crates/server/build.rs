//! Embeds the web app in the binary.
//!
//! npm builds it from `web/`, unless `CREWAGENT_WEB_DIST` names a folder with a built one. If that fails, a debug build
//! continues without the app, and its page says what is missing; a release build fails and says what to do.
//! `CREWAGENT_WEB` may be `auto` (this), `require` (debug builds fail too) or `skip`.
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
    match dist(&out) {
        Ok(Some(dist)) => gather(&dist, &dist, &mut files)?,
        Ok(None) => {}
        Err(message) => {
            // Cargo prints each of these lines as an error and fails the build.
            for line in message.lines() {
                println!("cargo::error={line}");
            }
            return Ok(());
        }
    }
    files.sort();
    let mut code = String::from("const WEB: &[Asset] = &[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    Asset {{ path: {name:?}, bytes: include_bytes!({path:?}) }},");
    }
    code.push_str("];\n");
    fs::write(out.join("web.rs"), code)
}

/// Returns the folder with the web app, or none if the build may do without it.
fn dist(out: &Path) -> Result<Option<PathBuf>, String> {
    let mode = env::var("CREWAGENT_WEB").unwrap_or_else(|_| "auto".to_owned());
    let is_required = match mode.as_str() {
        "skip" => return Ok(None),
        "auto" => env::var("PROFILE").is_ok_and(|profile| profile == "release"),
        "require" => true,
        other => {
            return Err(format!("CREWAGENT_WEB is `{other}`; it must be auto, require or skip"));
        }
    };
    let found = match env::var_os("CREWAGENT_WEB_DIST") {
        Some(folder) => {
            println!("cargo:rerun-if-changed={}", Path::new(&folder).display());
            built(PathBuf::from(folder))
        }
        None => build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web"), out),
    };
    match found {
        Ok(dist) => Ok(Some(dist)),
        Err(why) if is_required => Err(format!(
            "the web app cannot be built: {why}\n\
             Do one of these, then build again:\n\
             - install Node.js 20.19 or newer, with npm\n\
             - set CREWAGENT_WEB_DIST to a folder that holds a built web app\n\
             - set CREWAGENT_WEB=skip to build the program without the web app"
        )),
        Err(why) => {
            println!("cargo:warning=building without the web app: {}", why.replace('\n', " "));
            Ok(None)
        }
    }
}

/// Checks a folder with a built web app.
fn built(dist: PathBuf) -> Result<PathBuf, String> {
    if dist.join("index.html").is_file() {
        Ok(dist)
    } else {
        Err(format!("`{}` has no index.html", dist.display()))
    }
}

/// Builds the web app with npm. Dependencies are installed next to the sources; the result goes to this build's folder.
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
    // Only what people change: the result is newer than the start of this script, so cargo would never see it as fresh.
    for source in sources {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
    if !web.join("package.json").is_file() {
        return Err("the folder `web` is missing".to_owned());
    }
    if !is_installed(web) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    let dist = out.join("web");
    let target = dist.to_string_lossy().into_owned();
    npm(web, &["run", "build", "--", "--outDir", &target, "--emptyOutDir", "--logLevel", "warn"])?;
    built(dist)
}

/// Returns true if npm has installed the versions of the lock file.
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
    let output = done.map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            "npm was not found".to_owned()
        } else {
            format!("npm cannot be started ({error})")
        }
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("`npm {}` failed:\n{}", args.join(" "), last.join("\n")))
}

/// Collects every file of a folder, with its name in the app.
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
