//! `config.toml`: the settings of the user. A missing file means the defaults; a mistake is always an error.

mod file;
mod keys;
mod models;
mod place;
mod policy;
mod run;
mod servers;
mod tiers;
mod timeout;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crewagent_core::settings::RunSettings;
use crewagent_dialect::prices::Prices;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::file::SettingsFile;
pub use self::keys::SettingKey;
pub use self::models::{
    ChosenModel, Environment, KeySource, MEASURED, ModelSettings, ProfileChanges, ProfileSettings,
    UnknownModel,
};
pub use self::policy::{FsSettings, McpSettings, PolicySettings};
pub use self::run::{Cost, RunDefaults};
pub use self::servers::{
    ImportedServer, McpTable, Missing, ServerSettings, ServerWay, ServersFile, VariableTemplate,
    import as import_servers,
};
pub use self::tiers::TierSettings;
pub use self::timeout::Timeout;

use self::place::TextPosition;
use crewagent_source::PackageLimits;

/// Settings of one user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    pub run: RunDefaults,
    /// Models for the tiers that steps advise.
    pub tiers: TierSettings,
    pub policy: PolicySettings,
    /// Limits of imported packages.
    pub import: PackageLimits,
    /// Configured models, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelSettings>,
    /// User-defined profiles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, ProfileSettings>,
    /// MCP servers.
    pub mcp: McpTable,
    /// Prices of models.
    #[serde(skip_serializing_if = "Prices::is_empty")]
    pub prices: Prices,
}

/// Error of reading or changing the settings.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("the settings in `{}` cannot be read: {error}; check its permissions", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// The file has a mistake.
    #[error(
        "the settings in `{}` are wrong at line {line}, column {column}, in `{text}`: {message}; correct or remove it",
        path.display()
    )]
    Wrong {
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// Text of the line.
        text: String,
        message: String,
    },
    #[error("the settings in `{}` cannot be written: {error}; check its permissions", path.display())]
    Write { path: PathBuf, error: io::Error },
    /// The key cannot be set.
    #[error("`{key}` cannot be set: {problem}; change it with `crewagent config edit`")]
    Edit { key: String, problem: String },
}

impl Settings {
    /// Returns the path of the settings of the store in this folder.
    pub fn path(home: &Path) -> PathBuf {
        home.join("config.toml")
    }

