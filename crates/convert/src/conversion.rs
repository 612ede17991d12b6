//! The way from a source to a package, in one pass.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::code::{Code, Severity};
use crewagent_format::package::check;
use crewagent_format::package::graph::NodeKind;
use crewagent_format::path::PackagePath;
use crewagent_format::placeholder;
use crewagent_format::syntax::yaml;
use semver::{BuildMetadata, Version};
use serde_json::{Value as Json, json};

use crate::agents::{self, AgentPlan, MenuCounts, MenuTargets};
use crate::config::DeclaredConfig;
use crate::detect::SourceKind;
use crate::ids::{self, IdClaim};
use crate::overrides::Overrides;
use crate::package::{PackagePlan, needed_lists};
use crate::plan::{NodePlan, SourceRef, WorkflowPlan};
use crate::recorder::ImportRecorder;
use crate::references::References;
use crate::report::{self, ImportReport, REPORT_FILE};
use crate::settle::{name_files, settle};
use crate::source_tree::{SourceTree, join};
use crate::{
    Conversion, ConvertOptions, PackageFiles, SourceFiles, config, plain, setbacks, steps,
};

/// Places that were looked at, for the finding that there is nothing.
const LOOKED_FOR: &str = "there is no `_bmad`, `.bmad` or `bmad` folder with a configuration, no folder of skills with a `SKILL.md`, no `module.yaml` at the root, in `src/`, in `src/*/` or in `*/`, no workflow with steps or instructions, and no `.bmad-core`";

/// Converts a source to a package.
pub(crate) fn convert(files: &SourceFiles, options: &ConvertOptions) -> Conversion {
    let mut tree = SourceTree::new(files, options);
    let mut recorder = ImportRecorder::default();
    let digest = report::source_digest(&tree, options.overrides.as_deref());
    let version = source_version(&tree);
    let mut report = ImportReport::new(&tree, version.as_ref().map(Version::to_string), digest);
    setbacks::report(&mut tree, &mut recorder);
    let tree = tree;
    let plan = package_plan(&tree, options, version, &digest.short(), &mut recorder, &mut report);
    let written = plan.and_then(|plan| plan.write(&mut recorder));
    let (mut findings, sources) = recorder.finish(&tree);
    report.add_findings(&findings);
    let package = written.and_then(|mut files| {
        files.insert(PackagePath::new(REPORT_FILE).ok()?, report.to_text().into_bytes().into());
        let files = PackageFiles::new(files);
        let mut late = ImportRecorder::default();
        let is_valid = check_own(&files, &mut late);
        for found in late.finish(&tree).0.iter() {
            findings.push(found.clone());
        }
        is_valid.then_some(files)
    });
    Conversion { package, findings, sources, report }
}

/// Checks what was written. A finding here is a bug of this crate.
fn check_own(files: &PackageFiles, recorder: &mut ImportRecorder) -> bool {
    let runtime = Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or(Version::new(0, 1, 0));
    let checked = check(files, &runtime);
    let mut is_valid = true;
    for found in checked.findings.iter() {
        // Words of the source are not ours.
        let is_text = matches!(found.code, Code::DeadIndexLink | Code::DeadPackagePath);
        if found.severity() > Severity::Warning || is_text {
            continue;
        }
        is_valid = false;
        let line = found.place.position.map(|position| format!(":{}", position.line));
        let message = format!(
            "the package that was made is not valid: {} {}{}: {}",
            found.code.as_str(),
            found.place.file,
            line.unwrap_or_default(),
            found.message
        );
        let help = "this is a bug of the importer; please report it with the source";
        recorder.file(Code::ImporterBug, "", message, help);
    }
    is_valid
}

