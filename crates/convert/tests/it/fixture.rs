//! Sources on disk, and what was made of them.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_convert::{
    Conversion, ConvertOptions, PackageFiles, SourceFiles, SourceShape, convert,
};
use crewagent_format::code::Code;
use serde_json::Value as Json;

/// Reads a folder as the engine does: names first, then the files that are wanted.
pub(crate) fn read(folder: &Path) -> SourceFiles {
    let mut paths = Vec::new();
    collect(folder, "", &mut paths);
    let shape = SourceShape::detect(&mut paths.iter().map(String::as_str)).unwrap_or_default();
    let mut files = SourceFiles::default();
    for path in paths.iter().filter(|path| shape.wants(path)) {
        files.insert(path, fs::read(folder.join(path)).unwrap());
    }
    files
}

fn collect(folder: &Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if ["node_modules", ".git", "target"].contains(&name.as_str()) {
            continue;
        }
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &path, paths);
        } else {
            paths.push(path);
        }
    }
}

/// Returns the folder of a fixture.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sources").join(name)
}

/// Converts files with the default options.
pub(crate) fn converted(files: &SourceFiles, name: &str) -> Conversion {
    convert(files, &ConvertOptions { name: name.to_owned(), ..ConvertOptions::default() })
}

/// Returns the package, or shows why there is none.
pub(crate) fn package(conversion: &Conversion) -> &PackageFiles {
    let package = conversion.package.as_ref();
    package.unwrap_or_else(|| panic!("there is no package:\n{}", findings_text(conversion)))
}

/// Returns a JSON file of the package.
pub(crate) fn json(conversion: &Conversion, path: &str) -> Json {
    let package = package(conversion);
    let bytes = package.get(path).unwrap_or_else(|| panic!("there is no {path}"));
    serde_json::from_slice(bytes).unwrap()
}

/// Returns a text of the package.
pub(crate) fn text(conversion: &Conversion, path: &str) -> String {
    let package = package(conversion);
    let bytes = package.get(path).unwrap_or_else(|| panic!("there is no {path}"));
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the agent with this id.
pub(crate) fn agent(conversion: &Conversion, id: &str) -> Json {
    let agents = json(conversion, "agents.json");
    let found = agents["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id);
    found.unwrap_or_else(|| panic!("there is no agent {id}")).clone()
}

/// Counts the findings of a code.
pub(crate) fn count(conversion: &Conversion, code: Code) -> usize {
    conversion.findings.counts().get(&code).copied().unwrap_or_default()
}

/// Returns all findings as text.
pub(crate) fn findings_text(conversion: &Conversion) -> String {
    let lines = conversion.findings.iter().map(|found| {
        let line = found.place.position.map(|position| format!(":{}", position.line));
        format!(
            "{} {} {}{}: {}\n",
            found.code.as_str(),
            found.severity().word(),
            found.place.file,
            line.unwrap_or_default(),
            found.message
        )
    });
    lines.collect()
}

/// Text of a step file after our part.
pub(crate) fn source_part(step: &str) -> &str {
    let mark = "<!-- The text of the source begins below this line. -->\n";
    step.split_once(mark).expect("there is a mark").1
}
