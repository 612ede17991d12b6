//! `crewagent config …`: the settings, one by one or as a file.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use crewagent_engine::store::{Key, Settings, SettingsError, Store};
use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, Table};

use crate::args::{Config, ConfigCommand};
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, GOOD, NAME, QUIET};

pub(crate) fn run(
    args: Config,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let home = home.map_or_else(Store::default_home, Ok)?;
    let path = Settings::path(&home);
    match args.command.unwrap_or(ConfigCommand::Get { key: None }) {
        ConfigCommand::Path => console.line(path.display()),
        ConfigCommand::Get { key: None } => list(&Settings::load(&path)?, console)?,
        ConfigCommand::Get { key: Some(key) } => {
            get(known(&key)?, &Settings::load(&path)?, console)?
        }
        ConfigCommand::Set { key, value } => set(known(&key)?, &value, &path, console)?,
        ConfigCommand::Edit => return edit(&path, console),
    }
    Ok(Outcome::Done)
}

/// The setting of this name.
fn known(name: &str) -> Result<Key, Usage> {
    let keys = Settings::keys();
    keys.iter().find(|key| key.name == name).copied().ok_or_else(|| {
        // A name without its table is what people forget.
        let similar = keys.iter().find(|key| {
            key.name.rsplit_once('.').is_some_and(|(_, last)| last == name)
                || key.name.replace(['-', '_', '.'], "")
                    == name.to_lowercase().replace(['-', '_', '.'], "")
        });
        let hint = similar.map(|key| format!("; did you mean `{}`?", key.name)).unwrap_or_default();
        Usage(format!(
            "there is no setting `{name}`{hint}; `crewagent config get` shows what there is"
        ))
    })
}

/// Every setting with its value.
fn list(settings: &Settings, console: &mut Console) -> anyhow::Result<()> {
    let (own, default) =
        (serde_json::to_value(settings)?, serde_json::to_value(Settings::default())?);
    for key in Settings::keys() {
        let value = value_of(key.name, &own);
        let shown = value.map_or_else(|| "(not set)".to_owned(), Json::to_string);
        let is_default = value == value_of(key.name, &default);
        let (name, shown) = (paint::padded(key.name, 28), paint::printable(&shown));
        let about = paint::styled(QUIET, format_args!("# {}", key.about));
        let (name, shown) = if is_default {
            (paint::styled(QUIET, name), paint::styled(QUIET, paint::padded(&shown, 12)))
        } else {
            (paint::styled(NAME, name), paint::styled(GOOD, paint::padded(&shown, 12)))
        };
        console.line(format_args!("{name} {shown}  {about}"));
    }
    Ok(())
}

/// One value, bare, for scripts.
fn get(key: Key, settings: &Settings, console: &mut Console) -> anyhow::Result<()> {
    let settings = serde_json::to_value(settings)?;
    match value_of(key.name, &settings) {
        Some(Json::String(text)) => console.line(paint::printable(text)),
        Some(value) => console.line(paint::printable(&value.to_string())),
        None => console.error(format_args!("{} is not set", key.name)),
    }
    Ok(())
}

fn value_of<'v>(name: &str, settings: &'v Json) -> Option<&'v Json> {
    name.split('.').try_fold(settings, |table, part| table.get(part))
}

/// Changes one value. Comments and everything else in the file stay.
fn set(key: Key, value: &str, path: &Path, console: &mut Console) -> anyhow::Result<()> {
    let text = read(path)?;
    let changed = changed(&text, key, value, path)?;
    write(path, &changed)?;
    let settings = serde_json::to_value(Settings::parse(path, &changed)?)?;
    let now = value_of(key.name, &settings).map(Json::to_string).unwrap_or_default();
    let name = paint::styled(NAME, key.name);
    console.line(format_args!(
        "{} {name} = {}",
        paint::styled(GOOD, "set"),
        paint::printable(&now)
    ));
    Ok(())
}

/// The file with the new value: as TOML if it is that and fits, else as text.
fn changed(text: &str, key: Key, value: &str, path: &Path) -> anyhow::Result<String> {
    // A file that is wrong already is not made worse.
    Settings::parse(path, text)?;
    let document: DocumentMut = text.parse().context("the settings cannot be edited")?;
    let mut first = None;
    let typed = value.trim().parse::<toml_edit::Value>().ok();
    for candidate in typed.into_iter().chain([toml_edit::Value::from(value)]) {
        let mut document = document.clone();
        put(&mut document, key.name, candidate)?;
        let changed = document.to_string();
        match Settings::parse(path, &changed) {
            Ok(_) => return Ok(changed),
            Err(error) => first = first.or(Some(error)),
        }
    }
    let why = match first {
        Some(SettingsError::Wrong { message, .. }) => message,
        Some(error @ SettingsError::Read { .. }) => error.to_string(),
        None => String::new(),
    };
    Err(Usage(format!("{} cannot be {value:?}: {why}; it is: {}", key.name, key.about)).into())
}

