//! The command line. Names and exit codes are a contract.

mod conversation;
pub(crate) mod examples;
mod mcp;
mod models;
mod package;
#[cfg(test)]
mod reach;
mod removal;
mod run;
mod runs;
mod source;
mod system;
mod tools;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::conversation::{
    AgentArgs, ChatArgs, ChatsArgs, ChatsCommand, ChatsListArgs, ChatsRmArgs, ChatsSearchArgs,
    ChatsShowArgs,
};
pub(crate) use self::mcp::{
    McpAddArgs, McpArgs, McpCommand, McpListArgs, McpNamesArgs, McpRmArgs, McpTestArgs,
};
pub(crate) use self::models::{
    ModelsAddArgs, ModelsArgs, ModelsCommand, ModelsListArgs, ModelsProbeArgs, ModelsRmArgs,
    ModelsTestArgs, ModelsUseArgs,
};
pub(crate) use self::package::{
    ConvertArgs, ExplainArgs, FormatVersion, GraphArgs, GraphFormat, GraphTheme, ImportArgs,
    ListArgs, NewArgs, PackArgs, PackageArgs, PackageCommand, PruneArgs, ReportFormat, RmArgs,
    ShowArgs, TemplateArg, ValidateArgs, WalkArgs,
};
pub(crate) use self::removal::RemovalArgs;
pub(crate) use self::run::{BoundsArgs, ConversationOptions, RecordingArgs, ResumeArgs, RunArgs};
pub(crate) use self::runs::{
    ForgetArgs, ProjectsArgs, ProjectsCommand, ProjectsListArgs, RelinkArgs, RunsArgs, RunsCommand,
    RunsForkArgs, RunsListArgs, RunsLogsArgs, RunsRenameArgs, RunsRevertArgs, RunsRmArgs,
    RunsShowArgs,
};
pub(crate) use self::system::{
    CompletionsArgs, ConfigArgs, ConfigCommand, DemoArgs, DoctorArgs, UiArgs,
};
pub(crate) use self::tools::{ToolsArgs, ToolsCommand, ToolsListArgs};
use crate::language::Language;

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
    /// The folder for packages, runs and settings [env: CREWAGENT_HOME] [default: the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The language of messages and help [env: CREWAGENT_LANG] [default: the system's, otherwise en]
    #[arg(long, global = true, value_enum, value_name = "LANG")]
    #[allow(dead_code, reason = "the language is chosen before the command line is read")]
    pub(crate) lang: Option<Language>,
    /// Without a command, opens the app in the browser, like `ui`
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Open the app in the browser, served from this computer for you alone (the default)
    Ui(UiArgs),
    /// Run a sample workflow from start to end: offline, without a key, in a scratch folder
    Demo(DemoArgs),
    /// Run a workflow on a project
    #[command(after_help = EXIT_CODES)]
    Run(Box<RunArgs>),
    /// Resume a run after a question, a pause, a limit, an error or a crash
    #[command(after_help = EXIT_CODES)]
    Resume(Box<ResumeArgs>),
    /// Talk to an agent of a package: choose from its menu, or say what you need
    #[command(after_help = EXIT_CODES)]
    Agent(Box<AgentArgs>),
    /// Talk about a project with a model that can read and write its files, or continue a conversation
    #[command(after_help = EXIT_CODES)]
    Chat(Box<ChatArgs>),
    /// List, search, rename and remove conversations
    Chats(ChatsArgs),
    /// List, inspect, fork, revert and remove runs
    Runs(RunsArgs),
    /// List projects, and relink one whose folder has moved
    Projects(ProjectsArgs),
    /// Create, check, pack, import and draw packages
    #[command(visible_alias = "pkg")]
    Package(PackageArgs),
    /// Add, test and probe models
    Models(ModelsArgs),
    /// Add and test MCP servers, whose tools runs can use
    Mcp(McpArgs),
    /// Show what tools may do, and what decided it
    Tools(ToolsArgs),
    /// Show and change settings
    Config(ConfigArgs),
    /// Check the installation, and say how to fix what is wrong
    Doctor(DoctorArgs),
    /// Print a completion script for your shell
    Completions(CompletionsArgs),
}

impl Default for CliCommand {
    /// Returns the command for a line without one.
    fn default() -> Self {
        Self::Ui(UiArgs::default())
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
