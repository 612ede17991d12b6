//! Placeholders in the paths that a call writes to: filled where the path is a declared output, refused elsewhere, so
//! that no file is called `{{name}}.md`.

use crewagent_format::wording::ticked;
use serde_json::{Map, Value as Json};

use super::{Call, WriteCall};
use crate::refusal::{Refusal, RefusalCode};
use crate::state::output::{Output, placeholders};
use crate::state::project_path::ProjectPath;
use crate::vpath::{VPath, WritablePath};

/// Values for the placeholders in paths.
#[derive(Clone, Copy)]
pub struct PathNames<'a> {
    /// Outputs that the current node declares.
    pub declared: &'a [String],
    pub variables: &'a Map<String, Json>,
    /// Returns true if there is a file of this name; it may be written, whatever it is called.
    pub exists: &'a dyn Fn(&VPath) -> bool,
}

impl Call {
    /// Fills the placeholders in the paths of files that the call writes. A value that the call itself sets counts.
    pub fn with_names(mut self, names: &PathNames<'_>) -> Result<Self, Refusal> {
        let mut variables = names.variables.clone();
        let files: &mut [WriteCall] = match &mut self {
            Self::Write(call) => std::slice::from_mut(call),
            Self::State(call) => {
                variables.extend(call.update.variables.clone());
                &mut call.files
            }
            Self::Read(_)
            | Self::List(_)
            | Self::Search(_)
            | Self::Patch(_)
            | Self::Move(_)
            | Self::Delete(_)
            | Self::AskUser(_)
            | Self::Gate(_) => return Ok(self),
        };
        let names = PathNames { variables: &variables, ..*names };
        let mut faults: Vec<Refusal> = Vec::new();
        for file in files {
            match filled(&file.path, &names) {
                Ok(Some(path)) => file.path = path,
                Ok(None) => {}
                Err(fault) => faults.push(fault),
            }
        }
        let Some(first) = faults.first() else { return Ok(self) };
        let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
        let message = format!("{} Nothing was written.", messages.join(" "));
        Err(Refusal { message, ..first.clone() })
    }
}

/// Returns the path with its placeholders filled; none if it stays as it is.
fn filled(path: &WritablePath, names: &PathNames<'_>) -> Result<Option<WritablePath>, Refusal> {
    let Some(named) = ProjectPath::new(path.path().clone()) else { return Ok(None) };
    let (uniform, found) = placeholders(named.as_str());
    if found.is_empty() {
        return Ok(None);
    }
    let output = Output::of(named.as_str(), names.variables);
    let is_this = |declared: &String| {
        ProjectPath::parse(declared).is_ok_and(|path| placeholders(path.as_str()).0 == uniform)
    };
    if let (Output::File(file), true) = (&output, names.declared.iter().any(is_this)) {
        return WritablePath::new(file.vpath().clone()).map(Some);
    }
    if (names.exists)(path.path()) {
        return Ok(None);
    }
    let message = format!("{named} is no name of a file: {} has to be filled in.", ticked(&found));
    let hint = match output {
        Output::File(file) => format!("Write {file}."),
        Output::Open(why) => format!("There is {why}: set it, or write the name itself."),
        Output::Pattern(_) | Output::Outside(_) => "Write the name itself.".to_owned(),
    };
    Err(Refusal::new(RefusalCode::InvalidArguments, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::{Policy, StateTool};

    const DECLARED: &str = "artifacts/stories/<storyKey>.md";

    fn named(tool: &str, arguments: Json, variables: Json) -> Result<Call, Refusal> {
        let policy = Policy::default().with_state(StateTool::Runtime);
        let call = Call::parse(tool, &arguments.to_string(), &policy).unwrap();
        call.with_names(&PathNames {
            declared: &[DECLARED.to_owned()],
            variables: variables.as_object().unwrap(),
            exists: &|path| path.relative() == "src/{id}.ts",
        })
    }

    fn write(path: &str, variables: Json) -> Result<String, Refusal> {
        let call = named("fs.write", json!({"path": path, "content": "text"}), variables)?;
        Ok(call.places()[0].relative().to_owned())
    }

    #[test]
    fn the_pattern_of_a_declared_output_is_filled() {
        for path in [
            "artifacts/stories/{{storyKey}}.md",
            "artifacts/stories/{storyKey}.md",
            "@project/artifacts/stories/<storyKey>.md",
        ] {
            let filled = write(path, json!({"storyKey": "1-2-login"})).unwrap();
            assert_eq!(filled, "artifacts/stories/1-2-login.md", "{path}");
        }
    }

    #[test]
    fn a_value_of_the_same_call_fills_a_path() {
        let arguments = json!({
            "variables": {"storyKey": "1-3-logout"},
            "files": [{"path": "artifacts/stories/{{storyKey}}.md", "content": "text"}],
        });
        let call = named("complete_node", arguments, json!({"storyKey": "1-2-login"})).unwrap();
        assert_eq!(call.places()[0].relative(), "artifacts/stories/1-3-logout.md");
    }

    #[test]
    fn any_other_placeholder_is_refused_with_what_was_meant() {
        let refusal = write("artifacts/{{storyKey}}.md", json!({"storyKey": "1-2-login"}));
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArguments);
        assert_eq!(
            refusal.message,
            "artifacts/{{storyKey}}.md is no name of a file: `storyKey` has to be filled in. Nothing was written."
        );
        assert_eq!(refusal.hint.unwrap(), "Write artifacts/1-2-login.md.");
        for path in ["artifacts/stories/<storyKey>.md", "artifacts/{other}.md"] {
            let hint = write(path, json!({"storyKey": "<key>"})).unwrap_err().hint.unwrap();
            assert!(hint.starts_with("There is no simple value for `"), "{hint}");
        }
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for path in ["artifacts/x.md", "artifacts/a{b.md", "src/{id}.ts", "artifacts/{}.md"] {
            assert_eq!(write(path, json!({"id": "7"})).unwrap(), path);
        }
    }
}
