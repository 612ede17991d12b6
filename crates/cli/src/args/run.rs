//! The arguments of `crewagent run` and `crewagent resume`.

use crate::complete;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use crewagent_core::policy::rules::ToolPattern;
use crewagent_core::settings::StateTools;
use crewagent_core::state::visit_files::OutputRule;
use crewagent_engine::store::{Cost, Timeout};
use crewagent_format::package::step::Tier;
use serde_json::Value as Json;

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// A package: a folder, a .bmad file, or an imported NAME or NAME@VERSION; or a BMAD project or skills
    #[arg(value_name = "SOURCE", add = complete::package())]
    pub(crate) package: PathBuf,
    /// The workflow to run [default: the package's default workflow]
    #[arg(long, value_name = "ID", add = complete::workflows())]
    pub(crate) workflow: Option<String>,
    /// The agent that runs it [default: the first whose menu starts this workflow, otherwise the first]
    #[arg(long, value_name = "ID", add = complete::agents())]
    pub(crate) agent: Option<String>,
    /// The folder to work on [default: SOURCE if BMAD is installed in it, otherwise the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Set a variable of the workflow; a VALUE that is valid JSON is read as JSON
    #[arg(long = "var", value_name = "KEY=VALUE")]
    pub(crate) variables: Vec<Variable>,
    /// Say this to the model with its first request
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Go on with this half-done document of the project
    #[arg(long, value_name = "FILE", conflicts_with = "no_adopt")]
    pub(crate) adopt: Option<String>,
    /// Begin at the first step, also where a document is half done
    #[arg(long)]
    pub(crate) no_adopt: bool,
    /// Only say what the run may cost; nothing is run
    #[arg(long)]
    pub(crate) forecast: bool,
    #[command(flatten)]
    pub(crate) conversation: ConversationOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The run: its id, the start or end of it, or `latest` [default: the newest unfinished run of the project, otherwise of the store]
    #[arg(value_name = "RUN", add = complete::runs())]
    pub(crate) run: Option<String>,
    /// Only consider runs of this project [default: any; without RUN, the current folder first]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conversation: ConversationOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
}

/// Inputs, model and output of a run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ConversationOptions {
    /// Your input at the first, second, … point where the run waits for you
    #[arg(long = "input", value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) inputs: Vec<String>,
    /// The model: a configured one, PROFILE/MODEL, scripted:FILE or replay:RUN [env: CREWAGENT_MODEL] [default: the setting run.model]
    #[arg(long, value_name = "NAME", help_heading = "Model", add = complete::models())]
    pub(crate) model: Option<String>,
    /// The model for steps of a tier: fast=NAME, strong=NAME or review=NAME [default: the settings; none with --model]
    #[arg(long = "tier", value_name = "TIER=NAME", help_heading = "Model")]
    pub(crate) tiers: Vec<GivenTier>,
    /// Print one JSON event per line, for programs; never asks
    #[arg(long, help_heading = "For programs")]
    pub(crate) json: bool,
    /// Never ask; exit where the run waits for you
    #[arg(long, help_heading = "For programs")]
    pub(crate) no_input: bool,
}

impl ConversationOptions {
    /// Returns the models that are named for tiers; the last one of a tier counts.
    pub(crate) fn given_tiers(&self) -> BTreeMap<Tier, String> {
        self.tiers.iter().map(|given| (given.tier, given.model.clone())).collect()
    }
}

