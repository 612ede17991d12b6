//! A run as one file, for somebody who shall look at it: what it was, what happened, and with what. Keys and the
//! folders of the user are taken out.

use std::io;

use secrecy::ExposeSecret as _;
use serde_json::json;
use thiserror::Error;

use crate::journal::JournalError;
use crate::pack::Writer;
use crate::runtime_version;
use crate::store::{RunError, RunId, Store, Surroundings};

/// Long texts are left out when they are more than this together.
const MAX_TEXTS: u64 = 64 << 20;
/// What is shorter in a variable is no key.
const SHORTEST_KEY: usize = 8;
/// Bytes of the journal that are read at a time.
const PIECE: usize = 1 << 20;

/// Why there is no such file.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file cannot be written.
    #[error("the file cannot be written: {0}")]
    Write(#[from] io::Error),
    /// The run is larger than such a file can be.
    #[error("the run is too large for one file")]
    TooLarge,
}

/// Writes a run as a ZIP archive.
pub fn export(store: &Store, id: &RunId) -> Result<Vec<u8>, ExportError> {
    let view = store.runs().look(id)?;
    let redact = Redaction::of(store, &Surroundings::of_process());
    let mut zip = Writer::new(Vec::new());
    let mut add = |name: &str, text: &str| zip.add(name, redact.text(text).as_bytes());
    let about = json!({
        "crewagent": runtime_version().to_string(),
        "platform": std::env::consts::OS,
        "run": id,
        "notes": view.recovered.notes,
    });
    add("about.json", &format!("{about:#}\n"))?;
    add("run.json", &format!("{:#}\n", json!(view.facts)))?;
    for (path, document) in store.runs().documents(id)? {
        add(&path, &document)?;
    }
    add("settings.json", &format!("{:#}\n", json!(store.settings())))?;
    let (mut journal, mut reader) = (String::new(), store.runs().journal(id)?);
    loop {
        let events = reader.next(PIECE)?;
        if events.is_empty() {
            break;
        }
        for event in events {
            journal.push_str(&json!(event).to_string());
            journal.push('\n');
        }
    }
    add("state/logs/execution.jsonl", &journal)?;
    let mut room = MAX_TEXTS;
    for name in view.blobs.names().map_err(RunError::from)? {
        // What is not text may hold anything, and is left out.
        let Ok(text) = view.blobs.text(name) else { continue };
        let Some(left) = room.checked_sub(text.len() as u64) else { break };
        room = left;
        add(&format!("blobs/{name}"), &text)?;
    }
    let (bytes, _) = zip.finish()?.ok_or(ExportError::TooLarge)?;
    Ok(bytes)
}

/// What is taken out of every text.
struct Redaction {
    words: Vec<(String, &'static str)>,
}

impl Redaction {
    fn of(store: &Store, surroundings: &Surroundings<'_>) -> Self {
        let settings = store.settings();
        let mut words = Vec::new();
        // Also keys of models that are not set up, and secrets of servers.
        let kept = store.secrets().all().unwrap_or_default();
        words.extend(kept.iter().map(|key| (key.expose_secret().to_owned(), "***")));
        let set = settings.key_variables().into_iter().filter_map(|name| surroundings.get(&name));
        // Where no key is needed, people set a word such as `none`, which may stand anywhere.
        words.extend(set.filter(|key| key.len() >= SHORTEST_KEY).map(|key| (key, "***")));
        for name in settings.models.keys() {
            let chosen = settings.model(name, "", surroundings);
            let found = chosen.ok().and_then(|it| it.key(&store.secrets(), surroundings).ok());
            if let Some(key) = found.and_then(|found| found.key) {
                words.push((key.expose_secret().to_owned(), "***"));
            }
            let headers = settings.models.get(name).map(|own| own.headers.values());
            words.extend(headers.into_iter().flatten().map(|value| (value.clone(), "***")));
        }
        for project in store.projects().list().map(|all| all.projects).unwrap_or_default() {
            words.push((project.path.display().to_string(), "<project>"));
        }
        words.push((store.home().display().to_string(), "<store>"));
        let home = std::env::home_dir().map(|home| home.display().to_string());
        words.extend(home.filter(|home| home.len() > 1).map(|home| (home, "~")));
        words.retain(|(word, _)| !word.trim().is_empty());
        // The longest first: a project is in the folder of the user.
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self { words }
    }

    fn text(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (word, instead)| {
            // As it stands, and as JSON writes it.
            let quoted = json!(word).to_string();
            let inner = quoted.trim_matches('"');
            let text = text.replace(word, instead);
            if inner == word { text } else { text.replace(inner, instead) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{KeySource, key_of};

    #[test]
    fn keys_of_models_that_are_not_set_up_are_taken_out_too() {
        let home = tempfile::tempdir().unwrap();
        let profiles = "[profiles.mine]\nkey-variable = \"MY_KEY\"\n";
        std::fs::write(home.path().join("config.toml"), profiles).unwrap();
        let store = Store::open(Some(home.path().to_owned())).unwrap();
        let key = key_of("sk-server").unwrap();
        store.secrets().put(&KeySource::File, "mcp.notes.TOKEN", &key).unwrap();
        let surroundings = Surroundings::new(|name| match name {
            "DEEPSEEK_API_KEY" => Some("none".to_owned()),
            "HOME" => None,
            name => Some(format!("sk-{name}")),
        });
        let redact = Redaction::of(&store, &surroundings);
        for name in ["CREWAGENT_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "MY_KEY"] {
            assert_eq!(redact.text(&format!("<sk-{name}>")), "<***>");
        }
        assert_eq!(redact.text("none of sk-server, sk-OTHER"), "none of ***, sk-OTHER");
    }
}
