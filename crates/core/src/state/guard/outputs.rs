//! Declared outputs of a node: a file counts that this visit created or changed, and that has a content.

use crewagent_format::package::Workflow;
use crewagent_format::package::graph::Node;
use crewagent_format::wording::ticked;
use jiff::Timestamp;

use super::{Author, NodeVisit};
use crate::state::output::{Output, is_placeholder, matches_pattern};
use crate::state::project_path::ProjectPath;
use crate::state::visit_files::{OutputRule, VisitFiles};
use crate::tool::render::counted;

/// Rule and facts by which declared outputs are judged.
#[derive(Clone, Copy)]
pub struct VisitOutputs<'a> {
    pub rule: OutputRule,
    pub visit: &'a VisitFiles,
    /// Looks at a file of the project, as it will be with the change.
    pub look: &'a dyn Fn(&ProjectPath) -> Option<FoundOutput>,
    /// Old files that are right as they are.
    pub keep: &'a [ProjectPath],
}

/// File or folder of the project, as it is when a node is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOutput {
    /// Size of a file; a folder has none.
    pub bytes: Option<u64>,
    /// Digest of a file.
    pub sha256: Option<String>,
    /// Whole text of a short file.
    pub text: Option<String>,
    pub modified: Option<Timestamp>,
    /// True if the change itself writes the file.
    pub is_sent: bool,
}

/// Declared output that does not count.
pub(super) struct OpenOutput {
    /// File, or the declaration with the reason why it names none.
    pub(super) name: String,
    gap: OutputGap,
}

/// Reason why an output does not count.
enum OutputGap {
    Missing,
    /// Its name is not known, for this reason.
    Unnamed(String),
    Empty,
    /// It is only a mark for a text that is to come.
    Placeholder,
    /// It has the bytes of this file of the package.
    Template(String),
    /// It was there before, as this text tells.
    Old(String),
    /// There is no such file to keep.
    NothingToKeep,
}

/// Outputs of a node, judged.
#[derive(Default)]
pub(super) struct JudgedOutputs {
    pub(super) open: Vec<OpenOutput>,
    /// Old files that count because the change keeps them.
    pub(super) kept: Vec<ProjectPath>,
    /// Outputs that cannot be checked.
    pub(super) skipped: Vec<String>,
}

impl JudgedOutputs {
    /// Judges one declared output.
    pub(super) fn judge(
        &mut self,
        visit: &NodeVisit<'_>,
        node: &Node,
        declared: &str,
        output: Output,
    ) {
        let open = |name: String, gap: OutputGap| OpenOutput { name, gap };
        match output {
            Output::File(path) => match gap(visit, node, declared, &path) {
                None => {}
                Some(OutputGap::Old(_)) if is_kept(visit, &path) => self.kept.push(path),
                Some(gap) => self.open.push(open(path.to_string(), gap)),
            },
            Output::Outside(why) => {
                self.open.push(open(format!("{declared} ({why})"), OutputGap::Missing));
            }
            Output::Open(why) => {
                self.open.push(open(declared.to_owned(), OutputGap::Unnamed(why)));
            }
            Output::Pattern(pattern) => {
                let files = visit.outputs.visit;
                let mut changed = files.changed.iter().filter(|path| files.has_written(path));
                if !changed.any(|path| matches_pattern(path, &pattern)) {
                    self.skipped.push(format!("`{declared}`: it is a pattern, not a name"));
                }
            }
        }
    }

    /// Checks that there is a file for each name in `keep`.
    pub(super) fn check_kept(&mut self, visit: &NodeVisit<'_>) {
        let gone = visit.outputs.keep.iter().filter(|path| (visit.exists)(path) != Some(true));
        let gone = gone
            .map(|path| OpenOutput { name: path.to_string(), gap: OutputGap::NothingToKeep })
            .collect::<Vec<_>>();
        self.open.extend(gone);
    }

    /// Returns true if a file is to be written that is not there.
    pub(super) fn lacks_files(&self) -> bool {
        self.open.iter().any(|output| matches!(output.gap, OutputGap::Missing))
    }

    /// Names the files that are not there.
    pub(super) fn missing(&self) -> Option<String> {
        let missing = self.open.iter().filter(|output| matches!(output.gap, OutputGap::Missing));
        let missing: Vec<&str> = missing.map(|output| output.name.as_str()).collect();
        (!missing.is_empty()).then(|| format!("missing files: {}", ticked(&missing)))
    }

    /// Says what is wrong with the files that are there.
    pub(super) fn sentences(&self, author: Author) -> impl Iterator<Item = String> {
        self.open.iter().filter_map(move |output| output.sentence(author))
    }
}

impl OpenOutput {
    fn sentence(&self, author: Author) -> Option<String> {
        let name = &self.name;
        Some(match &self.gap {
            OutputGap::Missing => return None,
            OutputGap::Unnamed(why) => format!("{name} has no name yet: {why}."),
            OutputGap::Empty => format!("{name} is empty."),
            OutputGap::Placeholder => {
                format!("{name} is only a placeholder. Write the text itself.")
            }
            OutputGap::Template(template) => {
                format!("{name} is {template} as it is. Fill it in.")
            }
            OutputGap::Old(origin) => match author {
                Author::Model(_) => format!(
                    "{name} is {origin}. Write it anew, or send \"keep\": [\"{name}\"] if it is right as it is."
                ),
                // The workflow that was called is complete, so there is no call left that could keep it.
                Author::Runtime => format!("{name} is {origin}. Write it anew."),
            },
            OutputGap::NothingToKeep => format!("{name} cannot be kept: there is no such file."),
        })
    }
}

