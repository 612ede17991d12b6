//! Changes `config.toml` one key at a time, preserving comments and everything else.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Settings, SettingsError};
use crate::private;
use crate::store::change;

/// Settings file, open for changes. Nothing is written before it is saved, and never an invalid setting. Other
/// processes wait while it is open, so that concurrent changes are not lost.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    path: PathBuf,
    document: DocumentMut,
    _turn: Option<Arc<File>>,
}

impl SettingsFile {
    /// Reads the file. A missing one is empty; one with mistakes is refused.
    pub fn open(path: &Path) -> Result<Self, SettingsError> {
        let failed = |error| SettingsError::Read { path: path.to_owned(), error };
        let turn = change::turn(path).map_err(failed)?;
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { _turn: turn.map(Arc::new), ..Self::parse(path, &text)? })
    }

    /// Parses a text; the path is for messages and for saving.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        Settings::parse(path, text)?;
        let document = text.parse().map_err(|error: toml_edit::TomlError| SettingsError::Edit {
            key: path.display().to_string(),
            problem: error.message().into(),
        })?;
        Ok(Self { path: path.to_owned(), document, _turn: None })
    }

    /// Splits a key as users write it: `run.max-turns`, or `prices."gpt-4.1".input`.
    pub fn parts(key: &str) -> Option<Vec<String>> {
        let parts = toml_edit::Key::parse(key).ok()?;
        Some(parts.iter().map(|part| part.get().to_owned()).collect())
    }

    /// Sets a key to the text that a user gave: as a number or a list if it is one and fits, else as a text.
    pub fn say(&mut self, key: &[&str], said: &str) -> Result<(), SettingsError> {
        let typed = said.trim().parse::<Value>().ok();
        let mut first = None;
        for candidate in typed.into_iter().chain([Value::from(said)]) {
            match self.changed(key, candidate) {
                Ok(changed) => {
                    *self = changed;
                    return Ok(());
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Sets a key. Ignores null, which TOML does not have.
    pub fn set(&mut self, key: &[&str], value: &Json) -> Result<(), SettingsError> {
        if let Some(value) = value_of(value) {
            *self = self.changed(key, value)?;
        }
        Ok(())
    }

    /// Sets several keys of one table at once, so that a half-filled table is never validated.
    pub fn set_all(
        &mut self,
        table: &[&str],
        values: &[(&str, Json)],
    ) -> Result<(), SettingsError> {
        let mut changed = self.clone();
        for (name, value) in values {
            if let Some(value) = value_of(value) {
                put(&mut changed.document, &[table, &[*name]].concat(), value)?;
            }
        }
        changed.settings()?;
        *self = changed;
        Ok(())
    }

    /// Makes a table hold exactly these keys. Keys that stay keep their comments.
    pub fn replace(
        &mut self,
        table: &[&str],
        values: &[(&str, Json)],
    ) -> Result<(), SettingsError> {
        let mut changed = self.clone();
        let mut here: Option<&mut dyn TableLike> = Some(changed.document.as_table_mut());
        for part in table {
            here = here.and_then(|here| here.get_mut(part)).and_then(Item::as_table_like_mut);
        }
        if let Some(here) = here {
            let is_kept = |key: &String| values.iter().any(|(name, _)| name == key);
            let known = here.iter().map(|(key, _)| key.to_owned());
            let over: Vec<String> = known.filter(|key| !is_kept(key)).collect();
            for key in over {
                here.remove(&key);
            }
        }
        changed.set_all(table, values)?;
        *self = changed;
        Ok(())
    }

    /// Removes a key with everything below it; returns true if it existed.
    pub fn remove(&mut self, key: &[&str]) -> Result<bool, SettingsError> {
        let Some((last, tables)) = key.split_last() else { return Ok(false) };
        let mut changed = self.clone();
        let mut table: &mut dyn TableLike = changed.document.as_table_mut();
        for part in tables {
            match table.get_mut(part).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return Ok(false),
            }
        }
        if table.remove(last).is_none() {
            return Ok(false);
        }
        changed.settings()?;
        *self = changed;
        Ok(true)
    }

    /// Parses the current settings.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        Settings::parse(&self.path, &self.text())
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Replaces the file atomically.
    pub fn save(&self) -> Result<(), SettingsError> {
        private::replace(&self.path, self.text().as_bytes())
            .map_err(|error| SettingsError::Write { path: self.path.clone(), error })
    }

    fn changed(&self, key: &[&str], value: Value) -> Result<Self, SettingsError> {
        let mut changed = self.clone();
        put(&mut changed.document, key, value)?;
        changed.settings()?;
        Ok(changed)
    }
}

fn put(document: &mut DocumentMut, key: &[&str], value: Value) -> Result<(), SettingsError> {
    let Some((last, tables)) = key.split_last() else { return Ok(()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for part in tables {
        if !table.contains_key(part) {
            table.insert(part, empty(is_inline));
        }
        let inner = table.get_mut(part);
        is_inline = inner.as_ref().is_some_and(|inner| inner.is_inline_table());
        table = inner.and_then(Item::as_table_like_mut).ok_or_else(|| SettingsError::Edit {
            key: key.join("."),
            problem: format!("`{part}` is not a table"),
        })?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        // Keep what surrounds the value, such as a comment.
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.remove(last);
            table.insert(last, Item::Value(value));
        }
    }
    Ok(())
}

/// Creates a table that is written only if it has content.
fn empty(is_inline: bool) -> Item {
    if is_inline {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn value_of(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64()?),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().filter_map(value_of).collect(),
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, value) in fields {
                if let Some(value) = value_of(value) {
                    table.insert(name, value);
                }
            }
            Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(text: &str) -> SettingsFile {
        SettingsFile::parse(Path::new("config.toml"), text).unwrap()
    }

    fn check_said(text: &str, key: &str, said: &str, expected: &str) {
        let mut file = file(text);
        let parts = SettingsFile::parts(key).unwrap();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        file.say(&parts, said).unwrap();
        assert_eq!(file.text(), expected);
    }

    #[test]
    fn a_setting_is_changed_and_nothing_else() {
        check_said("", "run.max-turns", "7", "[run]\nmax-turns = 7\n");
        check_said(
            "# mine\n[run] # all\nmax-turns = 3 # few\n",
            "run.max-turns",
            "7",
            "# mine\n[run] # all\nmax-turns = 7 # few\n",
        );
        check_said("", "policy.fs.enabled", "false", "[policy.fs]\nenabled = false\n");
        check_said("", "run.timeout", "10m", "[run]\ntimeout = \"10m\"\n");
        check_said("", "run.model", "5", "[run]\nmodel = \"5\"\n");
        check_said("", "run.model", "scripted:a.yaml", "[run]\nmodel = \"scripted:a.yaml\"\n");
    }

    #[test]
    fn tables_in_one_line_stay_in_one_line() {
        check_said(
            "models.a = { model = \"m\" } # one\n",
            "models.a.window",
            "1000",
            "models.a = { model = \"m\" , window = 1000 } # one\n",
        );
        check_said(
            "models.a = { model = \"m\" }\n",
            "models.a.fields.top_p",
            "0.5",
            "models.a = { model = \"m\" , fields = { top_p = 0.5 } }\n",
        );
    }

    #[test]
    fn a_name_with_dots_is_quoted() {
        let mut file = file("");
        let values = [("input", json!(1.5)), ("output", json!(2)), ("cached", Json::Null)];
        file.set_all(&["prices", "gpt-4.1"], &values).unwrap();
        assert_eq!(file.text(), "[prices.\"gpt-4.1\"]\ninput = 1.5\noutput = 2\n");
        check_said(
            &file.text(),
            "prices.\"gpt-4.1\".output",
            "3",
            "[prices.\"gpt-4.1\"]\ninput = 1.5\noutput = 3\n",
        );
    }

    #[test]
    fn what_would_be_wrong_is_not_done() {
        let mut file = file("[run]\nmax-turns = 3\n");
        assert!(file.say(&["run", "max-turns"], "0").is_err());
        assert!(file.say(&["run", "max-turns", "x"], "0").is_err());
        assert!(file.set(&["models", "a", "window"], &json!(5)).is_err(), "a model needs its id");
        assert_eq!(file.text(), "[run]\nmax-turns = 3\n");
    }

    #[test]
    fn of_many_changes_at_the_same_time_none_is_lost() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        let change = &|model: usize| {
            let mut file = SettingsFile::open(&path).unwrap();
            let name = format!("m{model}");
            file.set_all(&["models", &name], &[("model", json!("x"))]).unwrap();
            file.save().unwrap();
        };
        std::thread::scope(|scope| {
            for model in 0..16 {
                scope.spawn(move || change(model));
            }
        });
        assert_eq!(Settings::load(&path).unwrap().models.len(), 16);
    }

    #[test]
    fn a_model_is_removed_with_all_its_tables() {
        let text = "[models.a]\nmodel = \"m\"\n[models.a.price]\ninput = 1\noutput = 2\n\n# b\n[models.b]\nmodel = \"n\"\n";
        let mut file = file(text);
        assert!(file.remove(&["models", "a"]).unwrap());
        assert!(!file.remove(&["models", "a"]).unwrap());
        assert!(!file.remove(&["nothing", "a"]).unwrap());
        assert_eq!(file.text(), "\n# b\n[models.b]\nmodel = \"n\"\n");
    }
}
