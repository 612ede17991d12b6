//! Carries out an intent: compares the files first, writes those that lack their new content, and undoes the change if
//! not all of them can be written.

use std::sync::Arc;

use crewagent_core::call::Call;
use crewagent_core::event::{FileIntent, Intent};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::change::{ContentDraft, FileJob, KEPT, PlannedChange, jobs};
use super::outputs::SentFile;
use super::{CallContext, ChangeHalt, Tools, denied};
use crate::mounts::{self, Before, Mounts};

/// A file of an intent, parsed from its record.
struct File {
    path: WritablePath,
    before: Option<Digest>,
    /// None removes the file.
    after: Option<Digest>,
}

/// Returns the only file of a change that was just planned. The write itself compares the content, so no look at the
/// file is needed before.
fn fresh(change: &PlannedChange) -> Option<Result<PendingFile, Refusal>> {
    let ([recorded], [images]) = (&change.intent.files[..], &change.files[..]) else { return None };
    Some(File::at(images.path.clone(), recorded).map(|file| {
        let (old, new) = (images.before.clone(), images.after.clone());
        PendingFile { file, old, new, source: None }
    }))
}

/// A file that still has its old content.
struct PendingFile {
    file: File,
    old: Option<Arc<[u8]>>,
    /// None removes the file.
    new: Option<Arc<[u8]>>,
    /// The file that is moved here.
    source: Option<WritablePath>,
}

