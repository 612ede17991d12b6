//! Configuration of a package: names whose values are fixed for a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::Code;
use crate::package::manifest::Manifest;
use crate::placeholder;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::Tree;
use crate::wording::quoted;

/// Name that texts and paths use in braces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ConfigKey {
    /// Its name.
    #[schemars(regex(pattern = NAME))]
    pub name: String,
    /// Its value when nothing else is known; it may name other keys in braces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Owner of the value.
    #[serde(skip_serializing_if = "ConfigScope::is_default")]
    #[schemars(default)]
    pub scope: ConfigScope,
    /// Kind of the value.
    #[serde(skip_serializing_if = "ConfigKind::is_default")]
    #[schemars(default)]
    pub kind: ConfigKind,
    /// Question that asks a user for the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The values that it may have; any value when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub choices: Vec<String>,
}

/// Maximum length of a configured value.
pub(in crate::package) const MAX_VALUE_BYTES: usize = 1024;

/// Pattern of a name that can stand in braces.
const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$";

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128
        && bytes.next().is_some_and(is_word)
        && bytes.all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

/// Owner of a configured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ConfigScope {
    /// Everybody who works on the project.
    #[default]
    Team,
    /// One person.
    User,
}

/// Kind of a configured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ConfigKind {
    #[default]
    Text,
    /// A file or folder of the project.
    Path,
}

impl ConfigScope {
    const WORDS: &[(&str, ConfigScope)] =
        &[("team", ConfigScope::Team), ("user", ConfigScope::User)];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::Team
    }
}

impl ConfigKind {
    const WORDS: &[(&str, ConfigKind)] = &[("text", ConfigKind::Text), ("path", ConfigKind::Path)];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::Text
    }
}

impl Manifest {
    /// Returns the folders in which a run makes files: those it names, else `artifacts`.
    pub fn artifact_folders(&self) -> Vec<&str> {
        if self.artifact_roots.is_empty() {
            return vec!["artifacts"];
        }
        self.artifact_roots.iter().map(String::as_str).collect()
    }

    /// Fills the defaults of the configuration into the path of a file; `own` are names that a step binds. A name without
    /// a value stays.
    pub(in crate::package) fn with_defaults(
        &self,
        path: &str,
        own: Option<&BTreeMap<String, String>>,
    ) -> String {
        with_defaults(&self.config, path, own)
    }
}

/// Depth to which values that name other keys are filled in.
const MAX_DEPTH: usize = 8;

/// Fills defaults into the path of a file, so that a path that begins at the root of the project is one of it.
pub(in crate::package) fn with_defaults(
    keys: &[ConfigKey],
    path: &str,
    own: Option<&BTreeMap<String, String>>,
) -> String {
    let mut text = path.to_owned();
    for _ in 0..MAX_DEPTH {
        let next = placeholder::fill(&text, |name| {
            let bound = own.and_then(|own| own.get(name));
            let default = || keys.iter().find(|key| key.name == name)?.default.as_ref();
            bound.or_else(default).map(String::as_str)
        });
        if next == text || next.len() > MAX_VALUE_BYTES {
            break;
        }
        text = next;
    }
    match text.rfind("{project-root}") {
        Some(at) => text.split_off(at),
        None => text,
    }
}

pub(super) fn config_key(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<ConfigKey> {
    let mut object = Object::open(tree, reader)?;
    let name = object.required("name", reader, name);
    let default = object.optional("default", reader, shape::string);
    let scope = object.optional("scope", reader, shape::choice(ConfigScope::WORDS));
    let kind = object.optional("kind", reader, shape::choice(ConfigKind::WORDS));
    let prompt = object.optional("prompt", reader, shape::string);
    let choices = object.list("choices", reader, shape::string);
    object.close(reader);
    Some(ConfigKey {
        name: name?,
        default: default?,
        scope: scope?.unwrap_or_default(),
        kind: kind?.unwrap_or_default(),
        prompt: prompt?,
        choices: choices?,
    })
}

fn name(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<String> {
    let text = shape::string(tree, reader)?;
    if is_name(&text) {
        return Some(text);
    }
    let message = format!("`{}` cannot stand in braces: {}", reader.trail(), quoted(&text));
    let help = "use up to 128 letters a–z and A–Z, digits, `_`, `-` and `.`, and begin with a letter, a digit or `_`";
    reader.report(Code::BadId, tree.span, message, help);
    None
}

/// Reads a kind of foreign configuration.
pub(super) fn source(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<String> {
    shape::choice(&[("bmad", "bmad")])(tree, reader).map(str::to_owned)
}
