//! Fuzzes the text of a Markdown document: reading never panics, and an edit changes only its own value.

use crewagent_format::frontmatter::{Edit, Frontmatter};

/// Checks one input.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(document) = Frontmatter::parse(text) else { return };
    assert_eq!(&**document.text(), text);
    let edits = [
        Edit::Set { path: vec!["currentNodeId".into()], value: "step-02".into() },
        Edit::Push { path: vec!["stepsCompleted".into()], value: "step-01".into() },
        Edit::Set { path: vec!["variables".into(), "storyKey".into()], value: "1-2: x".into() },
        Edit::Remove { path: vec!["updatedAt".into()] },
    ];
    for edit in edits {
        let Ok(after) = document.edited(std::slice::from_ref(&edit)) else { continue };
        assert_eq!(after.body(), document.body());
        let (Edit::Set { path, .. } | Edit::Push { path, .. } | Edit::Remove { path }) = &edit;
        for entry in document.entries().iter().filter(|entry| entry.key != path[0]) {
            let same = after.tree().get(&entry.key).map(|now| now.tree.to_json());
            assert_eq!(same, Some(entry.tree.to_json()));
        }
    }
}
