//! The arguments of `crewagent runs`, `crewagent projects` and their commands.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Runs {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    #[command(flatten)]
    pub(crate) list: RunsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, the newest first (the default)
    List(RunsList),
    /// Show one run: where it is, the way it took, what it made, how to go on
    Show(RunsShow),
    /// Print what happened in a run
    Logs(RunsLogs),
    /// Make a new run that goes on from a node of this one; this one is not touched
    Fork(RunsFork),
    /// Take back what a run wrote into its project, all of it or from one node
    Revert(RunsRevert),
    /// Remove runs from the store; projects are not touched
    Rm(RunsRm),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunsList {
    /// The runs of this project [default: that of the current folder, if it has runs]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// The runs of all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsShow {
    /// The run, the beginning or the end of its id, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsLogs {
    /// The run, the beginning or the end of its id, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Print the journal as it is, one event a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsFork {
    /// The run, the beginning or the end of its id, or `latest`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The node to go on from; NODE#2 is its second visit [default visit: the last]
    #[arg(long, value_name = "NODE[#VISIT]")]
    pub(crate) at: String,
    /// Also bring the files of the project back to that moment
    #[arg(long)]
    pub(crate) files: bool,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Print JSON; asks nothing
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsRevert {
    /// The run, the beginning or the end of its id, or `latest`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Only what it wrote at this node; NODE#2 is its second visit [default visit: the last]
    #[arg(long, value_name = "NODE[#VISIT]")]
    pub(crate) at: Option<String>,
    /// Also what it wrote later
    #[arg(long, requires = "at")]
    pub(crate) onward: bool,
    /// Show what would be taken back, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsRm {
    /// Runs, the beginnings or ends of their ids, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Projects {
    #[command(subcommand)]
    pub(crate) command: Option<ProjectsCommand>,
    #[command(flatten)]
    pub(crate) list: ProjectsList,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectsCommand {
    /// List the folders that have runs (the default)
    List(ProjectsList),
    /// Say where the folder of a project is now
    Relink(Relink),
    /// Remove a project and its runs from the store; its folder is not touched
    Forget(Forget),
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ProjectsList {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Relink {
    /// The project: its id, the beginning of it, its name or its old folder
    #[arg(value_name = "ID")]
    pub(crate) project: String,
    /// Where it is now
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Forget {
    /// The project: its id, the beginning of it, its name or its folder
    #[arg(value_name = "ID")]
    pub(crate) project: String,
    /// Ask nothing
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}
