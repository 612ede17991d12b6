//! What the demo plays: the first golden run of the engine's tests, inside the binary.

macro_rules! golden {
    ($path:literal) => {
        include_str!(concat!("../../../../engine/tests/golden/001-create-story-micro/", $path))
    };
}

/// What the model says.
pub(super) const SCENARIO: &str = golden!("scenario.yaml");

/// What the user answers.
pub(super) const ANSWER: &str = "1-2-user-authentication";

/// The project before the run.
pub(super) fn project() -> Vec<(String, String)> {
    [
        ("README.md", golden!("project/README.md")),
        ("artifacts/epics.md", golden!("project/artifacts/epics.md")),
        ("artifacts/prd.md", golden!("project/artifacts/prd.md")),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .into()
}
