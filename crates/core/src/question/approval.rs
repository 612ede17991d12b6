//! Approval of a call that a rule asks about: its effect, and the user's answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{Question, QuestionKind};
use crate::intent::{FileIntent, Moved};
use crate::policy::rules::Rule;
use crate::tool::Tool;

/// A call that waits for the user's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Approval {
    /// The tool.
    pub tool: String,
    /// The rule that asks.
    pub rule: Rule,
    /// The files that would change. What becomes of the run's state is not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// The move that the same call makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The arguments, exactly as the model wrote them, of a call that is not about files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// True if the arguments are shown in part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The tool as its server describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<ToolDescription>,
}

/// A tool of a server, as the server describes it when the user is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolDescription {
    /// Description in the server's words.
    pub description: String,
    /// Digest of the description and the schema of the arguments.
    pub sha256: String,
    /// True if the server has changed the tool since the user allowed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redefined: bool,
}

/// A file that would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FileChange {
    /// File, with its digests before and after.
    #[serde(flatten)]
    pub file: FileIntent,
    /// Real location, if a link leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Change as a unified diff. Empty if it cannot be shown.
    pub diff: String,
    /// True if the diff is shown in part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Answer of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    Once,
    /// Allows this call, and all others that the same rule asks about in this run.
    Run,
    /// Denies the call, for this reason.
    Deny(String),
}

impl Approval {
    /// Returns true if both have the same effect: the same files before and after, the same arguments.
    pub fn is_same(&self, other: &Self) -> bool {
        let files = |of: &Self| {
            let one = |file: &FileChange| (file.file.clone(), file.place.clone());
            of.files.iter().map(one).collect::<Vec<_>>()
        };
        self.tool == other.tool
            && files(self) == files(other)
            && self.moved == other.moved
            && self.arguments == other.arguments
    }

    /// Makes the question to the user.
    pub fn question(self) -> Question {
        let tool = &self.tool;
        let what = match &self.files[..] {
            [] => "with these arguments".to_owned(),
            [only] if only.file.before.is_none() => format!("to create `{}`", only.file.path),
            [only] if only.file.after.is_none() => format!("to delete `{}`", only.file.path),
            [only] => format!("to change `{}`", only.file.path),
            [to, from] if *tool == Tool::Move.name() => {
                format!("to move `{}` to `{}`", from.file.path, to.file.path)
            }
            files => format!("to change {} files", files.len()),
        };
        let moved = self.moved.as_ref().map_or_else(String::new, |moved| {
            format!(", and to go on from `{}` to `{}`", moved.from, moved.to)
        });
        let words = format!("Allow `{tool}` {what}{moved}?");
        Question {
            question: words,
            kind: QuestionKind::Approval,
            approval: Some(Box::new(self)),
            ..Question::default()
        }
    }
}

impl Consent {
    /// Error for any other answer.
    const ASKED: &str = "Please answer once, run, or deny: and why.";

    /// Parses the user's text: `once`, `run`, or `deny` followed by a reason; the first letter suffices.
    pub fn read(words: &str) -> Result<Self, String> {
        let words = words.trim();
        let end = words.find(|c: char| c.is_whitespace() || matches!(c, ':' | '：' | ',' | '，'));
        let (word, rest) = words.split_at(end.unwrap_or(words.len()));
        let rest = rest.trim_start_matches([':', '：', ',', '，', ' ']).trim();
        match word.to_lowercase().as_str() {
            "once" | "o" | "yes" | "y" | "是" if rest.is_empty() => Ok(Self::Once),
            "run" | "r" if rest.is_empty() => Ok(Self::Run),
            "deny" | "d" | "no" | "n" | "否" => Ok(Self::Deny(rest.to_owned())),
            _ => Err(Self::ASKED.to_owned()),
        }
    }

    /// Parses JSON: the text as a string, or an object with `deny` and the reason, or with `once` or `run` that is
    /// true.
    pub(super) fn typed(json: &Json) -> Result<Self, String> {
        if let Json::String(words) = json {
            return Self::read(words);
        }
        let mut said = json.as_object().into_iter().flatten();
        match (said.next(), said.next()) {
            (Some((word, Json::Bool(true))), None) if word == "once" => Ok(Self::Once),
            (Some((word, Json::Bool(true))), None) if word == "run" => Ok(Self::Run),
            (Some((word, Json::Bool(true))), None) if word == "deny" => {
                Ok(Self::Deny(String::new()))
            }
            (Some((word, Json::String(reason))), None) if word == "deny" => {
                Ok(Self::Deny(reason.trim().to_owned()))
            }
            (_, _) => Err(Self::ASKED.to_owned()),
        }
    }

    /// Returns the answer as it is recorded.
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Once => json!("once"),
            Self::Run => json!("run"),
            Self::Deny(reason) => json!({ "deny": reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_is_never_given_by_accident() {
        for words in ["once", " O ", "yes", "是"] {
            assert_eq!(Consent::read(words), Ok(Consent::Once), "{words}");
        }
        assert_eq!(Consent::read("R"), Ok(Consent::Run));
        for (words, reason) in [
            ("d", ""),
            ("deny: use tabs", "use tabs"),
            ("Deny use tabs", "use tabs"),
            ("no, not that file", "not that file"),
            ("否：太多", "太多"),
        ] {
            assert_eq!(Consent::read(words), Ok(Consent::Deny(reason.to_owned())), "{words}");
        }
        for words in ["", " ", "ok then", "yes but later", "once more", "run away", "denied"] {
            assert!(Consent::read(words).is_err(), "{words}");
        }
    }
}
