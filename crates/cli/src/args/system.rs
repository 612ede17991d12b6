//! The arguments of `crewagent ui`, `crewagent demo`, `crewagent config`, `crewagent doctor` and `crewagent completions`.

use clap::Subcommand;
use clap_complete::Shell;

use crate::complete;

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print a setting, or all of them (the default)
    Get {
        /// A setting, such as run.max-turns
        #[arg(value_name = "KEY", add = complete::settings())]
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a setting; the rest of the file stays as it is
    Set {
        /// A setting, such as run.max-turns
        #[arg(value_name = "KEY", add = complete::settings())]
        key: String,
        /// The new value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the settings file
    Path,
    /// Open the settings file in $VISUAL or $EDITOR
    Edit,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Show it in the app in the browser, at reading speed
    #[arg(long)]
    pub(crate) ui: bool,
    /// Print the link but do not open the browser
    #[arg(long, requires = "ui")]
    pub(crate) no_open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UiArgs {
    /// The port to listen on; if it is taken, the next free one; 0 means any
    #[arg(long, value_name = "N", default_value_t = crewagent_server::DEFAULT_PORT)]
    pub(crate) port: u16,
    /// Print the link but do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl Default for UiArgs {
    fn default() -> Self {
        Self { port: crewagent_server::DEFAULT_PORT, no_open: false }
    }
}
