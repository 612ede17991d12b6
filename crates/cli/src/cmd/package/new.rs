//! `crewagent package new`: asks a few questions, or takes flags, and writes a valid package.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use crewagent_format::scaffold::{self, ScaffoldPlan, WorkflowShape};
use crewagent_source::{author, names};
use inquire::validator::Validation;
use inquire::{Select, Text};
use serde_json::json;

use crate::args::{NewArgs, TemplateArg};
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::shell;

pub(super) fn run(args: NewArgs, console: &mut Console) -> anyhow::Result<Outcome> {
    let interactive = !args.yes
        && !args.json
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal();
    if let Some(folder) = &args.folder {
        author::check_folder(folder).map_err(|error| UsageError(shown(&error)))?;
    }
    let is_json = args.json;
    let Some((folder, plan)) = (if interactive { ask(args)? } else { Some(from_flags(args)?) })
    else {
        console.line(text!("Nothing was written.", "没有写入任何内容。"));
        return Ok(Outcome::Cancelled);
    };
    let files = scaffold::files(&plan);
    author::write(&folder, &files)?;
    if is_json {
        let paths: Vec<String> = files.iter().map(|(path, _)| path.to_string()).collect();
        let report = json!({ "name": plan.name, "folder": folder, "files": paths });
        console.line(paint::json(&report));
        return Ok(Outcome::Done);
    }
    let shown = shell::path(&folder);
    console.line(say!(
        "{} {} in {shown}",
        "{} {}，位于 {shown}",
        paint::styled(GOOD, text!("created", "已创建")),
        paint::styled(NAME, paint::printable(&plan.name))
    ));
    for (path, _) in &files {
        console.line(format_args!("  {path}"));
    }
    console.line(say!(
        "\nNext:\n  crewagent package validate {shown}\n  crewagent run {shown}\n\nWithout a model, `--model scripted:FILE` answers from a file: docs/scenarios.md. `--record FILE` writes such a file.",
        "\n下一步：\n  crewagent package validate {shown}\n  crewagent run {shown}\n\n没有模型时，`--model scripted:FILE` 从文件取回答：docs/scenarios.md。`--record FILE` 会写出这样的文件。"
    ));
    Ok(Outcome::Done)
}

fn from_flags(args: NewArgs) -> anyhow::Result<(PathBuf, ScaffoldPlan)> {
    let name = match (args.name, &args.folder) {
        (Some(name), _) => checked_name(name)?,
        (None, Some(folder)) => checked_name(folder_name(folder)?)?,
        (None, None) => {
            return Err(UsageError(
                text!(
                    "name the package: `crewagent package new DIR`, or add --name NAME",
                    "请给包起名：`crewagent package new DIR`，或加上 --name NAME"
                )
                .into(),
            )
            .into());
        }
    };
    let folder = args.folder.unwrap_or_else(|| PathBuf::from(names::folder(&name)));
    let plan = ScaffoldPlan {
        name,
        description: args.description.unwrap_or_default(),
        author: args.author.unwrap_or_default(),
        shape: args.template.map_or(WorkflowShape::Linear, shape),
    };
    Ok((folder, plan))
}

/// Asks for what no flag gives. Returns none when the user cancels.
fn ask(args: NewArgs) -> anyhow::Result<Option<(PathBuf, ScaffoldPlan)>> {
    let suggested = match &args.folder {
        Some(folder) => folder_name(folder)?,
        None => "my-workflow".to_owned(),
    };
    let answers = || -> Result<ScaffoldPlan, inquire::InquireError> {
        let text = |given: Option<String>, question: &str, default: &str| match given {
            Some(given) => Ok(given),
            None if default.is_empty() => Text::new(question).prompt(),
            None => Text::new(question).with_default(default).prompt(),
        };
        let name = match &args.name {
            Some(name) => name.clone(),
            None => ask_name(&suggested, args.folder.is_none())?,
        };
        let description = text(
            args.description.clone(),
            text!("What is it for? (may be empty)", "它的用途？（可以不填）"),
            "",
        )?;
        let author =
            text(args.author.clone(), text!("Author? (may be empty)", "作者？（可以不填）"), "")?;
        let shape = match args.template {
            Some(template) => shape(template),
            None => choose_shape()?,
        };
        Ok(ScaffoldPlan { name, description, author, shape })
    };
    match answers() {
        Ok(plan) => {
            let plan = ScaffoldPlan { name: checked_name(plan.name)?, ..plan };
            let folder =
                args.folder.clone().unwrap_or_else(|| PathBuf::from(names::folder(&plan.name)));
            Ok(Some((folder, plan)))
        }
        Err(
            inquire::InquireError::OperationCanceled | inquire::InquireError::OperationInterrupted,
        ) => Ok(None),
        Err(error) => Err(error).context(text!(
            "cannot ask questions in this terminal; use flags, see `crewagent package new --help`",
            "此终端无法询问；请使用参数，见 `crewagent package new --help`"
        )),
    }
}

/// Asks until the name is usable: not blank, and, where it names the folder too, not taken.
fn ask_name(suggested: &str, names_folder: bool) -> Result<String, inquire::InquireError> {
    let check = move |name: &str| {
        let problem = match checked_name(name.to_owned()) {
            Err(problem) => Some(problem.to_string()),
            Ok(name) if names_folder => author::check_folder(Path::new(&names::folder(&name)))
                .err()
                .map(|error| shown(&error)),
            Ok(_) => None,
        };
        Ok(problem.map_or(Validation::Valid, |problem| Validation::Invalid(problem.into())))
    };
    Text::new(text!("Name of the package:", "包名："))
        .with_default(suggested)
        .with_validator(check)
        .prompt()
}

fn choose_shape() -> Result<WorkflowShape, inquire::InquireError> {
    let shapes = vec![
        text!("linear: steps one after the other", "linear：步骤依次排列"),
        text!("branch: a decision with two branches", "branch：带两个分支的判断"),
        text!("loop: draft, review, revise, until it is good", "loop：起草、审阅、修改，直到满意"),
    ];
    let chosen = Select::new(text!("Which shape?", "哪种结构？"), shapes).raw_prompt()?;
    Ok(match chosen.index {
        1 => WorkflowShape::Branch,
        2 => WorkflowShape::Loop,
        _ => WorkflowShape::Linear,
    })
}

fn shape(template: TemplateArg) -> WorkflowShape {
    match template {
        TemplateArg::Linear => WorkflowShape::Linear,
        TemplateArg::Branch => WorkflowShape::Branch,
        TemplateArg::Loop => WorkflowShape::Loop,
    }
}

fn folder_name(folder: &Path) -> anyhow::Result<String> {
    let absolute = std::path::absolute(folder)
        .with_context(|| say!("cannot find `{}`", "找不到 `{}`", folder.display()))?;
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| {
        UsageError(say!(
            "`{}` has no name to take over; add --name NAME",
            "`{}` 没有可用的名称；请加上 --name NAME",
            folder.display()
        ))
        .into()
    })
}

fn checked_name(name: String) -> Result<String, UsageError> {
    if name.trim().is_empty() {
        Err(UsageError(text!("the name of a package must not be empty", "包名不能为空").into()))
    } else {
        Ok(name.trim().to_owned())
    }
}