fn put(document: &mut DocumentMut, name: &str, value: toml_edit::Value) -> anyhow::Result<()> {
    let mut table: &mut Table = document.as_table_mut();
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            match table.get_mut(part).and_then(Item::as_value_mut) {
                // What stands around the value, such as a comment, stays.
                Some(old) => {
                    let decor = old.decor().clone();
                    *old = value;
                    *old.decor_mut() = decor;
                }
                None => {
                    table.insert(part, Item::Value(value));
                }
            }
            return Ok(());
        }
        let inner = table.entry(part).or_insert_with(|| {
            let mut inner = Table::new();
            inner.set_implicit(true);
            Item::Table(inner)
        });
        table = inner.as_table_mut().with_context(|| {
            format!("`{part}` is not written as a table; change it with `crewagent config edit`")
        })?;
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Replaces the file as a whole or not at all.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let staged = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(staged.path(), text)?;
        staged.as_file().sync_all()?;
        staged.persist(path)?;
        Ok(())
    };
    written().with_context(|| format!("cannot write `{}`", path.display()))
}

/// Opens the file in the user's editor. One that is not there begins with every setting as a comment.
fn edit(path: &Path, console: &mut Console) -> anyhow::Result<Outcome> {
    if !path.exists() {
        write(path, &template()?)?;
    }
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let fallback = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| fallback.to_owned());
    // `code --wait` and the like: a program and its options.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(fallback);
    let status =
        std::process::Command::new(program).args(words).arg(path).status().with_context(|| {
            format!(
                "cannot start the editor `{editor}`; set EDITOR, or edit `{}` yourself",
                path.display()
            )
        })?;
    if !status.success() {
        anyhow::bail!("the editor `{editor}` ended with {status}; the settings may be unchanged");
    }
    Settings::load(path)?;
    console.line(format_args!("{} {}", paint::styled(GOOD, "ok"), path.display()));
    Ok(Outcome::Done)
}

/// A file that says what can be set and changes nothing.
fn template() -> anyhow::Result<String> {
    let defaults = serde_json::to_value(Settings::default())?;
    let mut text = String::from("# Settings of CrewAgent. Remove a `#` to change one.\n");
    let mut table = "";
    for key in Settings::keys() {
        let (own_table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if own_table != table {
            text.push_str(&format!("\n[{own_table}]\n"));
            table = own_table;
        }
        let value = value_of(key.name, &defaults).map_or_else(|| "…".to_owned(), Json::to_string);
        text.push_str(&format!("# {name} = {value}  # {}\n", key.about));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_changed(text: &str, key: &str, value: &str, expected: &str) {
        let changed = changed(text, known(key).unwrap(), value, Path::new("c")).unwrap();
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_setting_is_changed_and_nothing_else() {
        check_changed("", "run.max-turns", "7", "[run]\nmax-turns = 7\n");
        check_changed(
            "# mine\n[run] # all\nmax-turns = 3 # few\n",
            "run.max-turns",
            "7",
            "# mine\n[run] # all\nmax-turns = 7 # few\n",
        );
        check_changed("", "policy.fs.enabled", "false", "[policy.fs]\nenabled = false\n");
        check_changed("", "run.timeout", "10m", "[run]\ntimeout = \"10m\"\n");
        check_changed("", "run.model", "5", "[run]\nmodel = \"5\"\n");
        check_changed("", "run.model", "scripted:a.yaml", "[run]\nmodel = \"scripted:a.yaml\"\n");
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_the_reason() {
        let refused = |key: &str, value: &str| {
            changed("", known(key).unwrap(), value, Path::new("c")).unwrap_err().to_string()
        };
        assert!(refused("run.max-turns", "0").contains("whole number above zero"));
        assert!(refused("run.mode", "fast").contains("autopilot"));
        assert!(refused("run.max-turns", "many").contains("whole number"));
    }

    #[test]
    fn a_key_that_is_not_there_is_explained() {
        assert!(known("max-turns").unwrap_err().to_string().contains("`run.max-turns`"));
        assert!(known("run.max_turns").unwrap_err().to_string().contains("`run.max-turns`"));
        assert!(known("nope").unwrap_err().to_string().contains("config get"));
    }

    #[test]
    fn the_template_says_nothing() {
        let text = template().unwrap();
        assert_eq!(Settings::parse(Path::new("c"), &text).unwrap(), Settings::default());
        let bare: String = text
            .lines()
            .filter(|line| !line.starts_with("# Settings"))
            .map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n")
            .filter(|line| !line.contains('…'))
            .collect();
        assert_eq!(Settings::parse(Path::new("c"), &bare).unwrap(), Settings::default());
    }
}
