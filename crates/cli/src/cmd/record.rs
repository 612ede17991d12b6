//! `--record`: writes the run as a scenario when it rests.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use crewagent_engine::export::KeyMask;
use crewagent_engine::store::{Environment, RunId, RunPackage, RunRecord, Store};
use crewagent_format::integrity::Digest;
use crewagent_scenario::record::{RecordError, scenario};

use crate::args::RecordingArgs;
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::summary;
use crate::resume_hint::ResumeHint;
use crate::when::date;

/// The file that a run is recorded in.
pub(crate) struct Recorder {
    file: PathBuf,
    over: Over,
}

/// The content that the recording may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Nothing,
    /// The user passed --force, or the file is the recording of the same run.
    Anything,
}

impl Recorder {
    /// Checks the file before the run starts, so that a write error does not appear only at the end.
    pub(crate) fn open(args: &RecordingArgs) -> anyhow::Result<Option<Self>> {
        Self::with(args, &|| None)
    }

    /// Does the same for a resumed run. An unchanged recording of the same run may be replaced.
    pub(crate) fn going_on(
        args: &RecordingArgs,
        id: &RunId,
        store: &Store,
    ) -> anyhow::Result<Option<Self>> {
        Self::with(args, &|| recorded(id, store).ok())
    }

    fn with(
        args: &RecordingArgs,
        so_far: &dyn Fn() -> Option<String>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(file) = &args.record else { return Ok(None) };
        let shown = file.display();
        if file.is_dir() {
            return Err(UsageError(say!(
                "`{shown}` is a folder; --record takes a file",
                "`{shown}` 是文件夹；--record 需要文件"
            ))
            .into());
        }
        let is_ours =
            || so_far().is_some_and(|text| std::fs::read_to_string(file).ok() == Some(text));
        let over =
            if args.force || (file.exists() && is_ours()) { Over::Anything } else { Over::Nothing };
        if over == Over::Nothing && file.symlink_metadata().is_ok() {
            let advice = text!(
                "name another file, or replace it with --force",
                "请换一个文件名，或用 --force 覆盖"
            );
            return Err(UsageError(say!(
                "`{shown}` exists, and --record would replace it; {advice}",
                "`{shown}` 已存在，--record 会覆盖它；{advice}"
            ))
            .into());
        }
        let folder = folder_of(file);
        if !folder.is_dir() {
            return Err(UsageError(say!(
                "there is no folder `{}` for --record; make it first",
                "--record 的文件夹 `{}` 不存在；请先创建",
                folder.display()
            ))
            .into());
        }
        new_file(folder).with_context(|| {
            say!(
                "the folder `{}` of --record cannot be written",
                "--record 的文件夹 `{}` 无法写入",
                folder.display()
            )
        })?;
        Ok(Some(Self { file: file.clone(), over }))
    }

    /// Writes the recording and reports it. The outcome of the run stands unless this fails.
    pub(crate) fn write(
        &self,
        id: &RunId,
        store: &Store,
        resume_hint: &ResumeHint,
        console: &mut Console,
    ) -> Outcome {
        let text = match recorded(id, store) {
            Ok(text) => text,
            Err(error) if matches!(error.downcast_ref(), Some(RecordError::Nothing)) => {
                let words = say!(
                    "Nothing was recorded: {}.",
                    "没有记录任何内容：{}。",
                    shown(&RecordError::Nothing)
                );
                console.error(paint::styled(QUIET, words));
                return Outcome::Done;
            }
            Err(error) => return failed(&error, id, resume_hint, console),
        };
        match self.put(&text) {
            Ok(()) => {
                let file = paint::printable(&self.file.display().to_string());
                console.error(say!(
                    "{} in {}. Its first lines say how to play it.",
                    "{} {}。文件开头说明了如何重放。",
                    paint::styled(GOOD, text!("Recorded", "已记录到")),
                    paint::styled(NAME, file)
                ));
                Outcome::Done
            }
            Err(error) => {
                let what = say!(
                    "cannot write the recording `{}`",
                    "无法写入记录 `{}`",
                    self.file.display()
                );
                failed(&anyhow::Error::new(error).context(what), id, resume_hint, console)
            }
        }
    }

    /// Writes the whole file or nothing.
    fn put(&self, text: &str) -> io::Result<()> {
        // Replaces the target of a link, not the link.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let mut new = new_file(folder_of(&file))?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        match self.over {
            Over::Anything => new.persist(&file)?,
            Over::Nothing => new.persist_noclobber(&file)?,
        };
        Ok(())
    }
}

fn failed(
    error: &anyhow::Error,
    id: &RunId,
    resume_hint: &ResumeHint,
    console: &mut Console,
) -> Outcome {
    let outcome = Outcome::of_error(error, console);
    let words = text!(
        "Nothing is lost. Record it again, here or elsewhere, with:",
        "没有内容丢失。重新记录（可换个地方）："
    );
    console.error(summary::next(words, &[resume_hint.resume(id.as_str())]).trim_end());
    outcome
}

/// Returns the run so far as a scenario.
fn recorded(id: &RunId, store: &Store) -> anyhow::Result<String> {
    let view = store.runs().look(id)?;
    let blobs = |digest: Digest| view.blobs.text(digest).ok();
    let keys = KeyMask::of(store, &Environment::of_process())
        .context("nothing was recorded, because not all keys that must be taken out can be read")?;
    let mask = |text: &str| keys.text(text);
    Ok(scenario(&title(&view.record), &view.recovered.events, &blobs, &mask)?)
}

fn title(record: &RunRecord) -> String {
    let workflow = record.subject.workflow().and_then(|workflow| workflow.id.as_ref());
    let workflow = workflow.map(|id| format!(" {id}"));
    let package = record.subject.package().map(RunPackage::reference).unwrap_or_default();
    format!("{package}{}, recorded {}", workflow.unwrap_or_default(), date(record.created))
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".crewagent-record-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The mode of any new file; the user's umask applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
