//! `config.toml`: what the user has set. A missing file means the defaults; a mistake in it is never skipped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::source::Limits;

/// The settings of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// What a package may hold.
    pub import: Limits,
}

/// Why the settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("the settings in `{}` cannot be read: {error}; check its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is not what it should be.
    #[error(
        "the settings in `{}` are wrong at line {line}, column {column}, in `{text}`: {message}; correct or remove it",
        path.display()
    )]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where in the line, in characters from 1.
        column: usize,
        /// The line itself.
        text: String,
        /// What is wrong.
        message: String,
    },
}

impl Settings {
    pub(super) fn load(path: &Path) -> Result<Self, SettingsError> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(SettingsError::Read { path: path.to_owned(), error }),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let before = text.get(..at).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            SettingsError::Wrong {
                path: path.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                text: text[line_start..].lines().next().unwrap_or_default().trim().to_owned(),
                message: error
                    .message()
                    .trim()
                    .replace('\n', ", ")
                    .replace("expected u64", "expected a whole number"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(settings.import, Limits { max_entries: 3, ..Limits::default() });
        assert_eq!(Settings::parse(Path::new("c"), "").unwrap(), Settings::default());
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_line() {
        check_wrong(
            "[import]\nmax-entrie = 3\n",
            &["line 2, column 1", "`max-entrie = 3`", "max-entries"],
        );
        check_wrong("[imports]\n", &["line 1", "imports", "`import`"]);
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
