//! Slips 13 to 25: calls that are written as text.

use serde_json::json;

use super::check::check_group;
use super::play::{EPICS, TARGET, TARGET_TEXT, completion, target};
use super::reply::{Reply, call, says};
use super::slip::{Slip, Worth, slip};

const READ: &str = "artifacts/epics.md, lines 1-7 of 7";
const CALL: &str = r#"{"name": "fs_read", "arguments": {"path": "artifacts/epics.md"}}"#;
const UNREADABLE: &str = "Your reply has a tool call written as text that cannot be carried out (";
const INTERFACE: &str = "). Use the tool interface, with the same arguments.";

/// Returns a slip whose text is understood as a call that reads the epics, and is shown to the model as a native one.
fn understood(number: usize, text: &str) -> Slip {
    slip(number, Worth::Digit(0))
        .errs(says(text), &[READ, "User Authentication"])
        .recorded(r#""name":"fs_read""#)
}

fn fenced(text: &str) -> Reply {
    says(&format!("I read the epics first.\n\n```json\n{text}\n```"))
}

pub(crate) fn slips() -> Vec<Slip> {
    let completes = json!({ "name": "complete_node", "arguments": completion(target(), &[(TARGET, TARGET_TEXT)]) });
    let writes = r#"<tool_call>{"name": "fs_write", "arguments": {"path": "notes.md", "content": "x"}}</tool_call>"#;
    let react = "Thought: I need the epics.\nAction: fs_read\nAction Input: {\"path\": \"artifacts/epics.md\"}";
    let python =
        "```python\nfs_read(path=\"artifacts/epics.md\")\nfs_list(path=\"artifacts\")\n```";
    let element = "<function=fs_read><parameter=path>artifacts/epics.md</parameter></function>";
    let mistral = r#"[TOOL_CALLS][{"name": "fs_list", "arguments": {"path": "artifacts"}}]"#;
    vec![
        slip(13, Worth::Digit(0))
            .errs(fenced(CALL), &[READ])
            .recorded(r#""name":"fs_read""#)
            .recorded("I read the epics first."),
        understood(14, &format!("<tool_call>\n{CALL}\n</tool_call>")),
        understood(15, &CALL.replace("arguments", "parameters")),
        understood(16, react),
        understood(17, &format!("{react}\nObservation: There are no epics."))
            .never("There are no epics."),
        understood(18, "fs.read(path=\"artifacts/epics.md\")"),
        understood(19, python).recorded(r#""name":"fs_list""#),
        understood(20, element)
            .errs(says(mistral), &["sprint-status.yaml"])
            .recorded(r#""name":"fs_list""#),
        slip(21, Worth::Digit(1)).errs(
            says("<tool_call>\n{\"name\": \"fs_read\", \"arguments\": {\"path\": \"artifacts/ep"),
            &[UNREADABLE, INTERFACE],
        ),
        slip(22, Worth::Digit(1)).errs(
            fenced(r#"{"name": "run_shell", "arguments": {"command": "ls"}}"#),
            &[UNREADABLE, "there is no tool run_shell", INTERFACE],
        ),
        slip(23, Worth::Digit(0))
            .errs(call("fs_read", json!({ "path": EPICS })).beside(writes), &[READ]),
        slip(24, Worth::Digit(0))
            .errs(fenced(&completes.to_string()), &["currentNodeId: step-02-discover-inputs"])
            .leaves(),
        slip(25, Worth::Digit(1)).tagged().errs(fenced(CALL), &[UNREADABLE, INTERFACE]),
    ]
}

#[test]
fn calls_that_are_written_as_text_are_understood() {
    check_group(&slips());
}