fn package_plan<'a>(
    tree: &'a SourceTree<'a>,
    options: &ConvertOptions,
    version: Option<Version>,
    digest: &str,
    recorder: &mut ImportRecorder,
    report: &mut ImportReport,
) -> Option<PackagePlan<'a>> {
    let Some(kind) = tree.shape().kind() else {
        nothing_found(recorder, LOOKED_FOR);
        return None;
    };
    let references = References::new(tree);
    let mut agent_plans = agents::plans(tree, &references, options, recorder);
    let mut plans = steps::workflows(tree, &references, recorder);
    let plain = plain::workflows(tree, &references, &agent_plans, &mut plans, recorder);
    plans.extend(plain.plans);
    let has_module = |module: &Option<String>| {
        options.modules.is_empty()
            || module.as_ref().is_some_and(|module| options.modules.contains(module))
    };
    plans.retain(|plan| has_module(&plan.module));
    agent_plans.retain(|plan| has_module(&plan.module));
    if plans.is_empty() && agent_plans.is_empty() {
        nothing_found(recorder, "there is neither an agent nor a workflow in what was found");
        return None;
    }
    let mut overrides = Overrides::read(options.overrides.as_deref(), recorder);
    let mut workflows = with_ids(tree, plans, options, recorder);
    overrides.apply(&mut workflows);
    overrides.report(recorder);
    let ids = ids_by_file(&workflows, &plain.aliases);
    for (_, plan) in &mut workflows {
        settle(plan, &ids);
    }
    if workflows.is_empty() {
        workflows.push(("conversation".to_owned(), conversation()));
    }
    let agents = agents_with_ids(agent_plans, options, recorder);
    let config = config::declared(tree, recorder);
    for (_, plan) in &mut workflows {
        name_all_files(tree, plan, &config, recorder);
    }
    let generated = needed_lists(tree);
    let targets =
        MenuTargets { tree, references: &references, workflows: &ids, generated: &generated };
    let mut counts = MenuCounts::default();
    let mut agents_json: Vec<Json> = agents
        .iter()
        .map(|(id, plan)| agents::written(plan, id, &targets, &mut counts, recorder))
        .collect();
    if agents_json.is_empty() {
        agents_json.push(default_agent());
    }
    report.fill(tree, &workflows, &agents, &config, counts);
    let name = package_name(options, kind);
    Some(PackagePlan {
        tree,
        description: description(kind, version.as_ref()),
        version: package_version(version, digest),
        name,
        workflows,
        ids,
        agents,
        agents_json,
        config,
        node_agents: overrides.into_agents(),
    })
}

fn name_all_files(
    tree: &SourceTree<'_>,
    plan: &mut WorkflowPlan,
    config: &DeclaredConfig,
    recorder: &mut ImportRecorder,
) {
    let is_declared = |name: &str| config.has(name) || placeholder::SYSTEM.contains(&name);
    for (index, name) in name_files(plan, &is_declared) {
        let Some(source) = plan.nodes.get(index).and_then(|node| node.source.as_ref()) else {
            continue;
        };
        let message = format!("`{name}` names a file that is written, and nothing declares it");
        let help = "import the source with its configuration, or set the name in the step";
        recorder.line(tree, Code::ConfigMissing, (&source.file, source.lines.0), message, help);
    }
}

fn nothing_found(recorder: &mut ImportRecorder, reason: &str) {
    let message = format!("nothing to import was found: {reason}");
    recorder.file(Code::NothingFound, "", message, "name the folder that holds the content");
}

/// Returns the version that the source says it has.
fn source_version(tree: &SourceTree<'_>) -> Option<Version> {
    let roots = tree.shape().installations.iter();
    let manifests = roots.flat_map(|root| {
        ["_config/manifest.yaml", "_cfg/manifest.yaml"].map(|manifest| join(root, manifest))
    });
    let installed = manifests.filter_map(|path| {
        let parsed = yaml::parse(tree.text(&path)?.text()).ok()?;
        let text = parsed.get("installation")?.tree.get("version")?.tree.to_json();
        Version::parse(text.as_str()?).ok()
    });
    let package = || {
        let json: Json = serde_json::from_str(tree.text("package.json")?.text()).ok()?;
        Version::parse(json.get("version")?.as_str()?).ok()
    };
    let is_project = !tree.shape().installations.is_empty();
    // In a project, `package.json` is the user's own.
    installed.into_iter().next().or_else(|| if is_project { None } else { package() })
}

fn package_version(version: Option<Version>, digest: &str) -> String {
    let mut version = version.unwrap_or(Version::new(0, 0, 0));
    version.build = BuildMetadata::new(digest).unwrap_or(BuildMetadata::EMPTY);
    version.to_string()
}

fn package_name(options: &ConvertOptions, kind: SourceKind) -> String {
    let name = ids::fitted(&options.name, "source");
    let is_installed = matches!(kind, SourceKind::Installation | SourceKind::OldInstallation);
    if is_installed && !name.ends_with("-bmad") { format!("{name}-bmad") } else { name }
}

fn description(kind: SourceKind, version: Option<&Version>) -> String {
    let what = match kind {
        SourceKind::Installation | SourceKind::OldInstallation => "a BMAD installation",
        SourceKind::Skills => "skills",
        SourceKind::Tree => "a BMAD module tree",
        SourceKind::Workflow => "one workflow",
    };
    match version {
        Some(version) => format!("Made from {what}, version {version}."),
        None => format!("Made from {what}."),
    }
}

