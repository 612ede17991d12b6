//! `crewagent models test`: tests the connection to a model, step by step.

use crewagent_adapters::chat::{Client, StepStatus, TestStep, test_connection};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{ChosenModel, Environment, SecretError, Store};
use serde_json::json;

use super::over_the_network;
use crate::args::ModelsTestArgs;
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::model;
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET};
use crate::render::flow::indented;

/// The column of messages, behind the verdict and the name.
const BEHIND: usize = 20;

pub(super) fn run(
    args: &ModelsTestArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let chosen = over_the_network(args.name.as_deref(), store)?;
    let environment = Environment::of_process();
    let (endpoint, no_key) = match chosen.endpoint(&store.secrets(), &environment) {
        Ok(endpoint) => (endpoint, None),
        // The connection can be tested without a key.
        Err(error @ (SecretError::Missing { .. } | SecretError::Elsewhere { .. })) => {
            (chosen.bare_endpoint(), Some(shown(&error)))
        }
        Err(error) => return Err(model::key_problem(error)),
    };
    if !args.json {
        heading(text!("Trying out", "正在测试"), &chosen, console);
    }
    let client = Client::new().map_err(Halt::Model)?;
    let steps = test_connection(&endpoint, no_key.as_deref(), &client, &mut |step| {
        if !args.json {
            human(step, console);
            console.show();
        }
    })
    .map_err(Halt::Model)?;
    let failed = steps.iter().find(|step| step.status == StepStatus::Failed);
    if args.json {
        let report = json!({
            "model": chosen.name,
            "ok": failed.is_none(),
            "failed": failed.map(|step| step.name),
            "steps": steps,
        });
        console.line(paint::json(&report));
    } else {
        match failed {
            None => console.line(text!("\nThe model works.", "\n模型工作正常。")),
            Some(step) => console.line(say!("\nIt fails at: {}", "\n失败于：{}", step.name.word())),
        }
    }
    Ok(if failed.is_none() { Outcome::Done } else { Outcome::ModelFailed })
}

/// Names what is tested or measured.
pub(super) fn heading(verb: &str, chosen: &ChosenModel, console: &mut Console) {
    let details = say!(
        "{} ({} at {}, profile {})",
        "{}（{}，地址 {}，服务商配置 {}）",
        chosen.name,
        chosen.settings.model,
        chosen.base_url,
        chosen.profile_name
    );
    console.line(format_args!("{verb} {}\n", paint::styled(NAME, paint::printable(&details))));
    console.show();
}

fn human(step: &TestStep, console: &mut Console) {
    let (style, word) = match step.status {
        StepStatus::Ok => (GOOD, text!("ok", "通过")),
        StepStatus::Failed => (ERROR, text!("failed", "失败")),
        StepStatus::Skipped => (QUIET, text!("skipped", "跳过")),
    };
    let word = paint::styled(style, paint::padded(word, 7));
    let name = paint::styled(NAME, paint::padded(step.name.word(), 9));
    let message = indented(&paint::printable(&step.message), BEHIND, paint::text_width());
    console.line(format_args!("{word}  {name}  {message}"));
    if let Some(advice) = &step.advice {
        let advice = indented(&paint::printable(advice), BEHIND + 2, paint::text_width());
        let indent = " ".repeat(BEHIND);
        console.line(format_args!("{indent}{} {advice}", paint::styled(ACCENT, "→")));
    }
}
