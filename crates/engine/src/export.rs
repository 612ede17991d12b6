//! Exports a run as one file for another person: what it is, what happened, and in which environment. Keys and folders
//! of the user are redacted.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crewagent_core::event::{Event, EventKind, RunEvent, RunResumed, RunStarted};
use secrecy::ExposeSecret as _;
use serde_json::json;
use thiserror::Error;

use crate::journal::JournalError;
use crate::store::{Environment, KeySource, RunError, RunId, SecretError, Store};
use crewagent_source::pack::ArchiveWriter;
use crewagent_source::runtime_version;

/// Long texts are left out beyond this total, in bytes.
const MAX_TEXTS: u64 = 64 << 20;
/// Shorter values of variables are not treated as keys.
const SHORTEST_KEY: usize = 8;
/// Replacement of a key.
const MASK: &str = "***";
/// Bytes of the journal read at a time.
const PIECE: usize = 1 << 20;

/// Reasons why a run cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The keys to redact cannot be read.
    #[error("nothing was exported, because not all keys that must be taken out can be read: {0}")]
    Keys(#[from] SecretError),
    #[error("the file cannot be written: {0}")]
    Write(#[from] io::Error),
    #[error("the run is too large for one file")]
    TooLarge,
}

/// Exports a run as a ZIP archive.
pub fn export(store: &Store, id: &RunId) -> Result<Vec<u8>, ExportError> {
    let view = store.runs().look(id)?;
    let redact = Redaction::of(store, &view.recovered.events, &Environment::of_process())?;
    let mut zip = ArchiveWriter::new(Vec::new());
    let mut add = |name: &str, text: &str| zip.add(name, redact.text(text).as_bytes());
    let about = json!({
        "crewagent": runtime_version().to_string(),
        "platform": std::env::consts::OS,
        "run": id,
        "notes": view.recovered.notes,
    });
    add("about.json", &format!("{about:#}\n"))?;
    add("run.json", &format!("{:#}\n", json!(view.record)))?;
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
        let size = view.blobs.size(name).map_err(RunError::from)?;
        let Some(left) = size.and_then(|size| room.checked_sub(size)) else { continue };
        // A blob that is not text may hold anything, so it is left out.
        let Ok(text) = view.blobs.text(name) else { continue };
        room = left;
        add(&format!("blobs/{name}"), &text)?;
    }
    let (bytes, _) = zip.finish()?.ok_or(ExportError::TooLarge)?;
    Ok(bytes)
}

/// Stored keys and those in the environment, which no text for other people may contain.
#[derive(Debug, Default)]
pub struct KeyMask {
    keys: Vec<String>,
}

/// Replacements applied to every text.
struct Redaction {
    words: Vec<(String, Cow<'static, str>)>,
}

/// Returns the script files of the models that a run was started or resumed with.
fn scripts(events: &[Event]) -> impl Iterator<Item = &str> {
    let settings = events.iter().filter_map(|event| {
        if let EventKind::Run(RunEvent::Started(RunStarted { settings, .. }))
        | EventKind::Run(RunEvent::Resumed(RunResumed { settings: Some(settings), .. })) =
            &event.kind
        {
            Some(settings)
        } else {
            None
        }
    });
    settings.filter_map(|settings| script(settings.model.as_deref()?))
}

/// Returns the script file of a scripted model.
fn script(model: &str) -> Option<&str> {
    model.strip_prefix("scripted:")
}

impl KeyMask {
    /// Finds the keys.
    pub fn of(store: &Store, environment: &Environment<'_>) -> Result<Self, SecretError> {
        let settings = store.settings();
        let mut keys = Vec::new();
        let mut hide = |key: String| keys.push(key);
        // All stored secrets: those of servers, and also keys of models that are not set up.
        let kept = store.secrets().all()?;
        kept.iter().for_each(|key| hide(key.expose_secret().to_owned()));
        let set = settings.key_variables().into_iter().filter_map(|name| environment.get(&name));
        // Where no key is needed, users set a word such as `none`, which may occur anywhere.
        set.filter(|key| key.len() >= SHORTEST_KEY).for_each(&mut hide);
        for server in settings.mcp.servers.values() {
            let open = server.way.open_secrets().into_iter().map(str::to_owned);
            open.filter(|secret| secret.len() >= SHORTEST_KEY).for_each(&mut hide);
        }
        for name in settings.models.keys() {
            let chosen = settings.model(name, "", environment);
            let found = chosen.ok().map(|it| it.key(&store.secrets(), environment));
            match found {
                // A model without a key has nothing to redact.
                None | Some(Err(SecretError::Missing { .. })) => {}
                // The key exists all the same; one in the file is known already.
                Some(Err(SecretError::Elsewhere { .. })) => {
                    let in_keyring = settings.models[name].key == Some(KeySource::Keyring);
                    let source = if in_keyring { KeySource::Keyring } else { KeySource::File };
                    let key = store.secrets().get(&source, name)?;
                    key.iter().for_each(|key| hide(key.expose_secret().to_owned()));
                }
                Some(found) => {
                    found?.key.iter().for_each(|key| hide(key.expose_secret().to_owned()));
                }
            }
            let headers = settings.models.get(name).map(|own| own.headers.values());
            headers.into_iter().flatten().cloned().for_each(&mut hide);
        }
        keys.retain(|key| !key.trim().is_empty());
        keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        Ok(Self { keys })
    }

