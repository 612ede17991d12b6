//! `crewagent run`: runs a workflow of a package on a project.

use std::path::{Path, PathBuf};

use crewagent_adapters::mcp::tool_servers;
use crewagent_core::forecast::Forecast;
use crewagent_core::policy::{Policy, Tightening};
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_engine::control::Control;
use crewagent_engine::model::Model;
use crewagent_engine::runtime::{Adopt, Runtime, StartRun};
use crewagent_engine::store::{ImportError, Installed, PreparedImport, Store, scope_of};
use crewagent_format::diagnostic::Severity;

use serde_json::json;

use super::package::is_path;
use super::record::Recorder;
use super::run_driver::{self, AnswerSource, Farewell, RunDriver, RunOutput};
use crate::args::{BoundsArgs, ConversationOptions, RunArgs};
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::render::{self, ReportOptions};
use crate::resume_hint::ResumeHint;
use crate::terminal::spinner::Spinner;
use crate::{ask, interrupt, model, paint, shell, terminal};

pub(crate) fn run(
    args: RunArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref())
        .with_model(args.conversation.model.as_deref())
        .with_record(args.recording.record.as_ref());
    let store = Store::open(home.clone())?;
    // Errors of the command line are reported before anything is created.
    let Some(package) = find(&args.package, &store, console)? else {
        return Ok(Outcome::Invalid);
    };
    let asked = args.conversation.model.as_deref();
    let model = model::open(asked, &store)?;
    let project = project_of(args.project, &args.package);
    project_folder(&project)?;
    let recorder = Recorder::open(&args.recording)?;
    let package = package.install(console)?;
    let settings = chosen_settings(&args.conversation, &args.bounds, &store)?;
    let model = model::tiered(model, &settings, &store);
    let adopt = match args.adopt {
        Some(file) => Adopt::File(file),
        // There is no user to ask.
        None if args.no_adopt || answers(&args.conversation) == AnswerSource::None => Adopt::No,
        None => Adopt::Ask,
    };
    let plan = StartRun {
        package,
        workflow: args.workflow,
        agent: args.agent,
        project,
        variables: args.variables.into_iter().map(|one| (one.key, one.value)).collect(),
        settings,
        user_name: store.user_name(),
        id: None,
        conversation: None,
        data: None,
        earlier: Vec::new(),
        adopt,
    };
    let runtime = Runtime::new(&store, tool_servers(&store));
    if args.forecast {
        return foretell(&runtime.forecast(&plan)?, args.conversation.json, console);
    }
    let run = runtime.start(&plan)?;
    let control = Control::default();
    let output = open_output(&args.conversation, &run, &*model, &control, &store, console)?;
    let answers = answers(&args.conversation);
    let prompt = run_driver::open_prompt(answers, &run, home)?;
    let inputs = args.conversation.inputs.into();
    let (id, farewell) = (run.record().run_id.clone(), Farewell::Resume);
    let opening = args.message;
    let driver = RunDriver {
        run,
        opening,
        model,
        control,
        inputs,
        answers,
        prompt,
        output,
        resume_hint: resume_hint.clone(),
        farewell,
    };
    let played = driver.drive_to_end(console);
    recorded(recorder, played, |recorder| recorder.write(&id, &store, &resume_hint, console))
}

/// Prints the forecast of a run that is not started.
fn foretell(
    forecast: &Option<Forecast>,
    is_json: bool,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    match forecast {
        _ if is_json => console.line(paint::json(&json!({ "forecast": forecast }))),
        Some(forecast) => console.text(&render::forecast::lines(forecast)),
        None => {
            let words = text!(
                "there is no forecast for a model that answers from a file; name another one with --model",
                "从文件作答的模型无法估算；请用 --model 指明别的模型"
            );
            return Err(UsageError(words.to_owned()).into());
        }
    }
    Ok(Outcome::Done)
}

/// Returns the project: the folder that was asked for, else the source if BMAD is installed in it, else the current folder.
pub(crate) fn project_of(asked: Option<PathBuf>, source: &Path) -> PathBuf {
    asked.unwrap_or_else(|| {
        let is_project = scope_of(source).has_installation();
        if is_project { source.to_owned() } else { PathBuf::from(".") }
    })
}

