//! `agents.json`: personas, menus and tool policies.

pub mod words;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::versioned;
use crate::diagnostic::Code;
use crate::id::AgentId;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::{Tree, Value};
use crate::version::{Minor, SchemaVersion};

/// The file of agents.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Agents {
    /// Version of the package format.
    pub schema_version: SchemaVersion,
    /// The agents; the first one is used where none is named.
    #[schemars(length(min = 1))]
    pub agents: Vec<Agent>,
}

/// A persona with a menu and a tool policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Name and appearance.
    pub metadata: AgentMetadata,
    /// Persona for the prompt.
    pub persona: Persona,
    /// Actions that it does first and always.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub critical_actions: Vec<String>,
    /// Prompts that its menu can name as `#id`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub prompts: Vec<Prompt>,
    /// Menu of the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub menu: Vec<MenuItem>,
    /// Replaces the rendered persona.
    #[serde(rename = "systemPrompt", skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Carried, without behaviour.
    #[serde(rename = "userPromptTemplate", skip_serializing_if = "Option::is_none")]
    pub user_prompt_template: Option<String>,
    /// Carried, without behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discussion: Option<Json>,
    /// Carried, without behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webskip: Option<Json>,
    /// Carried, without behaviour.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub conversational_knowledge: Vec<Json>,
    /// Permissions of tools; they can only tighten the system's policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<AgentTools>,
}

/// Name and appearance of an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct AgentMetadata {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Role in one or two words.
    #[schemars(length(min = 1))]
    pub title: String,
    /// An emoji or a short text.
    #[schemars(length(min = 1))]
    pub icon: String,
    /// The module it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Description of its strengths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its id in the place it was exported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// Format 1.3: what it can do, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
}

/// Persona of an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Persona {
    /// Function of the agent.
    #[schemars(length(min = 1))]
    pub role: String,
    /// Background of the agent.
    #[schemars(length(min = 1))]
    pub identity: String,
    /// Style of its language.
    #[schemars(length(min = 1))]
    pub communication_style: String,
    /// Principles that it follows.
    pub principles: Principles,
}

/// One text or several.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Principles {
    /// One text.
    Text(#[schemars(length(min = 1))] String),
    /// Several.
    List(#[schemars(length(min = 1), inner(length(min = 1)))] Vec<String>),
}

/// A prompt that a menu can name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Prompt {
    /// Named as `#id` in an `action`.
    pub id: String,
    /// Text for the model.
    pub content: String,
    /// Purpose of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One line of a menu. Other keys are kept and ignored.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MenuItem {
    /// Text for the user.
    pub description: String,
    /// Text that the user types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Another spelling of the trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// Aliases and handlers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub triggers: Vec<Trigger>,
    /// Action of the item.
    #[serde(flatten)]
    pub target: MenuTarget,
    /// Everything a start needs is checked first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate_workflow: Option<Json>,
    /// Not shown in a browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ide_only: Option<bool>,
    /// Shown only in a browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_only: Option<bool>,
    /// Format 1.3: the run it starts asks at no gate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub yolo: bool,
    /// Format 1.3: the item as the imported source had it, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub source: BTreeMap<String, String>,
}

impl MenuItem {
    /// Returns the code in its description, such as `S` in `[S] Start`, which is another word that chooses it.
    pub fn code(&self) -> Option<&str> {
        self.description.split('[').skip(1).find_map(|rest| {
            let (code, after) = rest.split_once(']')?;
            let is_code = (1..=4).contains(&code.len())
                && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !after.starts_with('(');
            is_code.then_some(code)
        })
    }
}

/// User interface that shows a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// Terminal or desktop.
    Ide,
    /// Browser.
    Web,
}

impl Surface {
    pub const ALL: [Self; 2] = [Self::Ide, Self::Web];

    /// Returns true if an item is visible here. An item that is both `ide-only` and `web-only` is visible nowhere.
    pub fn shows(self, item: &MenuItem) -> bool {
        let hidden = match self {
            Self::Ide => item.web_only,
            Self::Web => item.ide_only,
        };
        hidden != Some(true)
    }
}

/// Action of a menu item or a handler. A blank value counts as absent.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MenuTarget {
    /// Starts a workflow: an id, or the path of its document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Runs a Markdown script, or a workflow by its document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    /// `#id` of a prompt, a builtin, or an instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// A file that is loaded first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl MenuTarget {
    /// Returns true if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.workflow.is_none() && self.exec.is_none() && self.action.is_none()
    }
}

/// Another way to reach a menu item. Other keys are kept and ignored.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Trigger {
    /// `alias`, `handler`, or something this runtime does not know and ignores.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Text that the user types.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// Action of the handler.
    #[serde(flatten)]
    pub target: MenuTarget,
}

