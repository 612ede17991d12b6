//! The arguments of `crewagent package` and its commands.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::complete;

use super::removal::RemovalArgs;
use super::source::SourceArgs;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PackageArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PackageCommand>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PackageCommand {
    /// Check packages and report every mistake
    Validate(ValidateArgs),
    /// Pack a folder into a .bmad file; the same files always give the same bytes
    Pack(PackArgs),
    /// Check packages and copy them into the store; BMAD projects, modules and skills become packages
    Import(ImportArgs),
    /// Write the package that is made of a BMAD project, of modules or of skills
    Convert(ConvertArgs),
    /// List the imported packages (the default)
    List(ListArgs),
    /// Show what is in a package: its workflows, agents and menus
    Show(ShowArgs),
    /// Remove imported packages from the store
    Rm(RmArgs),
    /// Remove old builds: those that a later import of the same version replaced, and that no unfinished run needs
    Prune(PruneArgs),
    /// Create a new package that validates and runs
    New(NewArgs),
    /// Draw the graph of a workflow
    Graph(GraphArgs),
    /// Explain a diagnostic code
    Explain(ExplainArgs),
    /// Play every workflow offline, without a model, until every edge was taken
    Walk(WalkArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// Folders, .bmad or .zip files, BMAD projects or skills, or names of imported packages
    #[arg(value_name = "SOURCE", default_value = ".", add = complete::package())]
    pub(crate) packages: Vec<PathBuf>,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub(crate) format: ReportFormat,
    /// Print JSON, like --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show up to 10,000 findings of each severity instead of the first few of each kind
    #[arg(long)]
    pub(crate) all: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Also report what other tools for format 1.1 may refuse
    #[arg(long)]
    pub(crate) portable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// With source lines, for people
    Human,
    /// One line a finding, for editors
    Short,
    /// For tools
    Json,
    /// SARIF 2.1.0, for code hosts
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    /// The folder that holds bmad.json
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The file to write [default: NAME-VERSION.bmad in the current folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the package in an older version of the format, without what that version does not know
    #[arg(long, value_name = "VERSION", value_enum)]
    pub(crate) format: Option<FormatVersion>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Version of the package format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatVersion {
    #[value(name = "1.1")]
    V1_1,
    #[value(name = "1.2")]
    V1_2,
    #[value(name = "1.3")]
    V1_3,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Folders, .bmad or .zip files, BMAD projects, modules or skills
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Only report what would be imported; store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show up to 10,000 findings of each severity instead of the first few of each kind
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConvertArgs {
    /// A BMAD project, modules or skills: a folder or a .zip file
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// The folder to write, or the file if its name ends in .bmad
    #[arg(short, long, value_name = "DIR|FILE", required = true)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) options: SourceArgs,
    /// Keep personal settings of SOURCE in the package
    #[arg(long, help_heading = "Foreign sources")]
    pub(crate) with_personal: bool,
    /// Replace what an earlier conversion wrote to the output
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// A package: a folder, a .bmad file, or an imported NAME or NAME@VERSION; or a BMAD project or skills
    #[arg(value_name = "SOURCE", add = complete::package())]
    pub(crate) package: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RmArgs {
    /// Imported packages, as NAME, NAME@VERSION or digest
    #[arg(required = true, value_name = "NAME", add = complete::installed())]
    pub(crate) packages: Vec<String>,
    /// Also remove a package that unfinished runs need; they cannot be resumed until it is imported again
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The folder to create [default: the package's name]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The package's name [default: the folder's name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What the package is for
    #[arg(long)]
    pub(crate) description: Option<String>,
    /// The author
    #[arg(long)]
    pub(crate) author: Option<String>,
    /// The shape to start from
    #[arg(long, value_enum)]
    pub(crate) template: Option<TemplateArg>,
    /// Ask nothing; use the defaults
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; asks nothing
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateArg {
    /// Steps in a straight line
    Linear,
    /// A decision with two branches
    Branch,
    /// Draft, review, and revise until it is good
    Loop,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// A package: a folder, a .bmad file, or an imported NAME or NAME@VERSION; or a BMAD project or skills
    #[arg(value_name = "SOURCE", add = complete::package())]
    pub(crate) package: PathBuf,
    /// The workflow to draw [default: the package's default workflow]
    #[arg(long, value_name = "ID", add = complete::workflows())]
    pub(crate) workflow: Option<String>,
    /// The output format [default: from the file's ending, otherwise mermaid]
    #[arg(long, value_enum)]
    pub(crate) format: Option<GraphFormat>,
    /// The colours of the SVG
    #[arg(long, value_enum, default_value_t = GraphTheme::Auto)]
    pub(crate) theme: GraphTheme,
    /// The file to write; its ending selects the format [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A Mermaid flowchart, for Markdown
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture
    Svg,
    /// Nodes, edges and positions, for tools
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphTheme {
    /// Follows the reader's system
    Auto,
    /// Always light
    Light,
    /// Always dark
    Dark,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WalkArgs {
    /// A package: a folder, a .bmad file, or an imported NAME or NAME@VERSION; or a BMAD project or skills
    #[arg(value_name = "SOURCE", add = complete::package())]
    pub(crate) package: PathBuf,
    /// Play only this workflow
    #[arg(long, value_name = "ID", add = complete::workflows())]
    pub(crate) workflow: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A code or its name, such as BM501 or duplicate-node-id [default: list all codes]
    #[arg(value_name = "CODE", add = complete::codes())]
    pub(crate) code: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
