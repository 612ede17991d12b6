//! `crewagent chats list` and `chats search`: one line a conversation, most recently used first.

use std::collections::BTreeMap;

use anstyle::Style;
use crewagent_engine::store::{ConversationSummary, Of, Store};
use jiff::Timestamp;
use serde_json::json;

use crate::args::{ChatsListArgs, ChatsSearchArgs};
use crate::cmd::projects::listed;
use crate::console::Console;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};
use crate::when::ago;

pub(super) fn run(
    args: &ChatsListArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let only = listed(args.project.as_deref(), args.all, ("conversations", "chats"), store)?;
    let of = only.as_ref().map_or(Of::All, |project| Of::Project(&project.id));
    let listing = store.conversations().list(of)?;
    if args.json {
        let value = json!({ "conversations": listing.conversations, "damaged": listing.damaged });
        console.line(paint::json(&value));
        return Ok(Outcome::Done);
    }
    if listing.conversations.is_empty() && listing.damaged.is_empty() {
        console.line("No conversations yet. Begin one with `crewagent chat`, or with an agent: `crewagent agent PACKAGE`.");
        return Ok(Outcome::Done);
    }
    let names = projects(store)?;
    let rows = listing.conversations.iter().map(|one| {
        let title = one.title.as_deref().unwrap_or("(nothing was said)");
        row(one, title, &names)
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    if !rows.is_empty() {
        console.text(&table(&["CHAT", "TITLE", "WITH", "PROJECT", "UPDATED"], &rows));
    }
    for flaw in &listing.damaged {
        let text = paint::printable(&format!("{}: {}", flaw.name, flaw.reason));
        console.line(format_args!("{} {text}", paint::styled(WARNING, "damaged")));
    }
    if let Some(project) = only {
        let words = format!(
            "Conversations about {}. --all shows those about every project.",
            project.path.display()
        );
        console.error(paint::styled(QUIET, paint::printable(&words)));
    }
    Ok(Outcome::Done)
}

pub(super) fn search(
    args: &ChatsSearchArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    if args.words.trim().is_empty() {
        return Err(UsageError("say what to search for".to_owned()).into());
    }
    let found = store.conversations().search(Of::All, &args.words)?;
    if args.json {
        let hit = |(conversation, said): &(ConversationSummary, String)| json!({ "conversation": conversation, "said": said });
        console.line(paint::json(&json!(found.iter().map(hit).collect::<Vec<_>>())));
        return Ok(Outcome::Done);
    }
    if found.is_empty() {
        console.line(format_args!("Nobody said `{}`.", paint::printable(&args.words)));
        return Ok(Outcome::Done);
    }
    let names = projects(store)?;
    let rows: Vec<Vec<TableCell>> =
        found.iter().map(|(one, said)| row(one, said, &names)).collect();
    console.text(&table(&["CHAT", "SAID", "WITH", "PROJECT", "UPDATED"], &rows));
    Ok(Outcome::Done)
}

fn row(one: &ConversationSummary, words: &str, names: &BTreeMap<String, String>) -> Vec<TableCell> {
    let project = names.get(one.project_id.as_str()).map_or(one.project_id.as_str(), |name| name);
    let with = match (&one.agent_id, &one.package) {
        (Some(agent), Some(package)) => format!("{agent} of {package}"),
        (Some(agent), None) => agent.clone(),
        (None, _) => "nobody in particular".to_owned(),
    };
    vec![
        TableCell::new(NAME, one.id.as_str()),
        TableCell::new(Style::new(), words),
        TableCell::new(Style::new(), &with),
        TableCell::new(Style::new(), project),
        TableCell::new(QUIET, &ago(one.updated.unwrap_or(one.created), Timestamp::now())),
    ]
}

fn projects(store: &Store) -> anyhow::Result<BTreeMap<String, String>> {
    let projects = store.projects().list()?.projects;
    Ok(projects.into_iter().map(|project| (project.id.to_string(), project.name)).collect())
}
