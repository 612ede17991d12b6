//! The arguments of `crewagent agent`, `crewagent chat` and `crewagent chats`.

use std::path::PathBuf;

use clap::Subcommand;

use super::run::{Bounds, Conversation};

#[derive(Debug, clap::Args)]
pub(crate) struct Agent {
    /// A folder, a .bmad file, or an imported NAME or NAME@VERSION
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: PathBuf,
    /// The agent to talk to, by id or name [default: the only one; else you are shown who there is]
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// The folder to work on [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversation: Conversation,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Chat {
    /// Go on with this conversation: its id, the beginning or the end of it, or `latest`
    #[arg(value_name = "CHAT")]
    pub(crate) chat: Option<String>,
    /// The folder to talk about [default: the current folder]
    #[arg(long, value_name = "DIR", conflicts_with = "chat")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversation: Conversation,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Chats {
    #[command(subcommand)]
    pub(crate) command: Option<ChatsCommand>,
    #[command(flatten)]
    pub(crate) list: ChatsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChatsCommand {
    /// List conversations, the one that was used last first (the default)
    List(ChatsList),
    /// Print a conversation, with the runs that were started from it
    Show(ChatsShow),
    /// Find conversations in which something was said
    Search(ChatsSearch),
    /// Give a conversation another title
    Rename(ChatsRename),
    /// Remove conversations and the runs that were started from them; projects are not touched
    Rm(ChatsRm),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatsList {
    /// The conversations about this project [default: that of the current folder, if there are any]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// The conversations about all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsShow {
    /// The conversation: its id, the beginning or the end of it, or `latest`
    #[arg(value_name = "CHAT", default_value = "latest")]
    pub(crate) chat: String,
    /// Print the journals as they are, one event a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsSearch {
    /// What was said, in any case
    #[arg(value_name = "WORDS")]
    pub(crate) words: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsRename {
    /// The conversation: its id, the beginning or the end of it, or `latest`
    #[arg(value_name = "CHAT")]
    pub(crate) chat: String,
    /// Its new title
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatsRm {
    /// Conversations: their ids, the beginnings or ends of them, or `latest`
    #[arg(required = true, value_name = "CHAT")]
    pub(crate) chats: Vec<String>,
    /// Keep the runs that were started from them
    #[arg(long)]
    pub(crate) keep_runs: bool,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}
