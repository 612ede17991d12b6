//! The arguments of `crewagent mcp` and its commands.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) list: McpList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the configured servers (the default)
    List(McpList),
    /// Add a server, or import those of another tool; it is disabled until you enable it
    Add(McpAdd),
    /// Start a server and list its tools, or name the step that fails
    Test(McpTest),
    /// Allow runs to use servers
    Enable(McpNames),
    /// Stop runs from using servers
    Disable(McpNames),
    /// Remove servers and their stored secrets
    Rm(McpRm),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct McpList {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpAdd {
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
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpTest {
    /// A configured server, enabled or not
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpNames {
    /// Configured servers
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpRm {
    /// Configured servers
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}
