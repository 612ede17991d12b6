//! `fs.write`: writes or appends to a file.

use crewagent_core::call::{WriteCall, WriteMode};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::WritablePath;
use crewagent_format::integrity::Digest;

use super::ChangeHalt;
use crate::mounts::WriteTarget;

/// Returns the bytes of the file after a write.
pub(super) fn written(
    call: &WriteCall,
    target: &WriteTarget,
    limit: u64,
) -> Result<Vec<u8>, ChangeHalt> {
    check_match(&call.path, call.if_match, target)?;
    check_limit(&call.path, call.content.len() as u64, limit)?;
    let new = call.content.as_bytes();
    match (call.mode, &target.old) {
        (WriteMode::Create, Some(_)) => Err(exists(&call.path).into()),
        (WriteMode::Append, Some(old)) => {
            check_limit(&call.path, old.size.saturating_add(new.len() as u64), limit)?;
            Ok([old.bytes.as_slice(), new].concat())
        }
        (WriteMode::Overwrite, _) | (WriteMode::Append | WriteMode::Create, None) => {
            Ok(new.to_vec())
        }
    }
}

/// Refuses a file whose content is not the one that the model has read.
pub(super) fn check_match(
    path: &WritablePath,
    wanted: Option<Digest>,
    target: &WriteTarget,
) -> Result<(), Refusal> {
    let Some(wanted) = wanted else { return Ok(()) };
    match target.old.as_ref().map(|old| old.sha256) {
        Some(actual) if actual == wanted => Ok(()),
        Some(actual) => Err(unmet(format!(
            "`{path}` does not have the content that ifMatchSha256 names; it has changed since it was read."
        ))
        .hint("Read it again, and repeat the change on what is there now.")
        .detail("actualSha256", actual.to_string())),
        None => {
            Err(unmet(format!("`{path}` does not exist, so it does not match ifMatchSha256."))
                .hint("Leave out ifMatchSha256 to create it."))
        }
    }
}

/// Refuses a file that would exceed the limit in bytes.
pub(super) fn check_limit(path: &WritablePath, size: u64, limit: u64) -> Result<(), Refusal> {
    if size <= limit {
        return Ok(());
    }
    let message = format!("`{path}` would have {size} bytes; the limit is {limit}.");
    Err(Refusal::new(RefusalCode::WriteLimit, message)
        .hint("Nothing was written. Write less, or split the text into several files.")
        .detail("bytes", size)
        .detail("limitBytes", limit))
}

pub(super) fn exists(path: &WritablePath) -> Refusal {
    unmet(format!("`{path}` already exists, and the mode is create.")).hint(
        "Use another name, the mode overwrite or append, or fs.apply_patch to change parts of it.",
    )
}

fn unmet(message: String) -> Refusal {
    Refusal::new(RefusalCode::Precondition, message)
}
