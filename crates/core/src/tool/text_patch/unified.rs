//! Unified diffs, with and without file names, git's extra lines, and right numbers.

use super::hunk::{Mark, PatchHunk, PatchHunks, PatchLine, TailHint};
use super::hunk_text;
use super::lines::{Ending, Line};
use super::{FileChangeKind, FilePatch, invalid};
use crate::refusal::Refusal;

const NOWHERE: &str = "/dev/null";

/// Parses the sections of a diff; at least one.
pub(super) fn parse(lines: &[Line<'_>]) -> Result<Vec<FilePatch>, Refusal> {
    let mut files = Vec::new();
    let mut section = DiffSection::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = line.text;
        if let Some(names) = text.strip_prefix("diff --git ") {
            files.extend(std::mem::take(&mut section).finish()?);
            section.read_git_names(names);
            at += 1;
        } else if is_name(text) {
            if section.has_names || !section.hunks.0.is_empty() {
                files.extend(std::mem::take(&mut section).finish()?);
            }
            at = section.read_names(lines, at);
        } else if text.starts_with("@@") || section.opens_hunk(text) {
            let (hunk, next) = hunk_text::read(lines, at, |at| ends_hunk(lines, at));
            section.hunks.0.extend(Some(hunk).filter(|hunk| !hunk.lines.is_empty()));
            // A hunk that consists of its ending line alone must not loop forever.
            at = next.max(at + 1);
        } else {
            section.read_extra(text)?;
            at += 1;
        }
    }
    files.extend(section.finish()?);
    if files.is_empty() { Ok(vec![nameless(lines)?]) } else { Ok(files) }
}

