//! `[run]` table: settings of a run unless its command line overrides them.

use std::num::NonZeroU64;

use crewagent_core::settings::{Limits, Mode, RunSettings, StateTools, Tiers};
use crewagent_core::state::guard::MissingRule;
use crewagent_core::state::visit_files::OutputRule;
use serde::{Deserialize, Serialize};

use super::policy::PolicySettings;
use super::timeout::Timeout;

/// Defaults of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunDefaults {
    /// Same form as `--model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name by which steps address the user; the login name when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_name: Option<String>,
    pub mode: Mode,
    /// Requests to the model for one input.
    pub max_turns: NonZeroU64,
    /// Time for one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
    /// Tokens for one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<NonZeroU64>,
    /// Cost of one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Cost>,
    /// Rule for a node that is left without a declared output.
    pub missing_outputs: MissingRule,
    /// Files that count as outputs of a node.
    pub outputs: OutputRule,
    /// Largest step text that is included in the brief.
    pub inline_step_bytes: u64,
    /// Largest input that the brief shows whole.
    pub inline_input_bytes: u64,
    /// Size of all inputs that the brief shows.
    pub inline_inputs_bytes: u64,
    /// Manner in which a model is told to change the state.
    pub state_tools: StateTools,
    /// Context window of the model; what is known of the model when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<NonZeroU64>,
}

/// Cost limit: a number above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Cost(f64);

impl TryFrom<f64> for Cost {
    type Error = &'static str;

    fn try_from(amount: f64) -> Result<Self, Self::Error> {
        if amount.is_finite() && amount > 0.0 {
            Ok(Self(amount))
        } else {
            Err("an amount of money must be a number above zero")
        }
    }
}

impl std::str::FromStr for Cost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let amount: f64 = text.parse().map_err(|_| "expected a number, such as 0.50")?;
        Self::try_from(amount)
    }
}

impl From<Cost> for f64 {
    fn from(cost: Cost) -> Self {
        cost.0
    }
}

impl Default for RunDefaults {
    fn default() -> Self {
        let RunSettings {
            mode,
            limits,
            missing,
            outputs,
            inline_step_bytes,
            inline_input_bytes,
            inline_inputs_bytes,
            state_tools,
            ..
        } = RunSettings::default();
        Self {
            model: None,
            user_name: None,
            mode,
            max_turns: NonZeroU64::new(limits.turns).unwrap_or(NonZeroU64::MIN),
            timeout: None,
            max_tokens: None,
            max_cost: None,
            missing_outputs: missing,
            outputs,
            inline_step_bytes,
            inline_input_bytes,
            inline_inputs_bytes,
            state_tools,
            window_tokens: None,
        }
    }
}

impl RunDefaults {
    /// Returns the context window of a run: as set by the user, else the model's, else the default.
    pub(super) fn window(&self, model: Option<u64>) -> u64 {
        let said = self.window_tokens.map(NonZeroU64::get);
        said.or(model).unwrap_or(RunSettings::default().window_tokens)
    }

    /// Returns the settings of a run under this policy.
    pub(super) fn with(&self, policy: &PolicySettings) -> RunSettings {
        RunSettings {
            mode: self.mode,
            limits: Limits {
                turns: self.max_turns.get(),
                seconds: self.timeout.map(Timeout::seconds),
                tokens: self.max_tokens.map(NonZeroU64::get),
                cost: self.max_cost.map(f64::from),
            },
            missing: self.missing_outputs,
            outputs: self.outputs,
            policy: policy.into(),
            inline_step_bytes: self.inline_step_bytes,
            inline_input_bytes: self.inline_input_bytes,
            inline_inputs_bytes: self.inline_inputs_bytes,
            state_tools: self.state_tools,
            model: None,
            window_tokens: self.window(None),
            tiers: Tiers::default(),
        }
    }
}
