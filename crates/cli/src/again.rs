//! How to call this program again, so that the next step can be copied from the screen.

use std::path::PathBuf;

use crate::shell;

/// What of this command line the next one needs too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    home: Option<PathBuf>,
    model: Option<String>,
    record: Option<PathBuf>,
}

impl Again {
    /// After a command with this store. What the environment says need not be typed.
    pub(crate) fn new(home: Option<&PathBuf>) -> Self {
        let known = std::env::var_os("CREWAGENT_HOME").map(PathBuf::from);
        let home = home.filter(|home| known.as_ref() != Some(*home)).cloned();
        Self { home, ..Self::default() }
    }

    /// The same, with a model that was named on the command line.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        self.model = model.map(str::to_owned);
        self
    }

    /// The same, with the file that the run is recorded in.
    #[must_use]
    pub(crate) fn with_record(mut self, file: Option<&PathBuf>) -> Self {
        self.record = file.cloned();
        self
    }

    /// A command.
    pub(crate) fn command(&self, words: &str) -> String {
        match &self.home {
            Some(home) => format!("crewagent --home {} {words}", shell::path(home)),
            None => format!("crewagent {words}"),
        }
    }

    /// Goes on with a run.
    pub(crate) fn resume(&self, run: &str) -> String {
        let model = self.model.as_ref().map(|model| format!(" --model {}", shell::word(model)));
        let record = self.record.as_ref().map(|file| format!(" --record {}", shell::path(file)));
        let (model, record) = (model.unwrap_or_default(), record.unwrap_or_default());
        self.command(&format!("resume {run}{model}{record}"))
    }

    /// Goes on with a run that waits for words.
    pub(crate) fn answer(&self, run: &str, placeholder: &str) -> String {
        format!("{} --input \"{placeholder}\"", self.resume(run))
    }
}
