//! Plans changes of files before anything is touched.

use std::sync::Arc;

use crewagent_core::call::{
    Call, CopyPlace, FilePatchCall, Operation, StateCall, WriteCall, WriteMode,
};
use crewagent_core::draft::DraftName;
use crewagent_core::event::{
    Answer, FileIntent, Intent, Moved, SavedDraft, StateChange, WrittenDigest,
};
use crewagent_core::question::Question;
use crewagent_core::question::moving::{MovedFile, before_move};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::state::guard::StateTransition;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::text_patch::TextPatch;
use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::copy::copied;
use super::outputs::SentFile;
use super::report::{CompletionReport, FileReport, FileReports};
use super::state::StateFile;
use super::{CallContext, CallFiles, CallPlan, ChangeHalt, Moves, Tools, done, reached, relocate};
use crate::mounts::WriteTarget;

/// Bytes of an old file that are kept to undo a change.
pub(crate) const KEPT: usize = 16 << 20;

/// A planned change.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedChange {
    /// Record written before the change is made.
    pub intent: Intent,
    /// Files in the order of the intent.
    pub files: Vec<FileImages>,
    /// True if the runtime adds to a document of the user what is done.
    pub mirrors: bool,
}

impl PlannedChange {
    /// Returns the contents before the change, where they can be kept.
    pub fn before_images(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().filter_map(|file| file.before.as_deref())
    }
}

/// A legal move that waits for the user's word.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedMove {
    pub moved: Moved,
    /// Files that change with the move. What becomes of the run's state is not among them.
    pub files: Vec<FileIntent>,
    pub question: Question,
}

/// One file before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImages {
    pub path: WritablePath,
    /// Resolved path; a link may lead elsewhere.
    pub place: VPath,
    /// Old content; none if there was no file, or if it is too large to be kept.
    pub before: Option<Arc<[u8]>>,
    /// New content; none removes the file.
    pub after: Option<Arc<[u8]>>,
}

impl<'c> FileJob<'c> {
    /// Returns the file whose content and rights the new one takes; none if the job is not part of a move.
    pub(super) fn source(&self) -> Option<&'c WritablePath> {
        match &self.work {
            FileWork::MoveIn(source) => Some(source.path),
            FileWork::Write(_)
            | FileWork::Patches(_)
            | FileWork::Remove(_)
            | FileWork::State(_) => None,
        }
    }
}

impl FileImages {
    /// Returns the digest of the new content.
    pub(super) fn digest_after(&self) -> Option<Digest> {
        self.after.as_ref().map(|bytes| Digest::of(bytes))
    }
}

/// Everything that a call does to one file.
pub(super) struct FileJob<'c> {
    pub(super) path: &'c WritablePath,
    pub(super) work: FileWork<'c>,
}

