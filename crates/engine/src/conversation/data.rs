//! Loads the data file of a menu item before anything starts, and describes it to the model.

use crewagent_core::menu::{DataFormat, DataRef, MenuError, MenuErrorCode};
use crewagent_core::prompt::{DataContext, data_context};
use crewagent_format::frontmatter::MAX_BYTES;
use crewagent_format::syntax::yaml;

use crate::mounts::Mounts;
use crate::runtime::Data;

/// Limit in bytes; the model can search in larger files.
const MAX_DATA: usize = 4 << 20;

/// Loads the data of a menu item, or says why it cannot.
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
    // Some programs begin a file with a byte order mark, which is not part of the text.
    let content = text.strip_prefix('\u{feff}').unwrap_or(&text);
    check(data.format, content).map_err(failed)?;
    let label = path.relative().rsplit('/').next().unwrap_or_default();
    let text = data_context(&DataContext { label, path, content });
    Ok(Data { path: path.clone(), text })
}

/// Checks that the text has the format of its file name. The model sees it unchanged, so only clear errors count.
fn check(format: DataFormat, text: &str) -> Result<(), String> {
    match format {
        DataFormat::Json => serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map(drop)
            .map_err(|error| format!("it is not JSON ({error}).")),
        // Texts beyond the limit of our YAML reader pass unchecked.
        DataFormat::Yaml if text.len() <= MAX_BYTES => {
            yaml::check(text).map_err(|error| format!("it is not YAML ({}).", error.message))
        }
        DataFormat::Yaml | DataFormat::Csv | DataFormat::Xml | DataFormat::Text => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::vpath::VPath;

    use super::*;
    use crate::mounts::Roots;

    fn loaded(name: &str, bytes: &str) -> Result<Data, MenuError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let root = || folder.path().to_owned();
        let roots = Roots { project: root(), package: root(), state: root() };
        let mounts = Mounts::open(&roots).unwrap();
        let path = VPath::parse(&format!("@project/{name}")).unwrap();
        load(&mounts, &DataRef { format: DataFormat::of(&path), path })
    }

    #[test]
    fn data_is_whatever_its_format_allows() {
        for (name, text) in [
            ("a.json", "\u{feff}{\"a\": 1}"),
            ("a.yaml", "\u{feff}a: &x {b: 1}\nc:\n  <<: *x\n"),
            ("a.yml", "a: 1\n---\nb: 2\n"),
        ] {
            let data = loaded(name, text).unwrap();
            assert!(
                !data.text.contains('\u{feff}') && !data.text.contains("feff"),
                "{}",
                data.text
            );
        }
        for (name, text) in [("a.json", "{a: 1}"), ("a.yaml", "a: [1\n")] {
            let error = loaded(name, text).unwrap_err();
            assert_eq!(error.code, MenuErrorCode::DataLoadFailed, "{error}");
        }
    }
}
