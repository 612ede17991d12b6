//! The arguments of `crewagent agent`, `crewagent chat` and `crewagent chats`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::complete;

use super::removal::RemovalArgs;
use super::run::{BoundsArgs, ConversationOptions};

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// A package, a BMAD project or skills; or the AGENT, if the current folder is one of these [default: the current folder]
    #[arg(value_name = "SOURCE", add = complete::package())]
    pub(crate) package: Option<PathBuf>,
    /// The agent, by id or name [default: the only one; otherwise you choose from a list]
    #[arg(value_name = "AGENT", add = complete::agents())]
    pub(crate) agent: Option<String>,
    /// The folder to work on [default: SOURCE if BMAD is installed in it, otherwise the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversation: ConversationOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatArgs {
    /// Continue this conversation: its id, the start or end of it, or `latest`
    #[arg(value_name = "CHAT", add = complete::conversations())]
    pub(crate) chat: Option<String>,
    /// The folder to talk about [default: the current folder]
    #[arg(long, value_name = "DIR", conflicts_with = "chat")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversation: ConversationOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ChatsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ChatsCommand>,
    #[command(flatten)]
    pub(crate) list: ChatsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChatsCommand {
    /// List conversations, the most recently used first (the default)
    List(ChatsListArgs),
    /// Print a conversation, with the runs started from it
    Show(ChatsShowArgs),
    /// Find conversations that contain a text
    Search(ChatsSearchArgs),
    /// Rename a conversation
    Rename(ChatsRenameArgs),
    /// Remove conversations and the runs started from them; project files stay
    Rm(ChatsRmArgs),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatsListArgs {
    /// List the conversations about this project [default: the current folder's, if there are any]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// List the conversations about all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsShowArgs {
    /// The conversation: its id, the start or end of it, or `latest`
    #[arg(value_name = "CHAT", default_value = "latest", add = complete::conversations())]
    pub(crate) chat: String,
    /// Print the journals, one JSON event per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsSearchArgs {
    /// The text to find, in upper or lower case
    #[arg(value_name = "WORDS")]
    pub(crate) words: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsRenameArgs {
    /// The conversation: its id, the start or end of it, or `latest`
    #[arg(value_name = "CHAT", add = complete::conversations())]
    pub(crate) chat: String,
    /// Its new title
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsRmArgs {
    /// Conversations: their ids, the start or end of them, or `latest`
    #[arg(required = true, value_name = "CHAT", add = complete::conversations())]
    pub(crate) chats: Vec<String>,
    /// Keep the runs started from them
    #[arg(long)]
    pub(crate) keep_runs: bool,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}