/// Limits of what a run may do by itself. Everything counts from the last input.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct BoundsArgs {
    /// Ask before each move of the model
    #[arg(long, help_heading = "Control")]
    pub(crate) guided: bool,
    /// Let only the runtime write the state document
    #[arg(long, help_heading = "Control")]
    pub(crate) strict: bool,
    /// How the model is told to change the state: with a tool, or by editing the document
    #[arg(long, value_name = "MANNER", value_parser = state_tools, help_heading = "Control")]
    pub(crate) state_tools: Option<StateTools>,
    /// Which files count as outputs of a node: those that the node changed, or all that exist
    #[arg(long, value_name = "RULE", value_parser = outputs, help_heading = "Control")]
    pub(crate) outputs: Option<OutputRule>,
    /// Show every change of a project file and wait for your approval
    #[arg(long, help_heading = "Tools")]
    pub(crate) ask_writes: bool,
    /// Deny these tools: fs.search, fs.*, mcp.github.*, *, or writing below a folder: fs.*(@project/src)
    #[arg(long, value_name = "RULE", help_heading = "Tools")]
    pub(crate) deny: Vec<ToolPattern>,
    /// Ask before these tools are used
    #[arg(long, value_name = "RULE", help_heading = "Tools")]
    pub(crate) ask: Vec<ToolPattern>,
    /// Exempt these tools from --deny and --ask; the settings still apply
    #[arg(long, value_name = "RULE", help_heading = "Tools")]
    pub(crate) allow: Vec<ToolPattern>,
    /// Read at most N bytes of a file at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Tools")]
    pub(crate) max_read_bytes: Option<u64>,
    /// Write at most N bytes to a file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Tools")]
    pub(crate) max_write_bytes: Option<u64>,
    /// Cancel a tool call after this time, such as 90s
    #[arg(long, value_name = "TIME", help_heading = "Tools")]
    pub(crate) call_timeout: Option<Timeout>,
    /// Stop after N requests to the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub(crate) max_turns: Option<u64>,
    /// Stop after N tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after this cost in dollars
    #[arg(long, value_name = "AMOUNT", help_heading = "Limits")]
    pub(crate) max_cost: Option<Cost>,
    /// Stop after this time, such as 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) timeout: Option<Timeout>,
}

/// Recording of the run as a scenario.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RecordingArgs {
    /// Write the whole run to FILE as a scenario when it stops; `--model scripted:FILE` replays it
    #[arg(long, value_name = "FILE", help_heading = "For programs")]
    pub(crate) record: Option<PathBuf>,
    /// Let --record overwrite an existing file
    #[arg(long, requires = "record", help_heading = "For programs")]
    pub(crate) force: bool,
}

/// `TIER=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenTier {
    pub(crate) tier: Tier,
    pub(crate) model: String,
}

impl FromStr for GivenTier {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = text.split_once('=').map(|(tier, model)| (Tier::named(tier), model.trim()));
        match named {
            Some((Some(tier), model)) if !model.is_empty() => {
                Ok(Self { tier, model: model.to_owned() })
            }
            _ => Err("expected fast=NAME, strong=NAME or review=NAME"),
        }
    }
}

/// `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) key: String,
    pub(crate) value: Json,
}

impl FromStr for Variable {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value_of(value) })
            }
            _ => Err("expected KEY=VALUE"),
        }
    }
}

/// JSON where it is JSON, else the text. A number that JSON would write otherwise, such as 1.10, stays a text.
fn value_of(text: &str) -> Json {
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Number(number)) if number.to_string() != text => text.into(),
        Ok(value) => value,
        Err(_) => text.into(),
    }
}

/// Reads how the model is told to change the state.
fn state_tools(text: &str) -> Result<StateTools, String> {
    match text {
        "auto" => Ok(StateTools::Auto),
        "tool" => Ok(StateTools::Tool),
        "document" => Ok(StateTools::Document),
        _ => Err("expected auto, tool or document".to_owned()),
    }
}

/// Reads which files count as outputs.
fn outputs(text: &str) -> Result<OutputRule, String> {
    match text {
        "changed" => Ok(OutputRule::Changed),
        "exist" => Ok(OutputRule::Exist),
        _ => Err("expected changed or exist".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_variable(text: &str, expected: Option<(&str, Json)>) {
        let variable = text.parse::<Variable>().ok().map(|Variable { key, value }| (key, value));
        assert_eq!(variable, expected.map(|(key, value)| (key.to_owned(), value)), "{text}");
    }

    #[test]
    fn a_variable_is_json_where_that_loses_nothing() {
        check_variable("story=1-2-login", Some(("story", json!("1-2-login"))));
        check_variable("n=3", Some(("n", json!(3))));
        check_variable("ok=true", Some(("ok", json!(true))));
        check_variable("list=[1, 2]", Some(("list", json!([1, 2]))));
        check_variable("quoted=\"3\"", Some(("quoted", json!("3"))));
        check_variable("version=1.10", Some(("version", json!("1.10"))));
        check_variable("id=007", Some(("id", json!("007"))));
        check_variable("expr=a=b", Some(("expr", json!("a=b"))));
        check_variable("empty=", Some(("empty", json!(""))));
        check_variable("=x", None);
        check_variable("novalue", None);
    }
}
