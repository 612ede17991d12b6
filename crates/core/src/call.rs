//! Tool calls: the model's text, parsed once into a typed value.
//!
//! Parsing is lenient where no misunderstanding is possible (a number in quotes, a key as other tools name it, arguments
//! that were encoded twice) and strict everywhere else. A refusal names every mistake and ends with an example, so that
//! one correction is enough.

mod aliases;
mod arguments;
mod ask;
pub mod content_report;
mod files;
mod gate;
mod holes;
pub mod names;
mod params;
mod patch;
pub mod repair;
pub mod schema;
pub mod server_tool;
mod state;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_aliases;
#[cfg(test)]
mod tests_patch;
#[cfg(test)]
mod tests_repair;

use crewagent_format::integrity::Digest;
use crewagent_format::wording::{nearest, one_line, quoted, ticked};

use crate::draft::DraftName;
use crate::policy::Policy;
use crate::policy::rules::Verdict;
use crate::question::Question;
use crate::refusal::{Refusal, RefusalCode};
use crate::state::complete::NodeCompletion;
use crate::state::patch::StateUpdate;
use crate::tool::Tool;
use crate::tool::text_patch::TextPatch;
use crate::vpath::{VPath, WritablePath};

/// Tool call that can be performed.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Read(ReadCall),
    List(ListCall),
    Search(SearchCall),
    Write(WriteCall),
    Patch(PatchCall),
    Move(MoveCall),
    Delete(DeleteCall),
    AskUser(Question),
    Gate(Box<GateCall>),
    State(Box<StateCall>),
}

/// `fs.read`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCall {
    pub path: VPath,
    /// First line to read, from 1.
    pub start: Option<u64>,
    /// Last line to read, inclusive.
    pub end: Option<u64>,
}

/// `fs.list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCall {
    pub path: VPath,
    /// Depth of the listing: 1 lists the folder's own names only.
    pub depth: Option<u64>,
}

/// `fs.search`. Absent values have the tool's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCall {
    pub query: String,
    pub path: VPath,
    pub globs: Vec<String>,
    pub regex: bool,
    pub case_sensitive: bool,
    /// Context lines before each match.
    pub before: Option<u64>,
    /// Context lines after each match.
    pub after: Option<u64>,
    pub max_matches: Option<u64>,
}

/// `fs.write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteCall {
    pub path: WritablePath,
    /// Text of the file, or the text to append; blank if texts are copied.
    pub content: String,
    pub mode: WriteMode,
    /// Digest that the file must have.
    pub if_match: Option<Digest>,
    /// Texts of other files that are written instead of a content, one after the other.
    pub copies: Vec<TextCopy>,
}

/// Text of another file that goes into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextCopy {
    pub from: VPath,
    /// Digest that the other file must have.
    pub if_from: Option<Digest>,
    pub place: CopyPlace,
}

/// Place of a copied text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyPlace {
    /// It is the whole file.
    Whole,
    /// At the end.
    End,
    /// Instead of the first placeholder of this name, else at the end.
    Section(String),
}

/// `ui.gate`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateCall {
    /// Drafts to show; those of the visit if there are none.
    pub drafts: Vec<DraftName>,
    /// Question to the user, in the model's words.
    pub note: Option<String>,
    /// Variables that are set when the user continues.
    pub update: StateUpdate,
    pub reason: Option<String>,
}

/// Effect of a write on a file that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    #[default]
    Overwrite,
    Append,
    /// Refuses to write if the file exists.
    Create,
}

/// `fs.move`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveCall {
    pub path: WritablePath,
    /// The new path, where no file may be.
    pub to: WritablePath,
    /// The digest that the file must have.
    pub if_match: Option<Digest>,
}

/// `fs.delete`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteCall {
    pub path: WritablePath,
    /// The digest that the file must have.
    pub if_match: Option<Digest>,
}

/// `fs.apply_patch`: changes that are made all together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchCall {
    /// Patches in the order in which they apply; at least one.
    pub patches: Vec<FilePatchCall>,
}

/// Change of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePatchCall {
    pub path: WritablePath,
    pub operation: Operation,
    /// Digest that the file must have before the call.
    pub if_match: Option<Digest>,
}

/// `runtime.complete_node` or `runtime.update_state`.
#[derive(Clone, Debug, PartialEq)]
pub struct StateCall {
    pub path: WritablePath,
    pub completion: Option<NodeCompletion>,
    pub update: StateUpdate,
    /// Files that are written before the state changes.
    pub files: Vec<WriteCall>,
}

/// Kind of change to a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Sets values in the frontmatter of the state document.
    UpdateFrontmatter(StateUpdate),
    Text(TextPatch),
    /// Moves the file, and may change parts of its text.
    Move {
        /// The new path, where no file may be.
        to: WritablePath,
        change: Option<TextPatch>,
    },
    Delete,
}

