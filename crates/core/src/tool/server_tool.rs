//! Tools of servers as described to models: `mcp.<server>.<tool>`.
//!
//! A server's descriptions are untrusted. They are capped and cleaned here, once, and the journal keeps the result; so
//! a repeated request holds the same tools, whatever the server says by then.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crewagent_format::integrity::Digest;
use crewagent_format::text::is_unsafe_char;
use crewagent_format::wording::{one_line, quoted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::ToolSpec;

/// Prefix of every server tool's name.
const PREFIX: &str = "mcp.";
/// Prefix for providers that do not accept a dot.
const WIRE_PREFIX: &str = "mcp__";
/// Tool that reads a resource, unless the server has a tool of this name.
pub const READ_RESOURCE: &str = "read_resource";

/// Maximum size of a server's name, in bytes.
const SERVER_BYTES: usize = 32;
/// Maximum size of a tool's name, in bytes, as in the protocol.
const NAME_BYTES: usize = 128;
/// Maximum size of a description, in bytes.
const DESCRIPTION_BYTES: usize = 2048;
/// Maximum size of a schema, in bytes.
const SCHEMA_BYTES: usize = 32 << 10;
/// Maximum size of all schemas and descriptions of one server, in bytes.
const SERVER_SCHEMA_BYTES: usize = 256 << 10;
/// Maximum number of tools of one server.
const MOST_TOOLS: usize = 256;
/// Maximum number of resources that the description of [`READ_RESOURCE`] names.
const MOST_RESOURCES: usize = 20;
/// Maximum number of reported omissions.
const MOST_TOLD: usize = 20;

/// The name of a server: letters, digits, `_` and `-`, so that it is one part of a tool's name.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

impl ServerName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a legal name that resembles this one: illegal characters become `-`.
    pub fn like(text: &str) -> Option<Self> {
        let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let flat: String = text.trim().chars().map(legal).take(SERVER_BYTES).collect();
        flat.trim_matches('-').parse().ok()
    }
}

impl FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let begins = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        // Two in a row would split the wire name.
        if begins
            && text.len() <= SERVER_BYTES
            && text.chars().all(is_legal)
            && !text.contains("__")
        {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "{} cannot be the name of a server: it has up to {SERVER_BYTES} letters, digits, `-` and single `_`, and begins with a letter or a digit",
            quoted(text)
        ))
    }
}

impl TryFrom<String> for ServerName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tool as its server describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOffer {
    /// Name at the server.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Map<String, Json>,
}

/// Resource that can be read from a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceOffer {
    pub uri: String,
    pub name: String,
}

/// Effect of a call to a server tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolUse {
    #[default]
    Tool,
    Resource,
}

/// Tool of a server as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    pub server: ServerName,
    /// Name at the server.
    pub tool: String,
    #[serde(default, skip_serializing_if = "is_tool", rename = "use")]
    pub used: ToolUse,
    /// Description in the server's words.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Json,
}

fn is_tool(used: &ToolUse) -> bool {
    *used == ToolUse::Tool
}

impl ServerTool {
    /// Returns the canonical name.
    pub fn name(&self) -> String {
        format!("{PREFIX}{}.{}", self.server, self.tool)
    }

    /// Returns the digest of what users and models are told of it.
    pub fn digest(&self) -> Digest {
        Digest::of(format!("{}\n{}", self.description, self.parameters).as_bytes())
    }

    /// Returns the description for a model.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

/// Tools of one server that models see, and those that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerToolList {
    /// Tools sorted by name, so that the order does not depend on the server's.
    pub tools: Vec<ServerTool>,
    /// Tools that were left out, with the reasons.
    pub left_out: Vec<String>,
}

impl ServerToolList {
    /// Cleans and caps the offers of a server; those that could not be read are listed with the reason. `resources`
    /// is set if the server has any to read.
    pub fn of(
        server: &ServerName,
        offers: Vec<Result<ToolOffer, String>>,
        resources: Option<&[ResourceOffer]>,
    ) -> Self {
        let mut listed = Self::default();
        let (mut names, mut bytes, mut skipped) = (BTreeSet::new(), 0, 0);
        for offer in offers {
            let taken = offer.and_then(|offer| {
                offer.check(&names)?;
                offer.describe(server)
            });
            let tool = taken.and_then(|tool| {
                bytes += tool.parameters.to_string().len() + tool.description.len();
                let fits = bytes <= SERVER_SCHEMA_BYTES && names.len() < MOST_TOOLS;
                fits.then_some(tool).ok_or_else(|| "the server offers too much".to_owned())
            });
            match tool {
                Ok(tool) => {
                    names.insert(tool.tool.clone());
                    listed.tools.push(tool);
                }
                Err(why) if listed.left_out.len() < MOST_TOLD => listed.left_out.push(why),
                Err(_) => skipped += 1,
            }
        }
        if skipped > 0 {
            listed.left_out.push(format!("{skipped} more"));
        }
        if let Some(resources) = resources.filter(|_| !names.contains(READ_RESOURCE)) {
            listed.tools.push(reader(server, resources));
        }
        listed.tools.sort_by(|one, other| one.tool.cmp(&other.tool));
        listed
    }
}

