//! Packages: list them, read them, check them, import them.

mod content;
mod upload;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crewagent_draw::{self as draw, Diagram, Theme};
use crewagent_engine::store;
use crewagent_engine::store::{
    Flaw, FoundPackage, ImportError, ImportOutcome, Installed, SourceOptions, Store, StoreError,
};
use crewagent_format::diagnostic::{Code, Severity};
use crewagent_format::package::Package as CheckedPackage;
use crewagent_format::scaffold::{self, ScaffoldPlan, WorkflowShape};
use crewagent_source::author;
use crewagent_source::inspect::{Rejection, inspect};
use crewagent_source::pack::{PackError, PackOutput, pack};
use serde::Deserialize;

pub(super) use self::content::catalog_package;
pub(super) use self::content::{agent, picture};
use self::content::{content, report, summary};
pub(super) use self::upload::MAX_UPLOAD;
use super::projects::absolute;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, post};
use crate::problem::Problem;
use crate::wire::{
    self, Catalog, CodePage, DrawFormat, DrawQuery, ImportedPackage, NewPackage, PackOrder,
    Package, PackageContent, PackagePath, Packages, Packed, RemoveQuery, RemovedPackage, Report,
    Template, TextFile,
};

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    let mut all = vec![
        get("/api/packages", "Lists the packages of the store", list),
        get("/api/catalog", "Lists the workflows and agents of all packages", catalog),
        get("/api/packages/{reference}", "Shows what is in a package", show),
        get("/api/packages/{reference}/graph", "Draws a workflow of a package", graph),
        delete(
            "/api/packages/{reference}",
            "Removes a package from the store, unless something is at work with it",
            remove,
        ),
        post(
            "/api/packages/inspect",
            "Checks a file or folder, also of foreign content; nothing is written",
            look,
        ),
        post(
            "/api/packages/import",
            "Imports a file or folder, also of foreign content, if it has no errors",
            import,
        ),
        post("/api/packages/new", "Writes a new package into a folder of its own", create),
        post("/api/packages/pack", "Packs a folder into one file", pack_folder),
        get("/api/codes", "Lists what can be wrong with a package", codes),
        get("/api/codes/{code}", "Explains what is wrong, with an example and a fix", explain),
    ];
    all.extend(upload::endpoints());
    all
}

/// The package in a path.
#[derive(Deserialize)]
struct Reference {
    reference: String,
}

/// The code in a path.
#[derive(Deserialize)]
struct CodeName {
    code: String,
}

fn list(asked: ParsedRequest) -> Result<Packages, Problem> {
    let listing = asked.app.store()?.packages().list()?;
    let damaged = listing.damaged.iter();
    Ok(Packages {
        packages: listing.installed.into_iter().map(item).collect(),
        damaged: damaged
            .map(|one| Flaw { name: one.folder_name(), reason: one.to_string() })
            .collect(),
    })
}

fn item(installed: Installed) -> Package {
    Package {
        reference: installed.reference(),
        sha256: installed.digest.to_string(),
        imported: installed.imported.to_string(),
        version: installed.version.to_string(),
        name: installed.name,
        origin: installed.origin,
        files: installed.files,
        bytes: installed.bytes,
    }
}

fn catalog(asked: ParsedRequest) -> Result<Catalog, Problem> {
    let packages = asked.app.store()?;
    let packages = packages.packages();
    let mut installed = packages.list()?.installed;
    installed.sort_by_key(|one| Reverse(one.imported));
    // Of those with the same reference, that reference means the last imported one.
    let mut known = BTreeSet::new();
    installed.retain(|one| known.insert(one.reference()));
    let loaded = installed.into_iter().filter_map(|one| {
        let package = packages.load(&one).ok()?;
        Some(catalog_package(one, &package))
    });
    Ok(Catalog { packages: loaded.collect() })
}

fn show(asked: ParsedRequest<Reference>) -> Result<PackageContent, Problem> {
    let package = load(&asked.app.store()?, &asked.path.reference)?;
    asked.app.drawings.take(|| Ok(content(&package)))
}

/// Returns a package of the store.
pub(super) fn load(store: &Store, reference: &str) -> Result<Arc<CheckedPackage>, Problem> {
    let installed = store.packages().find(reference)?;
    store.packages().load(&installed).map_err(|error| {
        if matches!(error, StoreError::Invalid(_)) {
            Problem::new(wire::Code::Refused, "this version of the program finds errors in it")
                .hint("Import a newer one, or remove it.")
        } else {
            error.into()
        }
    })
}

fn graph(asked: ParsedRequest<Reference, DrawQuery>) -> Result<TextFile, Problem> {
    let package = load(&asked.app.store()?, &asked.path.reference)?;
    let workflow = match &asked.query.workflow {
        Some(id) => package.workflow(id),
        None => package.workflows().first(),
    };
    let workflow = workflow.ok_or_else(|| Problem::missing("there is no such workflow"))?;
    asked.app.drawings.take(|| {
        let diagram = Diagram::of(workflow, &package);
        let (ending, text) = match asked.query.format {
            DrawFormat::Mermaid => ("mmd", draw::mermaid(&diagram)),
            DrawFormat::Dot => ("dot", draw::dot(&diagram)),
            DrawFormat::Svg => ("svg", draw::svg(&diagram, Theme::Auto)),
        };
        Ok(TextFile { name: format!("workflow.{ending}"), text })
    })
}

