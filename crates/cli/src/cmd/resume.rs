//! `crewagent resume`: continues a run.

use std::path::{Path, PathBuf};

use crewagent_adapters::mcp::tool_servers;
use crewagent_core::event::{
    AssistantMessage, Event, EventKind, ModelEvent, Phase, UserAsked, UserEvent,
};
use crewagent_core::settings::Mode;
use crewagent_engine::control::Control;
use crewagent_engine::runtime::{Runtime, SettingsChange};
use crewagent_engine::store::{Of, RunId, Store};

use super::record::Recorder;
use super::run::{answers, open_output, recorded, tightening, writable};
use super::run_driver::{self, Farewell, RunDriver, RunOutput};
use crate::args::{BoundsArgs, ConversationOptions, ResumeArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::model;
use crate::outcome::{Outcome, UsageError};
use crate::render::question::Asker;
use crate::render::summary;
use crate::resume_hint::ResumeHint;

pub(crate) fn run(
    args: ResumeArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref())
        .with_model(args.conversation.model.as_deref())
        .with_record(args.recording.record.as_ref());
    let store = Store::open(home.clone())?;
    let id = chosen(&args, &store)?;
    let asked = args.conversation.model.as_deref();
    let change = change(&args.conversation, &args.bounds);
    model::check_tiers(&change.tiers, &store)?;
    let asked = model::asked(asked, &store)?;
    let recorder = Recorder::going_on(&args.recording, &id, &store)?;
    let run = Runtime::new(&store, tool_servers(&store)).resume(&id, &change)?;
    let model = model::tiered(model::or_own(asked, &run, &store)?, run.settings(), &store);
    if let Err(error) = writable(run.project_folder()) {
        let outcome = Outcome::of_error(&error, console);
        let next = summary::next(
            text!("Nothing is lost. Go on with:", "没有内容丢失。继续："),
            &[resume_hint.resume(run.id())],
        );
        console.error(next.trim_end());
        return Ok(outcome);
    }
    let control = Control::default();
    let mut output = open_output(&args.conversation, &run, &*model, &control, &store, console)?;
    if let (RunOutput::Human(view), Some(rest)) = (&mut output, run.rest())
        && rest.phase == Phase::WaitingUser
    {
        let events = store.runs().look(&id).map(|view| view.recovered.events).unwrap_or_default();
        let asked = rest.question.as_ref().map(|question| (question, asker(&events)));
        let why = rest.message.as_deref();
        console.text(&view.screen.recall(last_words(&events), why, asked));
    }
    let answers = answers(&args.conversation);
    let prompt = run_driver::open_prompt(answers, &run, home)?;
    let inputs = args.conversation.inputs.into();
    let farewell = Farewell::Resume;
    let driver = RunDriver {
        run,
        opening: None,
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

/// Returns the run to resume.
fn chosen(args: &ResumeArgs, store: &Store) -> anyhow::Result<RunId> {
    match (&args.run, &args.project) {
        (Some(reference), Some(folder)) => return chosen_in(folder, reference, store),
        (Some(reference), None) => return super::runs::find(reference, store),
        (None, _) => {}
    }
    let runs = store.runs();
    if let Some(folder) = &args.project {
        let project = store.projects().at(folder)?;
        let newest = match &project {
            Some(project) => runs.newest_unfinished(Of::Project(&project.id))?,
            None => None,
        };
        return newest.ok_or_else(|| {
            UsageError(say!(
                "`{}` has no unfinished run; `crewagent runs list --all` shows what there is",
                "`{}` 没有未完成的运行；`crewagent runs list --all` 列出所有运行",
                folder.display()
            ))
            .into()
        });
    }
    if let Some(project) = store.projects().at(Path::new("."))?
        && let Some(id) = runs.newest_unfinished(Of::Project(&project.id))?
    {
        return Ok(id);
    }
    runs.newest_unfinished(Of::All)?.ok_or_else(|| {
        UsageError(
            text!(
                "there is no unfinished run; `crewagent run PACKAGE` starts one",
                "没有未完成的运行；`crewagent run PACKAGE` 开始一次"
            )
            .to_owned(),
        )
        .into()
    })
}

/// Returns the run of a project to resume.
fn chosen_in(folder: &Path, reference: &str, store: &Store) -> anyhow::Result<RunId> {
    let own = match store.projects().at(folder)? {
        Some(project) => super::runs::find_in(Of::Project(&project.id), reference, store),
        None => Err(UsageError(say!("`{}` has no runs", "`{}` 没有运行", folder.display())).into()),
    };
    own.map_err(|error| match store.runs().find(reference) {
        Ok(id) => UsageError(say!("the run {id} belongs to another project than `{}`; leave out --project to go on with it", "运行 {id} 不属于项目 `{}`；去掉 --project 即可继续",
            folder.display()
        ))
        .into(),
        Err(_) => error,
    })
}

pub(crate) fn change(conversation: &ConversationOptions, bounds: &BoundsArgs) -> SettingsChange {
    SettingsChange {
        model: conversation.model.clone(),
        tiers: conversation.given_tiers(),
        mode: bounds.guided.then_some(Mode::Guided),
        turns: bounds.max_turns,
        seconds: bounds.timeout.map(|timeout| timeout.seconds()),
        tokens: bounds.max_tokens,
        cost: bounds.max_cost.map(f64::from),
        strict: bounds.strict,
        policy: Some(tightening(bounds)),
    }
}

/// Returns the model's last message.
fn last_words(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| {
        let EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) = &event.kind
        else {
            return None;
        };
        reply.content.as_deref().map(str::trim).filter(|it| !it.is_empty())
    })
}

/// Returns who asked the last question.
fn asker(events: &[Event]) -> Asker {
    let last = events.iter().rev().find_map(|event| {
        let EventKind::User(UserEvent::Asked(UserAsked { moved, .. })) = &event.kind else {
            return None;
        };
        Some(if moved.is_some() { Asker::Runtime } else { Asker::Model })
    });
    last.unwrap_or(Asker::Model)
}
