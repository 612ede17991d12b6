//! What a run sent and wrote, turn by turn, so that the floors can do the same and nothing else.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Failure;

/// One turn: what is written after an answer, and what is sent then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// What is written into the journal.
    pub(crate) lines: Vec<String>,
    /// So many of them before the file, and flushed.
    pub(crate) before_file: usize,
    /// The file: its name and content.
    pub(crate) file: Option<(String, String)>,
    /// So many bytes of the request before stay.
    pub(crate) stays: usize,
    /// And these come behind them.
    pub(crate) added: String,
}

/// Makes a tape of the requests and the journal of a run, and writes it to a file, one turn a line.
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
            // The intent; it must be on the disk before the file is touched.
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

/// How many bytes two texts begin with that are the same, up to the last whole character.
pub(crate) fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    other.floor_char_boundary(same)
}

/// The file that a reply writes.
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
