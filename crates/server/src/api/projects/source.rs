//! Foreign content in the folder of a project.

use crewagent_engine::store::FolderSource;

use super::super::packages::catalog_package;
use super::{Id, project};
use crate::endpoint::ParsedRequest;
use crate::problem::Problem;
use crate::wire::ProjectSource;

pub(super) fn show(asked: ParsedRequest<Id>) -> Result<ProjectSource, Problem> {
    let store = asked.app.store()?;
    let folder = project(&store, &asked.path.id)?.path;
    let Some(source) = store.packages().source_in(&folder)? else {
        return Ok(ProjectSource::default());
    };
    let FolderSource { has_installation, installed, is_current } = source;
    let package = installed.and_then(|installed| {
        let package = store.packages().load(&installed).ok()?;
        Some(catalog_package(installed, &package))
    });
    Ok(ProjectSource {
        found: true,
        is_installation: has_installation,
        is_current: is_current && package.is_some(),
        package,
    })
}
