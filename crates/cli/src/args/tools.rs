//! The arguments of `crewagent tools`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::complete;

use super::run::BoundsArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Show what each tool may do, and what decided it: the settings, the command line or the agent (the default)
    List(Box<ToolsListArgs>),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ToolsListArgs {
    /// A folder, a .bmad file, or an imported NAME or NAME@VERSION [default: no package, no agent]
    #[arg(value_name = "PACKAGE", add = complete::package())]
    pub(crate) package: Option<PathBuf>,
    /// The agent, by id or name [default: no agent]
    #[arg(long, value_name = "AGENT", requires = "package", add = complete::agents())]
    pub(crate) agent: Option<String>,
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
}
