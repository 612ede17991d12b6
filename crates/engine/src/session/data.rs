//! The file that a menu item brings along: loaded before anything else, and told to the model as data.

use crewagent_core::frontmatter::MAX_BYTES;
use crewagent_core::menu::{DataFormat, DataRef, MenuError, MenuErrorCode};
use crewagent_core::prompt::{DataContext, data_context};
use crewagent_core::syntax::yaml;

use crate::mounts::Mounts;
use crate::runtime::Data;

/// More is not loaded for a command; the model can search in it.
const MAX_DATA: usize = 4 << 20;

/// Loads the data of a command, or says why it cannot be had.
pub(super) fn load(mounts: &Mounts, data: &DataRef) -> Result<Data, MenuError> {
    let path = &data.path;
    let failed = |why: String| {
        MenuError {
        code: MenuErrorCode::DataLoadFailed,
        message: format!("The data file `{path}` of this menu item cannot be loaded: {why}"),
        hint: "Nothing was started. Put the file there, or correct `data` in the package's agents.json.".to_owned(),
    }
    };
    let content = match mounts.read(path, MAX_DATA) {
        Ok(Ok(content)) if content.is_whole() => content,
        Ok(Ok(_)) => return Err(failed(format!("it is larger than {MAX_DATA} bytes."))),
        Ok(Err(refusal)) => return Err(failed(refusal.message)),
        Err(error) => return Err(failed(format!("{error}."))),
    };
    let text =
        String::from_utf8(content.bytes).map_err(|_| failed("it is not UTF-8 text.".to_owned()))?;
    check(data.format, &text).map_err(failed)?;
    let label = path.relative().rsplit('/').next().unwrap_or_default();
    let text = data_context(&DataContext { label, path, content: &text });
    Ok(Data { path: path.clone(), text })
}

/// Whether the text is what its name says.
fn check(format: DataFormat, text: &str) -> Result<(), String> {
    match format {
        DataFormat::Json => serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map(drop)
            .map_err(|error| format!("it is not JSON ({error}).")),
        // What is too large for our reader is passed on as it is.
        DataFormat::Yaml if text.len() <= MAX_BYTES => match yaml::parse(text) {
            Ok(_) => Ok(()),
            Err(errors) => {
                let why = errors.first().map(|error| error.message.clone()).unwrap_or_default();
                Err(format!("it is not YAML ({why})."))
            }
        },
        DataFormat::Yaml | DataFormat::Csv | DataFormat::Xml | DataFormat::Text => Ok(()),
    }
}
