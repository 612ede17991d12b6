//! Writes that take their text from other files: a template is copied, a draft is saved.

use std::borrow::Cow;
use std::sync::Arc;

use crewagent_core::call::{CopyPlace, TextCopy, WriteCall, WriteMode};
use crewagent_core::draft::DraftName;
use crewagent_core::event::SavedDraft;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::window::decode;
use crewagent_core::vpath::VPath;

use super::write::{check_limit, check_match, exists};
use super::{CallContext, ChangeHalt, reached};
use crate::mounts::{FileContent, Mounts, WriteTarget};

/// Text of a draft as the run saved it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedText {
    /// Name of the draft.
    pub name: String,
    /// File, from the root of the project.
    pub path: String,
    pub text: Arc<str>,
}

/// File after copies, with the drafts that are saved in it.
pub(super) struct CopiedText {
    pub(super) bytes: Vec<u8>,
    pub(super) saved: Vec<SavedDraft>,
}

/// Returns the file after the copies of a write.
pub(super) fn copied(
    mounts: &Mounts,
    call: &WriteCall,
    target: &WriteTarget,
    context: &CallContext<'_>,
) -> Result<CopiedText, ChangeHalt> {
    let limit = context.policy.fs.max_write_bytes;
    check_match(&call.path, call.if_match, target)?;
    if call.mode == WriteMode::Create && target.old.is_some() {
        return Err(exists(&call.path).into());
    }
    let is_added = call.copies.iter().any(|copy| copy.place != CopyPlace::Whole);
    let mut text = match target.old.as_ref().filter(|_| is_added) {
        Some(old) => text_of(call.path.path(), old, limit)?.into_owned(),
        None => String::new(),
    };
    let path = ProjectPath::new(call.path.path().clone());
    let mut saved = Vec::new();
    for copy in &call.copies {
        let source = source(mounts, copy, context)?;
        let new = text_of(&copy.from, &source, limit)?;
        let name = DraftName::of(&copy.from);
        let before = name.as_ref().zip(path.as_ref()).and_then(|(name, path)| {
            let is_it =
                |saved: &&SavedText| saved.name == name.as_str() && saved.path == path.as_str();
            context.saved.iter().find(is_it).map(|saved| &*saved.text)
        });
        text = placed(text, &new, &copy.place, before);
        check_limit(&call.path, text.len() as u64, limit)?;
        saved.extend(name.zip(path.as_ref()).map(|(name, path)| SavedDraft {
            name: name.as_str().to_owned(),
            path: path.to_string(),
            sha256: source.sha256.to_string(),
            bytes: source.size,
        }));
    }
    Ok(CopiedText { bytes: text.into_bytes(), saved })
}

/// Reads the file that is copied. Refuses one that the model may not read, or that has another content than it says.
fn source(
    mounts: &Mounts,
    copy: &TextCopy,
    context: &CallContext<'_>,
) -> Result<FileContent, ChangeHalt> {
    let TextCopy { from, if_from, .. } = copy;
    if !context.policy.may_read(from) {
        let message = format!("`{from}` may not be read, so it cannot be copied.");
        return Err(Refusal::new(RefusalCode::ToolNotAvailable, message)
            .hint("Write the text itself, or ask the user.")
            .into());
    }
    let limit = usize::try_from(context.policy.fs.max_write_bytes).unwrap_or(usize::MAX);
    let content = reached(mounts.read(from, limit))?;
    if if_from.is_some_and(|wanted| wanted != content.sha256) {
        let message = format!("`{from}` has changed since it was shown. Nothing was written.");
        return Err(Refusal::new(RefusalCode::Precondition, message)
            .hint("Look at it again, and show it again if the user has to decide about it.")
            .detail("actualSha256", content.sha256.to_string())
            .into());
    }
    Ok(content)
}

/// Returns the text of a file.
fn text_of<'c>(
    path: &VPath,
    content: &'c FileContent,
    limit: u64,
) -> Result<Cow<'c, str>, ChangeHalt> {
    if !content.is_whole() {
        let message = format!("`{path}` has {} bytes; the limit is {limit}.", content.size);
        return Err(Refusal::new(RefusalCode::WriteLimit, message)
            .hint("Nothing was written. Split the text into several files.")
            .into());
    }
    decode(&content.bytes).map(Cow::Borrowed).map_err(|_| {
        let message = format!("`{path}` is no text, so nothing can be copied from or into it.");
        Refusal::new(RefusalCode::InvalidArguments, message).into()
    })
}

