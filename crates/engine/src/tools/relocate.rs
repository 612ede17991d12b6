//! `fs.move` and `fs.delete`, and the patch forms of both.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::text_patch;
use crewagent_core::tool::window::decode;
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::change::MoveSource;
use super::patch::{about, not_text};
use super::write::{check_limit, check_match};
use super::{ChangeHalt, reached};
use crate::mounts::{FileContent, Mounts, WriteTarget};

/// Returns the file that a call moves or deletes. Refuses one that is missing, differs from what the model has read, is
/// reached through a link, or is too large to be brought back.
pub(super) fn existing<'t>(
    mounts: &Mounts,
    path: &WritablePath,
    if_match: Option<Digest>,
    target: &'t WriteTarget,
) -> Result<&'t FileContent, ChangeHalt> {
    let Some(old) = &target.old else {
        // Reading it gives the refusal that says what is there instead.
        reached(mounts.read(path.path(), 0))?;
        return Err(changed(path).into());
    };
    check_match(path, if_match, target)?;
    if target.path != *path.path() {
        return Err(linked(path, &target.path).into());
    }
    if !old.is_whole() {
        return Err(too_large(path, old.size).into());
    }
    Ok(old)
}

/// Refuses to move a file to a path that exists, or that leads through a link.
pub(super) fn check_free(
    mounts: &Mounts,
    from: &WritablePath,
    to: &WritablePath,
    target: &WriteTarget,
) -> Result<(), ChangeHalt> {
    if target.old.is_some() {
        let is_same = reached(mounts.is_same_file(from.path(), to.path()))?;
        return Err(if is_same { same_file(from, to) } else { occupied(to) }.into());
    }
    if target.path != *to.path() {
        return Err(linked(to, &target.path).into());
    }
    Ok(())
}

/// Returns the bytes that the file has at its new path.
pub(super) fn moved_bytes(
    source: &MoveSource<'_>,
    old: &FileContent,
    to: &WritablePath,
    limit: u64,
) -> Result<Vec<u8>, ChangeHalt> {
    let Some(change) = source.change else { return Ok(old.bytes.clone()) };
    let text = decode(&old.bytes).map_err(|why| not_text(source.path, &why))?;
    let text = text_patch::apply(text, change).map_err(|refusal| about(source.path, refusal))?;
    check_limit(to, text.len() as u64, limit)?;
    Ok(text.into_bytes())
}

/// Returns the refusal for a file that another process changed while the call was planned.
pub(super) fn changed(path: &WritablePath) -> Refusal {
    let message = format!("`{path}` was changed by another program during this call.");
    Refusal::new(RefusalCode::Precondition, message).hint("Read it, and make the call again.")
}

fn occupied(to: &WritablePath) -> Refusal {
    let message = format!("`{to}` already exists, and a move replaces no file.");
    Refusal::new(RefusalCode::Precondition, message)
        .hint("Use another path, or delete that file first if it is not needed.")
        .detail("path", to.to_string())
}

/// Returns the refusal for two spellings that a file system which ignores case takes for one name: the file must not be
/// deleted to make room for itself.
fn same_file(from: &WritablePath, to: &WritablePath) -> Refusal {
    let message = format!("`{from}` and `{to}` are two names of the same file.");
    Refusal::new(RefusalCode::Precondition, message)
        .hint("To change only the case of a name, move the file to a third name first, and from there to the new one.")
}

fn linked(path: &WritablePath, place: &VPath) -> Refusal {
    let message = format!(
        "`{path}` leads through a link to `{place}`, and fs.move and fs.delete follow no links."
    );
    Refusal::new(RefusalCode::Sandbox, message).hint(format!("Use the path `{place}`."))
}

fn too_large(path: &WritablePath, size: u64) -> Refusal {
    let message =
        format!("`{path}` has {size} bytes, which is too much to be kept for bringing it back.");
    Refusal::new(RefusalCode::WriteLimit, message).hint("Ask the user to move or delete it.")
}
