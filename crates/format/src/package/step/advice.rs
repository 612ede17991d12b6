//! Advice of a step to the runtime: the kind of model that suits it, and the limits of one visit.
//!
//! Other tools ignore these keys, so a value that is not understood is a warning, and is ignored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Code;
use crate::shape::ShapeReader;
use crate::syntax::{Tree, Value};
use crate::wording::{nearest, quoted};

/// Kind of model that suits a step. A package never names a model: the user decides where the data goes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Tier {
    /// Simple work: a small model is enough.
    Fast,
    /// Hard work.
    Strong,
    /// Judging the work of another model.
    Review,
}

impl Tier {
    pub const ALL: [Self; 3] = [Self::Fast, Self::Strong, Self::Review];

    /// Returns the word that steps and settings use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Strong => "strong",
            Self::Review => "review",
        }
    }

    /// Returns the tier with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// Limits of one visit of a node. They can only tighten those of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, deny_unknown_fields)]
pub struct StepLimits {
    /// Requests to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub turns: Option<u64>,
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cost: Option<f64>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub seconds: Option<u64>,
}

/// Names of the limits.
const LIMITS: [&str; 4] = ["turns", "tokens", "cost", "seconds"];

/// Reads the tier; an unknown one counts as absent.
pub(super) fn tier(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Tier> {
    let word = tree.as_str();
    let tier = word.and_then(Tier::named);
    if tier.is_none() {
        let written = word.map_or_else(|| tree.kind().to_owned(), quoted);
        reader.report(
            Code::UnknownTier,
            tree.span,
            format!("`model` is {written}, which is no tier, and is ignored"),
            "write `fast`, `strong` or `review`: a package never names a model or a provider",
        );
    }
    tier
}

/// Reads the limits; one that cannot be used counts as absent.
pub(super) fn limits(tree: &Tree, reader: &mut ShapeReader<'_>) -> StepLimits {
    let mut limits = StepLimits::default();
    let Some(entries) = tree.as_map() else {
        report(tree, reader, format!("`limits` must be an object, but this is {}", tree.kind()));
        return limits;
    };
    for entry in entries {
        let name = entry.key.as_str();
        if !LIMITS.contains(&name) {
            let help = match nearest(name, LIMITS) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("there are {}", LIMITS.join(", ")),
            };
            let message = format!("there is no limit {}, and it is ignored", quoted(name));
            reader.report(Code::BadStepLimit, entry.key_span, message, help);
            continue;
        }
        if entry.tree.value == Value::Null {
            continue;
        }
        let (whole, amount) = (positive(&entry.tree), amount(&entry.tree));
        let is_right = if name == "cost" { amount.is_some() } else { whole.is_some() };
        if !is_right {
            let wanted =
                if name == "cost" { "a number above zero" } else { "a whole number above zero" };
            report(&entry.tree, reader, format!("`limits.{name}` must be {wanted}"));
        }
        match name {
            "turns" => limits.turns = whole,
            "tokens" => limits.tokens = whole,
            "seconds" => limits.seconds = whole,
            _ => limits.cost = amount,
        }
    }
    limits
}

fn report(tree: &Tree, reader: &mut ShapeReader<'_>, message: String) {
    let help = "write for example `limits: { turns: 10, cost: 0.50 }`; as it is, it is ignored";
    let is_scalar = !matches!(tree.value, Value::List(_) | Value::Map(_));
    let span = if is_scalar { tree.span } else { tree.span.head(reader.text) };
    reader.report(Code::BadStepLimit, span, message, help);
}

fn amount(tree: &Tree) -> Option<f64> {
    let Value::Number(number) = &tree.value else { return None };
    number.as_f64().filter(|amount| amount.is_finite() && *amount > 0.0)
}

fn positive(tree: &Tree) -> Option<u64> {
    let amount = amount(tree).filter(|amount| amount.fract() == 0.0 && *amount < 9e15)?;
    Some(amount as u64)
}
