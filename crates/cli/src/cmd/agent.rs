//! `crewagent agent`: starts a conversation with an agent of a package, through its menu or in plain text.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crewagent_adapters::mcp::tool_servers;
use crewagent_engine::conversation::Conversation;
use crewagent_engine::runtime::{Runtime, StartConversation};
use crewagent_engine::store::{Store, scope_of};
use crewagent_format::integrity::MANIFEST;
use crewagent_format::package::Package;
use crewagent_format::package::agents::Agent as Persona;

use super::conversation::{self, ConversationDriver};
use super::package::is_path;
use super::run::{answers, chosen_settings, installed, project_folder, project_of};
use super::run_driver::AnswerSource;
use crate::args::AgentArgs;
use crate::ask::TypedInput;
use crate::console::Console;
use crate::language::{near, say, text};
use crate::model;
use crate::outcome::{Outcome, UsageError};
use crate::render::menu;
use crate::resume_hint::ResumeHint;
use crate::terminal::completion::Vocabulary;
use crate::terminal::editor::Editor;

pub(crate) fn run(
    args: AgentArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref()).with_model(args.conversation.model.as_deref());
    let store = Store::open(home.clone())?;
    let (source, asked) = chosen_source(args.package, args.agent, &store)?;
    let project = project_of(args.project, &source);
    project_folder(&project)?;
    let Some(installed) = installed(&source, &store, console)? else {
        return Ok(Outcome::Invalid);
    };
    let package = store.packages().load(&installed)?;
    let answers = answers(&args.conversation);
    let agent = match (&asked, package.agents()) {
        (Some(name), _) => named(name, &package)?,
        (None, [only]) => only,
        // Inputs need an agent to send them to; otherwise the command fails.
        (None, agents)
            if args.conversation.json
                || !(args.conversation.inputs.is_empty() || can_choose(answers)) =>
        {
            let known: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
            let known = known.join(", ");
            return Err(UsageError(say!(
                "name one of the agents: {known}",
                "请指明一个智能体：{known}"
            ))
            .into());
        }
        (None, agents) => {
            console.text(&menu::agents(agents));
            match chosen(&package, answers, console)? {
                Some(agent) => agent,
                None => {
                    let example = format!("agent {} {}", installed.name, agents[0].id);
                    console.error(say!(
                        "Name one of them: {}",
                        "请指明其中一个：{}",
                        resume_hint.command(&example)
                    ));
                    return Ok(Outcome::Done);
                }
            }
        }
    };
    // Model errors are reported before a conversation begins.
    let asked = args.conversation.model.as_deref();
    let model = model::open(asked, &store)?;
    let settings = chosen_settings(&args.conversation, &args.bounds, &store)?;
    let model = model::tiered(model, &settings, &store);
    let plan = StartConversation {
        id: None,
        package: Some(installed.clone()),
        agent: Some(agent.id.to_string()),
        project,
        settings: settings.clone(),
    };
    let runtime = Runtime::new(&store, tool_servers(&store));
    let conversation =
        Conversation::begin(&store, runtime, &plan, conversation::guest(&store, settings))?;
    ConversationDriver::new(conversation, model, &args.conversation, resume_hint, &store, home)?
        .drive_to_end(console)
}

/// Returns the source and the name of the agent. Without a source it is the current folder, and a single word that names
/// no package is the agent.
fn chosen_source(
    source: Option<PathBuf>,
    agent: Option<String>,
    store: &Store,
) -> Result<(PathBuf, Option<String>), UsageError> {
    let here = || PathBuf::from(".");
    let is_source = || here().join(MANIFEST).is_file() || !scope_of(&here()).is_empty();
    match (source, agent) {
        (Some(source), None) => {
            let word = source.to_str().filter(|_| !is_path(&source));
            let is_agent = word.is_some_and(|word| store.packages().find(word).is_err());
            match word {
                Some(word) if is_agent && is_source() => Ok((here(), Some(word.to_owned()))),
                _ => Ok((source, None)),
            }
        }
        (Some(source), agent) => Ok((source, agent)),
        (None, agent) if is_source() => Ok((here(), agent)),
        (None, _) => Err(UsageError(
            text!(
                "the current folder is no package, and holds no BMAD content and no skills; name a package or a folder",
                "当前文件夹不是包，也没有 BMAD 内容或技能；请指明包或文件夹"
            )
            .to_owned(),
        )),
    }
}

/// Returns the agent that a name means.
pub(super) fn named<'p>(name: &str, package: &'p Package) -> Result<&'p Persona, UsageError> {
    package.agent_named(name).ok_or_else(|| {
        let known: Vec<&str> = package.agents().iter().map(|agent| agent.id.as_str()).collect();
        let names = package.agents().iter().map(|agent| agent.metadata.name.as_str());
        let near = near(name, known.iter().copied().chain(names));
        let known = known.join(", ");
        UsageError(say!(
            "there is no agent `{name}` in this package{near}; it has {known}",
            "这个包里没有智能体 `{name}`{near}；它有 {known}"
        ))
    })
}

/// Returns the agent that a number or a name means.
fn find_agent<'p>(words: &str, package: &'p Package) -> Result<&'p Persona, UsageError> {
    let number = words.trim().parse::<usize>().ok();
    let numbered = number.and_then(|number| package.agents().get(number.checked_sub(1)?));
    numbered.map_or_else(|| named(words, package), Ok)
}

/// Returns true if a user can see the list and choose.
fn can_choose(answers: AnswerSource) -> bool {
    answers == AnswerSource::User && std::io::stdout().is_terminal()
}

/// Asks the user for the agent.
fn chosen<'p>(
    package: &'p Package,
    answers: AnswerSource,
    console: &mut Console,
) -> anyhow::Result<Option<&'p Persona>> {
    if !can_choose(answers) {
        return Ok(None);
    }
    console.line("");
    console.show();
    let ids = package.agents().iter().map(|agent| agent.id.to_string());
    let mut editor = Editor::open(None, Vocabulary::new(ids.collect(), None))?;
    let own = package.clone();
    let check =
        move |words: &str| find_agent(words, &own).map(drop).map_err(|error| error.to_string());
    match editor.ask(text!("Who?", "和谁谈？"), check)? {
        TypedInput::Text(words) => Ok(Some(find_agent(&words, package)?)),
        TypedInput::Leave | TypedInput::Interrupt => Ok(None),
    }
}
