//! The tutorials of `docs/`, followed word by word in an empty folder.

#![cfg(unix)]

use std::process::Command;

use crewagent_testkit::fixture::repository;

use crate::support::CliFixture;

/// A fenced block of a page, with the file that the line before it names.
struct Block {
    language: String,
    text: String,
    file: Option<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut before) = (None, "");
    for line in page.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(language), None) => {
                let file = before.strip_prefix("Save as `").and_then(|it| it.strip_suffix("`:"));
                let (language, file) = (language.to_owned(), file.map(str::to_owned));
                open = Some(Block { language, text: String::new(), file });
            }
            (Some(_), Some(_)) => {
                blocks.extend(open.take());
                before = "";
            }
            (None, Some(block)) => block.text.push_str(&format!("{line}\n")),
            (None, None) if !line.is_empty() => before = line,
            (None, None) => {}
        }
    }
    blocks
}

/// Saves the files of a page and runs its commands; the last one of every block must succeed.
fn follow(page: &str, world: &CliFixture) {
    follow_in(page, world, world.folder.path());
}

/// Runs the commands of a page in a folder.
pub(crate) fn follow_in(page: &str, world: &CliFixture, current: &std::path::Path) {
    let text = std::fs::read_to_string(repository().join("docs").join(page)).unwrap();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_crewagent")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    for block in blocks(&text) {
        if let Some(file) = &block.file {
            world.write(file, &block.text);
        } else if block.language == "sh" {
            let mut command = Command::new("sh");
            command
                .args(["-c", &block.text])
                .env_clear()
                .env("PATH", &path)
                .env("TMPDIR", world.folder.path());
            command.env("CREWAGENT_HOME", world.path("store")).current_dir(current);
            let output = command.stdin(std::process::Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{page}:\n{}\n{output:?}", block.text);
        }
    }
}

#[test]
fn the_tutorials_work_as_they_are_written() {
    let world = CliFixture::new();
    follow("first-package.md", &world);
    let notes = std::fs::read_to_string(world.path("shop/artifacts/release-notes-1.4.0.md"));
    assert!(notes.unwrap().starts_with("# 1.4.0\n"));
    assert!(!world.path("empty/artifacts").exists(), "the gate did not hold");
    follow("testing-packages.md", &world);
}
