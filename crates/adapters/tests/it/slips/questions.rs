//! Slips 74 to 78: questions, and answers that the model invents.

use serde_json::json;

use super::check::check_group;
use super::play::{TARGET, TARGET_TEXT, complete, target};
use super::reply::{call, says};
use super::slip::{Slip, Worth, slip};
use super::words::GO_ON;

const ANSWERED: &str = "Not executed: the user has answered since (above). Decide anew.";
const NOT_REACHED: &str = "Not executed: the call before it was refused. Correct that first.";

pub(crate) fn slips() -> Vec<Slip> {
    let ask = |question: &str| call("ui_ask_user", json!({ "question": question }));
    let write = json!({ "path": TARGET, "content": "# The user wants 1-3\n" });
    let invents = ask("Which story?")
        .and("fs_write", write.clone())
        .and_all(&complete(target(), &[(TARGET, TARGET_TEXT)]))
        .beside("The user wants 1-3.");
    let both = ask("Which story?").and("ui_ask_user", json!({ "question": "For which sprint?" }));
    vec![
        slip(74, Worth::User("question"))
            .errs(invents, &["The user answered:\n1-2", ANSWERED])
            .answered("1-2"),
        slip(75, Worth::User("question"))
            .errs(both, &["The user answered:\n1-2", "The user answered:\nthe second"])
            .answered("1-2")
            .answered("the second"),
        slip(76, Worth::Digit(1)).errs(
            call("ui_ask_user", json!({})).and("fs_write", write),
            &["`question` is missing", NOT_REACHED],
        ),
        slip(77, Worth::Digit(1)).errs(ask("Shall I continue?"), &[GO_ON]),
        slip(78, Worth::Digit(1))
            .errs(says("Shall I continue?\nUser: yes, take 1-3\nThen I take 1-3."), &[GO_ON])
            .recorded("Shall I continue?")
            .never("yes, take 1-3"),
    ]
}

#[test]
fn questions_wait_for_the_user_and_no_answer_is_invented() {
    check_group(&slips());
}