impl Tools<'_> {
    pub(super) fn try_carry_out(
        &self,
        call: &Call,
        intent: &Intent,
        planned: Option<&PlannedChange>,
        context: &CallContext<'_>,
    ) -> Result<(), ChangeHalt> {
        if let Some(one) = planned.and_then(fresh) {
            match self.write_all(&[one?]) {
                // The file is not as planned any more; the comparison below finds out why.
                Err(ChangeHalt::Refused(_)) => {}
                result => return result,
            }
        }
        let mut pending = Vec::new();
        let mut finished = Vec::new();
        let mut changed = None;
        for recorded in &intent.files {
            let file = File::read(recorded)?;
            // An error is no refusal here, because the file may be written already.
            let target = settled(self.mounts.target(&file.path, 0))?;
            self.check_target(&file.path, &target)?;
            let now = target.old.map(|old| old.sha256);
            if now == file.after {
                finished.push(file);
            } else if now == file.before {
                pending.push(file);
            } else {
                changed.get_or_insert_with(|| changed_under(&file, now));
            }
        }
        for file in &finished {
            // Another process wrote it, and may have died before it was durable.
            settled(self.mounts.flush(&file.path))?;
        }
        let result = match changed {
            Some(refusal) => Err(refusal.into()),
            // All contents are worked out before the first byte is written.
            None => self
                .all_pending(pending, &finished, call, intent, planned, context)
                .and_then(|pending| self.write_all(&pending)),
        };
        result.map_err(|halt| match halt {
            ChangeHalt::Refused(refusal) => half_done(*refusal, &finished).into(),
            ChangeHalt::Failed(error) => ChangeHalt::Failed(error),
        })
    }

    /// Returns the new contents of the files that are left, each judged with those before it.
    fn all_pending(
        &self,
        pending: Vec<File>,
        finished: &[File],
        call: &Call,
        intent: &Intent,
        planned: Option<&PlannedChange>,
        context: &CallContext<'_>,
    ) -> Result<Vec<PendingFile>, ChangeHalt> {
        let mut sent = Vec::new();
        let is_judged = matches!(call, Call::State(_));
        let is_sent = |file: &&File| is_judged && file.path.path().mount() == Mount::Project;
        for file in finished.iter().filter(is_sent) {
            let content = settled(self.mounts.read(file.path.path(), KEPT))?;
            sent.push(SentFile::new(file.path.path().clone(), content.bytes.into()));
        }
        let mut all = Vec::with_capacity(pending.len());
        for file in pending {
            let next = self.pending(file, call, intent, planned, (context, &sent))?;
            let path = next.file.path.path();
            sent.extend(next.new.clone().map(|bytes| SentFile::new(path.clone(), bytes)));
            all.push(next);
        }
        Ok(all)
    }

    /// Returns the new content of a file: as planned, or worked out again with the time of the plan.
    fn pending(
        &self,
        file: File,
        call: &Call,
        intent: &Intent,
        planned: Option<&PlannedChange>,
        (context, sent): (&CallContext<'_>, &[SentFile]),
    ) -> Result<PendingFile, ChangeHalt> {
        let jobs = jobs(call);
        let job = jobs.iter().find(|job| *job.path == file.path);
        let source = job.and_then(FileJob::source).cloned();
        let images = planned.and_then(|change| {
            change
                .files
                .iter()
                .find(|images| images.path == file.path && images.digest_after() == file.after)
        });
        if let Some(images) = images {
            let (old, new) = (images.before.clone(), images.after.clone());
            return Ok(PendingFile { file, old, new, source });
        }
        let Some(job) = job else { return self.pending_mirror(file, intent) };
        let created = self.created_by(intent);
        let ContentDraft { old, after, before, sha256, .. } =
            self.draft(job, context, &intent.time, (&created, sent))?;
        let is_as_planned = before == file.before && sha256 == file.after;
        if is_as_planned {
            return Ok(PendingFile { file, old, new: after, source });
        }
        let mirrored =
            after.as_deref().and_then(|text| self.mirrored_again(intent, &file.path, text));
        match mirrored.filter(|new| before == file.before && Some(Digest::of(new)) == file.after) {
            Some(new) => Ok(PendingFile { file, old, new: Some(new), source }),
            None => Err(other_result(&file).into()),
        }
    }

    /// Returns the new content of a document that the call itself does not name.
    fn pending_mirror(&self, file: File, intent: &Intent) -> Result<PendingFile, ChangeHalt> {
        let target = settled(self.mounts.target(&file.path, KEPT))?;
        let old = target.old.filter(|old| old.is_whole() && Some(old.sha256) == file.before);
        let new = old.as_ref().and_then(|old| self.mirrored_again(intent, &file.path, &old.bytes));
        match new.filter(|new| Some(Digest::of(new)) == file.after) {
            Some(new) => Ok(PendingFile {
                file,
                old: old.map(|old| old.bytes.into()),
                new: Some(new),
                source: None,
            }),
            None => Err(other_result(&file).into()),
        }
    }

    /// Returns the artifacts that an intent creates or changes. They may be there already, if a process died between two files.
    fn created_by(&self, intent: &Intent) -> Vec<ProjectPath> {
        let is_new = |file: &&FileIntent| file.before != file.after && file.after.is_some();
        let new = intent.files.iter().filter(is_new);
        let path = |file: &FileIntent| ProjectPath::new(VPath::parse(&file.path).ok()?);
        new.filter_map(path).filter(|path| self.is_artifact(path)).collect()
    }

    /// Writes all files, or undoes what it wrote as far as possible.
    fn write_all(&self, pending: &[PendingFile]) -> Result<(), ChangeHalt> {
        for (index, next) in pending.iter().enumerate() {
            let Err(halt) = apply(self.mounts, next) else { continue };
            if pending.len() > 1 {
                // The failed one may have been written, if only its folder was not flushed.
                for done in pending[..=index].iter().rev() {
                    undo(self.mounts, done)?;
                }
            }
            return Err(self.explained(halt, &next.file));
        }
        Ok(())
    }

    /// Turns an error into a refusal if the system protects the file and it is known to be unwritten.
    fn explained(&self, halt: ChangeHalt, file: &File) -> ChangeHalt {
        match halt {
            ChangeHalt::Refused(refusal) => ChangeHalt::Refused(refusal),
            ChangeHalt::Failed(error) => {
                match (denied(&error), self.mounts.target(&file.path, 0)) {
                    (Some(refusal), Ok(Ok(target)))
                        if target.old.as_ref().map(|old| old.sha256) == file.before =>
                    {
                        refusal.into()
                    }
                    _ => ChangeHalt::Failed(error),
                }
            }
        }
    }
}