/// Puts a text into its place. What was saved there before is replaced where it still stands exactly once.
fn placed(text: String, new: &str, place: &CopyPlace, before: Option<&str>) -> String {
    let section = match place {
        CopyPlace::Whole => return new.to_owned(),
        CopyPlace::End => None,
        CopyPlace::Section(name) => Some(name),
    };
    let body = new.trim_end_matches(['\r', '\n']);
    let known = before.map(|before| before.trim_end_matches(['\r', '\n']));
    if let Some(known) = known.filter(|known| !known.is_empty() && stands_once(&text, known)) {
        return text.replacen(known, body, 1);
    }
    let spellings = |name: &String| [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")];
    let hole = section.map(spellings).into_iter().flatten().find(|hole| text.contains(hole));
    if let Some(hole) = hole {
        return text.replacen(&hole, body, 1);
    }
    appended(text, new, body)
}

fn stands_once(text: &str, part: &str) -> bool {
    let mut found = text.match_indices(part);
    found.next().is_some() && found.next().is_none()
}

/// Appends a text behind a blank line. A text that stands at the end already is not written twice: the process that
/// wrote it may have died before the state told so.
fn appended(mut text: String, new: &str, body: &str) -> String {
    let end = text.trim_end_matches(['\r', '\n']);
    let before = end.strip_suffix(body).filter(|_| !body.is_empty());
    if before.is_some_and(|before| before.is_empty() || before.ends_with('\n')) {
        return text;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if !text.is_empty() {
        for ending in [newline.to_owned(), newline.repeat(2)] {
            if !text.ends_with(&ending) {
                text.push_str(newline);
            }
        }
    }
    text.push_str(new);
    if !text.ends_with('\n') {
        text.push_str(newline);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str) -> CopyPlace {
        CopyPlace::Section(name.to_owned())
    }

    #[track_caller]
    fn check(text: &str, new: &str, place: &CopyPlace, before: Option<&str>, expected: &str) {
        assert_eq!(placed(text.to_owned(), new, place, before), expected);
    }

    #[test]
    fn a_text_goes_to_the_end_behind_a_blank_line() {
        check("", "# A\n", &CopyPlace::End, None, "# A\n");
        check("# T", "# A\n", &CopyPlace::End, None, "# T\n\n# A\n");
        check("# T\n", "# A", &CopyPlace::End, None, "# T\n\n# A\n");
        check("# T\n\n", "# A\n", &CopyPlace::End, None, "# T\n\n# A\n");
        check("# T\r\n", "# A\n", &CopyPlace::End, None, "# T\r\n\r\n# A\n");
        check("old", "new\n", &CopyPlace::Whole, None, "new\n");
    }

    #[test]
    fn a_section_takes_the_place_of_its_placeholder() {
        check("a\n{{vision}}\nb\n", "V\n\n", &section("vision"), None, "a\nV\nb\n");
        check("{{ vision }} {{vision}}", "V", &section("vision"), None, "{{ vision }} V");
        check("{{ vision }}!", "V", &section("vision"), None, "V!");
        check("a\n", "V\n", &section("vision"), None, "a\n\nV\n");
        // An inserted text is not scanned for placeholders.
        check("{{a}} {{b}}", "{{b}}", &section("a"), None, "{{b}} {{b}}");
    }

    #[test]
    fn what_was_saved_before_is_replaced_where_it_stands_once() {
        check(
            "# T\n\n# A\n\n# Z\n",
            "# B\n",
            &CopyPlace::End,
            Some("# A\n"),
            "# T\n\n# B\n\n# Z\n",
        );
        check("x A y", "B\n", &section("s"), Some("A\n"), "x B y");
        check("A A\n", "B\n", &CopyPlace::End, Some("A\n"), "A A\n\nB\n");
        check("gone\n", "B\n", &CopyPlace::End, Some("A\n"), "gone\n\nB\n");
        check("x\n", "B\n", &CopyPlace::End, Some("\n"), "x\n\nB\n");
    }

    #[test]
    fn a_text_at_the_end_is_not_written_twice() {
        check("# T\n\n# A\n", "# A\n", &CopyPlace::End, None, "# T\n\n# A\n");
        check("# A\n", "# A\n", &CopyPlace::End, None, "# A\n");
        check("## A\n", "# A\n", &CopyPlace::End, None, "## A\n\n# A\n");
    }
}
