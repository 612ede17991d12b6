//! The options of commands that take a foreign source.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use crewagent_engine::store::{AcceptedSource, SourceContent, SourceOptions};

use crate::language::say;

/// Options of an import.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SourceArgs {
    /// What to look for in SOURCE
    #[arg(long, value_enum, default_value_t, help_heading = "Foreign sources")]
    pub(crate) from: SourceKindArg,
    /// Import only this module; may be given several times
    #[arg(long = "module", value_name = "CODE", help_heading = "Foreign sources")]
    pub(crate) modules: Vec<String>,
    /// Import only this workflow or agent; may be given several times
    #[arg(long, value_name = "ID", help_heading = "Foreign sources")]
    pub(crate) only: Vec<String>,
    /// Corrections of what is read: a YAML file
    #[arg(long, value_name = "FILE", help_heading = "Foreign sources")]
    pub(crate) overrides: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceKindArg {
    /// A package, else BMAD content, else skills
    #[default]
    Auto,
    /// A package alone
    Package,
    /// BMAD content: an installation, modules, or a workflow
    Bmad,
    /// Skills alone
    Skills,
}

impl SourceArgs {
    /// Reads what the options name.
    pub(crate) fn options(&self) -> anyhow::Result<SourceOptions> {
        let read = |path: &Path| {
            std::fs::read(path)
                .with_context(|| say!("cannot read `{}`", "无法读取 `{}`", path.display()))
        };
        Ok(SourceOptions {
            accepted: match self.from {
                SourceKindArg::Auto => AcceptedSource::Any,
                SourceKindArg::Package => AcceptedSource::Package,
                SourceKindArg::Bmad => AcceptedSource::Foreign(SourceContent::Bmad),
                SourceKindArg::Skills => AcceptedSource::Foreign(SourceContent::Skills),
            },
            modules: self.modules.clone(),
            only: self.only.clone(),
            overrides: self.overrides.as_deref().map(read).transpose()?,
            ..SourceOptions::default()
        })
    }
}
