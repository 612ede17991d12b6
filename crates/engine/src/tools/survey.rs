//! The survey of a node: how its inputs and outputs stand on the disk.

use crewagent_core::event::{InputState, SurveyedInput, SurveyedOutput};
use crewagent_core::prompt::WantedInput;
use crewagent_core::run::machine::SurveyPlan;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::window::decode;

use super::{aliases, found};
use crate::mounts::{MountError, Mounts};

/// Maximum size of the headings of one file, in bytes.
const HEADINGS_BYTES: usize = 1024;
/// Longest line that is kept as a heading, in bytes.
const HEADING_BYTES: usize = 256;

/// Looks at the files of a node. Files that cannot be read are left out: the model can still ask for them, and is then
/// told why.
pub(crate) fn survey(
    mounts: &Mounts,
    plan: &SurveyPlan,
) -> Result<(Vec<SurveyedInput>, Vec<SurveyedOutput>), MountError> {
    let mut room = plan.inputs_bytes;
    let mut inputs = Vec::new();
    for wanted in &plan.inputs {
        let input = input(mounts, plan, wanted, &mut room)?;
        let is_missing = input.as_ref().is_some_and(|one| one.state == InputState::Missing);
        let folder = match is_missing && plan.finds_folders {
            true => found::of_folder(mounts, plan, &wanted.path, &mut room)?,
            false => Vec::new(),
        };
        if folder.is_empty() { inputs.extend(input) } else { inputs.extend(folder) }
    }
    for pattern in &plan.patterns {
        let known: Vec<String> =
            inputs.iter().map(|input: &SurveyedInput| input.path.clone()).collect();
        let found = found::matches(mounts, plan, pattern, &mut room)?;
        inputs.extend(found.into_iter().filter(|input| !known.contains(&input.path)));
    }
    inputs.retain(|input| !plan.known.contains(&(input.path.clone(), input.sha256.clone())));
    let outputs = plan.outputs.iter().map(|path| output(mounts, plan, path));
    Ok((inputs, outputs.collect::<Result<_, _>>()?))
}

pub(super) fn input(
    mounts: &Mounts,
    plan: &SurveyPlan,
    wanted: &WantedInput,
    room: &mut u64,
) -> Result<Option<SurveyedInput>, MountError> {
    let WantedInput { path, is_declared } = wanted;
    let real = aliases::real(mounts, &plan.aliases, path);
    let path = real.as_ref().unwrap_or(path);
    if !plan.policy.may_read(path) {
        return Ok(None);
    }
    let largest = plan.input_bytes.min(*room);
    let mut reader = Collector::new(usize::try_from(largest).unwrap_or(usize::MAX));
    let Some(measured) = look(mounts, path, &mut reader)? else {
        let missing = SurveyedInput {
            path: path.to_string(),
            state: InputState::Missing,
            bytes: 0,
            lines: 0,
            sha256: None,
            text: None,
        };
        return Ok(is_declared.then_some(missing));
    };
    let whole = reader.whole();
    let is_text = !reader.has_nul;
    if whole.is_some() {
        *room -= measured.size.min(*room);
    }
    let headings = Some(reader.headings.clone()).filter(|text| !text.is_empty() && is_text);
    Ok(Some(SurveyedInput {
        path: path.to_string(),
        state: if whole.is_some() { InputState::Shown } else { InputState::Listed },
        bytes: measured.size,
        lines: if is_text { reader.lines() } else { 0 },
        sha256: Some(measured.sha256.to_string()),
        text: whole.or(headings),
    }))
}

fn output(
    mounts: &Mounts,
    plan: &SurveyPlan,
    path: &ProjectPath,
) -> Result<SurveyedOutput, MountError> {
    let mut reader = Collector::new(0);
    let measured = look(mounts, path.vpath(), &mut reader)?;
    let sha256 = measured.as_ref().map(|measured| measured.sha256.to_string());
    let last = plan.written.get(path.vpath().relative());
    Ok(SurveyedOutput {
        path: path.to_string(),
        exists: measured.is_some(),
        own: sha256.is_some() && sha256.as_ref() == last,
        bytes: measured.map_or(0, |measured| measured.size),
        sha256,
    })
}

/// Reads a file; none if there is no such file, or it cannot be read by a model.
fn look(
    mounts: &Mounts,
    path: &crewagent_core::vpath::VPath,
    reader: &mut Collector,
) -> Result<Option<crate::mounts::Measured>, MountError> {
    match mounts.stream(path, |piece| reader.take(piece)) {
        Ok(answer) => Ok(answer.ok()),
        // One file that the system does not give is not the end of a run.
        Err(error) if super::denied(&error).is_some() || super::unreadable(&error).is_some() => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Text of a small file, or the headings of a large one, collected from a stream.
struct Collector {
    limit: usize,
    kept: Vec<u8>,
    is_over: bool,
    has_nul: bool,
    headings: String,
    line: u64,
    /// Beginning of the current line.
    current: Vec<u8>,
    is_in_fence: bool,
    is_ended: bool,
}

impl Collector {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
            is_over: false,
            has_nul: false,
            headings: String::new(),
            line: 1,
            current: Vec::new(),
            is_in_fence: false,
            is_ended: true,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.has_nul |= piece.contains(&0);
        let room = self.limit - self.kept.len();
        self.is_over |= piece.len() > room;
        self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = HEADING_BYTES.saturating_sub(self.current.len());
            self.current.extend_from_slice(&part[..part.len().min(room)]);
            self.is_ended = part.ends_with(b"\n");
            if self.is_ended {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.current).trim_end().to_owned();
        if line.trim_start().starts_with("```") {
            self.is_in_fence = !self.is_in_fence;
        }
        let marks = line.len() - line.trim_start_matches('#').len();
        let is_heading = (1..=6).contains(&marks) && line[marks..].starts_with(' ');
        if is_heading && !self.is_in_fence {
            let heading = format!("{}|{line}", self.line);
            if self.headings.len() + heading.len() < HEADINGS_BYTES {
                if !self.headings.is_empty() {
                    self.headings.push('\n');
                }
                self.headings.push_str(&heading);
            }
        }
        self.line += 1;
        self.current.clear();
    }

    fn lines(&self) -> u64 {
        if self.is_ended { self.line - 1 } else { self.line }
    }

    /// Returns the text, if it is one and fits.
    fn whole(&self) -> Option<String> {
        let text = decode(&self.kept).ok().filter(|_| !self.is_over && !self.has_nul);
        text.map(str::to_owned)
    }
}