pub(super) enum FileWork<'c> {
    Write(&'c WriteCall),
    /// In order, each on the result of the one before.
    Patches(Vec<&'c FilePatchCall>),
    /// Creates the file with the content of another one.
    MoveIn(MoveSource<'c>),
    /// Removes the file, if it has this digest.
    Remove(Option<Digest>),
    /// Only in strict mode.
    State(&'c StateCall),
}

/// Source of a move, and the change that its text takes on the way.
#[derive(Clone, Copy)]
pub(super) struct MoveSource<'c> {
    pub(super) path: &'c WritablePath,
    pub(super) change: Option<&'c TextPatch>,
    pub(super) if_match: Option<Digest>,
}

/// The planned content of a file.
pub(super) struct ContentDraft {
    pub(super) path: WritablePath,
    /// Resolved path.
    pub(super) place: VPath,
    pub(super) before: Option<Digest>,
    pub(super) old: Option<Arc<[u8]>>,
    /// Size of the old file, also where it is too large to be kept.
    pub(super) old_size: Option<u64>,
    /// None removes the file.
    pub(super) after: Option<Arc<[u8]>>,
    /// Digest of `after`.
    pub(super) sha256: Option<Digest>,
    /// Digest of the source of a move.
    pub(super) source: Option<Digest>,
    pub(super) transition: Option<Box<StateTransition>>,
    /// True if the call has the whole new text.
    pub(super) is_whole_text: bool,
    /// True if the old content is replaced, whatever it was.
    pub(super) replaces: bool,
    /// Drafts that are saved in the file.
    pub(super) saved: Vec<SavedDraft>,
}

impl ContentDraft {
    /// Returns true if the file has its new content already.
    pub(super) fn is_unchanged(&self) -> bool {
        self.before == self.sha256
    }
}

/// Returns the files of a call in the order of their names in it; none if the call writes none.
pub(super) fn jobs<'c>(call: &'c Call) -> Vec<FileJob<'c>> {
    match call {
        Call::Write(call) => vec![FileJob { path: &call.path, work: FileWork::Write(call) }],
        Call::Patch(call) => {
            let mut jobs: Vec<FileJob<'_>> = Vec::new();
            for patch in &call.patches {
                let FilePatchCall { path, operation, if_match } = patch;
                match operation {
                    Operation::Move { to, change } => {
                        jobs.extend(move_jobs(path, to, change.as_ref(), *if_match));
                        continue;
                    }
                    Operation::Delete => {
                        jobs.push(FileJob { path, work: FileWork::Remove(*if_match) });
                        continue;
                    }
                    Operation::UpdateFrontmatter(_) | Operation::Text(_) => {}
                }
                let same = jobs.iter_mut().find(|job| *job.path == patch.path);
                match same.map(|job| &mut job.work) {
                    Some(FileWork::Patches(patches)) => patches.push(patch),
                    Some(
                        FileWork::Write(_)
                        | FileWork::State(_)
                        | FileWork::MoveIn(_)
                        | FileWork::Remove(_),
                    )
                    | None => {
                        jobs.push(FileJob {
                            path: &patch.path,
                            work: FileWork::Patches(vec![patch]),
                        });
                    }
                }
            }
            jobs
        }
        Call::Move(call) => move_jobs(&call.path, &call.to, None, call.if_match).into(),
        Call::Delete(call) => {
            vec![FileJob { path: &call.path, work: FileWork::Remove(call.if_match) }]
        }
        // The state changes last, so that it never names a file that is not there.
        Call::State(call) => {
            let write =
                |file: &'c WriteCall| FileJob { path: &file.path, work: FileWork::Write(file) };
            let state = FileJob { path: &call.path, work: FileWork::State(call) };
            call.files.iter().map(write).chain([state]).collect()
        }
        Call::Read(_) | Call::List(_) | Call::Search(_) | Call::AskUser(_) | Call::Gate(_) => {
            Vec::new()
        }
    }
}

/// Returns the two jobs of a move: the new file is created before the old one is removed, so that no crash loses the
/// content.
fn move_jobs<'c>(
    from: &'c WritablePath,
    to: &'c WritablePath,
    change: Option<&'c TextPatch>,
    if_match: Option<Digest>,
) -> [FileJob<'c>; 2] {
    [
        FileJob { path: to, work: FileWork::MoveIn(MoveSource { path: from, change, if_match }) },
        FileJob { path: from, work: FileWork::Remove(if_match) },
    ]
}