/// Combines the outcomes of the run and of its recording.
pub(crate) fn recorded(
    recorder: Option<Recorder>,
    played: anyhow::Result<Outcome>,
    write: impl FnOnce(&Recorder) -> Outcome,
) -> anyhow::Result<Outcome> {
    let written = recorder.as_ref().map_or(Outcome::Done, write);
    played.map(|outcome| outcome.max(written))
}

/// Checks that the project is a writable folder, so that the run does not fail only at its first write.
pub(crate) fn project_folder(project: &Path) -> anyhow::Result<()> {
    if project.is_dir() {
        return writable(project);
    }
    let what = if project.exists() {
        text!("is not a folder", "不是文件夹")
    } else {
        text!("does not exist", "不存在")
    };
    let advice = text!(
        "make it first, or name another one with --project",
        "请先创建，或用 --project 指定别的文件夹"
    );
    Err(UsageError(say!(
        "the project folder `{}` {what}; {advice}",
        "项目文件夹 `{}` {what}；{advice}",
        project.display()
    ))
    .into())
}

/// Checks that the user may write to the project.
pub(crate) fn writable(project: &Path) -> anyhow::Result<()> {
    may_write(project).map_err(|error| {
        anyhow::Error::msg(say!(
            "the project folder `{}` cannot be written: {error}; make it writable for you",
            "项目文件夹 `{}` 无法写入：{error}；请为自己开放写权限",
            project.display()
        ))
    })
}

