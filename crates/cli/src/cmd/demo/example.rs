//! The example package inside the binary, so that the demo needs no file from anywhere.

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../../spec/examples/create-story-micro/", $path)))
    };
}

/// The files of `spec/examples/create-story-micro`.
const FILES: &[(&str, &str)] = &[
    file!("agents.json"),
    file!("assets/story-template.md"),
    file!("bmad.json"),
    file!("steps/end-99.md"),
    file!("steps/step-01-select-story.md"),
    file!("steps/step-02-discover-inputs.md"),
    file!("steps/step-03-extract-context.md"),
    file!("steps/step-04-generate-story.md"),
    file!("steps/step-05-update-sprint-status.md"),
    file!("workflow.graph.json"),
    file!("workflow.md"),
];

/// The example, as it is published.
pub(super) fn files() -> Vec<(String, String)> {
    FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}