impl Tools<'_> {
    pub(super) fn plan_change(
        &self,
        call: &Call,
        context: &CallContext<'_>,
    ) -> Result<CallPlan, ChangeHalt> {
        let mut drafts: Vec<ContentDraft> = Vec::new();
        let (mut created, mut sent) = (Vec::new(), Vec::new());
        for job in &jobs(call) {
            let draft = self.draft(job, context, context.now, (&created, &sent))?;
            sent.extend(SentFile::of(&draft));
            created.extend(self.created(&draft).and_then(|path| ProjectPath::parse(&path).ok()));
            drafts.push(draft);
        }
        check_places(&drafts)?;
        check_sources(&drafts)?;
        let places: Vec<&VPath> = drafts.iter().map(|draft| &draft.place).collect();
        call.permitted(context.policy, &places)?;
        if let Some(answer) = self.overwritten(call, &drafts, context.known) {
            return Ok(CallPlan::Answer(answer));
        }
        let mirrored = self.mirrored(&mut drafts, context)?;
        let mut answer = self.answer(call, &drafts, context.known);
        let mirrors = mirrored.draft.is_some();
        if let Some(draft) = mirrored.draft {
            answer.wrote.extend(written(&draft, context.known));
            // The state changes last.
            drafts.insert(drafts.len().saturating_sub(1), draft);
        }
        let transition = drafts.iter().find_map(|draft| draft.transition.as_deref());
        if let Some(moved) = transition.and_then(moved)
            && let Some(proposed) = self.unless_agreed(moved, &drafts, context)
        {
            return Ok(CallPlan::Approve(Box::new(proposed)));
        }
        if drafts.iter().all(ContentDraft::is_unchanged) {
            let repeats = transition.is_none();
            return Ok(CallPlan::Answer(Answer { repeats, ..answer }));
        }
        let intent = Intent {
            files: drafts.iter().map(file_intent).collect(),
            time: context.now.to_owned(),
            answer,
            state: transition.and_then(|transition| {
                let mut change = self.state_change(transition)?;
                change.warnings.extend(mirrored.warning);
                Some(change)
            }),
        };
        let images = drafts.into_iter().map(|draft| {
            if let Some(transition) = draft.transition {
                self.recent.keep(transition.into_document());
            }
            FileImages {
                path: draft.path,
                place: draft.place,
                before: draft.old,
                after: draft.after,
            }
        });
        Ok(CallPlan::Change(Box::new(PlannedChange { intent, files: images.collect(), mirrors })))
    }

    /// Returns the question that a move still needs: the user must agree, and has not agreed to exactly this change.
    fn unless_agreed(
        &self,
        moved: Moved,
        drafts: &[ContentDraft],
        context: &CallContext<'_>,
    ) -> Option<ProposedMove> {
        let changes = drafts.iter().filter(|draft| {
            draft.path.path().mount() != Mount::State && draft.before != draft.sha256
        });
        let changes: Vec<&ContentDraft> = changes.collect();
        let files: Vec<FileIntent> = changes.iter().copied().map(file_intent).collect();
        let is_free = match (context.moves, context.agreed) {
            (Moves::Ask, _) => false,
            (Moves::Free, Some(agreed)) => agreed == files,
            (Moves::Free, None) => true,
        };
        if is_free {
            return None;
        }
        let title = |id: &str| {
            let node = self.workflow.and_then(|workflow| workflow.graph.node(id));
            let title = node.and_then(|node| node.title.as_deref()).map(str::trim);
            title.filter(|title| !title.is_empty()).unwrap_or(id).to_owned()
        };
        let shown: Vec<MovedFile> = changes.into_iter().map(shown_file).collect();
        let question = before_move(&title(&moved.from), &title(&moved.to), &shown);
        Some(ProposedMove { moved, files, question })
    }

    /// Works out the new content of one file. `created` are the artifacts that the same call writes before it, and `sent`
    /// all files.
    pub(super) fn draft(
        &self,
        job: &FileJob<'_>,
        context: &CallContext<'_>,
        now: &str,
        (created, sent): (&[ProjectPath], &[SentFile]),
    ) -> Result<ContentDraft, ChangeHalt> {
        let limit = context.policy.fs.max_write_bytes;
        let target = self.aim(job.path, KEPT.max(usize::try_from(limit).unwrap_or(usize::MAX)))?;
        let (mut transition, mut source, mut saved) = (None, None, Vec::new());
        let after: Option<Arc<[u8]>> = if job.path.path().is_state_document() {
            let created = [context.created, created].concat();
            let state = StateFile { tools: self, context, now, created, sent };
            let made = state.transition(job, &target)?;
            let text = made.text().clone();
            transition = Some(Box::new(made));
            Some(text.into())
        } else {
            match &job.work {
                FileWork::Write(call) if !call.copies.is_empty() => {
                    let copied = copied(self.mounts, call, &target, context)?;
                    saved = copied.saved;
                    Some(copied.bytes.into())
                }
                FileWork::Write(call) => Some(super::write::written(call, &target, limit)?.into()),
                FileWork::Patches(patches) => {
                    Some(super::patch::patched(self.mounts, patches, &target, limit)?.into())
                }
                FileWork::MoveIn(from) => {
                    let (mounts, aimed) = (self.mounts, self.aim(from.path, KEPT)?);
                    let old = relocate::existing(mounts, from.path, from.if_match, &aimed)?;
                    relocate::check_free(mounts, from.path, job.path, &target)?;
                    source = Some(old.sha256);
                    Some(relocate::moved_bytes(from, old, job.path, limit)?.into())
                }
                FileWork::Remove(if_match) => {
                    relocate::existing(self.mounts, job.path, *if_match, &target)?;
                    None
                }
                // This call always names the state document.
                FileWork::State(_) => return Err(super::state::other_name(job.path).into()),
            }
        };
        let (is_whole_text, replaces) = match &job.work {
            FileWork::Write(call) if !call.copies.is_empty() => {
                (false, call.copies.iter().any(|copy| copy.place == CopyPlace::Whole))
            }
            FileWork::Write(call) => {
                let is_whole = call.mode != WriteMode::Append || target.old.is_none();
                (is_whole, is_whole)
            }
            FileWork::Patches(_)
            | FileWork::MoveIn(_)
            | FileWork::Remove(_)
            | FileWork::State(_) => (false, false),
        };
        let is_state = transition.is_some();
        let (before, old_size) = target.old.as_ref().map(|old| (old.sha256, old.size)).unzip();
        let old = target.old.filter(crate::mounts::FileContent::is_whole);
        Ok(ContentDraft {
            path: job.path.clone(),
            place: target.path,
            before,
            old: old.map(|old| old.bytes.into()),
            old_size,
            sha256: after.as_ref().map(|bytes| Digest::of(bytes)),
            after,
            source,
            is_whole_text: is_whole_text && !is_state,
            replaces: replaces && !is_state,
            saved,
            transition,
        })
    }

    /// Returns the resolved target of a write.
    fn aim(&self, path: &WritablePath, limit: usize) -> Result<WriteTarget, ChangeHalt> {
        let target = reached(self.mounts.target(path, limit))?;
        self.check_target(path, &target)?;
        Ok(target)
    }

    /// Refuses other names of the state document, so that no call bypasses the guard.
    pub(super) fn check_target(
        &self,
        path: &WritablePath,
        target: &WriteTarget,
    ) -> Result<(), ChangeHalt> {
        super::state::check_name(path, &target.path)?;
        if target.old.is_none() || path.path().is_state_document() {
            return Ok(());
        }
        match self.mounts.is_same_file(path.path(), &VPath::state_document(None))? {
            Ok(true) => Err(super::state::other_name(path).into()),
            Ok(false) | Err(_) => Ok(()),
        }
    }

    fn answer(&self, call: &Call, drafts: &[ContentDraft], known: &CallFiles) -> Answer {
        let created = drafts.iter().filter_map(|draft| self.created(draft)).collect();
        let answer = match (call, drafts) {
            (Call::State(state), _) if state.completion.is_some() => {
                done(&CompletionReport::new(drafts), created)
            }
            (_, [only]) => done(&FileReport::new(call, only, None), created),
            (_, several) => done(&FileReports::new(call, several), created),
        };
        let changed = drafts.iter().filter(|draft| !draft.is_unchanged());
        Answer {
            wrote: changed.filter_map(|draft| written(draft, known)).collect(),
            shown: drafts.iter().filter_map(super::known::written_text).collect(),
            drafted: drafts.iter().filter_map(drafted).collect(),
            saved: drafts.iter().flat_map(|draft| draft.saved.clone()).collect(),
            ..answer
        }
    }

    /// Returns the path of a draft that creates or changes an artifact.
    fn created(&self, draft: &ContentDraft) -> Option<String> {
        let path = ProjectPath::new(draft.place.clone())?;
        let is_new = draft.before != draft.sha256 && draft.after.is_some();
        (is_new && self.is_artifact(&path)).then(|| path.to_string())
    }

    /// Returns true if a file is below one of the folders of artifacts.
    pub(super) fn is_artifact(&self, path: &ProjectPath) -> bool {
        is_below(path, self.artifacts)
    }

    fn state_change(&self, transition: &StateTransition) -> Option<StateChange> {
        self.workflow.map(|workflow| super::state::change_of(workflow, transition))
    }
}

