//! The command line. Names and exit codes are a contract.

mod conversation;
mod mcp;
mod models;
mod package;
#[cfg(test)]
mod reach;
mod run;
mod runs;
mod system;
mod tools;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::conversation::{
    Agent, Chat, Chats, ChatsCommand, ChatsList, ChatsRm, ChatsSearch, ChatsShow,
};
pub(crate) use self::mcp::{Mcp, McpAdd, McpCommand, McpList, McpNames, McpRm, McpTest};
pub(crate) use self::models::{
    Models, ModelsAdd, ModelsCommand, ModelsList, ModelsProbe, ModelsRm, ModelsTest, ModelsUse,
};
pub(crate) use self::package::{
    Explain, Graph, GraphFormat, GraphTheme, Import, List, New, Pack, PackageCommand, ReportFormat,
    Rm, Show, Template, Validate,
};
pub(crate) use self::run::{Bounds, ConversationOptions, Recording, Resume, Run};
pub(crate) use self::runs::{
    Forget, Projects, ProjectsCommand, ProjectsList, Relink, Runs, RunsCommand, RunsFork, RunsList,
    RunsLogs, RunsRevert, RunsRm, RunsShow,
};
pub(crate) use self::system::{Completions, Config, ConfigCommand, Demo, Doctor, Ui};
pub(crate) use self::tools::{ToolsCommand, ToolsList};

/// The numbers are a contract.
const EXIT_CODES: &str = "\
Exit codes:
    0  completed
    1  failed
    2  bad usage, not found, an invalid package, or a run in use by another process
    3  waiting for you
    4  stopped by a limit
    5  the model failed or could not be reached
  130  interrupted";

/// Runs `.bmad` workflow packages on your project with any chat-completions model. The model decides, the runtime enforces.
#[derive(Debug, Parser)]
#[command(
    name = "crewagent",
    version,
    about,
    propagate_version = true,
    disable_help_subcommand = true,
    subcommand_required = false,
    arg_required_else_help = false,
    after_help = EXIT_CODES
)]
pub(crate) struct Args {
    /// The folder for packages, runs and settings [default: the platform's data folder]
    #[arg(long, global = true, env = "CREWAGENT_HOME", value_name = "DIR", hide_env_values = true)]
    pub(crate) home: Option<PathBuf>,
    /// Without a command, opens the app in the browser, like `ui`
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open the app in the browser, served from this computer for you alone (the default)
    Ui(Ui),
    /// Run a sample workflow from start to end: offline, without a key, in a scratch folder
    Demo(Demo),
    /// Run a workflow on a project
    #[command(after_help = EXIT_CODES)]
    Run(Box<Run>),
    /// Resume a run after a question, a pause, a limit, an error or a crash
    #[command(after_help = EXIT_CODES)]
    Resume(Box<Resume>),
    /// Talk to an agent of a package: choose from its menu, or say what you need
    #[command(after_help = EXIT_CODES)]
    Agent(Box<Agent>),
    /// Talk about a project with a model that can read and write its files, or continue a conversation
    #[command(after_help = EXIT_CODES)]
    Chat(Box<Chat>),
    /// List, search, rename and remove conversations
    Chats(Chats),
    /// List, inspect, fork, revert and remove runs
    Runs(Runs),
    /// List projects, and relink one whose folder has moved
    Projects(Projects),
    /// Create, check, pack, import and draw packages
    #[command(subcommand, visible_alias = "pkg")]
    Package(PackageCommand),
    /// Add, test and probe models
    Models(Models),
    /// Add and test MCP servers, whose tools runs can use
    Mcp(Mcp),
    /// Show what tools may do, and what decided it
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Show and change settings
    Config(Config),
    /// Check the installation, and say how to fix what is wrong
    Doctor(Doctor),
    /// Print a completion script for your shell
    Completions(Completions),
}

impl Default for Command {
    /// Returns the command for a line without one.
    fn default() -> Self {
        Self::Ui(Ui::default())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
