//! The arguments of `crewagent models` and its commands.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    #[command(flatten)]
    pub(crate) list: ModelsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models that are set up (the default)
    List(ModelsList),
    /// Set up a model, or change one; asks for what is missing
    Add(Box<ModelsAdd>),
    /// Choose the model that runs use
    Use(ModelsUse),
    /// Try out a model step by step, and name the step that fails
    Test(ModelsTest),
    /// Measure how a server wants to be spoken to, and remember it
    Probe(ModelsProbe),
    /// Remove a model from the settings, with its key
    Rm(ModelsRm),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ModelsList {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ModelsAdd {
    /// What you want to call it
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How the provider wants to be spoken to [default: recognised by the base URL, else generic]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Where it is [default: the profile's own address]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// What the provider calls it
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// The key is in this environment variable
    #[arg(long, value_name = "VARIABLE", group = "key")]
    pub(crate) key_env: Option<String>,
    /// Read the key from standard input and keep it in a file that only you can read
    #[arg(long, group = "key")]
    pub(crate) key_stdin: bool,
    /// It needs no key
    #[arg(long, group = "key")]
    pub(crate) no_key: bool,
    /// Keep the key in the keyring of the system instead of a file
    #[arg(long, conflicts_with_all = ["key_env", "no_key"])]
    pub(crate) keyring: bool,
    /// The size of its window in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) window: Option<u64>,
    /// The longest reply in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_output: Option<u64>,
    /// How freely it chooses its words, from 0 to 2
    #[arg(long, value_name = "NUMBER")]
    pub(crate) temperature: Option<f64>,
    /// Dollars for a million tokens, as INPUT,OUTPUT or INPUT,OUTPUT,CACHED
    #[arg(long, value_name = "PRICES", value_delimiter = ',', num_args = 1)]
    pub(crate) price: Vec<f64>,
    /// Let runs use it from now on
    #[arg(long = "use")]
    pub(crate) use_it: bool,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsUse {
    /// A model that is set up, or PROFILE/MODEL
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsTest {
    /// The model [default: the one that runs use]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ModelsProbe {
    /// The model [default: the one that runs use]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Show what differs, and write nothing
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
pub(crate) struct ModelsRm {
    /// Models that are set up
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}