/// Returns true if a file is below one of these folders.
pub(crate) fn is_below(path: &ProjectPath, folders: &[ProjectPath]) -> bool {
    folders.iter().any(|folder| {
        let below = path.as_str().strip_prefix(folder.as_str());
        below.is_some_and(|below| below.starts_with('/'))
    })
}

/// Returns the change of a file, with its digests before and after.
fn file_intent(draft: &ContentDraft) -> FileIntent {
    FileIntent {
        path: draft.path.to_string(),
        before: draft.before.map(|digest| digest.to_string()),
        after: draft.sha256.map(|digest| digest.to_string()),
    }
}

/// Returns a file as the question before a move shows it.
fn shown_file(draft: &ContentDraft) -> MovedFile {
    let path = draft.path.path();
    let path = match path.mount() {
        Mount::Project => path.relative().to_owned(),
        Mount::State | Mount::Package => path.to_string(),
    };
    let lines = draft.after.as_ref().map(|bytes| String::from_utf8_lossy(bytes).lines().count());
    MovedFile { path, lines }
}

/// Returns the file of the project that a draft writes or removes.
fn written(draft: &ContentDraft, known: &CallFiles) -> Option<WrittenDigest> {
    let path = ProjectPath::new(draft.place.clone())?;
    let is_own = |before: Digest| known.is_own(&path, &before.to_string());
    let is_moved_own =
        |source: Digest| known.written.values().any(|own| *own == source.to_string());
    let foreign = match (draft.source, draft.before) {
        (Some(source), _) => !is_moved_own(source),
        (None, Some(before)) => !draft.replaces && draft.sha256.is_some() && !is_own(before),
        (None, None) => false,
    };
    let sha256 = draft.sha256.map(|sha256| sha256.to_string());
    Some(WrittenDigest { path: path.to_string(), sha256, foreign })
}

