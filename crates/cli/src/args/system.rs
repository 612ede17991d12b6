//! The arguments of `crewagent ui`, `crewagent demo`, `crewagent config`, `crewagent doctor` and `crewagent completions`.

use clap::Subcommand;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print a setting, or all of them (the default)
    Get {
        /// Such as run.max-turns
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Change a setting; the rest of the file stays as it is
    Set {
        /// Such as run.max-turns
        #[arg(value_name = "KEY")]
        key: String,
        /// The new value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Print where the settings are
    Path,
    /// Open the settings in $VISUAL or $EDITOR
    Edit,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// For which shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// In the app in the browser instead, at reading speed
    #[arg(long)]
    pub(crate) ui: bool,
    /// Do not open the browser; the link is printed all the same
    #[arg(long, requires = "ui")]
    pub(crate) no_open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ui {
    /// The port to serve at; the next free one when it is taken, any when it is 0
    #[arg(long, value_name = "N", default_value_t = crewagent_server::DEFAULT_PORT)]
    pub(crate) port: u16,
    /// Do not open the browser; the link is printed all the same
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl Default for Ui {
    fn default() -> Self {
        Self { port: crewagent_server::DEFAULT_PORT, no_open: false }
    }
}
