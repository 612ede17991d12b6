//! The types of the web app, written from those of the wire. `cargo xtask accept types` accepts what changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crewagent_core::event::Event;
use crewagent_engine::changes::Hunks;
use crewagent_engine::conversation::Reaction;
use crewagent_engine::workers::{JournalEvent, RunStatus};
use ts_rs::{Config, TS, TypeVisitor};

use super::*;

/// Path of the types in the web app.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/lib/api/generated/types.ts");

/// Every type that another type needs, by name.
struct Collected {
    config: Config,
    types: BTreeMap<String, String>,
}

impl TypeVisitor for Collected {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_some() {
            let name = T::ident(&self.config);
            let docs = T::docs().unwrap_or_default();
            let declared = without_null_where_optional(&T::decl(&self.config));
            let text = format!("{}\nexport {declared}\n", docs.trim_end());
            match self.types.insert(name.clone(), text.clone()) {
                Some(known) => assert_eq!(known, text, "two types are called {name}"),
                None => T::visit_dependencies(self),
            }
        }
        T::visit_generics(self);
    }
}

/// Removes `null` from optional members: both sides leave them out instead.
fn without_null_where_optional(declared: &str) -> String {
    let mut text = String::with_capacity(declared.len());
    for line in declared.split_inclusive('\n') {
        match line.split_once(" | null, ") {
            Some((member, rest)) if member.contains("?: ") => {
                text.extend([member, ", ", rest]);
            }
            _ => text.push_str(line),
        }
    }
    text
}

macro_rules! all {
    ($collected:ident: $($name:ty),* $(,)?) => {
        $($collected.visit::<$name>();)*
    };
}

fn written() -> String {
    let config = Config::new().with_large_int("number");
    let mut collected = Collected { config, types: BTreeMap::new() };
    all!(collected:
        Fault, Nothing, Program, Health, Diagnosis, FreshLink,
        Watch, JournalEvent, Rewind, Hello, RunStatus, Event,
        Projects, Project, ProjectName, ProjectSource, SampleFolder, FolderPath, FolderQuery, Folders,
        FileQuery, ContentQuery, FileList, FileText, WriteFile,
        Catalog, UploadQuery, Packages, PackageContent, PackagePath, Report, ImportedPackage, CodePage, NewPackage,
        PackOrder, Packed, RemoveQuery, RemovedPackage, DrawQuery, TextFile, Sample,
        ConversationQuery, ConversationList, ConversationDetail, NewConversation,
        StartedConversation, Title, RemovedConversation, LaunchRun, EnterRun,
        RunQuery, RunList, RunDetail, NewRun, RunForecast, StartedRun, UserMessage, ResumeRequest, Halting, Reaction, EventQuery,
        EventPage, StateTexts, Requests, RequestDetail, Changes, ImageQuery, Images, Revert,
        HunkQuery, Hunks, RevertHunk, RevertQuery, RevertPlan, RevertStep, RevertResult, ForkQuery, ForkPreview,
        NewFork, Artifacts,
        McpServers, McpServerItem, SetMcpServer, McpSwitch, McpFile, McpImport, ToolQuery, ToolSurvey,
        LocalServers, Models, SetModel, ModelTestResult, ProbeResult, SettingList, SetSetting,
    );
    let mut text =
        String::from("// Written by a test of crates/server from its wire types. Do not edit.\n");
    for declared in collected.types.values() {
        text.push('\n');
        text.push_str(declared.trim_start());
    }
    text
}

#[test]
fn the_types_of_the_web_app_are_those_of_the_wire() {
    let (file, written) = (Path::new(FILE), written());
    if crewagent_testkit::accept::is_accepting("types") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &written).unwrap();
    }
    let there = fs::read_to_string(file).unwrap_or_default();
    assert!(
        there == written,
        "{FILE} is not what the wire says; `cargo xtask accept types` writes it"
    );
}

#[test]
fn no_number_of_the_wire_is_too_large_for_the_page() {
    assert!(!written().contains("bigint"));
}