fn remove(asked: ParsedRequest<Reference, RemoveQuery>) -> Result<RemovedPackage, Problem> {
    let store = asked.app.store()?;
    let found: FoundPackage = store.packages().find_any(&asked.path.reference)?;
    asked.app.workers.release_idle();
    let needed = store.packages().needed_by(&found)?;
    let (held, unfinished) = (&needed.held, needed.unfinished());
    if let Some(first) = held.first() {
        let message = match held.len() {
            1 => format!("the package is in use by {first}"),
            more => format!("the package is in use by {first} and {} more", more - 1),
        };
        return Err(Problem::new(wire::Code::Busy, message)
            .hint("Stop what is at work, wait a few seconds, and remove the package then."));
    }
    let removed = asked.query.confirm;
    if removed {
        store.packages().remove(&found, &mut || {})?;
    }
    Ok(RemovedPackage { removed, unfinished: u32::try_from(unfinished).unwrap_or(u32::MAX) })
}

fn look(asked: ParsedRequest<(), (), PackagePath>) -> Result<Report, Problem> {
    let store = asked.app.store()?;
    looked(&store, absolute(&asked.body.path)?, None)
}

fn import(asked: ParsedRequest<(), (), PackagePath>) -> Result<ImportedPackage, Problem> {
    let store = asked.app.store()?;
    imported(&store, absolute(&asked.body.path)?, None)
}

fn looked(store: &Store, path: &Path, name: Option<&str>) -> Result<Report, Problem> {
    let options = SourceOptions { name: name.map(stem), ..SourceOptions::default() };
    let (inspected, foreign) = store.packages().inspect_path(path, &options)?;
    let report = report(&inspected.findings, &inspected.sources, inspected.package.as_ref());
    Ok(Report { source: foreign.map(|foreign| summary(&foreign.report)), ..report })
}

fn imported(store: &Store, path: &Path, name: Option<&str>) -> Result<ImportedPackage, Problem> {
    let options = SourceOptions { name: name.map(stem), ..SourceOptions::default() };
    let prepared = match store.packages().prepare_with(path, &options) {
        Ok(prepared) => prepared,
        Err(ImportError::Rejected(rejection)) => {
            let Rejection { findings, sources } = *rejection;
            let report = report(&findings, &sources, None);
            return Ok(ImportedPackage { package: None, outcome: "rejected".to_owned(), report });
        }
        Err(error) => return Err(error.into()),
    };
    let prepared = match name {
        Some(name) => prepared.named(name),
        None => prepared,
    };
    let content = content(prepared.package());
    let store::Imported { installed, outcome, findings, sources, foreign } =
        prepared.commit(&mut || {})?;
    let source = foreign.map(|foreign| summary(&foreign.report));
    let report = Report { content: Some(content), source, ..report(&findings, &sources, None) };
    let outcome = match outcome {
        ImportOutcome::New => "new",
        ImportOutcome::AlreadyThere => "already-there",
        ImportOutcome::Repaired => "repaired",
    };
    Ok(ImportedPackage {
        package: Some(item(installed)),
        outcome: outcome.to_owned(),
        report: Report { valid: true, ..report },
    })
}

/// Returns the name of a file without its ending.
fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

fn create(asked: ParsedRequest<(), (), NewPackage>) -> Result<PackageContent, Problem> {
    let NewPackage { path, name, description, author, template } = asked.body;
    let folder = absolute(&path)?;
    let plan = ScaffoldPlan {
        name,
        description: description.unwrap_or_default(),
        author: author.unwrap_or_default(),
        shape: match template {
            Template::Linear => WorkflowShape::Linear,
            Template::Branch => WorkflowShape::Branch,
            Template::Loop => WorkflowShape::Loop,
        },
    };
    author::write(folder, &scaffold::files(&plan))?;
    let inspected = inspect(folder, &asked.app.store()?.settings().import)?;
    let package = inspected.package.as_ref().map(content);
    package.ok_or_else(|| Problem::invalid("such a name makes no valid package"))
}

fn pack_folder(asked: ParsedRequest<(), (), PackOrder>) -> Result<Packed, Problem> {
    let store = asked.app.store()?;
    let folder = absolute(&asked.body.path)?;
    let above = folder.parent().unwrap_or(folder);
    let output = match &asked.body.output {
        Some(file) if !asked.body.replace && Path::new(file).exists() => {
            let message = format!("`{file}` is there already");
            return Err(Problem::new(wire::Code::Refused, message)
                .hint("Name another file, or say that it is to be replaced."));
        }
        Some(file) => PackOutput::File(absolute(file)?),
        None => PackOutput::Folder(above),
    };
    match pack(folder, output, &store.settings().import) {
        Ok(packed) => Ok(Packed {
            path: packed.path.display().to_string(),
            sha256: packed.digest.to_string(),
            bytes: packed.packed_bytes,
        }),
        Err(error @ PackError::Rejected(_)) => {
            Err(Problem::from(error).hint("Inspect the folder to see what is wrong with it."))
        }
        Err(error) => Err(error.into()),
    }
}

fn codes(_: ParsedRequest) -> Result<Vec<CodePage>, Problem> {
    Ok(Code::ALL
        .iter()
        .map(|code| CodePage {
            explanation: String::new(),
            explanation_zh: String::new(),
            ..page(*code)
        })
        .collect())
}

fn explain(asked: ParsedRequest<CodeName>) -> Result<CodePage, Problem> {
    let code = Code::find(&asked.path.code);
    code.map(page).ok_or_else(|| {
        Problem::missing(format!("there is no code `{}`", asked.path.code))
            .hint("/api/codes lists them all.")
    })
}

fn page(code: Code) -> CodePage {
    CodePage {
        code: code.as_str().to_owned(),
        name: code.name().to_owned(),
        severity: severity(code.severity()),
        summary: code.summary().to_owned(),
        explanation: code.explanation().to_owned(),
        explanation_zh: code.explanation_zh().to_owned(),
    }
}

fn severity(severity: Severity) -> String {
    severity.word().to_owned()
}
