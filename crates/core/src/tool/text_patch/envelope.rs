//! The `*** Begin Patch` form: sections that describe the change of a file, with hunks that need no numbers.

use super::hunk::PatchHunks;
use super::hunk_text;
use super::lines::Line;
use super::unified::{clean_name, new_text};
use super::{FileChangeKind, FilePatch, invalid};
use crate::refusal::Refusal;

/// Line with an instruction.
enum Marker<'t> {
    Begin,
    End,
    Add(&'t str),
    Delete(&'t str),
    Update(&'t str),
    MoveTo(&'t str),
    EndOfFile,
}

impl<'t> Marker<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let rest = line.strip_prefix("***")?.trim();
        let named = |word: &str| rest.strip_prefix(word).map(str::trim);
        Some(match rest {
            "Begin Patch" => Self::Begin,
            "End Patch" => Self::End,
            "End of File" => Self::EndOfFile,
            _ => {
                let add = named("Add File:").map(Self::Add);
                let delete = || named("Delete File:").map(Self::Delete);
                let update = || named("Update File:").map(Self::Update);
                let move_to = || named("Move to:").map(Self::MoveTo);
                return add.or_else(delete).or_else(update).or_else(move_to);
            }
        })
    }
}

/// Returns true if the first line with content is in this form, and not of a unified diff.
pub(super) fn is_envelope(lines: &[Line<'_>]) -> bool {
    let unified =
        |text: &str| ["@@", "--- ", "+++ ", "diff "].iter().any(|start| text.starts_with(start));
    let telling =
        |line: &&Line<'_>| unified(line.text) || Marker::of(line.text.trim_start()).is_some();
    lines.iter().find(telling).is_some_and(|line| !unified(line.text))
}

/// Parses the sections of a patch; at least one.
pub(super) fn parse(lines: &[Line<'_>]) -> Result<Vec<FilePatch>, Refusal> {
    let mut files = Vec::new();
    let mut section: Option<Section> = None;
    let mut begun = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        // Between sections and hunks, markers may be indented.
        let marker = Marker::of(line.text.trim_start());
        // The call already names the file, so some models omit it here.
        if marker.is_none()
            && section.is_none()
            && begun
            && line.text.starts_with(['@', ' ', '+', '-'])
        {
            open(&mut section, SectionKind::Update, "")?;
        }
        match (marker, &mut section) {
            (Some(Marker::MoveTo(to)), Some(section)) => section.moved_to = Some(clean_name(to)),
            (Some(Marker::EndOfFile), Some(section)) => section.mark_end(),
            (Some(Marker::MoveTo(_) | Marker::EndOfFile), None) => {}
            (Some(marker @ (Marker::Begin | Marker::End)), _) => {
                begun = matches!(marker, Marker::Begin);
                if let Some(section) = section.take() {
                    files.push(section.finish()?);
                }
            }
            (Some(Marker::Add(path)), _) => {
                files.extend(open(&mut section, SectionKind::Add, path)?)
            }
            (Some(Marker::Delete(path)), _) => {
                files.extend(open(&mut section, SectionKind::Delete, path)?)
            }
            (Some(Marker::Update(path)), _) => {
                files.extend(open(&mut section, SectionKind::Update, path)?)
            }
            (None, Some(section)) if !section.skips(line.text) => {
                let (hunk, next) = hunk_text::read(lines, at, |at| ends_hunk(lines, at));
                section.hunks.0.extend(Some(hunk).filter(|hunk| !hunk.lines.is_empty()));
                at = next.max(at + 1);
                continue;
            }
            (None, _) => {}
        }
        at += 1;
    }
    if let Some(section) = section {
        files.push(section.finish()?);
    }
    if files.is_empty() {
        return Err(invalid("The patch has no section for a file.").hint(HOW));
    }
    Ok(files)
}

const HOW: &str = "After `*** Begin Patch`, write `*** Update File: path`, then for each change `@@` and lines that \
                   begin with a blank (unchanged), `-` (removed) or `+` (added).";

/// Begins a section and returns the previous one.
fn open(
    section: &mut Option<Section>,
    kind: SectionKind,
    path: &str,
) -> Result<Option<FilePatch>, Refusal> {
    let opened =
        Section { kind, path: clean_name(path), moved_to: None, hunks: PatchHunks::default() };
    section.replace(opened).map(Section::finish).transpose()
}

/// Returns true if a marker ends the hunk. An indented marker may be a line of the file, except at the very end.
fn ends_hunk(lines: &[Line<'_>], at: usize) -> bool {
    let Some(line) = lines.get(at) else { return true };
    let is_last = at + 1 == lines.len();
    Marker::of(line.text).is_some()
        || is_last && matches!(Marker::of(line.text.trim_start()), Some(Marker::End))
}

/// Kind of change in a section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionKind {
    Add,
    Delete,
    Update,
}

/// File of a patch that is being parsed.
struct Section {
    kind: SectionKind,
    path: String,
    moved_to: Option<String>,
    hunks: PatchHunks,
}

impl Section {
    /// Returns true for lines without meaning: space, a unified diff's names before the first hunk, the content of a
    /// deleted file.
    fn skips(&self, text: &str) -> bool {
        let names = self.kind == SectionKind::Update
            && (text.starts_with("--- ") || text.starts_with("+++ "));
        self.kind == SectionKind::Delete || text.is_empty() || names && self.hunks.0.is_empty()
    }

    /// Marks the hunk before `*** End of File`.
    fn mark_end(&mut self) {
        if let Some(hunk) = self.hunks.0.last_mut() {
            hunk.anchor.at_end = true;
        }
    }

    fn finish(self) -> Result<FilePatch, Refusal> {
        let Self { kind, path, moved_to, hunks } = self;
        let change = match (kind, moved_to) {
            (SectionKind::Add, _) => FileChangeKind::Add(new_text(&hunks)?),
            (SectionKind::Delete, _) => FileChangeKind::Delete,
            (SectionKind::Update, Some(to)) => FileChangeKind::Move { to, hunks },
            (SectionKind::Update, None) if hunks.0.is_empty() => {
                let shown = crewagent_format::wording::quoted(&path);
                return Err(invalid(format!("The section for {shown} has no hunk.")).hint(HOW));
            }
            (SectionKind::Update, None) => FileChangeKind::Update(hunks),
        };
        Ok(FilePatch { path: Some(path).filter(|path| !path.is_empty()), change })
    }
}
