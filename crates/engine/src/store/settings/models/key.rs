//! Sources of keys. A key itself is never in the settings.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Source of a model's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Variable(String),
    /// `credentials.toml`, under the name of the model.
    File,
    /// The system's keyring, under the name of the model.
    Keyring,
    /// The model needs no key.
    None,
}

impl KeySource {
    /// Returns true if the program itself stores the key.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::File | Self::Keyring)
    }

    /// Describes the source for users.
    pub fn words(&self) -> String {
        match self {
            Self::Variable(name) => name.clone(),
            Self::File => "credentials.toml".to_owned(),
            Self::Keyring => "keyring".to_owned(),
            Self::None => "none".to_owned(),
        }
    }
}

const EXPECTED: &str = "a key never stands in the settings; write where it is: \"env:VARIABLE\", \"file\", \"keyring\" or \"none\" (`crewagent models add` puts a key away safely)";

/// Prefix of a header value that stands for a variable.
const VARIABLE: &str = "env:";

impl FromStr for KeySource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "file" => Ok(Self::File),
            "keyring" => Ok(Self::Keyring),
            "none" => Ok(Self::None),
            other => {
                let name = other.strip_prefix(VARIABLE).filter(|name| is_variable(name));
                name.map(|name| Self::Variable(name.to_owned())).ok_or(EXPECTED)
            }
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "{VARIABLE}{name}"),
            Self::File => f.write_str("file"),
            Self::Keyring => f.write_str("keyring"),
            Self::None => f.write_str("none"),
        }
    }
}

impl Serialize for KeySource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Returns true if a text is a valid name of an environment variable.
fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the variable that a header value stands for.
pub(super) fn variable(value: &str) -> Option<&str> {
    value.strip_prefix(VARIABLE)
}

/// Parses headers. Those that carry keys must name a variable.
pub(super) fn headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let headers = BTreeMap::<String, String>::deserialize(deserializer)?;
    for (name, value) in &headers {
        check_header(name, value).map_err(de::Error::custom)?;
    }
    Ok(headers)
}

fn check_header(name: &str, value: &str) -> Result<(), String> {
    const OURS: [&str; 4] = ["content-type", "content-length", "host", "accept"];
    const SECRET: [&str; 5] = ["auth", "key", "token", "secret", "cookie"];
    let small = name.to_ascii_lowercase();
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_legal) {
        return Err(format!("`{name}` is not the name of a header"));
    }
    if OURS.contains(&small.as_str()) {
        return Err(format!("the header `{name}` is written by the runtime itself"));
    }
    match variable(value) {
        Some(variable) if is_variable(variable) => Ok(()),
        Some(_) => Err(format!("the header `{name}` names no environment variable after `env:`")),
        None if SECRET.iter().any(|word| small.contains(word)) => Err(format!(
            "the header `{name}` carries a secret; put it into an environment variable and write \"env:VARIABLE\""
        )),
        None if value.chars().any(char::is_control) => {
            Err(format!("the header `{name}` has a value that no header can have"))
        }
        None => Ok(()),
    }
}
