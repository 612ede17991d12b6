//! Packages: what is in the store, what is in one, and what is wrong with one.

use crewagent_core::menu::MenuLine;
use crewagent_engine::store::Flaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packages of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Packages {
    /// By name, then by version.
    pub packages: Vec<Package>,
    /// Folders of packages that cannot be used.
    pub damaged: Vec<Flaw>,
}

/// A package in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Package {
    /// As a person writes it: `name@version`.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The digest of its content, which tells it from every other. It can be written for the package everywhere.
    pub sha256: String,
    /// When it was imported.
    pub imported: String,
    /// What it was imported from.
    pub origin: String,
    /// How many files it has.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}

/// The content of a package.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PackageContent {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Whether it says that it needs the network.
    pub requires_network: bool,
    /// Its workflows; the first is the default.
    pub workflows: Vec<Workflow>,
    /// Its agents.
    pub agents: Vec<Agent>,
}

/// A workflow of a package.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Workflow {
    /// What a run is started with: its id, or the path of its document.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent that runs it when none is named.
    pub agent_id: String,
    /// Its graph, laid out.
    pub graph: Picture,
}

/// An agent of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its icon, mostly an emoji.
    pub icon: String,
    /// Its role, in its own words.
    pub role: String,
    /// Its menu, as it is shown.
    pub menu: Vec<MenuLine>,
    /// Whether it may use files.
    pub uses_files: bool,
    /// The MCP servers that it asks for.
    pub mcp_servers: Vec<String>,
}

/// A graph, laid out. Lengths are pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Picture {
    /// What it is called.
    pub title: String,
    /// The node that a run starts at.
    pub entry: Option<String>,
    /// Its size.
    pub width: f64,
    /// Its size.
    pub height: f64,
    /// The mark in front of the entry.
    pub start: Option<PictureStart>,
    /// The nodes.
    pub nodes: Vec<PictureNode>,
    /// The edges.
    pub edges: Vec<PictureEdge>,
    /// How many edges are not shown, because there are too many for a picture.
    #[serde(default)]
    pub left_out: u32,
}

/// A point of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// The mark in front of the entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PictureStart {
    /// Its centre.
    pub x: f64,
    /// Its centre.
    pub y: f64,
    /// The line to the entry, as SVG writes it.
    pub path: String,
    /// Where the line ends.
    pub tip: Point,
}

/// A node of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PictureNode {
    /// Its id.
    pub id: String,
    /// `step`, `decision`, `merge`, `end` or `subworkflow`.
    pub kind: String,
    /// Its title.
    pub title: Option<String>,
    /// The agent that works on it.
    pub agent: Option<String>,
    /// The workflow that it calls.
    pub calls: Option<String>,
    /// The title, wrapped.
    pub lines: Vec<String>,
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// Its size.
    pub width: f64,
    /// Its size.
    pub height: f64,
}

/// An edge of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PictureEdge {
    /// The node it leaves.
    pub from: String,
    /// The node it enters.
    pub to: String,
    /// The name of the move.
    pub label: String,
    /// Whether it is taken when no other applies.
    pub is_default: bool,
    /// When it applies.
    pub condition: Option<String>,
    /// `forward`, `back` (a loop) or `own` (from a node to itself).
    pub flow: String,
    /// The line, as SVG writes it.
    pub path: String,
    /// The corners of the line.
    pub points: Vec<Point>,
    /// Where the line ends.
    pub tip: Point,
    /// Where the label is.
    pub label_box: LabelBox,
}

/// The place of a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LabelBox {
    /// Its centre.
    pub x: f64,
    /// Its centre.
    pub y: f64,
    /// Its size.
    pub width: f64,
    /// Its size.
    pub height: f64,
    /// The label, wrapped.
    pub lines: Vec<String>,
}

/// A file or folder of this computer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PackagePath {
    /// Where it is, from the root of the disk.
    pub path: String,
}

/// The result of a check of a package.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    /// Whether it can be imported and run.
    pub valid: bool,
    /// How many errors there are.
    pub errors: u32,
    /// How many warnings.
    pub warnings: u32,
    /// What was found; of very many, the first.
    pub findings: Vec<Finding>,
    /// What is in it, if it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<PackageContent>,
}

/// A finding in a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// Its code, such as `BM301`.
    pub code: String,
    /// The name of the code.
    pub name: String,
    /// `error` or `warning`.
    pub severity: String,
    /// The file of the package; may be blank when it is about the whole.
    pub file: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The value that it is about, as a JSON Pointer into the file or its frontmatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The line itself, if it is not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImportedPackage {
    /// The package; none when it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    /// `new`, `already-there`, `repaired` or `rejected`.
    pub outcome: String,
    /// What was found in it.
    pub report: Report,
}

/// The explanation of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodePage {
    /// The code.
    pub code: String,
    /// Its name.
    pub name: String,
    /// `error` or `warning`.
    pub severity: String,
    /// In one sentence.
    pub summary: String,
    /// With an example and a fix, as Markdown.
    pub explanation: String,
}

/// A package that is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewPackage {
    /// The folder that is made for it, from the root of the disk.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Who writes it.
    pub author: Option<String>,
    /// What its workflow looks like.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<Template>"))]
    pub template: Template,
}

/// The shape of the workflow of a new package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Template {
    /// One step after the other.
    #[default]
    Linear,
    /// With a choice.
    Branch,
    /// With a loop.
    Loop,
}

/// Options for removing a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct RemoveQuery {
    /// Whether it is removed although runs and conversations cannot be resumed without it.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub confirm: bool,
}

/// The result of removing a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemovedPackage {
    /// Whether it is gone. If not, this is to be confirmed.
    pub removed: bool,
    /// How many conversations, and runs that are not complete, cannot be resumed without it.
    pub unfinished: u32,
}

/// A folder that is to be packed into one file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PackOrder {
    /// The folder with `bmad.json`, from the root of the disk.
    pub path: String,
    /// The file to write; beside the folder when absent.
    pub output: Option<String>,
    /// Whether a file that is there is replaced, if it is named.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub replace: bool,
}

/// A package that was packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Packed {
    /// The file.
    pub path: String,
    /// The digest of the package.
    pub sha256: String,
    /// The size of the file.
    pub bytes: u64,
}

/// Options for drawing a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct DrawQuery {
    /// The workflow; the first when absent.
    pub workflow: Option<String>,
    /// In which language.
    pub format: DrawFormat,
}

/// The languages of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum DrawFormat {
    /// Mermaid, which reads well as text.
    Mermaid,
    /// For Graphviz.
    Dot,
    /// A picture, light or dark as its reader has it.
    Svg,
}

/// A text that can be saved as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TextFile {
    /// A name for it.
    pub name: String,
    /// The text.
    pub text: String,
}