    /// Returns the text with every key replaced.
    pub fn text(&self, text: &str) -> String {
        self.keys.iter().fold(text.to_owned(), |text, key| replaced(&text, key, MASK))
    }
}

impl Redaction {
    fn of(
        store: &Store,
        events: &[Event],
        environment: &Environment<'_>,
    ) -> Result<Self, SecretError> {
        let settings = store.settings();
        let keys = KeyMask::of(store, environment)?.keys;
        let mut words: Vec<(String, Cow<'static, str>)> =
            keys.into_iter().map(|key| (key, MASK.into())).collect();
        // A scripted model is named by its file, which may be anywhere; keep only the file name.
        let own = settings.run.model.as_deref().and_then(script);
        for file in own.into_iter().chain(scripts(events)) {
            let named = Path::new(file).file_name().filter(|name| name.len() < file.len());
            if let Some(name) = named {
                words.push((file.to_owned(), format!("<folder>/{}", name.display()).into()));
            }
        }
        for project in store.projects().list().map(|all| all.projects).unwrap_or_default() {
            words.push((project.path.display().to_string(), "<project>".into()));
        }
        words.push((store.home().display().to_string(), "<store>".into()));
        let home = std::env::home_dir().map(|home| home.display().to_string());
        words.extend(home.filter(|home| home.len() > 1).map(|home| (home, "~".into())));
        words.retain(|(word, _)| !word.trim().is_empty());
        // Longest first, because a project may lie in the user's home folder.
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Ok(Self { words })
    }

    fn text(&self, text: &str) -> String {
        self.words
            .iter()
            .fold(text.to_owned(), |text, (word, instead)| replaced(&text, word, instead))
    }
}

/// Replaces a word, and the word as JSON escapes it.
fn replaced(text: &str, word: &str, instead: &str) -> String {
    let quoted = json!(word).to_string();
    let inner = &quoted[1..quoted.len() - 1];
    let text = text.replace(word, instead);
    if inner == word { text } else { text.replace(inner, instead) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key_of;

    #[test]
    fn keys_of_models_that_are_not_set_up_are_taken_out_too() {
        let home = tempfile::tempdir().unwrap();
        let profiles = "[profiles.mine]\nkey-variable = \"MY_KEY\"\n[mcp.servers.notes]\ncommand = \"x\"\nargs = [\"--token=sk-in-the-open\"]\n";
        std::fs::write(home.path().join("config.toml"), profiles).unwrap();
        let store = Store::open(Some(home.path().to_owned())).unwrap();
        let key = key_of("sk-server").unwrap();
        store.secrets().put(&KeySource::File, "mcp.notes.TOKEN", &key).unwrap();
        let environment = Environment::new(|name| match name {
            "DEEPSEEK_API_KEY" => Some("none".to_owned()),
            "HOME" => None,
            name => Some(format!("sk-{name}")),
        });
        let redact = Redaction::of(&store, &[], &environment).unwrap();
        for name in ["CREWAGENT_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "MY_KEY"] {
            assert_eq!(redact.text(&format!("<sk-{name}>")), "<***>");
        }
        assert_eq!(redact.text("none of sk-server, sk-OTHER"), "none of ***, sk-OTHER");
        assert_eq!(redact.text("x --token=sk-in-the-open"), "x --token=***");
    }

    #[test]
    fn nothing_is_exported_while_the_keys_to_take_out_cannot_be_read() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(Some(home.path().to_owned())).unwrap();
        let key = key_of("sk-server").unwrap();
        store.secrets().put(&KeySource::File, "mcp.notes.TOKEN", &key).unwrap();
        let file = home.path().join("credentials.toml");
        let nothing = Environment::new(|_| None);
        let refused =
            || Redaction::of(&store, &[], &nothing).map(|_| ()).map_err(ExportError::from);
        assert!(refused().is_ok());
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + "\nkey = \n").unwrap();
        let told = refused().unwrap_err().to_string();
        assert!(told.starts_with("nothing was exported") && told.contains("correct it"), "{told}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
            assert!(refused().unwrap_err().to_string().contains("chmod 600"));
        }
    }

    #[test]
    fn the_folder_of_a_script_is_taken_out_and_its_name_stays() {
        let home = tempfile::tempdir().unwrap();
        let settings = "[run]\nmodel = \"scripted:/srv/demo/model.yaml\"\n";
        std::fs::write(home.path().join("config.toml"), settings).unwrap();
        let store = Store::open(Some(home.path().to_owned())).unwrap();
        let mut settings = json!(crewagent_core::settings::RunSettings::default());
        settings["model"] = "scripted:/srv/ana/x y.yaml".into();
        let event: Event = serde_json::from_value(json!({
            "seq": 9,
            "time": "2026-01-01T00:00:00Z",
            "type": "run.resumed",
            "epoch": 2,
            "settings": settings,
        }))
        .unwrap();
        let nothing = Environment::new(|_| None);
        let redact = Redaction::of(&store, &[event], &nothing).unwrap();
        let check = |text: &str, expected: &str| assert_eq!(redact.text(text), expected);
        check("scripted:/srv/demo/model.yaml", "scripted:<folder>/model.yaml");
        check(
            r#"{"model":"scripted:/srv/ana/x y.yaml"}"#,
            r#"{"model":"scripted:<folder>/x y.yaml"}"#,
        );
        check("`/srv/ana/x y.yaml` is gone", "`<folder>/x y.yaml` is gone");
    }
}
