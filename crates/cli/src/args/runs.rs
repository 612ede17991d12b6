//! The arguments of `crewagent runs`, `crewagent projects` and their commands.

use std::path::PathBuf;

use clap::Subcommand;

use crate::complete;

use super::removal::RemovalArgs;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    #[command(flatten)]
    pub(crate) list: RunsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, newest first (the default)
    List(RunsListArgs),
    /// Show a run: its position, path, results and cost, and how to continue
    Show(RunsShowArgs),
    /// Print what happened in a run
    Logs(RunsLogsArgs),
    /// Create a new run from a node of this one; this one does not change
    Fork(RunsForkArgs),
    /// Undo what a run wrote to its project, all of it or from one node
    Revert(RunsRevertArgs),
    /// Rename a run
    Rename(RunsRenameArgs),
    /// Remove runs from the store; project files stay
    Rm(RunsRmArgs),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunsListArgs {
    /// List the runs of this project [default: the current folder's, if it has runs]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// List the runs of all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsShowArgs {
    /// The run: its id, the start or end of it, or `latest`
    #[arg(value_name = "RUN", default_value = "latest", add = complete::runs())]
    pub(crate) run: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsLogsArgs {
    /// The run: its id, the start or end of it, or `latest`
    #[arg(value_name = "RUN", default_value = "latest", add = complete::runs())]
    pub(crate) run: String,
    /// Print the journal, one JSON event per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsForkArgs {
    /// The run: its id, the start or end of it, or `latest`
    #[arg(value_name = "RUN", add = complete::runs())]
    pub(crate) run: String,
    /// The node to start from; NODE#2 is its second visit [default visit: the last]
    #[arg(long, value_name = "NODE[#VISIT]")]
    pub(crate) at: String,
    /// Also restore the project's files to that moment
    #[arg(long)]
    pub(crate) files: bool,
    /// Do not ask for confirmation; required where no terminal can ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; with --files, requires --yes
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsRevertArgs {
    /// The run: its id, the start or end of it, or `latest`
    #[arg(value_name = "RUN", add = complete::runs())]
    pub(crate) run: String,
    /// Undo only what it wrote at this node; NODE#2 is its second visit [default visit: the last]
    #[arg(long, value_name = "NODE[#VISIT]")]
    pub(crate) at: Option<String>,
    /// Also undo what it wrote after that node
    #[arg(long, requires = "at")]
    pub(crate) onward: bool,
    /// Show what would be undone, but change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation; required where no terminal can ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; requires --yes or --dry-run
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsRenameArgs {
    /// The run: its id, the start or end of it, or `latest`
    #[arg(value_name = "RUN", add = complete::runs())]
    pub(crate) run: String,
    /// Its new title
    #[arg(value_name = "TITLE")]
    pub(crate) title: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsRmArgs {
    /// Runs: their ids, the start or end of them, or `latest`
    #[arg(required = true, value_name = "RUN", add = complete::runs())]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ProjectsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProjectsCommand>,
    #[command(flatten)]
    pub(crate) list: ProjectsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectsCommand {
    /// List the folders that have runs (the default)
    List(ProjectsListArgs),
    /// Set the new location of a project's folder
    Relink(RelinkArgs),
    /// Remove a project, its runs and its conversations from the store; its folder stays
    Forget(ForgetArgs),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ProjectsListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RelinkArgs {
    /// The project: its id, the start of it, its name or its old folder
    #[arg(value_name = "ID", add = complete::projects())]
    pub(crate) project: String,
    /// Its new folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ForgetArgs {
    /// The project: its id, the start of it, its name or its folder
    #[arg(value_name = "ID", add = complete::projects())]
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
}
