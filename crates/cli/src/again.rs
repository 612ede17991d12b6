//! How to call this program again, so that the next step can be copied from the screen.

use std::path::PathBuf;

use crate::shell;

/// What of this command line the next one needs too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    home: Option<PathBuf>,
    model: Option<String>,
}

impl Again {
    /// After a command with this store. What the environment says need not be typed.
    pub(crate) fn new(home: Option<&PathBuf>) -> Self {
        let known = std::env::var_os("CREWAGENT_HOME").map(PathBuf::from);
        Self { home: home.filter(|home| known.as_ref() != Some(*home)).cloned(), model: None }
    }

    /// The same, with a model that was named on the command line.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        self.model = model.map(str::to_owned);
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
        self.command(&format!("resume {run}{}", model.unwrap_or_default()))
    }

    /// Goes on with a run that waits for words.
    pub(crate) fn answer(&self, run: &str, placeholder: &str) -> String {
        format!("{} --input \"{placeholder}\"", self.resume(run))
    }
}
