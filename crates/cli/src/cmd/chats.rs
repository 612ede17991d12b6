//! `crewagent chats …`: lists conversations and shows their messages.

mod list;
mod rm;
mod show;

use std::path::PathBuf;

use crewagent_engine::store::{Of, RunId, Store};
use serde_json::json;

use crate::args::{ChatsArgs, ChatsCommand};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::resume_hint::ResumeHint;

/// The name of the most recently used conversation.
const LATEST: &str = "latest";

pub(crate) fn run(
    args: ChatsArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref());
    let store = Store::open(home)?;
    match args.command.unwrap_or(ChatsCommand::List(args.list)) {
        ChatsCommand::List(args) => list::run(&args, &store, console),
        ChatsCommand::Show(args) => show::run(&args, &store, &resume_hint, console),
        ChatsCommand::Search(args) => list::search(&args, &store, console),
        ChatsCommand::Rename(args) => {
            let id = find(&args.chat, &store)?;
            if args.title.trim().is_empty() {
                return Err(UsageError(
                    text!("a title must have words", "标题不能为空").to_owned(),
                )
                .into());
            }
            store.conversations().rename(&id, &args.title)?;
            let title = store.conversations().title(&id)?.unwrap_or_default();
            if args.json {
                console.line(paint::json(&json!({ "id": id, "title": title })));
                return Ok(Outcome::Done);
            }
            let done = paint::styled(GOOD, text!("renamed", "已重命名"));
            let id = paint::styled(NAME, id);
            console.line(format_args!("{done} {id} {}", paint::printable(&title)));
            Ok(Outcome::Done)
        }
        ChatsCommand::Rm(args) => rm::run(&args, &store, console),
    }
}

/// Returns the conversation that the user means.
pub(crate) fn find(reference: &str, store: &Store) -> anyhow::Result<RunId> {
    if reference != LATEST {
        return Ok(store.conversations().runs().find(reference)?);
    }
    let newest = store.conversations().list(Of::All)?.conversations.into_iter().next();
    newest.map(|conversation| conversation.id).ok_or_else(|| {
        let advice = text!(
            "`crewagent chat` begins one, `crewagent agent PACKAGE` one with an agent",
            "`crewagent chat` 开始一个，`crewagent agent PACKAGE` 与智能体对话"
        );
        UsageError(say!("there is no conversation yet; {advice}", "还没有对话；{advice}")).into()
    })
}
