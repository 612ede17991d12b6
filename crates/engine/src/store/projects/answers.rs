//! `answers.json`: values that the user gave to names that packages declare, kept for a project.

use std::collections::BTreeMap;

use super::{ProjectError, ProjectId, Projects};

/// File name of the answers.
const ANSWERS: &str = "answers.json";
/// Largest file of answers that is read, in bytes.
const MAX_ANSWERS: u64 = 256 * 1024;

impl Projects<'_> {
    /// Returns the values that the user gave for a project. A file that cannot be understood has none: a run asks again
    /// rather than stop.
    pub fn answers(&self, id: &ProjectId) -> Result<BTreeMap<String, String>, ProjectError> {
        match self.folder().join(id.as_str()).read(ANSWERS, MAX_ANSWERS) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.is_missing() => Ok(BTreeMap::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps the value that the user gave to a name; none forgets it.
    pub fn answer(
        &self,
        id: &ProjectId,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), ProjectError> {
        let _lock = self.lock()?;
        self.get(id)?;
        let mut answers = self.answers(id)?;
        match value {
            Some(value) => answers.insert(name.to_owned(), value.to_owned()),
            None => answers.remove(name),
        };
        let mut text = serde_json::to_vec_pretty(&answers)
            .map_err(|error| ProjectError::Damaged { id: id.clone(), reason: error.to_string() })?;
        text.push(b'\n');
        Ok(self.folder().join(id.as_str()).replace(ANSWERS, &text)?)
    }
}
