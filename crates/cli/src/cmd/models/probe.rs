//! `crewagent models probe`: measures a server and stores where it differs from its profile.

use std::path::Path;

use crewagent_adapters::chat::{Client, Measurement, Probe};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::MEASURED;
use crewagent_engine::store::{ChosenModel, Environment, SettingsFile, Store};
use serde_json::{Map, Value as Json, json};

use super::over_the_network;
use super::test::heading;
use crate::args::ModelsProbeArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET};
use crate::render::flow::indented;
use crate::{ask, model};

/// The column of messages, behind the verdict and the name.
const BEHIND: usize = 22;

/// The fate of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// There are none, and none were stored before.
    Nothing,
    Written,
    DryRun,
    /// The model is not in the settings, so they cannot be stored.
    NoPlace,
    Declined,
}

pub(super) fn run(
    args: &ModelsProbeArgs,
    store: &Store,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let chosen = over_the_network(args.name.as_deref(), store)?;
    // Earlier measurements are measured again.
    let fresh = store.settings().unmeasured(&chosen);
    let endpoint =
        fresh.endpoint(&store.secrets(), &Environment::of_process()).map_err(model::key_problem)?;
    if !args.json {
        heading(text!("Measuring", "正在探测"), &chosen, console);
    }
    let client = Client::new().map_err(Halt::Model)?;
    let measured = crewagent_adapters::chat::probe(&endpoint, &client, &mut |finding| {
        if !args.json {
            human(finding, console);
            console.show();
        }
    });
    let probe = match measured {
        Ok(probe) => probe,
        Err(error) => {
            let outcome = Outcome::of_error(&Halt::Model(error).into(), console);
            let name = crate::shell::word(&chosen.name);
            console.error(say!(
                "`crewagent models test {name}` shows where it fails.",
                "`crewagent models test {name}` 可查明失败的环节。"
            ));
            return Ok(outcome);
        }
    };
    let fate = remember(args, &chosen, &probe.changes, path, console)?;
    if args.json {
        console.line(paint::json(&report(&chosen, &probe, fate)));
    } else {
        print_result(&chosen, &fresh, &probe, fate, path, console);
    }
    Ok(Outcome::Done)
}

/// Stores the changes, if the model is in the settings and the user does not object.
fn remember(
    args: &ModelsProbeArgs,
    chosen: &ChosenModel,
    changes: &Map<String, Json>,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Fate> {
    let old = chosen.settings.changes.fields();
    let is_same = MEASURED.iter().all(|name| old.get(*name) == changes.get(*name));
    if is_same {
        return Ok(Fate::Nothing);
    }
    if args.dry_run {
        return Ok(Fate::DryRun);
    }
    if !chosen.is_configured {
        return Ok(Fate::NoPlace);
    }
    if !args.yes && !args.json && ask::is_possible() {
        console.text(&table(chosen, changes));
        console.show();
        if !ask::confirm(text!("Remember this?", "保存这些结果？"))? {
            return Ok(Fate::Declined);
        }
    }
    let mut file = SettingsFile::open(path)?;
    for name in MEASURED {
        let key = ["models", &chosen.name, "changes", name];
        match changes.get(name) {
            Some(value) => file.set(&key, value)?,
            None => {
                file.remove(&key)?;
            }
        }
    }
    file.save()?;
    Ok(Fate::Written)
}

fn human(finding: &Measurement, console: &mut Console) {
    let (style, word) = match finding.found {
        Some(true) => (GOOD, text!("yes", "是")),
        Some(false) => (ERROR, text!("no", "否")),
        None => (QUIET, "?"),
    };
    let word = paint::styled(style, paint::padded(word, 3));
    let name = paint::styled(NAME, paint::padded(finding.name, 15));
    let message = indented(&paint::printable(&finding.message), BEHIND, paint::text_width());
    console.line(format_args!("{word}  {name}  {message}"));
}

/// Describes the result.
fn print_result(
    chosen: &ChosenModel,
    fresh: &ChosenModel,
    probe: &Probe,
    fate: Fate,
    path: &Path,
    console: &mut Console,
) {
    let profile = paint::printable(&fresh.profile_name);
    console.line("");
    match fate {
        Fate::Nothing if probe.changes.is_empty() => {
            console.line(say!(
                "The server is as the profile {profile} says.",
                "服务器与服务商配置 {profile} 一致。"
            ));
        }
        Fate::Nothing => console.line(text!(
            "Where the server differs from its profile is known already.",
            "服务器与其服务商配置的差异已经保存过。"
        )),
        Fate::Written => {
            console.text(&table(chosen, &probe.changes));
            console.line(say!(
                "{} in {}",
                "{} {}",
                paint::styled(GOOD, text!("remembered", "已保存到")),
                path.display()
            ));
        }
        Fate::DryRun => {
            console.text(&table(chosen, &probe.changes));
            console.line(text!("Nothing was written.", "没有写入任何内容。"));
        }
        Fate::NoPlace => {
            console.text(&table(chosen, &probe.changes));
            console.line(text!("The model is not set up, so nothing was written; `crewagent models add` sets it up.", "这个模型尚未配置，因此没有写入；用 `crewagent models add` 添加。"));
        }
        Fate::Declined => console.line(text!("Nothing was written.", "没有写入任何内容。")),
    }
}

/// Formats the changes as settings.
fn table(chosen: &ChosenModel, changes: &Map<String, Json>) -> String {
    if changes.is_empty() {
        return text!("Nothing differs from the profile any more.\n", "与服务商配置已无差异。\n")
            .to_owned();
    }
    let name = Json::from(chosen.name.as_str()).to_string();
    let is_bare = chosen.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let name = if is_bare { &chosen.name } else { &name };
    let mut text = format!("[models.{name}.changes]\n");
    for (field, value) in changes {
        text.push_str(&format!("{field} = {value}\n"));
    }
    paint::printable_lines(&text) + "\n"
}

fn report(chosen: &ChosenModel, probe: &Probe, fate: Fate) -> Json {
    json!({
        "model": chosen.name,
        "profile": chosen.profile_name,
        "findings": probe.findings,
        "changes": probe.changes,
        "written": fate == Fate::Written,
    })
}