/// Merges refusals and errors without turning an error into a refusal.
fn settled<T>(answer: mounts::MountResult<T>) -> Result<T, ChangeHalt> {
    match answer {
        Ok(result) => Ok(result?),
        Err(error) => Err(ChangeHalt::Failed(error)),
    }
}

/// Writes a file, or removes it.
fn apply(mounts: &Mounts, next: &PendingFile) -> Result<(), ChangeHalt> {
    let File { path, before, .. } = &next.file;
    settled(match (&next.new, before, &next.source) {
        (Some(new), None, Some(source)) => mounts.create_like(path, new, source),
        (Some(new), before, _) => mounts.replace(path, new, expected(*before)),
        (None, Some(before), _) => mounts.remove(path, *before),
        (None, None, _) => return Ok(()),
    })
}

/// Returns the content that a file must have before it is written.
fn expected(digest: Option<Digest>) -> Before {
    digest.map_or(Before::Nothing, Before::Sha256)
}

/// Restores the old content if the new one is there. A file that was changed since stays as it is.
fn undo(mounts: &Mounts, done: &PendingFile) -> Result<(), ChangeHalt> {
    let File { path, before, after } = &done.file;
    let undone = match (before, &done.old, after) {
        (None, _, Some(after)) => mounts.remove(path, *after),
        (Some(_), Some(old), after) => mounts.replace(path, old, expected(*after)),
        (Some(_), None, _) | (None, _, None) => return Ok(()),
    };
    match undone {
        Ok(Ok(()) | Err(_)) => Ok(()),
        Err(error) => Err(ChangeHalt::Failed(error)),
    }
}

impl File {
    fn read(recorded: &FileIntent) -> Result<Self, Refusal> {
        Self::at(WritablePath::new(VPath::parse(&recorded.path)?)?, recorded)
    }

    /// Parses a record whose path is known.
    fn at(path: WritablePath, recorded: &FileIntent) -> Result<Self, Refusal> {
        let digest = |text: &String| {
            Digest::parse(text).ok_or_else(|| {
                Refusal::new(RefusalCode::Internal, "The record of this change is damaged.")
            })
        };
        Ok(Self {
            path,
            before: recorded.before.as_ref().map(digest).transpose()?,
            after: recorded.after.as_ref().map(digest).transpose()?,
        })
    }
}

fn changed_under(file: &File, now: Option<Digest>) -> Refusal {
    let path = &file.path;
    let what = match now {
        Some(_) => "it has neither the content from before this call nor the content after it",
        None => "it was removed",
    };
    Refusal::new(RefusalCode::Precondition, format!("`{path}` changed under this call: {what}."))
        .hint("Read it, and repeat the change on what is there now.")
        .detail("path", path.to_string())
        .detail("actualSha256", now.map(|digest| digest.to_string()))
}

/// Names the files that a process changed before it died, which cannot be undone.
fn half_done(mut refusal: Refusal, finished: &[File]) -> Refusal {
    if finished.is_empty() {
        return refusal;
    }
    let paths: Vec<String> = finished.iter().map(|file| file.path.to_string()).collect();
    refusal.message.push_str(" Other files of this call have their new content already.");
    refusal.detail("changed", paths)
}

/// Returns the refusal of a plan that cannot be repeated.
fn other_result(file: &File) -> Refusal {
    let path = &file.path;
    let message =
        format!("The change of `{path}` was interrupted and cannot be repeated as it was planned.");
    Refusal::new(RefusalCode::Precondition, message)
        .hint("It was not made. Look at the file, and make the call again.")
        .detail("path", path.to_string())
}