impl ToolOffer {
    /// Explains why a list item that is no tool is left out.
    pub fn unreadable(what: &Json, error: &str) -> String {
        let error = one_line(error);
        match what["name"].as_str() {
            Some(name) => {
                format!("`{}`: it is not described as the protocol asks: {error}", one_line(name))
            }
            None => format!("a tool that is not described as the protocol asks: {error}"),
        }
    }

    /// Refuses a tool with an illegal or repeated name.
    fn check(&self, names: &BTreeSet<String>) -> Result<(), String> {
        let name = one_line(&self.name);
        if self.name.trim().is_empty() {
            Err("a tool without a name".to_owned())
        } else if self.name.len() > NAME_BYTES {
            Err(format!("`{name}`: its name has more than {NAME_BYTES} bytes"))
        } else if self.name.chars().any(is_unsafe_char) {
            Err(format!("`{name}`: its name has characters that cannot be seen"))
        } else if names.contains(&self.name) {
            Err(format!("`{name}`: the server has another tool of this name, which comes first"))
        } else {
            Ok(())
        }
    }

    fn describe(self, server: &ServerName) -> Result<ServerTool, String> {
        let mut parameters = Json::Object(self.schema);
        clean_texts(&mut parameters);
        let bytes = parameters.to_string().len();
        if bytes > SCHEMA_BYTES {
            let name = one_line(&self.name);
            return Err(format!(
                "`{name}`: its schema has {bytes} bytes, and {SCHEMA_BYTES} are taken"
            ));
        }
        // Arguments are always an object; some providers require the type.
        parameters["type"] = "object".into();
        if !parameters["properties"].is_object() {
            parameters["properties"] = json!({});
        }
        Ok(ServerTool {
            server: server.clone(),
            tool: self.name,
            used: ToolUse::Tool,
            description: cleaned(&self.description, DESCRIPTION_BYTES),
            parameters,
        })
    }
}

/// Returns the tool that reads resources.
fn reader(server: &ServerName, resources: &[ResourceOffer]) -> ServerTool {
    let mut description = format!("Read a resource of the MCP server `{server}` by its URI.");
    for resource in resources.iter().take(MOST_RESOURCES) {
        let (uri, name) = (one_line(&resource.uri), one_line(&resource.name));
        description.push_str(&format!("\n- {uri} ({name})"));
    }
    if let Some(more) = resources.len().checked_sub(MOST_RESOURCES).filter(|more| *more > 0) {
        description.push_str(&format!("\n- and {more} more"));
    }
    ServerTool {
        server: server.clone(),
        tool: READ_RESOURCE.to_owned(),
        used: ToolUse::Resource,
        description: cleaned(&description, DESCRIPTION_BYTES),
        parameters: json!({
            "type": "object",
            "properties": { "uri": { "type": "string", "description": "The URI of the resource." } },
            "required": ["uri"],
            "additionalProperties": false
        }),
    }
}

/// Returns a text without invisible characters, up to a size.
pub fn cleaned(text: &str, bytes: usize) -> String {
    let is_kept = |c: &char| matches!(c, '\n' | '\t') || !is_unsafe_char(*c);
    let mut clean = String::new();
    for c in text.trim().chars().filter(is_kept) {
        if clean.len() + c.len_utf8() > bytes {
            clean.push('…');
            break;
        }
        clean.push(c);
    }
    clean
}

/// Cleans the prose of a schema. Names and values stay: the server knows them by their bytes.
fn clean_texts(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            for (key, value) in object {
                if let Json::String(text) = value
                    && (key == "description" || key == "title")
                {
                    *text = cleaned(text, DESCRIPTION_BYTES);
                } else {
                    clean_texts(value);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(clean_texts),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Returns the name that a server tool has at its server, from its canonical name.
pub fn own_name(name: &str) -> Option<&str> {
    Some(name.strip_prefix(PREFIX)?.split_once('.')?.1)
}

/// Returns true if a name is that of a server tool, offered or not.
pub fn is_server_tool(name: &str) -> bool {
    name.starts_with(PREFIX) || name.starts_with(WIRE_PREFIX)
}