/// Gives workflows their ids, sorted by the places of their entries.
fn with_ids(
    tree: &SourceTree<'_>,
    mut plans: Vec<WorkflowPlan>,
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) -> Vec<(String, WorkflowPlan)> {
    plans.sort_by_cached_key(|plan| {
        let place = tree.package_path(&plan.entry.file).unwrap_or(&plan.entry.file);
        (place.to_owned(), plan.id.clone())
    });
    let claims: Vec<IdClaim<'_>> = plans
        .iter()
        .enumerate()
        .map(|(index, plan)| IdClaim {
            name: &plan.id,
            otherwise: format!("workflow-{}", index + 1),
            module: plan.module.as_deref(),
            file: &plan.entry.file,
        })
        .collect();
    let ids = ids::assigned("the workflow", &claims, recorder);
    let workflows = ids.into_iter().zip(plans);
    workflows.filter(|(id, plan)| is_wanted(options, id, &plan.id)).collect()
}

fn is_wanted(options: &ConvertOptions, id: &str, name: &str) -> bool {
    options.only.is_empty() || options.only.iter().any(|only| only == id || only == name)
}

fn agents_with_ids(
    plans: Vec<AgentPlan>,
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) -> Vec<(String, AgentPlan)> {
    let claims: Vec<IdClaim<'_>> = plans
        .iter()
        .enumerate()
        .map(|(index, plan)| IdClaim {
            name: &plan.stem,
            otherwise: format!("agent-{}", index + 1),
            module: plan.module.as_deref(),
            file: &plan.file,
        })
        .collect();
    let ids = ids::assigned("the agent", &claims, recorder);
    let agents = ids.into_iter().zip(plans);
    agents.filter(|(id, plan)| is_wanted(options, id, &plan.stem)).collect()
}

/// Returns the ids of workflows by the files that mean them: entries, whole files, and other descriptions.
fn ids_by_file(
    workflows: &[(String, WorkflowPlan)],
    aliases: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for (id, plan) in workflows {
        if let [node] = plan.nodes.as_slice()
            && let Some(source) = &node.source
            && ids.insert(source.file.clone(), id.clone()).is_some()
        {
            shared.insert(source.file.clone());
        }
    }
    // Instructions of several workflows mean none of them.
    ids.retain(|file, _| !shared.contains(file));
    for (id, plan) in workflows {
        ids.insert(plan.entry.file.clone(), id.clone());
    }
    for (file, entry) in aliases {
        if let Some(id) = ids.get(entry).cloned() {
            ids.entry(file.clone()).or_insert(id);
        }
    }
    ids
}

/// Makes the workflow of a package that has agents only.
fn conversation() -> WorkflowPlan {
    let at = SourceRef { file: String::new(), lines: (1, 1) };
    let body = "Talk with the user about what they want. The work of this package is done by its agents: say which there are, and end when the user has nothing more.\n";
    WorkflowPlan {
        id: "conversation".to_owned(),
        title: "Conversation".to_owned(),
        description: "Talk about what is wanted.".to_owned(),
        module: None,
        entry: at,
        brief: String::new(),
        bindings: BTreeMap::new(),
        nodes: vec![NodePlan {
            id: "talk".to_owned(),
            kind: NodeKind::End,
            title: "Talk".to_owned(),
            goal: "Talk with the user about what they want.".to_owned(),
            source: None,
            body: body.to_owned(),
            bindings: BTreeMap::new(),
            gate: None,
            waits_for_user: true,
            auto: false,
            resume_only: false,
            inputs: Vec::new(),
            outputs: Vec::new(),
            sets_variables: Vec::new(),
            calls: Vec::new(),
            needs: Vec::new(),
            mirror_value: None,
        }],
        edges: Vec::new(),
        mirror: None,
        files: BTreeMap::new(),
    }
}

/// Makes the agent of a package without agents.
fn default_agent() -> Json {
    json!({
        "id": "guide",
        "metadata": { "name": "Guide", "title": "Guide", "icon": "🧭" },
        "persona": {
            "role": "Guide through the workflows of this package",
            "identity": "Works through one step after the other, as its text says.",
            "communication_style": "Clear and to the point.",
            "principles": ["The text of the step decides what is done.", "What the user decides is asked, never guessed."],
        },
    })
}