    /// Lists every setting.
    pub fn keys() -> &'static [SettingKey] {
        keys::KEYS
    }

    /// Finds the setting with this path, such as `run`, `max-turns`.
    pub fn key(parts: &[&str]) -> Option<SettingKey> {
        keys::KEYS.iter().find(|key| key.is(parts)).copied()
    }

    /// Returns the settings of a run whose command line sets nothing.
    pub fn for_runs(&self) -> RunSettings {
        self.run.with(&self.policy)
    }

    /// Returns the settings of a run with this model, or with the configured one if `None`.
    pub fn for_runs_with(&self, model: Option<&str>) -> RunSettings {
        let (model, window_tokens) = (model.map(str::to_owned), self.window(model));
        let tiers = self.tiers_of(model.as_deref(), &BTreeMap::new());
        RunSettings { model, window_tokens, tiers, ..self.for_runs() }
    }

    /// Returns the context window of a run with this model: as set by the user, else as known of the model, else the
    /// default.
    pub fn window(&self, model: Option<&str>) -> u64 {
        let environment = Environment::of_process();
        let chosen = self
            .model_name(model, &environment)
            .and_then(|(name, origin)| self.model(&name, origin, &environment));
        self.run.window(chosen.ok().and_then(|model| model.window))
    }

    /// Reads the file; a missing one means the defaults.
    pub fn load(path: &Path) -> Result<Self, SettingsError> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(SettingsError::Read { path: path.to_owned(), error }),
        }
    }

    /// Parses the text of the file; the path is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        let wrong = |at: usize, message: String| {
            let TextPosition { line, column, text } = TextPosition::of(at, text);
            SettingsError::Wrong { path: path.to_owned(), line, column, text, message }
        };
        let settings: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, place::plain(error.message()))
        })?;
        match settings.contradiction() {
            Some((key, message)) => Err(wrong(place::find(&key, text), message)),
            None => Ok(settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::policy::rules::RuleSet;

    use super::*;

    fn check_wrong(text: &str, expected: &[&str]) {
        let error = Settings::parse(Path::new("config.toml"), text).unwrap_err().to_string();
        for part in expected {
            assert!(error.contains(part), "{error:?} has no {part:?}");
        }
    }

    #[test]
    fn a_setting_that_is_not_given_has_its_default() {
        let settings = Settings::parse(Path::new("c"), "[import]\nmax-entries = 3\n").unwrap();
        assert_eq!(settings.import, PackageLimits { max_entries: 3, ..PackageLimits::default() });
        assert_eq!(Settings::parse(Path::new("c"), "").unwrap(), Settings::default());
    }

    #[test]
    fn without_settings_a_run_has_the_defaults_of_the_core() {
        let mut run = Settings::default().for_runs();
        let rules = std::mem::take(&mut run.policy.rules);
        assert_eq!(run, RunSettings::default());
        let asked: Vec<String> =
            rules.iter().flat_map(|set| &set.ask).map(|rule| rule.to_string()).collect();
        assert_eq!(asked, ["fs.*(runs-later)", "fs.*(secrets)"]);
        assert_eq!(rules.iter().flat_map(RuleSet::rules).count(), 2);
    }

    #[test]
    fn every_setting_reaches_the_run() {
        let text = "[run]\nmode = \"guided\"\nmax-turns = 7\ntimeout = \"10m\"\nmax-tokens = 9\nmax-cost = 1.5\nmissing-outputs = \"warn\"\noutputs = \"exist\"\ninline-step-bytes = 11\ninline-input-bytes = 16\ninline-inputs-bytes = 17\nstate-tools = \"document\"\nwindow-tokens = 12\n\n[policy]\ncall-seconds = 13\nstrict = true\ndeny = [\"fs.search\"]\nruns-later = \"allow\"\nsecrets = \"deny\"\n[policy.fs]\nenabled = false\nmax-read-bytes = 14\nmax-write-bytes = 15\n[policy.mcp]\nenabled = true\nallowed-servers = [\"a\"]\n";
        let run = Settings::parse(Path::new("c"), text).unwrap().for_runs();
        let expected = serde_json::json!({
            "mode": "guided",
            "limits": { "turns": 7, "seconds": 600, "tokens": 9, "cost": 1.5 },
            "missing": "warn",
            "outputs": "exist",
            "policy": {
                "fs": { "enabled": false, "maxReadBytes": 14, "maxWriteBytes": 15 },
                "mcp": { "enabled": true, "allowedServers": ["a"] },
                "callSeconds": 13,
                "strict": true,
                "rules": [
                    { "from": "settings", "deny": ["fs.search"] },
                    { "from": "settings", "deny": ["fs.*(secrets)"] }
                ]
            },
            "inlineStepBytes": 11,
            "inlineInputBytes": 16,
            "inlineInputsBytes": 17,
            "stateTools": "document",
            "windowTokens": 12
        });
        assert_eq!(serde_json::to_value(run).unwrap(), expected);
    }

    /// Collects every leaf of a table of settings, with its name.
    fn leaves(table: &toml::Table, prefix: &str, found: &mut Vec<String>) {
        for (key, value) in table {
            match value.as_table() {
                Some(inner) => leaves(inner, &format!("{prefix}{key}."), found),
                None => found.push(format!("{prefix}{key}")),
            }
        }
    }

    #[test]
    fn the_list_of_keys_is_whole() {
        let full = "[run]\nmodel = \"m\"\nuser-name = \"Ana\"\ntimeout = 1\nmax-tokens = 1\nmax-cost = 1.0\nwindow-tokens = 1\n[policy]\nallow = [\"fs.read\"]\nask = [\"fs.write\"]\ndeny = [\"*\"]\n[policy.mcp]\nallowed-servers = []\n[tiers]\nfast = \"m\"\nstrong = \"m\"\nreview = \"m\"\n";
        let settings = Settings::parse(
            Path::new("c"),
            &[full, models::EVERYTHING, servers::EVERYTHING].concat(),
        )
        .unwrap();
        let mut found = Vec::new();
        leaves(&toml::Table::try_from(&settings).unwrap(), "", &mut found);
        for name in &found {
            let parts: Vec<&str> = name.split('.').collect();
            assert!(Settings::key(&parts).is_some(), "{name} is not in the list");
        }
        for key in Settings::keys() {
            let is_there = |name: &String| key.is(&name.split('.').collect::<Vec<_>>());
            assert!(found.iter().any(is_there), "{} is only in the list", key.name);
        }
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_line() {
        check_wrong(
            "[import]\nmax-entrie = 3\n",
            &["line 2, column 1", "`max-entrie = 3`", "did you mean `max-entries`?"],
        );
        check_wrong("[imports]\n", &["line 1", "imports", "`import`"]);
        check_wrong("[run]\nmax-turns = 0\n", &["line 2", "whole number above zero"]);
        check_wrong("[run]\nmax-cost = \"a\"\n", &["line 2", "expected a number"]);
        check_wrong("[policy]\ndeny = [\"ui.*\"]\n", &["line 2", "there can be no rule about"]);
        check_wrong("[run]\nmax-cost = 0.0\n", &["line 2", "above zero"]);
        check_wrong("[run]\ntimeout = \"soon\"\n", &["line 2", "`10m`"]);
        check_wrong("[run]\nmode = \"fast\"\n", &["line 2", "autopilot", "guided"]);
        check_wrong("[policy.fs]\nmax-read = 1\n", &["line 2", "max-read-bytes"]);
        check_wrong(
            "[import]\n\nmax-ratio = \"many\"\n",
            &["line 3, column 13", "max-ratio", "whole number"],
        );
        check_wrong("[import]\nmax-ratio = -1\n", &["line 2", "max-ratio", "-1"]);
        check_wrong("[import]\nmax-ratio = 1\nmax-ratio = 2\n", &["line 3", "duplicate"]);
        check_wrong("[import\n", &["line 1"]);
        check_wrong("x = \"é\" y", &["line 1, column 9"]);
    }
}
