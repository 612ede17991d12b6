//! Puts the built web app into the binary: the folder that `CREWAGENT_WEB_DIST` names, else `web/dist` if it is there.
//! Without one the server shows a page that says so, unless `CREWAGENT_WEB=require`. `CREWAGENT_WEB=skip` leaves it out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["CREWAGENT_WEB", "CREWAGENT_WEB_DIST"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let mut files = Vec::new();
    if let Some(dist) = dist()? {
        println!("cargo:rerun-if-changed={}", dist.display());
        gather(&dist, &dist, &mut files)?;
    }
    files.sort();
    let mut code = String::from("const WEB: &[Asset] = &[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    Asset {{ path: {name:?}, bytes: include_bytes!({path:?}) }},");
    }
    code.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&out).join("web.rs"), code)
}

/// The folder with the web app, if it is wanted and there.
fn dist() -> io::Result<Option<PathBuf>> {
    let wish = env::var("CREWAGENT_WEB").unwrap_or_else(|_| "auto".to_owned());
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    let dist = env::var_os("CREWAGENT_WEB_DIST").map_or(own, PathBuf::from);
    let is_there = dist.join("index.html").is_file();
    match (wish.as_str(), is_there) {
        ("skip", _) | ("auto", false) => Ok(None),
        ("auto" | "require", true) => Ok(Some(dist)),
        ("require", false) => Err(io::Error::other(format!(
            "there is no web app in `{}`; build it first, name its folder in CREWAGENT_WEB_DIST, or set CREWAGENT_WEB=skip",
            dist.display()
        ))),
        (other, _) => Err(io::Error::other(format!(
            "CREWAGENT_WEB is `{other}`; it may be auto, skip or require"
        ))),
    }
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
