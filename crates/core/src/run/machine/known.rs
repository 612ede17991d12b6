//! Files that the model knows: texts that stand in its context, and files that it has seen in this visit of the node.
//! All of it comes from recorded events, so that a replay knows the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::integrity::Digest;

use crate::event::{Answer, InputState, ShownFile, SurveyedInput, WrittenDigest};
use crate::message::ToolCall;
use crate::state::project_path::ProjectPath;
use crate::tool::Tool;
use crate::tool::overwriting::SeenState;
use crate::tool::render::counted;
use crate::vpath::{Mount, VPath};

/// Number of texts, and of answers, that are remembered; the oldest are forgotten, and read again if needed.
const MOST_KNOWN: usize = 256;

/// Place in the context where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPlace {
    /// The section INPUTS.
    Inputs,
    /// The step in NODE_BRIEF.
    Brief,
    /// The answer of a read.
    Answer,
    /// A call of the model that wrote the file.
    Call,
}

impl TextPlace {
    /// Returns its name in an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Brief => "brief",
            Self::Answer => "read",
            Self::Call => "written",
        }
    }

    /// Returns the pointer to a text that is not sent again.
    pub fn note(self, path: &VPath, lines: usize) -> String {
        let path = match path.mount() {
            Mount::Project => path.relative().to_owned(),
            Mount::Package | Mount::State => path.to_string(),
        };
        match self {
            Self::Inputs => format!("{path}: unchanged, shown above under INPUTS."),
            Self::Brief => format!("{path}: unchanged, shown above in NODE_BRIEF."),
            Self::Answer => format!("{path}: unchanged, shown above."),
            Self::Call => {
                let lines = counted(lines as u64, "line");
                format!(
                    "{path}: exactly what you wrote above ({lines}). With startLine you get numbered lines."
                )
            }
        }
    }
}

/// Pointer to an answer that is not given again.
pub const SAME_ANSWER: &str = "Same answer as above.";

/// Files that the model knows.
#[derive(Clone, Debug, Default)]
pub struct KnownFiles {
    /// Texts in the message of the node, which is never cut.
    anchored: Vec<KnownText>,
    /// Texts in later messages.
    texts: Vec<KnownText>,
    /// Digests of answers in the context, by the digests of their calls.
    answers: Vec<(Digest, Digest)>,
    /// Digests of files that were seen in this visit, by mount path.
    seen: BTreeMap<String, String>,
    /// Digests of files that the model was warned not to overwrite in this visit, by path.
    warned: BTreeMap<String, String>,
}

/// A text of a file in the context.
#[derive(Clone, Debug)]
struct KnownText {
    path: String,
    sha256: String,
    /// First and last line.
    lines: (u64, u64),
    place: TextPlace,
    is_numbered: bool,
}

/// Knowledge of files at a call.
#[derive(Clone, Debug, Default)]
pub struct CallFiles {
    pub known: Arc<KnownFiles>,
    /// Digests of the project's files that this run wrote last, by path.
    pub written: Arc<BTreeMap<String, String>>,
    /// Files of the user of which the run changed parts, by path.
    pub patched: Arc<BTreeSet<String>>,
    /// Declared outputs whose size and origin the brief has told.
    pub outputs: Vec<ProjectPath>,
    /// Digest of the answer to the same call, if it stands in the context.
    pub answer: Option<Digest>,
    /// True if the user is shown what the call changes before it does.
    pub is_put_to_user: bool,
}

impl CallFiles {
    /// Returns true if the file is the run's: it wrote the file last, and not only parts of a file of the user.
    pub fn is_own(&self, path: &ProjectPath, sha256: &str) -> bool {
        self.is_last_writer(path, sha256) && !self.patched.contains(path.as_str())
    }

    /// Returns true if the file has the content that this run gave it.
    pub fn is_last_writer(&self, path: &ProjectPath, sha256: &str) -> bool {
        self.written.get(path.as_str()).is_some_and(|written| written == sha256)
    }
}

impl KnownFiles {
    /// Returns the place in the context where these lines of a file stand. Numbered lines are only found where the
    /// context has numbers.
    pub fn place_of(
        &self,
        path: &VPath,
        sha256: &str,
        lines: (u64, u64),
        needs_numbers: bool,
    ) -> Option<TextPlace> {
        let path = path.to_string();
        let stands = |text: &&KnownText| {
            text.path == path
                && text.sha256 == sha256
                && text.lines.0 <= lines.0
                && lines.1 <= text.lines.1
                && (text.is_numbered || !needs_numbers)
        };
        let found = self.texts.iter().rev().find(stands);
        found.or_else(|| self.anchored.iter().find(stands)).map(|text| text.place)
    }

