//! Calls that need approval: nothing is announced or done before the user has seen the change.

use std::time::Duration;

use crewagent_core::call::Call;
use crewagent_core::policy::rules::Rule;
use crewagent_core::question::approval::{Approval, FileChange, ToolDescription};
use crewagent_core::run::machine::{CallJob, Offered};
use crewagent_core::tool::Tool;
use crewagent_core::tool::server_tool::ServerTool;
use crewagent_core::vpath::{Mount, VPath};
use similar::TextDiff;

use super::request;
use crate::blobs::Blobs;
use crate::step_log::Halt;
use crate::tools::{FileImages, PlannedChange};

/// Limit in bytes of the shown differences of all files, or of the shown arguments.
const MOST_SHOWN: usize = 24 * 1024;
/// Limit in bytes; larger files are not compared.
const MOST_COMPARED: usize = 1 << 20;
/// Time after which the diff settles for one that is not the shortest.
const TIME: Duration = Duration::from_millis(200);

/// Returns the approval that this change needs, if a rule asks for one.
pub(super) fn of_change(job: &CallJob, call: &Call, change: &PlannedChange) -> Option<Approval> {
    let tool = call.tool().name();
    let named = change.files.iter().map(|file| file.path.path());
    let places: Vec<&VPath> = named.chain(change.files.iter().map(|file| &file.place)).collect();
    let mut tools = call.ruled_tools();
    if change.mirrors {
        tools.push(Tool::Write.name());
    }
    let rule = job.rule_asking(&tools, &places)?;
    let mut left = MOST_SHOWN;
    let both = change.intent.files.iter().zip(&change.files);
    let files = both
        .filter(|(_, images)| images.path.path().mount() != Mount::State)
        .map(|(file, images)| {
            let (diff, cut) = compared(images, file.before.is_some(), left);
            left -= diff.len();
            let place = Some(&images.place).filter(|place| *place != images.path.path());
            FileChange { file: file.clone(), place: place.map(VPath::to_string), diff, cut }
        })
        .collect();
    let tool = tool.to_owned();
    let moved = change.intent.state.as_ref().and_then(|state| state.moved.clone());
    let approval = Approval { tool, rule, files, moved, arguments: None, cut: false, offer: None };
    unless_cleared(job, approval)
}

/// Returns the approval of a call that changes no files itself: the user approves the arguments.
pub(super) fn of_call(
    job: &CallJob,
    tool: &str,
    places: &[&VPath],
    blobs: &Blobs,
) -> Result<Option<Approval>, Halt> {
    let Some(rule) = job.rule_to_approve(tool, places) else { return Ok(None) };
    of_arguments(job, tool.to_owned(), rule, blobs).map(Some)
}

/// Returns the approval of a call of a server's tool: the user approves the arguments, and sees what the tool is said to
/// do.
pub(super) fn of_server_call(
    job: &CallJob,
    tool: &ServerTool,
    (rule, offered): (Rule, Offered),
    blobs: &Blobs,
) -> Result<Approval, Halt> {
    let offer = ToolDescription {
        description: tool.description.clone(),
        sha256: tool.digest().to_string(),
        redefined: offered == Offered::Anew,
    };
    Ok(Approval { offer: Some(offer), ..of_arguments(job, tool.name(), rule, blobs)? })
}

fn of_arguments(job: &CallJob, tool: String, rule: Rule, blobs: &Blobs) -> Result<Approval, Halt> {
    let (shown, cut) = both_ends(&request::text(&job.call.arguments, blobs)?);
    let arguments = Some(shown);
    Ok(Approval { tool, rule, files: Vec::new(), moved: None, arguments, cut, offer: None })
}

/// Returns as much of a text as may be shown, and true if something is left out. Always shows the end, because a model
/// could hide something there.
fn both_ends(text: &str) -> (String, bool) {
    if text.len() <= MOST_SHOWN {
        return (text.to_owned(), false);
    }
    let head = text.floor_char_boundary(MOST_SHOWN / 2);
    let tail = text.ceil_char_boundary(text.len() - MOST_SHOWN / 2);
    let shown =
        format!("{}\n[{} bytes are not shown]\n{}", &text[..head], tail - head, &text[tail..]);
    (shown, true)
}

/// Returns the approval unless the user gave exactly this one. A file that has changed since makes another difference.
fn unless_cleared(job: &CallJob, approval: Approval) -> Option<Approval> {
    let is_cleared = job.grants.once.as_ref().is_some_and(|once| once.is_same(&approval));
    (!is_cleared).then_some(approval)
}

/// Returns as much of the difference as may be shown, and true if there is more.
fn compared(images: &FileImages, is_there: bool, room: usize) -> (String, bool) {
    let text = |bytes: &[u8]| match bytes.len() {
        0..=MOST_COMPARED => std::str::from_utf8(bytes).ok().map(str::to_owned),
        _ => None,
    };
    let before = match (&images.before, is_there) {
        (Some(bytes), _) => text(bytes),
        (None, false) => Some(String::new()),
        (None, true) => None,
    };
    let after = images.after.as_ref().map_or_else(|| Some(String::new()), |bytes| text(bytes));
    let (Some(before), Some(after)) = (before, after) else {
        return (String::new(), true);
    };
    let diff = TextDiff::configure().timeout(TIME).diff_lines(&before, &after);
    let path = match images.place == *images.path.path() {
        true => images.path.to_string(),
        false => format!("{} (a link to {})", images.path, images.place),
    };
    let old = if is_there { path.as_str() } else { "/dev/null" };
    let new = if images.after.is_some() { path.as_str() } else { "/dev/null" };
    let mut text = diff.unified_diff().header(old, new).to_string();
    let is_cut = text.len() > room;
    if is_cut {
        let end = text.floor_char_boundary(room);
        text.truncate(text[..end].rfind('\n').map_or(0, |at| at + 1));
    }
    (text, is_cut)
}