impl Call {
    /// Parses a call from the model's text.
    pub fn parse(name: &str, arguments: &str, policy: &Policy) -> Result<Self, Refusal> {
        let tool = available(name, policy)?;
        let arguments = arguments::read(tool, arguments, policy)?;
        let mut problems = params::Problems::default();
        let call = match tool {
            Tool::Read => files::read(&arguments, &mut problems).map(Self::Read),
            Tool::List => files::list(&arguments, &mut problems).map(Self::List),
            Tool::Search => files::search(&arguments, &mut problems).map(Self::Search),
            Tool::Write => files::write(&arguments, &mut problems).map(Self::Write),
            Tool::Patch => patch::patch(&arguments, &mut problems).map(Self::Patch),
            Tool::Move => files::relocate(&arguments, &mut problems).map(Self::Move),
            Tool::Delete => files::delete(&arguments, &mut problems).map(Self::Delete),
            Tool::AskUser => ask::ask(&arguments, &mut problems).map(Self::AskUser),
            Tool::Gate => gate::gate(&arguments, &mut problems).map(Box::new).map(Self::Gate),
            Tool::CompleteNode => {
                state::complete_node(&arguments, &mut problems).map(Box::new).map(Self::State)
            }
            Tool::UpdateState => {
                state::update_state(&arguments, &mut problems).map(Box::new).map(Self::State)
            }
        };
        let call = problems.settle(tool, call)?;
        call.check_policy(policy)?;
        Ok(call)
    }

    /// Refuses a call that a policy denies.
    pub fn check_policy(&self, policy: &Policy) -> Result<(), Refusal> {
        if matches!(self, Self::State(state) if !state.files.is_empty()) {
            available(Tool::Write.name(), policy)?;
        }
        self.permitted(policy, &self.places())
    }

    /// Returns the paths that the call writes to.
    pub fn places(&self) -> Vec<&VPath> {
        match self {
            Self::Write(call) => vec![call.path.path()],
            Self::Patch(call) => call.patches.iter().flat_map(FilePatchCall::places).collect(),
            Self::Move(call) => vec![call.path.path(), call.to.path()],
            Self::Delete(call) => vec![call.path.path()],
            Self::State(call) => {
                let files = call.files.iter().map(|file| file.path.path());
                files.chain([call.path.path()]).collect()
            }
            Self::Read(call) => vec![&call.path],
            Self::List(_) | Self::Search(_) | Self::AskUser(_) | Self::Gate(_) => Vec::new(),
        }
    }

    /// Refuses a call that writes to paths where a rule denies it: the paths it names, and the targets of links.
    pub fn permitted(&self, policy: &Policy, places: &[&VPath]) -> Result<(), Refusal> {
        let tool = self.tool().name();
        let decision = policy.decide(&[], &self.ruled_tools(), places);
        match decision.rule.filter(|_| decision.verdict == Verdict::Deny) {
            None => Ok(()),
            Some(rule) => {
                let message = format!("`{tool}` may not do this: the rule {rule} denies it.");
                let hint = "Do without it, or tell the user what you would need and why.";
                let refusal = Refusal::new(RefusalCode::ToolNotAvailable, message).hint(hint);
                Err(refusal.detail("rule", rule.pattern.to_string()))
            }
        }
    }

