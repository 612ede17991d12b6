//! The command line. Names and exit codes are a contract.

mod mcp;
mod models;
mod package;
#[cfg(test)]
mod reach;
mod run;
mod runs;
mod system;
mod talk;
mod tools;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::mcp::{Mcp, McpAdd, McpCommand, McpList, McpNames, McpRm, McpTest};
pub(crate) use self::models::{
    Models, ModelsAdd, ModelsCommand, ModelsList, ModelsProbe, ModelsRm, ModelsTest, ModelsUse,
};
pub(crate) use self::package::{
    Explain, Graph, GraphFormat, GraphTheme, Import, List, New, Pack, PackageCommand, ReportFormat,
    Rm, Show, Template, Validate,
};
pub(crate) use self::run::{Bounds, Conversation, Recording, Resume, Run};
pub(crate) use self::runs::{
    Forget, Projects, ProjectsCommand, ProjectsList, Relink, Runs, RunsCommand, RunsFork, RunsList,
    RunsLogs, RunsRevert, RunsRm, RunsShow,
};
pub(crate) use self::system::{Completions, Config, ConfigCommand, Demo, Doctor, Ui};
pub(crate) use self::talk::{
    Agent, Chat, Chats, ChatsCommand, ChatsList, ChatsRm, ChatsSearch, ChatsShow,
};
pub(crate) use self::tools::{ToolsCommand, ToolsList};

/// The numbers are a contract.
const EXIT_CODES: &str = "\
Exit codes:
    0  completed, done
    1  failed
    2  bad usage, or an invalid package
    3  waiting for the user
    4  stopped by a limit
    5  model or network error
  130  interrupted";

/// Runs `.bmad` workflow packages on your project with any chat-completions model: the model decides, the runtime enforces.
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
    /// Where CrewAgent keeps packages and runs [default: the platform's data folder]
    #[arg(long, global = true, env = "CREWAGENT_HOME", value_name = "DIR", hide_env_values = true)]
    pub(crate) home: Option<PathBuf>,
    /// Without a command, the app is opened in the browser: the same as `ui`
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open the app in the browser, served by this computer for you alone
    Ui(Ui),
    /// Watch a workflow run from its first node to its last, offline, in a scratch folder
    Demo(Demo),
    /// Run a workflow of a package on a project
    #[command(after_help = EXIT_CODES)]
    Run(Box<Run>),
    /// Go on with a run: after a question, a pause, a limit, an error or a crash
    #[command(after_help = EXIT_CODES)]
    Resume(Box<Resume>),
    /// Talk to an agent of a package: choose from its menu, or just say what you need
    #[command(after_help = EXIT_CODES)]
    Agent(Box<Agent>),
    /// Talk about a project with a model that can read and write its files; or go on with a conversation
    #[command(after_help = EXIT_CODES)]
    Chat(Box<Chat>),
    /// See, search, rename and remove conversations
    Chats(Chats),
    /// See what runs there are and what they did
    Runs(Runs),
    /// See which folders have runs; say where one has moved
    Projects(Projects),
    /// Write, check, pack, import and draw packages
    #[command(subcommand, visible_alias = "pkg")]
    Package(PackageCommand),
    /// Set up, try out and measure models
    Models(Models),
    /// Set up and try out MCP servers, whose tools runs may use
    Mcp(Mcp),
    /// See what tools may do, and who decided it
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// See and change the settings
    Config(Config),
    /// Check that everything is in order, and say what to do where it is not
    Doctor(Doctor),
    /// Print a script that completes commands in your shell
    Completions(Completions),
}

impl Default for Command {
    /// What is done when no command is named.
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