impl Trigger {
    /// Returns true for another spelling of the item's trigger.
    pub fn is_alias(&self) -> bool {
        self.kind.as_deref() == Some("alias")
    }

    /// Returns true for a trigger with a target of its own.
    pub fn is_handler(&self) -> bool {
        self.kind.as_deref() == Some("handler")
    }
}

/// The tool policy of an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AgentTools {
    /// File tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs: Option<FileTools>,
    /// Tools of MCP servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpTools>,
}

/// Limits on file tools.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct FileTools {
    /// On unless false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The largest read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_read_bytes: Option<u64>,
    /// The largest write.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_write_bytes: Option<u64>,
}

/// MCP servers that an agent may use.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct McpTools {
    /// Off unless true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The servers by name; all enabled ones when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_servers: Option<Vec<String>>,
}

#[derive(Default)]
pub(super) struct AgentsDraft {
    /// `None` for every agent that could not be read.
    pub(super) agents: Vec<Option<Agent>>,
    /// Present if there are no errors.
    pub(super) whole: Option<Agents>,
}

impl AgentsDraft {
    pub(super) fn read(tree: &Tree, reader: &mut ShapeReader<'_>) -> Self {
        let mut draft = Self::default();
        draft.whole = draft.fill(tree, reader);
        draft
    }

