//! Requests and writes of a run, turn by turn, so that the floors do exactly the same.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Failure;

/// Turn: the writes after an answer, and the next request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// Lines for the journal.
    pub(crate) lines: Vec<String>,
    /// Number of lines that are written and flushed before the file.
    pub(crate) before_file: usize,
    /// Name and content of the file.
    pub(crate) file: Option<(String, String)>,
    /// Number of bytes that the previous request shares with this one.
    pub(crate) stays: usize,
    /// Bytes that follow them.
    pub(crate) added: String,
}

/// Makes a tape from the requests and the journal of a run, and writes it to a file, one turn per line.
pub(crate) fn record(bodies: &Path, journal: &Path, tape: &Path) -> Result<usize, Failure> {
    let turns = read(bodies, journal)?;
    let lines: Result<Vec<String>, _> = turns.iter().map(serde_json::to_string).collect();
    fs::write(tape, lines?.join("\n"))?;
    Ok(turns.len())
}

fn read(bodies: &Path, journal: &Path) -> Result<Vec<Turn>, Failure> {
    let mut turns = Vec::new();
    let mut before = String::new();
    let mut turn = Turn::default();
    for line in fs::read_to_string(journal)?.lines() {
        let event: Json = serde_json::from_str(line)?;
        turn.lines.push(format!("{line}\n"));
        match event["type"].as_str() {
            Some("assistant.message") => turn.file = written(&event)?,
            // The intent must be on the disk before the file is touched.
            Some("tool.started") => turn.before_file = turn.lines.len(),
            Some("turn.started") => {
                let name = format!("{:06}.json", turns.len() + 1);
                let body = fs::read_to_string(bodies.join(name))?;
                turn.stays = common(&before, &body);
                turn.added = body[turn.stays..].to_owned();
                before = body;
                turns.push(std::mem::take(&mut turn));
            }
            _ => {}
        }
    }
    Ok(turns)
}

/// Returns the length of the common prefix of two texts, up to the last whole character.
pub(crate) fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    other.floor_char_boundary(same)
}

/// Returns the file that a reply writes.
fn written(event: &Json) -> Result<Option<(String, String)>, Failure> {
    let Some(arguments) = event.pointer("/toolCalls/0/function/arguments").and_then(Json::as_str)
    else {
        return Ok(None);
    };
    let arguments: Json = serde_json::from_str(arguments)?;
    let text = |key: &str| arguments[key].as_str().map(str::to_owned);
    let name = text("path").and_then(|path| path.rsplit('/').next().map(str::to_owned));
    Ok(name.zip(text("content")))
}
