//! Values with references such as `${NAME}` to a variable or a stored key.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Value that may refer to variables: `Bearer ${TOKEN}`, or `${REGION:-eu}` with a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VariableTemplate(String);

/// Unset variable that a value needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not set: set this environment variable, or store a value with `crewagent mcp add`"
)]
pub struct Missing(pub String);

/// Part of a template.
enum TemplatePart<'t> {
    Text(&'t str),
    Reference { name: &'t str, default: Option<&'t str> },
}

impl VariableTemplate {
    /// Parses a value; fails on a malformed reference.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        parts(&text)?;
        Ok(Self(text))
    }

    /// Returns a reference to one variable.
    pub fn variable(name: &str) -> Self {
        Self(format!("${{{name}}}"))
    }

    /// Returns the value as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lists the variables it refers to.
    pub fn references(&self) -> Vec<&str> {
        let name = |part| match part {
            TemplatePart::Reference { name, .. } => Some(name),
            TemplatePart::Text(_) => None,
        };
        parts(&self.0).unwrap_or_default().into_iter().filter_map(name).collect()
    }

    /// Lists the variables that must be set, because they have no default.
    pub(in crate::store) fn needs(&self) -> Vec<&str> {
        let name = |part| match part {
            TemplatePart::Reference { name, default: None } => Some(name),
            TemplatePart::Reference { .. } | TemplatePart::Text(_) => None,
        };
        parts(&self.0).unwrap_or_default().into_iter().filter_map(name).collect()
    }

    /// Returns true if it contains an address with a password: `https://me:secret@host`. A reference does not count.
    pub fn has_password(&self) -> bool {
        let has_password = |rest: &str| {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let user = host.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
            user.is_some_and(|(_, password)| !password.is_empty() && !password.starts_with("${"))
        };
        self.0.split("://").skip(1).any(has_password)
    }

    /// Returns true if it refers to a variable.
    pub fn has_references(&self) -> bool {
        !self.references().is_empty()
    }

    /// Resolves the references. Passes each resolved value to `keep`, because it may be secret.
    pub fn filled(
        &self,
        get: &dyn Fn(&str) -> Option<SecretString>,
        keep: &mut dyn FnMut(&SecretString),
    ) -> Result<SecretString, Missing> {
        let mut filled = String::new();
        for part in parts(&self.0).unwrap_or_default() {
            match part {
                TemplatePart::Text(text) => filled.push_str(text),
                TemplatePart::Reference { name, default } => match (get(name), default) {
                    (Some(value), _) => {
                        keep(&value);
                        filled.push_str(value.expose_secret());
                    }
                    (None, Some(default)) => filled.push_str(default),
                    (None, None) => return Err(Missing(name.to_owned())),
                },
            }
        }
        Ok(filled.into())
    }
}

/// Splits a text into parts. Both `${NAME}` and `${env:NAME}`, as other tools write it, are references.
fn parts(text: &str) -> Result<Vec<TemplatePart<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        parts.push(TemplatePart::Text(&rest[..at]));
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            return Err("a `${` has no `}` behind it".to_owned());
        };
        let reference = inside[..end].trim();
        let reference = reference.strip_prefix("env:").unwrap_or(reference);
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if !is_variable(name) {
            return Err(format!("`${{{reference}}}` names no variable; write ${{NAME}}"));
        }
        parts.push(TemplatePart::Reference { name, default });
        rest = &inside[end + 1..];
    }
    parts.push(TemplatePart::Text(rest));
    Ok(parts)
}

/// Returns true if a text is a valid name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl TryFrom<String> for VariableTemplate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<VariableTemplate> for String {
    fn from(template: VariableTemplate) -> Self {
        template.0
    }
}

impl fmt::Display for VariableTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
