//! Adds what is done to the document in which other tools read it, together with the move itself.

use std::sync::Arc;

use crewagent_core::event::Intent;
use crewagent_core::policy::rules::Verdict;
use crewagent_core::state::mirror::MirrorEntry;
use crewagent_core::tool::Tool;
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::change::{ContentDraft, KEPT};
use super::{CallContext, ChangeHalt, Tools, reached};

/// The part of a planned change that a mirror makes.
#[derive(Default)]
pub(super) struct Mirrored {
    /// Change of a document that the call itself does not write.
    pub(super) draft: Option<ContentDraft>,
    /// Reason why the document was not changed.
    pub(super) warning: Option<String>,
}

impl Tools<'_> {
    /// Adds the entry of a transition to the document: to the draft of the call that writes it, else as a draft of its
    /// own. What a rule denies is left out, because the run itself does not need it.
    pub(super) fn mirrored(
        &self,
        drafts: &mut [ContentDraft],
        context: &CallContext<'_>,
    ) -> Result<Mirrored, ChangeHalt> {
        let transition = drafts.iter().find_map(|draft| draft.transition.as_deref());
        let entry = self.workflow.zip(transition);
        let entry = entry.and_then(|(workflow, transition)| MirrorEntry::of(workflow, transition));
        let Some(entry) = entry else { return Ok(Mirrored::default()) };
        let Ok(path) = WritablePath::new(entry.file.vpath().clone()) else {
            return Ok(Mirrored::default());
        };
        let target = match reached(self.mounts.target(&path, KEPT)) {
            Ok(target) => target,
            // The document is not there, or is no file that a tool may write.
            Err(ChangeHalt::Refused(_)) => return Ok(Mirrored::default()),
            Err(halt) => return Err(halt),
        };
        if let Some(draft) = drafts.iter_mut().find(|draft| draft.place == target.path) {
            if let Some(after) = draft.after.as_deref().and_then(|text| added(&entry, text)) {
                draft.sha256 = Some(Digest::of(&after));
                draft.after = Some(after);
            }
            return Ok(Mirrored::default());
        }
        let places: [&VPath; 2] = [path.path(), &target.path];
        let verdict = context.policy.decide(&[], &[Tool::Write.name()], &places).verdict;
        if !context.policy.fs.enabled || verdict == Verdict::Deny {
            let warning = format!("{} was not changed: the policy denies it.", entry.file);
            return Ok(Mirrored { draft: None, warning: Some(warning) });
        }
        self.check_target(&path, &target)?;
        let Some(old) = target.old.filter(crate::mounts::FileContent::is_whole) else {
            return Ok(Mirrored::default());
        };
        let Some(after) = added(&entry, &old.bytes) else { return Ok(Mirrored::default()) };
        let draft = ContentDraft {
            path,
            place: target.path,
            before: Some(old.sha256),
            old_size: Some(old.size),
            old: Some(old.bytes.into()),
            sha256: Some(Digest::of(&after)),
            after: Some(after),
            source: None,
            transition: None,
            is_whole_text: false,
            replaces: false,
            saved: Vec::new(),
        };
        Ok(Mirrored { draft: Some(draft), warning: None })
    }

    /// Returns the content of a file with the entry of an announced move, when the change is finished by another process.
    pub(super) fn mirrored_again(
        &self,
        intent: &Intent,
        path: &WritablePath,
        text: &[u8],
    ) -> Option<Arc<[u8]>> {
        let (workflow, state) = (self.workflow?, intent.state.as_ref()?);
        let left = state.moved.as_ref().map(|moved| moved.from.as_str());
        let ended = state.state.complete.then_some(state.state.current_node_id.as_str());
        let variables = &state.state.variables;
        let entry = MirrorEntry::of_nodes(workflow, &[left, ended], variables)?;
        let is_here = path.path() == entry.file.vpath();
        added(&entry, text).filter(|_| is_here)
    }
}

/// Returns a text with the entry; none if nothing is added.
fn added(entry: &MirrorEntry, text: &[u8]) -> Option<Arc<[u8]>> {
    let text = entry.added_to(std::str::from_utf8(text).ok()?)?;
    Some(text.into_bytes().into())
}
