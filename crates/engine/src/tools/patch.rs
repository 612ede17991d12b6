//! `fs.apply_patch` on files of the project.

use crewagent_core::call::{FilePatchCall, Operation};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::text_patch::{self, FileChangeKind, TextPatch};
use crewagent_core::tool::window::{NotText, decode};
use crewagent_core::vpath::WritablePath;

use super::write::{check_limit, check_match};
use super::{ChangeHalt, reached};
use crate::mounts::{Mounts, WriteTarget};

/// Returns the bytes of a file after all its patches.
pub(super) fn patched(
    mounts: &Mounts,
    patches: &[&FilePatchCall],
    target: &WriteTarget,
    limit: u64,
) -> Result<Vec<u8>, ChangeHalt> {
    let Some(first) = patches.first() else { return Err(nothing().into()) };
    let path = &first.path;
    for patch in patches {
        check_match(path, patch.if_match, target)?;
    }
    let mut text = match &target.old {
        Some(old) if !old.is_whole() => {
            check_limit(path, old.size, limit)?;
            return Err(too_large(path, old.size).into());
        }
        Some(old) => decode(&old.bytes).map_err(|why| not_text(path, &why))?.to_owned(),
        None if adds(first) => String::new(),
        None => {
            // Read it as `fs.read` would, for the refusal that says what is there.
            reached(mounts.read(path.path(), 0))?;
            return Err(appeared(path).into());
        }
    };
    for patch in patches {
        text = match &patch.operation {
            Operation::Text(change) => {
                text_patch::apply(&text, change).map_err(|refusal| about(path, refusal))?
            }
            Operation::UpdateFrontmatter(_) => return Err(no_state(path).into()),
            // A job of another kind makes these.
            Operation::Move { .. } | Operation::Delete => return Err(nothing().into()),
        };
    }
    check_limit(path, text.len() as u64, limit)?;
    Ok(text.into_bytes())
}

/// Returns true if a patch creates a missing file.
fn adds(patch: &FilePatchCall) -> bool {
    match &patch.operation {
        Operation::Text(TextPatch::Diff(file)) => match &file.change {
            FileChangeKind::Add(_) => true,
            FileChangeKind::Delete | FileChangeKind::Update(_) | FileChangeKind::Move { .. } => {
                false
            }
        },
        Operation::Text(TextPatch::Replace(_))
        | Operation::UpdateFrontmatter(_)
        | Operation::Move { .. }
        | Operation::Delete => false,
    }
}

/// Adds the path to a refusal.
pub(super) fn about(path: &WritablePath, refusal: Refusal) -> Refusal {
    refusal.detail("path", path.to_string())
}

fn nothing() -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, "There is no patch.")
        .hint("Give a path and an operation.")
}

pub(super) fn not_text(path: &WritablePath, why: &NotText) -> Refusal {
    let message = format!("`{path}` cannot be patched: it is {why}.");
    Refusal::new(RefusalCode::InvalidArguments, message).hint("Only text files can be patched.")
}

fn too_large(path: &WritablePath, size: u64) -> Refusal {
    let message = format!("`{path}` has {size} bytes, which is too much for a patch.");
    Refusal::new(RefusalCode::WriteLimit, message).hint("Ask the user to change it.")
}

fn appeared(path: &WritablePath) -> Refusal {
    let message = format!("`{path}` came to be while it was patched.");
    Refusal::new(RefusalCode::Precondition, message).hint("Read it, and send the patch again.")
}

fn no_state(path: &WritablePath) -> Refusal {
    let message =
        format!("`{path}` is not the state document, so updateFrontmatter cannot be used.");
    Refusal::new(RefusalCode::InvalidArguments, message).hint("Use replace or diff.")
}
