//! `crewagent models …`: manages and tests models.

mod add;
mod ask;
mod list;
mod probe;
mod rm;
mod test;

use std::path::PathBuf;

use crewagent_adapters::names::NamedModel;
use crewagent_engine::store::{ChosenModel, Environment, Settings, SettingsFile, Store};
use serde_json::json;

use crate::args::{ModelsArgs, ModelsCommand, ModelsUseArgs};
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::model;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};

pub(crate) fn run(
    args: ModelsArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let folder = home.clone().map_or_else(Store::default_home, Ok)?;
    let store = Store::open(home)?;
    let path = Settings::path(&folder);
    match args.command.unwrap_or(ModelsCommand::List(args.list)) {
        ModelsCommand::List(args) => list::run(&args, &store, console),
        ModelsCommand::Add(args) => add::run(*args, &store, &path, console),
        ModelsCommand::Use(args) => choose(&args, &store, SettingsFile::open(&path)?, console),
        ModelsCommand::Test(args) => test::run(&args, &store, console),
        ModelsCommand::Probe(args) => probe::run(&args, &store, &path, console),
        ModelsCommand::Rm(args) => rm::run(&args, &store, &path, console),
    }
}

/// Makes a model the default of runs.
fn choose(
    args: &ModelsUseArgs,
    store: &Store,
    mut file: SettingsFile,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let name = args.name.trim();
    if !name.starts_with("scripted:") && !name.starts_with("replay:") {
        let known = store.settings().model(name, "", &Environment::of_process());
        known.map_err(|error| UsageError(shown(&error)))?;
    }
    file.set(&["run", "model"], &name.into())?;
    file.save()?;
    if args.json {
        console.line(paint::json(&json!({ "model": name })));
        return Ok(Outcome::Done);
    }
    told_use(name, console);
    Ok(Outcome::Done)
}

fn told_use(name: &str, console: &mut Console) {
    let name = paint::styled(NAME, paint::printable(name));
    console.line(say!(
        "{} {name} from now on",
        "{} {name}",
        paint::styled(GOOD, text!("runs use", "运行将使用"))
    ));
    // Warns about a setting that something else overrides.
    if let Ok(other) = std::env::var("CREWAGENT_MODEL")
        && !other.trim().is_empty()
    {
        let other = paint::printable(other.trim());
        console.error(say!(
            "CREWAGENT_MODEL is set, so {other} is used until it is not",
            "已设置 CREWAGENT_MODEL，取消之前会使用 {other}"
        ));
    }
}

/// Returns the network model that a name means, or the default one.
fn over_the_network(name: Option<&str>, store: &Store) -> Result<Box<ChosenModel>, UsageError> {
    let of_a_file = |name: String| {
        UsageError(say!(
            "`{name}` answers from a file, so there is nothing to try out; name a model over the network",
            "`{name}` 从文件作答，无需测试；请指明一个网络上的模型"
        ))
    };
    match model::choose(name, store)? {
        NamedModel::Chat(chosen) => Ok(chosen),
        NamedModel::Scripted(file) => Err(of_a_file(format!("scripted:{file}"))),
        NamedModel::Replay(run) => Err(of_a_file(format!("replay:{run}"))),
    }
}
