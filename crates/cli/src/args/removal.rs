//! The options that all removals share.

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct RemovalArgs {
    /// Do not ask for confirmation; required where no terminal can ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; requires --yes
    #[arg(long, requires = "yes")]
    pub(crate) json: bool,
}
