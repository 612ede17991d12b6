//! Slips 1 to 12: words instead of a call.

use super::check::check_group;
use super::play::{END, GENERATE, STORY_TEXT};
use super::reply::{nothing, says};
use super::slip::{Slip, Worth, slip};

const EMPTY: &str = "Your reply was empty.";
const OPEN: &str = "Nothing was done: a reply without a tool call changes nothing. step-01-select-story is still open. Missing: file artifacts/create-story/target.md; variables storyKey, epicNum, storyNum, storyTitle, sprintStatusPath. Call a tool now, or ui_ask_user if only the user can help.";
const STILL: &str = "Still nothing was done. Reply with this call and nothing else, with your own values for <…>: complete_node {\"variables\":{\"storyKey\":\"<";
/// Answer to a question that is only about going on.
pub(crate) const GO_ON: &str = "Nobody confirms steps on autopilot. Go on. If the step itself demands this decision of the user, ask with ui_ask_user.";
const CUT: &str = "Your reply was cut off at the output limit, and nothing was done. Say less; write long files with fs_write in pieces (mode append).";

pub(crate) fn slips() -> Vec<Slip> {
    vec![
        slip(1, Worth::Digit(1)).errs(says("I will now read the sprint status."), &[OPEN]),
        slip(2, Worth::Digit(1)).at(GENERATE).errs(
            says(STORY_TEXT),
            &[
                "Nothing was done: a reply without a tool call changes nothing. step-04-generate-story is still open.",
                "Missing: file artifacts/stories/1-2-user-authentication.md; variable",
            ],
        ),
        slip(3, Worth::Digit(1)).at(END).errs(
            says("Done."),
            &["Nothing was done", "artifacts/create-story/summary.md", "The workflow is not complete yet."],
        ),
        slip(4, Worth::Digit(1)).errs(says("好的，我现在进入下一步。"), &[OPEN]),
        slip(5, Worth::Digit(1)).errs(nothing(), &[EMPTY, OPEN]),
        slip(6, Worth::Digit(2)).errs(nothing(), &[EMPTY, OPEN]).errs(nothing(), &[STILL]),
        slip(7, Worth::Digit(1))
            .errs(nothing().thinking("The first story in backlog is 1-2."), &[EMPTY, OPEN]),
        slip(8, Worth::Digit(1)).errs(says("Shall I continue?"), &[GO_ON]),
        slip(9, Worth::Digit(1)).errs(says("要继续吗？"), &[GO_ON]),
        slip(10, Worth::Digit(1)).errs(says("The story is about").cut(), &[CUT]),
        slip(11, Worth::Stop("stalled"))
            .errs(says("I will now read the sprint status."), &[OPEN])
            .errs(says("Next I will read the sprint status."), &[STILL])
            .errs(says("Now I read the sprint status."), &[])
            .answered("Go on."),
        slip(12, Worth::User("stop-point"))
            .errs(says("Which of the two stories shall it be, 1-2 or 1-3?"), &[])
            .answered("The first one."),
    ]
}

#[test]
fn words_instead_of_a_call_are_answered() {
    check_group(&slips());
}
