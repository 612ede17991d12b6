//! `crewagent chats list` and `chats search`: one line a conversation, most recently used first.

use std::collections::BTreeMap;

use anstyle::Style;
use crewagent_engine::store::{ConversationSummary, Of, Store};
use serde_json::json;

use crate::args::{ChatsListArgs, ChatsSearchArgs};
use crate::cmd::projects::listed;
use crate::console::Console;
use crate::language::{say, text};
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
        console.line(text!("No conversations yet. Begin one with `crewagent chat`, or with an agent: `crewagent agent PACKAGE`.", "还没有对话。用 `crewagent chat` 开始，或与智能体对话：`crewagent agent PACKAGE`。"));
        return Ok(Outcome::Done);
    }
    let names = projects(store)?;
    let rows = listing.conversations.iter().map(|one| {
        let title = one.title.as_deref().unwrap_or(text!("(nothing was said)", "（尚未说话）"));
        row(one, title, &names)
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    if !rows.is_empty() {
        console.text(&table(
            &[
                text!("CHAT", "对话"),
                text!("TITLE", "标题"),
                text!("WITH", "对象"),
                text!("PROJECT", "项目"),
                text!("UPDATED", "更新"),
            ],
            &rows,
        ));
    }
    for flaw in &listing.damaged {
        let text = paint::printable(&format!("{}: {}", flaw.name, flaw.reason));
        console.line(format_args!("{} {text}", paint::styled(WARNING, text!("damaged", "已损坏"))));
    }
    if let Some(project) = only {
        let words = say!(
            "Conversations about {}. --all shows those about every project.",
            "关于 {} 的对话。--all 列出所有项目的对话。",
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
        return Err(
            UsageError(text!("say what to search for", "请给出要搜索的文字").to_owned()).into()
        );
    }
    let found = store.conversations().search(Of::All, &args.words)?;
    if args.json {
        let hit = |(conversation, said): &(ConversationSummary, String)| json!({ "conversation": conversation, "said": said });
        console.line(paint::json(&json!(found.iter().map(hit).collect::<Vec<_>>())));
        return Ok(Outcome::Done);
    }
    if found.is_empty() {
        console.line(say!(
            "Nobody said `{}`.",
            "没有对话包含“{}”。",
            paint::printable(&args.words)
        ));
        return Ok(Outcome::Done);
    }
    let names = projects(store)?;
    let rows: Vec<Vec<TableCell>> =
        found.iter().map(|(one, said)| row(one, said, &names)).collect();
    console.text(&table(
        &[
            text!("CHAT", "对话"),
            text!("SAID", "内容"),
            text!("WITH", "对象"),
            text!("PROJECT", "项目"),
            text!("UPDATED", "更新"),
        ],
        &rows,
    ));
    Ok(Outcome::Done)
}

fn row(one: &ConversationSummary, words: &str, names: &BTreeMap<String, String>) -> Vec<TableCell> {
    let project = names.get(one.project_id.as_str()).map_or(one.project_id.as_str(), |name| name);
    let with = match (&one.agent_id, &one.package) {
        (Some(agent), Some(package)) => say!("{agent} of {package}", "{package} 的 {agent}"),
        (Some(agent), None) => agent.clone(),
        (None, _) => text!("nobody in particular", "模型").to_owned(),
    };
    vec![
        TableCell::whole(NAME, one.id.as_str()),
        TableCell::new(Style::new(), words),
        TableCell::new(Style::new(), &with),
        TableCell::new(Style::new(), project),
        TableCell::new(
            QUIET,
            &ago(one.updated.unwrap_or(one.created), crewagent_engine::clock::now()),
        ),
    ]
}

fn projects(store: &Store) -> anyhow::Result<BTreeMap<String, String>> {
    let projects = store.projects().list()?.projects;
    Ok(projects.into_iter().map(|project| (project.id.to_string(), project.name)).collect())
}