    fn fill(&mut self, tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Agents> {
        let mut object = Object::open(tree, reader)?;
        let schema_version = object.required("schemaVersion", reader, versioned);
        let agents = object.required("agents", reader, |tree, reader| {
            self.agents = shape::items(tree, reader, agent)?;
            not_empty(tree, &self.agents, "an agent", reader)?;
            self.agents.iter().cloned().collect::<Option<Vec<_>>>()
        });
        object.allow_schema(reader);
        reader.refuse_newer_keys();
        object.close(reader);
        Some(Agents { schema_version: schema_version?, agents: agents? })
    }
}

/// Reports a list without items.
pub(super) fn not_empty<T>(
    tree: &Tree,
    items: &[T],
    what: &str,
    reader: &mut ShapeReader<'_>,
) -> Option<()> {
    if !items.is_empty() {
        return Some(());
    }
    let message = format!("`{}` must have at least one item", reader.trail());
    reader.report(Code::EmptyValue, tree.span, message, format!("add {what}"));
    None
}

fn agent(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Agent> {
    let mut object = Object::open(tree, reader)?;
    let id = object.required("id", reader, shape::id(AgentId::new));
    let metadata = object.required("metadata", reader, metadata);
    let persona = object.required("persona", reader, persona);
    let critical_actions = object.list("critical_actions", reader, shape::string);
    let prompts = object.list("prompts", reader, prompt);
    let menu = object.list("menu", reader, menu_item);
    let system_prompt = object.optional("systemPrompt", reader, shape::string);
    let user_prompt_template = object.optional("userPromptTemplate", reader, shape::string);
    let discussion = object.optional("discussion", reader, anything);
    let webskip = object.optional("webskip", reader, anything);
    let conversational_knowledge = object.list("conversational_knowledge", reader, anything);
    let tools = object.optional("tools", reader, tools);
    object.close(reader);
    Some(Agent {
        id: id?,
        metadata: metadata?,
        persona: persona?,
        critical_actions: critical_actions?,
        prompts: prompts?,
        menu: menu?,
        system_prompt: system_prompt?,
        user_prompt_template: user_prompt_template?,
        discussion: discussion?,
        webskip: webskip?,
        conversational_knowledge: conversational_knowledge?,
        tools: tools?,
    })
}

fn anything(tree: &Tree, _: &mut ShapeReader<'_>) -> Option<Json> {
    Some(tree.to_json())
}

fn metadata(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<AgentMetadata> {
    let mut object = Object::open(tree, reader)?;
    let name = object.required("name", reader, shape::text);
    let title = object.required("title", reader, shape::text);
    let icon = object.required("icon", reader, shape::text);
    let module = object.optional("module", reader, shape::string);
    let description = object.optional("description", reader, shape::string);
    let source_id = object.optional("sourceId", reader, shape::string);
    let capabilities = object.since(Minor::V1_3, "capabilities", reader, shape::string);
    object.close(reader);
    Some(AgentMetadata {
        name: name?,
        title: title?,
        icon: icon?,
        module: module?,
        description: description?,
        source_id: source_id?,
        capabilities: capabilities?,
    })
}

fn persona(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Persona> {
    let mut object = Object::open(tree, reader)?;
    let role = object.required("role", reader, shape::text);
    let identity = object.required("identity", reader, shape::text);
    let communication_style = object.required("communication_style", reader, shape::text);
    let principles = object.required("principles", reader, |tree, reader| {
        if matches!(tree.value, Value::List(_)) {
            let list = shape::list(tree, reader, shape::text)?;
            not_empty(tree, &list, "a principle", reader)?;
            return Some(Principles::List(list));
        }
        shape::text(tree, reader).map(Principles::Text)
    });
    object.close(reader);
    Some(Persona {
        role: role?,
        identity: identity?,
        communication_style: communication_style?,
        principles: principles?,
    })
}

fn prompt(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Prompt> {
    let mut object = Object::open(tree, reader)?;
    let id = object.required("id", reader, shape::string);
    let content = object.required("content", reader, shape::string);
    let description = object.optional("description", reader, shape::string);
    object.close(reader);
    Some(Prompt { id: id?, content: content?, description: description? })
}

fn menu_item(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<MenuItem> {
    let mut object = Object::open(tree, reader)?;
    let description = object.required("description", reader, shape::string);
    let trigger = optional_text(&mut object, "trigger", reader);
    // Format 1.1 leaves both to conventions. An item that is ignored keeps its place, so that others keep their index.
    let cmd = object.ignorable("cmd", reader, shape::string).filter(has_text);
    let triggers = object.ignorable("triggers", reader, |tree, reader| {
        let items = shape::items(tree, reader, menu_trigger)?;
        Some(items.into_iter().map(Option::unwrap_or_default).collect())
    });
    let target = menu_target(&mut object, reader);
    let validate_workflow = object.optional("validate-workflow", reader, anything);
    let ide_only = object.optional("ide-only", reader, shape::boolean);
    let web_only = object.optional("web-only", reader, shape::boolean);
    let yolo = object.open_since(Minor::V1_3, "yolo", reader, shape::boolean);
    let source = object.open_since(Minor::V1_3, "source", reader, |tree, reader| {
        shape::map(tree, reader, shape::string)
    });
    object.leave_open(reader);
    Some(MenuItem {
        description: description?,
        trigger: trigger?,
        cmd,
        triggers: triggers.unwrap_or_default(),
        target: target?,
        validate_workflow: validate_workflow?
            .filter(|value| !matches!(value, Json::Null | Json::Bool(false))),
        ide_only: ide_only?,
        web_only: web_only?,
        yolo: yolo?.unwrap_or_default(),
        source: source?.unwrap_or_default(),
    })
}

fn menu_trigger(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Trigger> {
    let mut object = Object::open(tree, reader)?;
    let kind = object.optional("type", reader, shape::string);
    let matches = optional_text(&mut object, "match", reader);
    let target = menu_target(&mut object, reader);
    object.leave_open(reader);
    Some(Trigger { kind: kind?, matches: matches?, target: target? })
}

fn menu_target(object: &mut Object<'_>, reader: &mut ShapeReader<'_>) -> Option<MenuTarget> {
    let workflow = optional_text(object, "workflow", reader);
    let exec = optional_text(object, "exec", reader);
    let action = optional_text(object, "action", reader);
    let data = optional_text(object, "data", reader);
    Some(MenuTarget { workflow: workflow?, exec: exec?, action: action?, data: data? })
}

/// Reads a text of a menu. Other tools write `""` for an absent one.
fn optional_text(
    object: &mut Object<'_>,
    key: &'static str,
    reader: &mut ShapeReader<'_>,
) -> Option<Option<String>> {
    Some(object.optional(key, reader, shape::string)?.filter(has_text))
}

#[expect(clippy::ptr_arg, reason = "a filter of an option passes a reference to its content")]
fn has_text(text: &String) -> bool {
    !text.trim().is_empty()
}

fn tools(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<AgentTools> {
    let mut object = Object::open(tree, reader)?;
    let fs = object.optional("fs", reader, |tree, reader| {
        let mut object = Object::open(tree, reader)?;
        let enabled = object.optional("enabled", reader, shape::boolean);
        let max_read_bytes = object.optional("maxReadBytes", reader, shape::positive);
        let max_write_bytes = object.optional("maxWriteBytes", reader, shape::positive);
        object.close(reader);
        Some(FileTools {
            enabled: enabled?,
            max_read_bytes: max_read_bytes?,
            max_write_bytes: max_write_bytes?,
        })
    });
    let mcp = object.optional("mcp", reader, |tree, reader| {
        let mut object = Object::open(tree, reader)?;
        let enabled = object.optional("enabled", reader, shape::boolean);
        let allowed_servers = object.optional("allowedServers", reader, |tree, reader| {
            shape::list(tree, reader, shape::string)
        });
        object.close(reader);
        Some(McpTools { enabled: enabled?, allowed_servers: allowed_servers? })
    });
    object.close(reader);
    Some(AgentTools { fs: fs?, mcp: mcp? })
}
