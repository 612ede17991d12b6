//! `cargo xtask real-models`: tests the chat adapter with servers of other authors, installed from PyPI.
//!
//! Everything is in `real-models` in cargo's target folder: an environment for each server, created once for each list
//! of versions, and the models, rewritten each time. The tests start and end the servers themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::python::PythonEnvironment;
use crate::shell::{self, cargo};

/// Folder of the lists of versions and of the script that writes models.
const SOURCES: &str = "crates/adapters/tests/real";
/// Environment of llama.cpp. Each environment has a list of versions named after it.
const LLAMA: &str = "llama";
const LITELLM: &str = "litellm";
/// Kinds of models by their likely replies; `tiny_gguf.py` explains them.
const CHARACTERS: [&str; 3] = ["caller", "endless", "talker"];
/// Environment variable that names the folder to the tests.
const VARIABLE: &str = "CREWAGENT_REAL_MODELS";

/// Installs what is missing, writes the models and runs the tests whose names contain one of the words.
pub(crate) fn run(root: &Path, words: &[String]) -> anyhow::Result<()> {
    let folder = shell::target_dir(root).join("real-models");
    let sources = root.join(SOURCES);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let llama = PythonEnvironment::new(&folder, LLAMA);
    llama.ensure(&sources)?;
    PythonEnvironment::new(&folder, LITELLM).ensure(&sources)?;
    for character in CHARACTERS {
        let mut write = Command::new(llama.python());
        write
            .arg(sources.join("tiny_gguf.py"))
            .arg(character)
            .arg(folder.join(model_file(character)));
        shell::run(&mut write)?;
    }
    shell::run(tests(root, words).env(VARIABLE, &folder))
}

fn model_file(character: &str) -> String {
    format!("{character}.gguf")
}

fn tests(root: &Path, words: &[String]) -> Command {
    let args = ["test", "--locked", "--package", "crewagent-adapters", "--test", "real", "--"];
    let mut command = cargo(root, &args);
    command.args(words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_exact_versions() {
        for name in [LLAMA, LITELLM] {
            let path = shell::repo_root().join(SOURCES).join(format!("{name}-requirements.txt"));
            for line in fs::read_to_string(path).unwrap().lines() {
                assert!(line.starts_with('#') || line.contains("=="), "{name}: `{line}`");
            }
        }
    }

    #[test]
    fn words_choose_tests() {
        let line = shell::command_line(&tests(&shell::repo_root(), &["llama".to_owned()]));
        assert!(line.ends_with("--test real -- llama"), "{line}");
    }
}