#[cfg(unix)]
fn may_write(folder: &Path) -> std::io::Result<()> {
    use rustix::fs::Access;
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

#[cfg(not(unix))]
fn may_write(folder: &Path) -> std::io::Result<()> {
    match folder.metadata()?.permissions().readonly() {
        true => Err(std::io::ErrorKind::PermissionDenied.into()),
        false => Ok(()),
    }
}

/// Prints the header of a run and returns the view of its events. From here on Ctrl-C controls this run.
pub(crate) fn open_output(
    conversation: &ConversationOptions,
    run: &crewagent_engine::runtime::Run,
    model: &dyn Model,
    control: &Control,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<RunOutput> {
    let is_live = !conversation.json && terminal::is_live();
    let spinner = if is_live { Spinner::start() } else { Spinner::default() };
    interrupt::watch(control.clone(), spinner.clone())?;
    if conversation.json {
        return Ok(RunOutput::Json);
    }
    let package = run_driver::package_of(run.record(), store);
    let names = run_driver::names_of(run.record(), package.as_deref());
    let project = run.project_folder().display().to_string();
    console.text(&render::header::header(run.record(), &names, &project));
    console.text(&render::forecast::of_opening(run.opening()));
    console.text(&render::header::notes(run.opening()));
    Ok(RunOutput::Human(run_driver::live_view(run, names, spinner, store, model.name())))
}

/// Returns who answers after the inputs of the command line.
pub(crate) fn answers(conversation: &ConversationOptions) -> AnswerSource {
    if conversation.json || conversation.no_input || !ask::is_possible() {
        AnswerSource::None
    } else {
        AnswerSource::User
    }
}

/// Returns the settings of a run with the models and limits of the command line.
pub(crate) fn chosen_settings(
    conversation: &ConversationOptions,
    bounds: &BoundsArgs,
    store: &Store,
) -> Result<RunSettings, UsageError> {
    let (asked, given) = (conversation.model.as_deref(), conversation.given_tiers());
    model::check_tiers(&given, store)?;
    let tiers = store.settings().tiers_of(asked, &given);
    let settings = RunSettings { tiers, ..store.settings().for_runs_with(asked) };
    Ok(bounded(settings, bounds))
}

/// Returns the policy of the command line, which can only tighten.
pub(crate) fn tightening(bounds: &BoundsArgs) -> Policy {
    let tightening = Tightening {
        ask_writes: bounds.ask_writes,
        allow: bounds.allow.clone(),
        ask: bounds.ask.clone(),
        deny: bounds.deny.clone(),
        max_read_bytes: bounds.max_read_bytes,
        max_write_bytes: bounds.max_write_bytes,
        call_seconds: bounds.call_timeout.map(|timeout| timeout.seconds()),
    };
    Policy { strict: bounds.strict, ..tightening.policy() }
}

/// Applies the command line to the settings.
pub(crate) fn bounded(mut settings: RunSettings, bounds: &BoundsArgs) -> RunSettings {
    if bounds.guided {
        settings.mode = Mode::Guided;
    }
    settings.policy = settings.policy.and(&tightening(bounds));
    settings.state_tools = bounds.state_tools.unwrap_or(settings.state_tools);
    settings.outputs = bounds.outputs.unwrap_or(settings.outputs);
    let limits = &mut settings.limits;
    limits.turns = bounds.max_turns.unwrap_or(limits.turns);
    limits.tokens = bounds.max_tokens.or(limits.tokens);
    limits.cost = bounds.max_cost.map(f64::from).or(limits.cost);
    limits.seconds = bounds.timeout.map(|timeout| timeout.seconds()).or(limits.seconds);
    settings
}

/// A package that was found and checked; one outside the store is not imported yet.
pub(crate) enum RunnablePackage<'s> {
    Installed(Installed),
    Checked(Box<PreparedImport<'s>>, PathBuf),
}

/// Finds the package that PACKAGE means, and changes nothing. Prints the findings of an invalid one and returns none.
pub(crate) fn find<'s>(
    reference: &Path,
    store: &'s Store,
    console: &mut Console,
) -> anyhow::Result<Option<RunnablePackage<'s>>> {
    let packages = store.packages();
    if !is_path(reference) {
        let name = reference.to_string_lossy();
        let found = packages.find(&name).map_err(|error| {
            UsageError(say!(
                "{} (and no file or folder has this name)",
                "{}（也没有这个名称的文件或文件夹）",
                shown(&error)
            ))
        })?;
        return Ok(Some(RunnablePackage::Installed(found)));
    }
    match packages.prepare(reference) {
        Ok(prepared) => {
            super::package::announce(prepared.package(), console);
            Ok(Some(RunnablePackage::Checked(Box::new(prepared), reference.to_owned())))
        }
        Err(ImportError::Rejected(rejection)) => {
            let (name, options) = (reference.display().to_string(), ReportOptions::ASIDE);
            render::findings(&name, &rejection.findings, &rejection.sources, options, console);
            console.error(paint::styled(paint::QUIET, text!("Nothing was run.", "没有运行。")));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl RunnablePackage<'_> {
    /// Returns the package in the store; one from outside is imported. Its warnings are for its author, so one line says
    /// where they are.
    pub(crate) fn install(self, console: &mut Console) -> anyhow::Result<Installed> {
        let (prepared, path) = match self {
            Self::Installed(installed) => return Ok(installed),
            Self::Checked(prepared, path) => (prepared, path),
        };
        let is_new = prepared.foreign().is_some_and(|foreign| !foreign.is_known);
        let parts = (prepared.package().agents().len(), prepared.package().workflows().len());
        let imported = prepared.commit(&mut || super::package::waiting(console))?;
        if is_new {
            let line = say!(
                "Imported {}: {} and {}",
                "已导入 {}：{}，{}",
                imported.installed.name,
                paint::counted(parts.0, ("agent", "个智能体")),
                paint::counted(parts.1, ("workflow", "个流程"))
            );
            console.error(paint::styled(paint::QUIET, paint::printable(&line)));
        }
        let warnings = imported.findings.count(Severity::Warning);
        if warnings > 0 {
            let count = paint::counted(warnings, ("warning", "个警告"));
            let (name, path) = (&imported.installed.name, shell::path(&path));
            let line = say!(
                "{name} has {count} for its author: crewagent package validate {path}",
                "{name} 有 {count}，供作者查看：crewagent package validate {path}"
            );
            console.error(paint::styled(paint::QUIET, paint::printable(&line)));
        }
        Ok(imported.installed)
    }
}

/// Returns the package in the store that PACKAGE means; files and folders are imported first. Prints the findings of an
/// invalid one and returns none.
pub(crate) fn installed(
    reference: &Path,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Option<Installed>> {
    match find(reference, store, console)? {
        Some(found) => Ok(Some(found.install(console)?)),
        None => Ok(None),
    }
}