    /// Compares a file, under any of its names, with what the model has seen of it in this visit.
    pub fn seen_state(&self, names: [&VPath; 2], sha256: &str) -> SeenState {
        let mut seen = names.into_iter().filter_map(|name| self.seen.get(&name.to_string()));
        match seen.next() {
            None => SeenState::Unseen,
            Some(known) if known == sha256 || seen.any(|known| known == sha256) => SeenState::Seen,
            Some(_) => SeenState::Changed,
        }
    }

    /// Returns true if the model was warned in this visit not to overwrite this content.
    pub fn is_warned(&self, path: &ProjectPath, sha256: &str) -> bool {
        self.warned.get(path.as_str()).is_some_and(|warned| warned == sha256)
    }

    /// Returns the digests of files that were seen in this visit, by mount path.
    pub(super) fn seen(&self) -> &BTreeMap<String, String> {
        &self.seen
    }

    /// Returns the digest of the answer to the same call, if it stands in the context.
    pub fn answer_to(&self, call: &ToolCall) -> Option<Digest> {
        let key = key_of(call)?;
        self.answers.iter().rev().find(|(known, _)| *known == key).map(|(_, answer)| *answer)
    }

    /// Takes the files that the message of a node shows, and its step if it is shown in full.
    pub(super) fn anchor(&mut self, inputs: &[SurveyedInput], step: Option<(VPath, Digest)>) {
        self.anchored.clear();
        for text in inputs.iter().filter_map(KnownText::of_input) {
            self.seen.insert(text.path.clone(), text.sha256.clone());
            self.anchored.push(text);
        }
        self.anchored.extend(step.map(|(path, sha256)| KnownText {
            path: path.to_string(),
            sha256: sha256.to_string(),
            lines: (1, u64::MAX),
            place: TextPlace::Brief,
            is_numbered: false,
        }));
    }

    /// Takes the inputs that are shown again.
    pub(super) fn show(&mut self, inputs: &[SurveyedInput]) {
        for text in inputs.iter().filter_map(KnownText::of_input) {
            self.seen.insert(text.path.clone(), text.sha256.clone());
            push(&mut self.texts, text);
        }
    }

    /// Takes the answer of a call.
    pub fn take(&mut self, call: &ToolCall, answer: &Answer) {
        for WrittenDigest { path, sha256, .. } in &answer.warned {
            self.warned.extend(sha256.clone().map(|sha256| (path.clone(), sha256)));
        }
        for ShownFile { path, sha256, start, end, written } in &answer.shown {
            self.seen.insert(path.clone(), sha256.clone());
            // The text of a repeated read stands elsewhere; that of a repeated write stands in the call.
            if *written || !answer.repeats {
                let text = KnownText {
                    path: path.clone(),
                    sha256: sha256.clone(),
                    lines: (*start, *end),
                    place: if *written { TextPlace::Call } else { TextPlace::Answer },
                    is_numbered: !*written,
                };
                push(&mut self.texts, text);
            }
        }
        if let Some(key) = key_of(call).filter(|_| answer.refused.is_none() && !answer.repeats) {
            push(&mut self.answers, (key, answer.result.digest()));
        }
    }

    /// Forgets the texts behind the message of the node, because some of them were cut.
    pub(super) fn forget_cut(&mut self) {
        self.texts.clear();
        self.answers.clear();
    }
}

impl KnownText {
    /// Returns the text of an input that is shown in full.
    fn of_input(input: &SurveyedInput) -> Option<Self> {
        let sha256 = input.sha256.clone().filter(|_| input.state == InputState::Shown)?;
        let path = VPath::parse(&input.path).ok()?;
        Some(Self {
            is_numbered: path.mount() != Mount::Package,
            path: path.to_string(),
            sha256,
            lines: (1, input.lines),
            place: TextPlace::Inputs,
        })
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == MOST_KNOWN {
        list.remove(0);
    }
    list.push(item);
}

/// Returns the digest of a call whose answer may stand in the context; none for a call that is no read.
fn key_of(call: &ToolCall) -> Option<Digest> {
    let tool = Tool::named(&call.name)?;
    let is_read = matches!(tool, Tool::Read | Tool::List | Tool::Search);
    is_read.then(|| Digest::of(format!("{}\n{}", tool.name(), call.arguments.digest()).as_bytes()))
}
