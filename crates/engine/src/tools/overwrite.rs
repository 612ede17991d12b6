//! Overwriting: a file that the run did not write is replaced only by a model that knows it, or that says so twice.

use crewagent_core::call::Call;
use crewagent_core::event::{Answer, WrittenDigest};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::overwriting::{Overwriting, SeenState, overwriting_refusal};

use super::change::ContentDraft;
use super::{CallFiles, Tools};

impl Tools<'_> {
    /// Returns the refusal of a call that would overwrite files of the user; none if it may.
    pub(super) fn overwritten(
        &self,
        call: &Call,
        drafts: &[ContentDraft],
        files: &CallFiles,
    ) -> Option<Answer> {
        if files.is_put_to_user {
            return None;
        }
        let (mut objections, mut warned) = (Vec::new(), Vec::new());
        for draft in drafts.iter().filter(|draft| draft.replaces && !draft.is_unchanged()) {
            let Some(path) = ProjectPath::new(draft.place.clone()) else { continue };
            let (Some(before), Some(new)) = (draft.before, draft.after.as_deref()) else {
                continue;
            };
            let (sha256, bytes) = (before.to_string(), draft.old_size.unwrap_or_default());
            let is_free =
                bytes == 0 || files.is_own(&path, &sha256) || files.outputs.contains(&path);
            if is_free || files.known.is_warned(&path, &sha256) {
                continue;
            }
            // The answer to a patch has shown the model what the file is now.
            let is_patched = files.is_last_writer(&path, &sha256);
            let seen = match is_patched || seen_by_digest(call, draft) {
                true => SeenState::Seen,
                false => files.known.seen_state([draft.path.path(), &draft.place], &sha256),
            };
            let file =
                Overwriting { path: path.as_str(), bytes, old: draft.old.as_deref(), new, seen };
            if let Some(objection) = file.objection() {
                objections.push(objection);
                warned.push(WrittenDigest {
                    path: path.to_string(),
                    sha256: Some(sha256),
                    foreign: false,
                });
            }
        }
        if objections.is_empty() {
            return None;
        }
        Some(Answer { warned, ..self.refused(call, &overwriting_refusal(&objections)) })
    }
}

/// Returns true if the call names the digest of the file, which the model has from a read.
fn seen_by_digest(call: &Call, draft: &ContentDraft) -> bool {
    matches!(call, Call::Write(call) if call.if_match.is_some() && call.if_match == draft.before)
}
