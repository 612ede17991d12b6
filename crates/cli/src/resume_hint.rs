//! Commands that continue a run, so that the user can copy the next step from the screen.

use std::path::PathBuf;

use crate::shell;

/// The options of this command line that the next one needs too.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResumeHint {
    home: Option<PathBuf>,
    model: Option<String>,
    record: Option<PathBuf>,
}

impl ResumeHint {
    /// Creates a hint for this store. A home that the environment sets need not be typed.
    pub(crate) fn new(home: Option<&PathBuf>) -> Self {
        let known = std::env::var_os("CREWAGENT_HOME").map(PathBuf::from);
        let home = home.filter(|home| known.as_ref() != Some(*home)).cloned();
        Self { home, ..Self::default() }
    }

    /// Adds the model of the command line.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        self.model = model.map(str::to_owned);
        self
    }

    /// Adds the file of the recording.
    #[must_use]
    pub(crate) fn with_record(mut self, file: Option<&PathBuf>) -> Self {
        self.record = file.cloned();
        self
    }

    /// Returns a command.
    pub(crate) fn command(&self, words: &str) -> String {
        match &self.home {
            Some(home) => format!("crewagent --home {} {words}", shell::path(home)),
            None => format!("crewagent {words}"),
        }
    }

    /// Returns the command that resumes a run.
    pub(crate) fn resume(&self, run: &str) -> String {
        let model = self.model.as_ref().map(|model| format!(" --model {}", shell::word(model)));
        let record = self.record.as_ref().map(|file| format!(" --record {}", shell::path(file)));
        let (model, record) = (model.unwrap_or_default(), record.unwrap_or_default());
        self.command(&format!("resume {run}{model}{record}"))
    }

    /// Returns the command that answers a waiting run.
    pub(crate) fn answer(&self, run: &str, placeholder: &str) -> String {
        format!("{} --input \"{placeholder}\"", self.resume(run))
    }
}