/// Returns the name of the draft that a call wrote.
fn drafted(draft: &ContentDraft) -> Option<String> {
    let name = DraftName::of(&draft.place).filter(|_| draft.after.is_some())?;
    Some(name.as_str().to_owned())
}

/// Refuses two names of one file, because one change would overwrite the other.
fn check_places(drafts: &[ContentDraft]) -> Result<(), Refusal> {
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(twin) = drafts.iter().take(index).find(|other| other.place == draft.place) {
            let message =
                format!("`{}` and `{}` are the same file: one is a link.", twin.path, draft.path);
            return Err(Refusal::new(RefusalCode::InvalidArguments, message)
                .hint("Use one of the two names for all changes."));
        }
    }
    Ok(())
}

/// Refuses a move whose source changed between its two reads: the new file would have the old content.
fn check_sources(drafts: &[ContentDraft]) -> Result<(), Refusal> {
    for pair in drafts.windows(2) {
        let [to, from] = pair else { continue };
        if to.source.is_some() && to.source != from.before {
            return Err(relocate::changed(&from.path));
        }
    }
    Ok(())
}

pub(super) fn moved(transition: &StateTransition) -> Option<Moved> {
    transition.moved().map(|made| Moved {
        from: made.from.as_str().to_owned(),
        to: made.to.as_str().to_owned(),
        label: made.label.clone(),
    })
}