/// Parses a diff without any header as one hunk, if it has marks at all.
fn nameless(lines: &[Line<'_>]) -> Result<FilePatch, Refusal> {
    let (hunk, _) = hunk_text::read(lines, 0, |at| ends_hunk(lines, at));
    if hunk.lines.iter().all(|line| line.mark == Mark::Keep) {
        return Err(
            invalid("The diff has no hunk with lines that begin with `+` or `-`.").hint(HOW)
        );
    }
    Ok(FilePatch { path: None, change: FileChangeKind::Update(PatchHunks(vec![hunk])) })
}

const HOW: &str = "Send a unified diff: `@@ -line,count +line,count @@`, then lines that begin with a blank \
                   (unchanged), `-` (removed) or `+` (added).";

fn is_name(text: &str) -> bool {
    text.starts_with("--- ") || text.starts_with("+++ ")
}

/// Returns true if a hunk ends here although the counts do not tell. A removed `-- x` before an added `++ y` looks like
/// names, but no hunk begins after it.
fn ends_hunk(lines: &[Line<'_>], at: usize) -> bool {
    let begins =
        |at: usize, start: &str| lines.get(at).is_some_and(|line| line.text.starts_with(start));
    let names = begins(at, "--- ") && begins(at + 1, "+++ ") && begins(at + 2, "@@");
    names || ["diff --git ", "Index: ", "*** End Patch"].iter().any(|start| begins(at, start))
}

/// File of a diff that is being parsed.
#[derive(Default)]
struct DiffSection {
    old: Option<String>,
    new: Option<String>,
    moved_to: Option<String>,
    /// True after a `---` or `+++` line.
    has_names: bool,
    hunks: PatchHunks,
}

impl DiffSection {
    /// Reads `a/x b/x`, for sections that have no other names.
    fn read_git_names(&mut self, names: &str) {
        if let Some((old, new)) = names.split_once(" b/") {
            self.old = Some(old.strip_prefix("a/").unwrap_or(old).to_owned());
            self.new = Some(new.to_owned());
        }
    }

    /// Reads `--- a/x` and `+++ b/x`, or one of them.
    fn read_names(&mut self, lines: &[Line<'_>], at: usize) -> usize {
        let named = |at: usize, mark: &str| {
            lines.get(at).and_then(|line| line.text.strip_prefix(mark)).map(clean_name)
        };
        let old = named(at, "--- ");
        let next = at + usize::from(old.is_some());
        let new = named(next, "+++ ");
        let next = next + usize::from(new.is_some());
        let is_git = |name: &Option<String>, prefix: &str| {
            name.as_deref().is_none_or(|name| name == NOWHERE || name.starts_with(prefix))
        };
        let strips = is_git(&old, "a/") && is_git(&new, "b/");
        let bare = |name: String, prefix: &str| match name.strip_prefix(prefix) {
            Some(bare) if strips => bare.to_owned(),
            _ => name,
        };
        self.has_names = true;
        self.old = old.map(|name| bare(name, "a/")).or(self.old.take());
        self.new = new.map(|name| bare(name, "b/")).or(self.new.take());
        next
    }

    /// Returns true if a hunk begins here without its `@@`.
    fn opens_hunk(&self, text: &str) -> bool {
        self.has_names && self.hunks.0.is_empty() && text.starts_with([' ', '+', '-'])
    }

    /// Reads git's lines between the names and the hunks.
    fn read_extra(&mut self, text: &str) -> Result<(), Refusal> {
        if let Some(name) = text.strip_prefix("rename to ") {
            self.moved_to = Some(clean_name(name));
        } else if let Some(name) = text.strip_prefix("rename from ") {
            self.old = Some(clean_name(name));
        } else if text.starts_with("new file mode ") {
            self.old = Some(NOWHERE.to_owned());
        } else if text.starts_with("deleted file mode ") {
            self.new = Some(NOWHERE.to_owned());
        } else if text.starts_with("GIT binary patch") || text.starts_with("Binary files ") {
            return Err(invalid("The diff changes a binary file; only text can be patched."));
        }
        Ok(())
    }

    fn finish(self) -> Result<Option<FilePatch>, Refusal> {
        let Self { old, new, moved_to, has_names, hunks } = self;
        let adds = old.as_deref() == Some(NOWHERE);
        let deletes = new.as_deref() == Some(NOWHERE);
        if hunks.0.is_empty() && !adds && !deletes && moved_to.is_none() {
            if has_names {
                return Err(invalid("The diff names a file but has no hunk for it.").hint(HOW));
            }
            return Ok(None);
        }
        let (path, change) = match moved_to {
            Some(to) => (old, FileChangeKind::Move { to, hunks }),
            None if deletes => (old, FileChangeKind::Delete),
            None if adds => (new, FileChangeKind::Add(new_text(&hunks)?)),
            None => (new.or(old), FileChangeKind::Update(hunks)),
        };
        Ok(Some(FilePatch { path, change }))
    }
}

/// Returns the text of a new file.
pub(super) fn new_text(hunks: &PatchHunks) -> Result<String, Refusal> {
    let lines: Vec<&PatchLine> = hunks.0.iter().flat_map(|hunk: &PatchHunk| &hunk.lines).collect();
    if let Some(line) = lines.iter().find(|line| line.mark != Mark::Add && !line.text.is_empty()) {
        let shown = crewagent_format::wording::quoted(&line.text);
        return Err(invalid(format!("The diff adds a file, but the line {shown} has no `+`."))
            .hint("Begin every line of a new file with `+`; for a file that exists, send hunks that update it."));
    }
    let ending = hunks.ending().unwrap_or(Ending::Lf).as_str();
    let mut text = String::new();
    for line in &lines {
        text.push_str(&line.text);
        text.push_str(ending);
    }
    if lines.last().is_some_and(|line| line.tail == TailHint::Open) {
        text.truncate(text.len() - ending.len());
    }
    Ok(text)
}

/// Returns a file name without a timestamp after it and quotes around it.
pub(super) fn clean_name(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).trim();
    let quoted = |quote: char| name.strip_prefix(quote).and_then(|name| name.strip_suffix(quote));
    quoted('"').or(quoted('`')).or(quoted('\'')).unwrap_or(name).to_owned()
}