    /// Returns the tools whose rules apply to the call: its own, and for a patch that moves or deletes a file those of
    /// `fs.move` and `fs.delete` too.
    pub fn ruled_tools(&self) -> Vec<&'static str> {
        let mut tools = vec![self.tool().name()];
        let call = match self {
            Self::Patch(call) => call,
            // Files are judged as if they were written one by one.
            Self::State(call) if !call.files.is_empty() => {
                return vec![tools[0], Tool::Write.name()];
            }
            Self::Read(_)
            | Self::List(_)
            | Self::Search(_)
            | Self::Write(_)
            | Self::Move(_)
            | Self::Delete(_)
            | Self::AskUser(_)
            | Self::Gate(_)
            | Self::State(_) => return tools,
        };
        let has = |is_form: fn(&Operation) -> bool| {
            call.patches.iter().any(|patch| is_form(&patch.operation))
        };
        if has(|operation| matches!(operation, Operation::Move { .. })) {
            tools.push(Tool::Move.name());
        }
        if has(|operation| matches!(operation, Operation::Delete)) {
            tools.push(Tool::Delete.name());
        }
        tools
    }

    /// Returns the called tool.
    pub fn tool(&self) -> Tool {
        match self {
            Self::Read(_) => Tool::Read,
            Self::List(_) => Tool::List,
            Self::Search(_) => Tool::Search,
            Self::Write(_) => Tool::Write,
            Self::Patch(_) => Tool::Patch,
            Self::Move(_) => Tool::Move,
            Self::Delete(_) => Tool::Delete,
            Self::AskUser(_) => Tool::AskUser,
            Self::Gate(_) => Tool::Gate,
            Self::State(call) if call.completion.is_some() => Tool::CompleteNode,
            Self::State(_) => Tool::UpdateState,
        }
    }

    /// Returns true if the call changes files.
    pub fn is_write(&self) -> bool {
        self.tool().is_write()
    }

    /// Returns the subject of the call for one line on a screen: short, and safe to print.
    pub fn subject(&self) -> Option<String> {
        let text = match self {
            Self::Read(call) => match (call.start, call.end) {
                (None, None) => call.path.to_string(),
                (start, end) => {
                    let end = end.map_or_else(String::new, |end| end.to_string());
                    format!("{}:{}-{end}", call.path, start.unwrap_or(1))
                }
            },
            Self::List(call) => call.path.to_string(),
            Self::Search(call) => call.query.clone(),
            Self::Write(call) => call.path.to_string(),
            Self::Move(call) => format!("{} → {}", call.path, call.to),
            Self::Delete(call) => call.path.to_string(),
            Self::Patch(call) => {
                let mut paths: Vec<&WritablePath> =
                    call.patches.iter().map(|patch| &patch.path).collect();
                paths.dedup();
                listed(&paths)?
            }
            Self::AskUser(question) => question.question.clone(),
            Self::Gate(call) => {
                let names: Vec<&str> = call.drafts.iter().map(DraftName::as_str).collect();
                if names.is_empty() { call.note.clone()? } else { names.join(", ") }
            }
            Self::State(call) => match &call.completion {
                Some(completion) => {
                    let files: Vec<&WritablePath> =
                        call.files.iter().map(|file| &file.path).collect();
                    listed(&files).or_else(|| completion.node.clone())?
                }
                None => call.path.to_string(),
            },
        };
        Some(one_line(&text))
    }
}

impl FilePatchCall {
    /// Returns the paths that the patch writes to.
    fn places(&self) -> Vec<&VPath> {
        match &self.operation {
            Operation::Move { to, .. } => vec![self.path.path(), to.path()],
            Operation::UpdateFrontmatter(_) | Operation::Text(_) | Operation::Delete => {
                vec![self.path.path()]
            }
        }
    }
}

/// Names the first of several paths and counts the others.
fn listed(paths: &[&WritablePath]) -> Option<String> {
    match paths {
        [] => None,
        [only] => Some(only.to_string()),
        [first, rest @ ..] => Some(format!("{first} and {} more", rest.len())),
    }
}

fn available(name: &str, policy: &Policy) -> Result<Tool, Refusal> {
    let tool = Tool::named(name.trim());
    if let Some(tool) = tool.filter(|tool| policy.allows(*tool)) {
        return Ok(tool);
    }
    let names: Vec<&str> =
        Tool::ALL.into_iter().filter(|tool| policy.offers(*tool)).map(Tool::name).collect();
    let message = match tool {
        Some(tool) => match policy.denial(tool) {
            Some(rule) => format!("The tool `{}` is denied by the rule {rule}.", tool.name()),
            None => {
                format!("The tool `{}` is switched off by the policy of this run.", tool.name())
            }
        },
        None => format!("There is no tool {}.", quoted(name)),
    };
    let wire = name.replace(['_', '-'], ".");
    let similar = nearest(name, names.iter().copied())
        .or_else(|| nearest(&wire, names.iter().copied()))
        .or_else(|| Tool::alias(name).map(Tool::name).filter(|name| names.contains(name)))
        .filter(|_| tool.is_none());
    let mut hint = similar.map(|name| format!("Did you mean `{name}`? ")).unwrap_or_default();
    hint.push_str(&format!("Available: {}.", ticked(&names)));
    Err(Refusal::new(RefusalCode::ToolNotAvailable, message).hint(hint).detail("available", names))
}

/// Returns the refusal of a call that was cut at the output limit. Nothing in it is repaired.
pub fn cut_off(name: &str, arguments: &str) -> Refusal {
    let tool = Tool::named(name);
    if let Err(broken) = arguments::understand(tool, arguments)
        && broken.unclosed.is_some()
    {
        let names = tool.map_or([name, name], |tool| [tool.name(), tool.wire_name()]);
        return arguments::refusal(names, &broken, "");
    }
    let message = "Your reply was cut off in this call because it became too long, so the call was not executed.";
    Refusal::new(RefusalCode::InvalidArguments, message)
        .hint("Send it again in smaller pieces, for instance with fs.write and then mode append.")
}
