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
    /// Digest of its content, which identifies it. It is accepted wherever a package is named.
    pub sha256: String,
    /// Time of the import.
    pub imported: String,
    /// Source of the import.
    pub origin: String,
    /// Number of files.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}

/// Facts about a file that is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct UploadQuery {
    /// Name of the file, as its user knows it.
    pub name: Option<String>,
}

/// Everything that can be started: workflows and agents of all packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Catalog {
    /// The last imported one first. Packages with errors are left out.
    pub packages: Vec<CatalogPackage>,
}

/// A package of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogPackage {
    /// As a person writes it: `name@version`.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Time of the import.
    pub imported: String,
    /// Purpose of the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its workflows; the first is the default.
    pub workflows: Vec<CatalogWorkflow>,
    /// Its agents.
    pub agents: Vec<CatalogAgent>,
}

/// A workflow of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogWorkflow {
    /// Reference to start a run with: its id, or the path of its document.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// Purpose of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its nodes.
    pub nodes: Vec<CatalogNode>,
}

/// A node of a workflow of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogNode {
    /// Its id.
    pub id: String,
    /// Its title; the id if it has none.
    pub title: String,
}

/// An agent of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogAgent {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its icon, mostly an emoji.
    pub icon: String,
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
    /// Purpose of the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Author of the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// True if it declares that it needs the network.
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
    /// Reference to start a run with: its id, or the path of its document.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// Purpose of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent that runs it when none is named.
    pub agent_id: String,
    /// Variables that its steps set; those that are known from the start are not asked for.
    pub variables: Vec<String>,
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
    /// Role, as the agent describes it.
    pub role: String,
    /// Its menu, as it is shown.
    pub menu: Vec<MenuLine>,
    /// True if it may use files.
    pub uses_files: bool,
    /// MCP servers that it requests.
    pub mcp_servers: Vec<String>,
}

/// A graph, laid out. Lengths are pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Picture {
    /// Title of the workflow.
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
    /// Number of edges that are not shown, because there are too many for a picture.
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
    /// End of the line.
    pub tip: Point,
}

/// A node of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
    /// Keys of the options of its gate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The nodes that it resumes at, to which no edges are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumes_at: Vec<String>,
    /// True if it completes itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto: bool,
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
    /// True if it is taken when no other applies.
    pub is_default: bool,
    /// Condition of the move.
    pub condition: Option<String>,
    /// Key of the option of the gate that takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// `forward`, `back` (a loop) or `own` (from a node to itself).
    pub flow: String,
    /// The line, as SVG writes it.
    pub path: String,
    /// The corners of the line.
    pub points: Vec<Point>,
    /// End of the line.
    pub tip: Point,
    /// Position of the label.
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
    /// Absolute path.
    pub path: String,
}

/// The result of a check of a package.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    /// True if it can be imported and run.
    pub valid: bool,
    /// Number of errors.
    pub errors: u32,
    /// Number of warnings.
    pub warnings: u32,
    /// Number of notes, which never fail a check.
    pub notes: u32,
    /// Findings; of very many, the first.
    pub findings: Vec<Finding>,
    /// Content of the package, if it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<PackageContent>,
    /// The source that the package was made of, if an author did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ForeignSummary>,
}

/// A source that was converted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ForeignSummary {
    /// `installation`, `skills`, `tree`, `workflow` or `old-installation`.
    pub kind: String,
    /// Its version, if it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Number of its agents.
    pub agents: u32,
    /// Number of its workflows.
    pub workflows: u32,
    /// Number of their steps.
    pub steps: u32,
}

/// A finding in a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// Its code, such as `BM301`.
    pub code: String,
    /// The name of the code.
    pub name: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// File of the package; blank when the finding is about the whole package.
    pub file: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Value of the finding, as a JSON Pointer into the file or its frontmatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The line itself, if it is not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Problem.
    pub message: String,
    /// Advice for the author.
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
    /// Report of its check.
    pub report: Report,
}

/// The explanation of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodePage {
    /// The code.
    pub code: String,
    /// Its name.
    pub name: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// In one sentence.
    pub summary: String,
    /// With an example and a fix, as Markdown; blank in the list of all codes.
    pub explanation: String,
    /// The explanation in Chinese.
    pub explanation_zh: String,
}

/// Package to create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewPackage {
    /// Absolute path of the folder that is created for it.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Purpose of the package.
    pub description: Option<String>,
    /// Author of the package.
    pub author: Option<String>,
    /// Shape of its workflow.
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
    /// True to remove it. Without it the answer says what needs the package, and nothing is removed.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub confirm: bool,
}

/// The result of removing a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemovedPackage {
    /// True if it was removed: the request had `confirm`.
    pub removed: bool,
    /// Number of conversations, and of incomplete runs, that cannot be resumed without it.
    pub unfinished: u32,
}

/// Folder to pack into one file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PackOrder {
    /// Absolute path of the folder with `bmad.json`.
    pub path: String,
    /// The file to write; beside the folder when absent.
    pub output: Option<String>,
    /// True to replace an existing file, if `output` names one.
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
    /// A picture that follows the reader's light or dark setting.
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
