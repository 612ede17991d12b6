//! Puts the built web app into the binary. `CREWAGENT_WEB_DIST` names the folder it is in; without it there is none, and
//! the server shows a page that says so.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CREWAGENT_WEB_DIST");
    let mut files = Vec::new();
    if let Some(dist) = env::var_os("CREWAGENT_WEB_DIST").map(PathBuf::from) {
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
