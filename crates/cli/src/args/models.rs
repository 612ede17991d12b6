//! The arguments of `crewagent models` and its commands.

use clap::Subcommand;

use crate::complete;

use super::removal::RemovalArgs;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    #[command(flatten)]
    pub(crate) list: ModelsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the configured models (the default)
    List(ModelsListArgs),
    /// Add or change a model; asks for what is missing
    Add(Box<ModelsAddArgs>),
    /// Choose the default model for runs
    Use(ModelsUseArgs),
    /// Test the connection to a model, and name the step that fails
    Test(ModelsTestArgs),
    /// Measure what a server supports, and store the result
    Probe(ModelsProbeArgs),
    /// Remove models and their keys
    Rm(ModelsRmArgs),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ModelsListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ModelsAddArgs {
    /// Your name for it
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The provider's profile [default: recognised by the base URL, otherwise generic]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Its address [default: the profile's address]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The provider's id for it
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// Read the key from this environment variable
    #[arg(long, value_name = "VARIABLE", group = "key")]
    pub(crate) key_env: Option<String>,
    /// Read the key from standard input and store it in a file that only you can read
    #[arg(long, group = "key")]
    pub(crate) key_stdin: bool,
    /// The model needs no key
    #[arg(long, group = "key")]
    pub(crate) no_key: bool,
    /// Store the key in the system keyring instead of a file
    #[arg(long, conflicts_with_all = ["key_env", "no_key"])]
    pub(crate) keyring: bool,
    /// The size of its context window in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) window: Option<u64>,
    /// The maximum length of a reply in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_output: Option<u64>,
    /// The sampling temperature, from 0 to 2
    #[arg(long, value_name = "NUMBER")]
    pub(crate) temperature: Option<f64>,
    /// Dollars per million tokens, as INPUT,OUTPUT or INPUT,OUTPUT,CACHED
    #[arg(long, value_name = "PRICES", value_delimiter = ',', num_args = 1)]
    pub(crate) price: Vec<f64>,
    /// Make it the default model for runs
    #[arg(long = "use")]
    pub(crate) use_it: bool,
    /// Ask nothing; fail if something is missing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; asks nothing
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsUseArgs {
    /// A configured model, or PROFILE/MODEL
    #[arg(value_name = "NAME", add = complete::models())]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsTestArgs {
    /// The model [default: the one that runs use]
    #[arg(value_name = "NAME", add = complete::models())]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsProbeArgs {
    /// The model [default: the one that runs use]
    #[arg(value_name = "NAME", add = complete::models())]
    pub(crate) name: Option<String>,
    /// Show what differs from the profile, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write without asking
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsRmArgs {
    /// Configured models
    #[arg(required = true, value_name = "NAME", add = complete::models())]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}