/// Returns true if an old file counts: the model keeps it, or has sent the same text in this visit.
fn is_kept(at: &NodeVisit<'_>, path: &ProjectPath) -> bool {
    let VisitOutputs { visit, look, keep, .. } = at.outputs;
    let is_sent = || look(path).is_some_and(|file| file.is_sent);
    keep.contains(path) || visit.has_changed(path.as_str()) || is_sent()
}

fn gap(at: &NodeVisit<'_>, node: &Node, declared: &str, path: &ProjectPath) -> Option<OutputGap> {
    let VisitOutputs { rule, visit, look, .. } = at.outputs;
    if (at.exists)(path) != Some(true) {
        return Some(OutputGap::Missing);
    }
    if rule == OutputRule::Exist {
        return None;
    }
    // A file that cannot be looked at is there, and more is not known.
    let file = look(path)?;
    if file.bytes == Some(0) || file.text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Some(OutputGap::Empty);
    }
    if file.text.as_deref().is_some_and(is_to_come) {
        return Some(OutputGap::Placeholder);
    }
    let template = file.sha256.as_ref().and_then(|sha256| visit.templates.get(sha256));
    if let Some(template) = template.filter(|_| !is_filled_later(at.workflow, declared, path)) {
        return Some(OutputGap::Template(template.clone()));
    }
    let is_old = !is_of_this_visit(visit, path, &file);
    is_old.then(|| OutputGap::Old(origin(at, node, path, &file)))
}

/// Returns true if gates of the workflow add to a document, which then begins as a copy of its template.
fn is_filled_later(workflow: &Workflow, declared: &str, path: &ProjectPath) -> bool {
    let below_project = |text: &str| text.strip_prefix("@project/").unwrap_or(text).to_owned();
    let names = [below_project(declared), path.to_string()];
    let is_meant = |target: &str| names.contains(&below_project(target));
    let gates = workflow.graph.nodes().iter().filter_map(|node| node.gate.as_ref());
    let mut targets = gates.flat_map(|gate| {
        let sections = gate.sections.iter().filter_map(|section| section.to.as_deref());
        gate.commit.iter().map(|commit| commit.to.as_str()).chain(sections)
    });
    targets.any(is_meant)
}

/// Returns true if this visit created or changed the file. The survey decides where there is one; a name that was not
/// known when the node was entered counts if the run wrote it since, or if another program did. Of a visit whose begin
/// was lost with its journal nothing is known, and what is there counts: the caller of a workflow could not repair it.
fn is_of_this_visit(visit: &VisitFiles, path: &ProjectPath, file: &FoundOutput) -> bool {
    let surveyed = visit.outputs.get(path.as_str()).filter(|_| file.sha256.is_some());
    match surveyed {
        Some(before) => before.sha256 != file.sha256,
        None => {
            let Some(since) = visit.since else { return true };
            // A folder changes when a file in it is removed, too.
            let is_younger =
                file.sha256.is_some() && file.modified.is_some_and(|modified| modified >= since);
            file.is_sent || visit.has_changed(path.as_str()) || is_younger
        }
    }
}

/// Describes where an old file comes from, with its size.
fn origin(at: &NodeVisit<'_>, node: &Node, path: &ProjectPath, file: &FoundOutput) -> String {
    let visit = at.outputs.visit;
    let size = file.bytes.map_or_else(|| "a folder".to_owned(), size);
    if visit.outputs.get(path.as_str()).is_some_and(|before| before.own) {
        let was_here = at.done.iter().any(|id| id == node.id.as_str());
        let whence = if was_here { "an earlier visit" } else { "another node" };
        return format!("from {whence} ({size})");
    }
    let now: Option<Timestamp> = at.now.parse().ok();
    let age = now.zip(file.modified).and_then(|(now, modified)| age(now, modified));
    match age {
        Some(age) => format!("from an earlier run ({size}, {age} old)"),
        None => format!("from an earlier run ({size})"),
    }
}

/// Returns a size in the largest unit that fits.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit / (unit / 10));
    match bytes {
        0..1_000 => counted(bytes, "byte"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

/// Returns the time since a file was changed; none if the clocks disagree.
fn age(now: Timestamp, modified: Timestamp) -> Option<String> {
    let seconds = u64::try_from(now.as_second() - modified.as_second()).ok()?;
    Some(match seconds {
        0..60 => "less than a minute".to_owned(),
        60..3_600 => counted(seconds / 60, "minute"),
        3_600..86_400 => counted(seconds / 3_600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    })
}

/// Returns true if a text only marks the place of one: `<text>`, `TODO`.
fn is_to_come(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || "#*-:.!".contains(c));
    is_placeholder(text) || bare.eq_ignore_ascii_case("todo")
}
