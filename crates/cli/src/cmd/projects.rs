//! `crewagent projects …`: manages the folders that have runs.

use std::path::{Path, PathBuf};

use anstyle::Style;
use crewagent_engine::store::{Of, Project, RunSummary, Store};
use serde_json::json;

use crate::args::{ForgetArgs, ProjectsArgs, ProjectsCommand, ProjectsListArgs, RelinkArgs};
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};

pub(crate) fn run(
    args: ProjectsArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let store = Store::open(home)?;
    match args.command.unwrap_or(ProjectsCommand::List(args.list)) {
        ProjectsCommand::List(args) => list(&args, &store, console),
        ProjectsCommand::Relink(args) => relink(&args, &store, console),
        ProjectsCommand::Forget(args) => forget(&args, &store, console),
    }
}

fn list(args: &ProjectsListArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let listing = store.projects().list()?;
    let runs = store.runs().list(Of::All)?.runs;
    let count = |project: &Project| {
        runs.iter().filter(|run: &&RunSummary| run.project_id == project.id).count()
    };
    if args.json {
        let conversations = store.conversations().list(Of::All)?.conversations;
        let conversations = |project: &Project| {
            conversations
                .iter()
                .filter(|conversation| conversation.project_id == project.id)
                .count()
        };
        let projects: Vec<_> = listing
            .projects
            .iter()
            .map(|project| {
                json!({
                    "id": project.id,
                    "name": project.name,
                    "path": project.path,
                    "exists": project.path.is_dir(),
                    "lastPackage": project.last_package,
                    "created": project.created.to_string(),
                    "runs": count(project),
                    "conversations": conversations(project),
                })
            })
            .collect();
        console.line(paint::json(&json!({ "projects": projects, "damaged": listing.damaged })));
        return Ok(Outcome::Done);
    }
    if listing.projects.is_empty() && listing.damaged.is_empty() {
        console.line(text!(
            "No projects yet. A folder becomes one with its first `crewagent run`.",
            "还没有项目。在文件夹中第一次执行 `crewagent run` 后，它就成为项目。"
        ));
        return Ok(Outcome::Done);
    }
    let row = |project: &Project| {
        let (style, mark) = if project.path.is_dir() {
            (Style::new(), "")
        } else {
            (WARNING, text!(" (gone)", "（已不在）"))
        };
        vec![
            TableCell::whole(NAME, project.id.as_str()),
            TableCell::new(Style::new(), &count(project).to_string()),
            TableCell::new(QUIET, project.last_package.as_deref().unwrap_or("-")),
            TableCell::whole(style, &format!("{}{mark}", project.path.display())),
        ]
    };
    let rows: Vec<Vec<TableCell>> = listing.projects.iter().map(row).collect();
    if !rows.is_empty() {
        console.text(&table(
            &[
                text!("PROJECT", "项目"),
                text!("RUNS", "运行"),
                text!("PACKAGE", "包"),
                text!("FOLDER", "文件夹"),
            ],
            &rows,
        ));
    }
    for flaw in &listing.damaged {
        let text = paint::printable(&format!("{}: {}", flaw.name, flaw.reason));
        console.line(format_args!("{} {text}", paint::styled(WARNING, text!("damaged", "已损坏"))));
    }
    if listing.projects.iter().any(|project| !project.path.is_dir()) {
        let advice = text!(
            "A folder that is gone was moved or removed: `crewagent projects relink ID DIR` or `crewagent projects forget ID`.",
            "文件夹已被移动或删除：用 `crewagent projects relink ID DIR` 或 `crewagent projects forget ID`。"
        );
        console.error(paint::styled(QUIET, advice));
    }
    Ok(Outcome::Done)
}

/// Returns the project that filters a list; none for all. `what` and `command` are for the message to a user who named
/// a project without entries.
pub(super) fn listed(
    named: Option<&Path>,
    all: bool,
    (what, command): (&str, &str),
    store: &Store,
) -> anyhow::Result<Option<Project>> {
    match named {
        Some(folder) => match store.projects().at(folder)? {
            Some(project) => Ok(Some(project)),
            None => Err(UsageError(say!(
                "`{}` has no {what}; `crewagent {command} list --all` shows those of all projects",
                "`{}` 没有{what}；`crewagent {command} list --all` 列出所有项目的",
                folder.display()
            ))
            .into()),
        },
        None if all => Ok(None),
        None => Ok(store.projects().at(Path::new("."))?),
    }
}

fn relink(args: &RelinkArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let project = store.projects().find(&args.project)?;
    let project = store.projects().relink(&project.id, &args.folder)?;
    if args.json {
        console.line(paint::json(&json!({ "id": project.id, "path": project.path })));
        return Ok(Outcome::Done);
    }
    let path = paint::printable(&project.path.display().to_string());
    let id = paint::styled(NAME, &project.id);
    console.line(say!(
        "{} {id} to {path}",
        "{} {id} 到 {path}",
        paint::styled(GOOD, text!("relinked", "已重新关联"))
    ));
    Ok(Outcome::Done)
}

fn forget(args: &ForgetArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let project = store.projects().find(&args.project)?;
    let runs = store.runs().list(Of::Project(&project.id))?;
    let conversations = store.conversations().list(Of::Project(&project.id))?;
    let count = say!(
        "{}, {}",
        "{}、{}",
        paint::counted(runs.runs.len() + runs.damaged.len(), ("run", "次运行")),
        paint::counted(
            conversations.conversations.len() + conversations.damaged.len(),
            ("conversation", "个对话")
        )
    );
    let line = format!("{}  {count}  {}", project.id, project.path.display());
    let question = text!(
        "Forget the project, with its runs and conversations? The folder stays.",
        "要移除这个项目及其运行和对话吗？文件夹会保留。"
    );
    if !removal::agreed([line], question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
    }
    store.projects().forget(&project.id)?;
    let mut removed = Removed::new(args.removal);
    removed.report(project.id.as_str(), &say!(" ({count})", "（{count}）"), console);
    Ok(removed.finish(console))
}
