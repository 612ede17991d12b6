//! The arguments of `crewagent mcp` and its commands.

use std::path::PathBuf;

use clap::Subcommand;

use crate::complete;

use super::removal::RemovalArgs;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) list: McpListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the configured servers (the default)
    List(McpListArgs),
    /// Add a server, or import those of another tool; it is disabled until you enable it
    Add(McpAddArgs),
    /// Start a server and list its tools, or name the step that fails
    Test(McpTestArgs),
    /// Allow runs to use servers
    Enable(McpNamesArgs),
    /// Stop runs from using servers
    Disable(McpNamesArgs),
    /// Remove servers and their stored secrets
    Rm(McpRmArgs),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct McpListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpAddArgs {
    /// Your name for it: letters, digits, `-` and `_`
    #[arg(value_name = "NAME", required_unless_present = "from")]
    pub(crate) name: Option<String>,
    /// The server's program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "from"])]
    pub(crate) command: Vec<String>,
    /// The address of a server over streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    pub(crate) url: Option<String>,
    /// An environment variable for the program; a secret is stored outside the settings
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE", conflicts_with_all = ["url", "from"])]
    pub(crate) env: Vec<String>,
    /// A header for every request; a secret is stored outside the settings
    #[arg(long = "header", short = 'H', value_name = "NAME=VALUE", requires = "url")]
    pub(crate) headers: Vec<String>,
    /// The working folder of the program [default: your home folder]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "from"])]
    pub(crate) cwd: Option<PathBuf>,
    /// Import the servers from another tool's JSON file with `mcpServers`
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub(crate) from: Option<PathBuf>,
    /// Enable it at once
    #[arg(long)]
    pub(crate) enable: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpTestArgs {
    /// A configured server, enabled or not
    #[arg(value_name = "NAME", add = complete::servers())]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpNamesArgs {
    /// Configured servers
    #[arg(required = true, value_name = "NAME", add = complete::servers())]
    pub(crate) names: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpRmArgs {
    /// Configured servers
    #[arg(required = true, value_name = "NAME", add = complete::servers())]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}
