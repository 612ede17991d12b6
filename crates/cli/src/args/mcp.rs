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
    /// List the servers that are set up (the default)
    List(McpList),
    /// Set up a server, or take over those of another tool; it is off until it is enabled
    Add(McpAdd),
    /// Start a server and show what it offers, or name the step that fails
    Test(McpTest),
    /// Let runs use servers
    Enable(McpNames),
    /// Let runs no longer use servers
    Disable(McpNames),
    /// Remove servers from the settings, with their stored secrets
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
    /// What you want to call it: letters, digits, `-` and `_`
    #[arg(value_name = "NAME", required_unless_present = "from")]
    pub(crate) name: Option<String>,
    /// The program that is the server, and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "from"])]
    pub(crate) command: Vec<String>,
    /// Where a server over streamable HTTP is
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    pub(crate) url: Option<String>,
    /// A variable for the program; what looks like a secret is stored apart from the settings
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE", conflicts_with_all = ["url", "from"])]
    pub(crate) env: Vec<String>,
    /// A header of every request; what looks like a secret is stored apart from the settings
    #[arg(long = "header", short = 'H', value_name = "NAME=VALUE", requires = "url")]
    pub(crate) headers: Vec<String>,
    /// The folder the program is started in [default: your home folder]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "from"])]
    pub(crate) cwd: Option<PathBuf>,
    /// Take over the servers of a JSON file with `mcpServers`, as other tools have it
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub(crate) from: Option<PathBuf>,
    /// Let runs use it from now on
    #[arg(long)]
    pub(crate) enable: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpTest {
    /// A server that is set up, enabled or not
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpNames {
    /// Servers that are set up
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpRm {
    /// Servers that are set up
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}
