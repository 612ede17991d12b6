//! A sample inside the program: a package, a small project, and the scripted model's replies. It needs no key, no
//! network, and no other file.

macro_rules! example {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../spec/examples/create-story-micro/", $path)))
    };
}

macro_rules! golden {
    ($path:literal) => {
        include_str!(concat!("../../engine/tests/golden/001-create-story-micro/", $path))
    };
}

/// Replies of the model.
pub const SCENARIO: &str = golden!("scenario.yaml");

/// Replies of the model at reading speed, for the app.
pub fn read_aloud() -> String {
    format!("{SCENARIO}\npace: {{ characters: 3, milliseconds: 18 }}\n")
}

/// Answer of the user.
pub const ANSWER: &str = "1-2-user-authentication";

/// Returns the package `spec/examples/create-story-micro`, as published.
pub fn package() -> Vec<(String, String)> {
    owned(&[
        example!("agents.json"),
        example!("assets/story-template.md"),
        example!("bmad.json"),
        example!("steps/end-99.md"),
        example!("steps/step-01-select-story.md"),
        example!("steps/step-02-discover-inputs.md"),
        example!("steps/step-03-extract-context.md"),
        example!("steps/step-04-generate-story.md"),
        example!("steps/step-05-update-sprint-status.md"),
        example!("workflow.graph.json"),
        example!("workflow.md"),
    ])
}

/// Returns the project before the run.
pub fn project() -> Vec<(String, String)> {
    owned(&[
        ("README.md", golden!("project/README.md")),
        ("artifacts/epics.md", golden!("project/artifacts/epics.md")),
        ("artifacts/prd.md", golden!("project/artifacts/prd.md")),
    ])
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}
