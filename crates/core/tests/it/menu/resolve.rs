//! Resolution of commands: workflows, scripts, prompts, and every failure.

use crewagent_core::menu::{
    Action, DataFormat, DataRef, MenuErrorCode, Target, Work, resolve, started_by, validate,
};
use crewagent_core::vpath::{Mount, VPath};
use crewagent_format::package::Package;
use crewagent_format::package::agents::{MenuItem, MenuTarget, Trigger};
use crewagent_testkit::fixture::{checked, example};
use crewagent_testkit::package::MemoryFiles;

use super::{agent, item, trigger};

/// Files of the project.
const PROJECT: &[(&str, &str)] = &[
    ("notes.md", "# Notes\n"),
    ("docs/rules.md", "---\ntitle: Rules\n---\n# Rules\n"),
    ("stray.md", "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: \"\"\n---\n"),
    ("artifacts/x.csv", "a,b\n"),
];

struct ResolveFixture {
    files: MemoryFiles,
    package: Package,
}

impl ResolveFixture {
    fn new() -> Self {
        let mut files = example("multi-workflows");
        files.put("assets/script.md", "# Do it\n").unwrap();
        files.put("extra/script.md", "# Do it\n").unwrap();
        let package = checked(&files).package.unwrap();
        Self { files, package }
    }

    fn read(&self, path: &VPath) -> Option<String> {
        match path.mount() {
            Mount::Package => {
                Some(self.files.text(path.relative())).filter(|text| !text.is_empty())
            }
            Mount::Project => {
                let found = PROJECT.iter().find(|(name, _)| *name == path.relative());
                found.map(|(_, text)| (*text).to_owned())
            }
            Mount::State => None,
        }
    }

    fn resolve(&self, target: &Target) -> Result<Action, crewagent_core::menu::MenuError> {
        resolve(target, &agent(vec![]), &self.package, &|path| self.read(path))
    }
}

fn target(work: Work) -> Target {
    Target { work, data: None, validate: false }
}

fn workflow(text: &str) -> Work {
    Work::Workflow(text.to_owned())
}

fn exec(text: &str) -> Work {
    Work::Exec(text.to_owned())
}

fn action(text: &str) -> Work {
    Work::Action(text.to_owned())
}

/// Describes an action.
fn shown(action: &Action) -> String {
    match action {
        Action::StartWorkflow { workflow, .. } => format!("workflow {workflow}"),
        Action::Script { path, .. } => format!("script {path}"),
        Action::Prompt { id, text, .. } => format!("prompt {id}: {text}"),
        Action::Inline { text, .. } => format!("inline {text}"),
        Action::ShowMenu => "menu".to_owned(),
        Action::Dismiss => "dismiss".to_owned(),
        Action::Resume => "resume".to_owned(),
    }
}

#[track_caller]
fn check(work: Work, expected: &str) {
    let action = ResolveFixture::new().resolve(&target(work)).unwrap();
    assert_eq!(shown(&action), expected);
}

#[track_caller]
fn check_error(work: Work, code: MenuErrorCode, says: &str) {
    let error = ResolveFixture::new().resolve(&target(work)).unwrap_err();
    assert_eq!(error.code, code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn a_workflow_is_an_id_or_a_document_of_the_package() {
    let fixture = ResolveFixture::new();
    for (index, one) in fixture.package.workflows().iter().enumerate() {
        let expected = format!("workflow {index}");
        let path = one.document_path.as_str();
        if let Some(id) = &one.id {
            check(workflow(id.as_str()), &expected);
        }
        for text in [
            path.to_owned(),
            format!("./{path}"),
            format!("@pkg/{path}"),
            format!("{{package-root}}/{path}"),
        ] {
            check(workflow(&text), &expected);
            check(exec(&text), &expected);
        }
    }
}

#[test]
fn an_unknown_workflow_says_which_there_are() {
    let fixture = ResolveFixture::new();
    let id = fixture.package.workflows()[1].id.as_ref().unwrap().as_str().to_owned();
    check_error(
        workflow(&format!("{id}x")),
        MenuErrorCode::UnknownWorkflow,
        &format!("Did you mean `{id}`?"),
    );
    for work in [
        workflow("nothing-like-it"),
        workflow("a:b"),
        workflow("nowhere/workflow.md"),
        workflow("{project-root}/_bmad/bmm/workflow.md"),
        workflow("notes.md"),
        exec("{project-root}/_bmad/party-mode/workflow.md"),
        exec("@project/stray.md"),
    ] {
        check_error(work, MenuErrorCode::UnknownWorkflow, &format!("`{id}`"));
    }
}

#[test]
fn a_classic_workflow_is_not_supported() {
    for text in ["{project-root}/_bmad/workflow.yaml", "workflow.yml", "core/tasks/workflow.XML"] {
        check_error(workflow(text), MenuErrorCode::NotSupportedClassicWorkflow, "Convert it");
        check_error(exec(text), MenuErrorCode::NotSupportedClassicWorkflow, "Convert it");
    }
}

#[test]
fn a_script_is_a_markdown_file_that_is_there() {
    check(exec("@project/notes.md"), "script @project/notes.md");
    check(exec("{project-root}/docs/rules.md"), "script @project/docs/rules.md");
    // A bare path is the package's file if it has one.
    check(exec("assets/script.md"), "script @pkg/assets/script.md");
    check(exec("./extra/script.md"), "script @pkg/extra/script.md");
    check(exec("docs/rules.md"), "script @project/docs/rules.md");
    check_error(exec("assets/no.md"), MenuErrorCode::ValidationFailed, "`@pkg/assets/no.md`");
    check_error(exec("{state-root}/no.md"), MenuErrorCode::ValidationFailed, "`@state/no.md`");
    check_error(exec("@project/run.sh"), MenuErrorCode::ValidationFailed, "`.md`");
}

#[test]
fn a_path_that_leads_out_is_denied() {
    for text in [
        "../x.md",
        "/etc/x.md",
        "{project-root}/../x.md",
        "@other/x.md",
        "{nowhere}/x.md",
        "a\\x.md",
    ] {
        check_error(workflow(text), MenuErrorCode::PermissionDenied, "@project");
        check_error(exec(text), MenuErrorCode::PermissionDenied, "@project");
        let data = Target { data: Some(text.to_owned()), ..target(action("menu.show")) };
        assert_eq!(
            ResolveFixture::new().resolve(&data).unwrap_err().code,
            MenuErrorCode::PermissionDenied
        );
    }
}

#[test]
fn an_action_is_a_prompt_a_builtin_or_an_instruction() {
    check(action("#risk"), "prompt risk: Name the risk.");
    check(action("menu.show"), "menu");
    check(action("agent.dismiss"), "dismiss");
    check(action("run.resume"), "resume");
    check(action("Explain sprints."), "inline Explain sprints.");
    check(action("Menu.show"), "inline Menu.show");
    check_error(action("#rsk"), MenuErrorCode::UnknownPromptId, "Did you mean `#risk`?");
    check_error(action("#"), MenuErrorCode::UnknownPromptId, "It has `risk`.");
}

#[test]
fn data_is_a_file_and_the_format_of_its_ending() {
    for (text, path, format) in [
        ("{artifacts-root}/x.csv", "@project/artifacts/x.csv", DataFormat::Csv),
        ("artifacts/x.JSON", "@project/artifacts/x.JSON", DataFormat::Json),
        ("@project/a.yml", "@project/a.yml", DataFormat::Yaml),
        ("@project/a.yaml", "@project/a.yaml", DataFormat::Yaml),
        ("{state-root}/a.xml", "@state/a.xml", DataFormat::Xml),
        ("assets/script.md", "@pkg/assets/script.md", DataFormat::Text),
        ("workflow.md", "@pkg/workflow.md", DataFormat::Text),
        ("@project/json", "@project/json", DataFormat::Text),
    ] {
        let target = Target { data: Some(text.to_owned()), ..target(action("Say it.")) };
        let action = ResolveFixture::new().resolve(&target).unwrap();
        let expected = DataRef { path: VPath::parse(path).unwrap(), format };
        assert_eq!(action.data(), Some(&expected), "{text}");
    }
}

#[test]
fn a_workflow_goes_before_a_script_and_a_script_before_an_action() {
    let text = |text: &str| Some(text.to_owned());
    let all = MenuTarget { workflow: text(" w "), exec: text("e"), action: text("a"), data: None };
    let work = |target: &MenuTarget| Target::of(target, false).map(|target| target.work);
    assert_eq!(work(&all), Some(workflow("w")));
    let blank = MenuTarget { workflow: text(" "), ..all };
    assert_eq!(work(&blank), Some(exec("e")));
    let only_action = MenuTarget { exec: None, ..blank };
    assert_eq!(work(&only_action), Some(action("a")));
    assert_eq!(work(&MenuTarget { data: text("d"), ..MenuTarget::default() }), None);
}

#[test]
fn validation_names_everything_that_is_missing() {
    let fixture = ResolveFixture::new();
    let id = fixture.package.workflows()[1].id.as_ref().unwrap().as_str();
    let good = Target { validate: true, ..target(workflow(id)) };
    let action = fixture.resolve(&good).unwrap();
    assert_eq!(validate(&action, &fixture.package, &|path| fixture.read(path)), Ok(()));

    let bad = Target { data: Some("@project/no.json".into()), ..good };
    let error = fixture.resolve(&bad).unwrap_err();
    assert_eq!(error.code, MenuErrorCode::ValidationFailed);
    assert_eq!(error.message, "`@project/no.json` is missing or cannot be read.");

    let script = Target { work: exec("@project/no.md"), ..bad };
    let error = fixture.resolve(&script).unwrap_err();
    assert_eq!(error.code, MenuErrorCode::ValidationFailed);
    let both = "`@project/no.json`, `@project/no.md` are missing or cannot be read.";
    assert_eq!(error.message, both);

    let error = validate(&action, &fixture.package, &|_| None).unwrap_err();
    let one = &fixture.package.workflows()[1];
    let steps = one.graph.nodes().iter().map(|node| &node.file);
    for path in [&one.document_path, &one.graph_path].into_iter().chain(steps) {
        assert!(error.message.contains(&format!("`@pkg/{path}`")), "{error}");
    }
}

#[test]
fn templates_in_what_is_said_are_the_mounts_that_tools_take() {
    check(action("Read {project-root}/a for {name}."), "inline Read @project/a for {name}.");
}

#[test]
fn a_menu_starts_what_its_items_and_handlers_name_in_any_way() {
    let fixture = ResolveFixture::new();
    let one = &fixture.package.workflows()[1];
    let (id, path) = (one.id.as_ref().unwrap().as_str(), one.document_path.as_str());
    let starts = |work: &str, text: &str, kind: Option<&str>| {
        let named = |of: &str| Some(text.to_owned()).filter(|_| work == of);
        let (workflow, exec, action) = (named("workflow"), named("exec"), named("action"));
        let target = MenuTarget { workflow, exec, action, data: None };
        let item = match kind {
            None => MenuItem { target, ..item("go", "Go", "") },
            Some(kind) => {
                let trigger = Trigger { target, ..trigger(kind, "now", "") };
                MenuItem { triggers: vec![trigger], ..item("go", "Go", "") }
            }
        };
        started_by(&agent(vec![item]), &fixture.package).contains(&1)
    };
    let (mount, template) = (format!("@pkg/{path}"), format!("{{package-root}}/{path}"));
    for text in [id, path, &mount, &template] {
        assert!(starts("workflow", text, None), "{text}");
        assert!(starts("workflow", text, Some("handler")), "{text}");
        assert!(starts("exec", text, None) || text == id, "{text}");
        assert!(!starts("workflow", text, Some("alias")), "{text}");
        assert!(!starts("action", text, None), "{text}");
    }
    assert!(!starts("exec", &format!("@project/{path}"), None));
    assert!(!starts("workflow", "nowhere", None));
}

#[test]
fn an_error_is_serialised_with_its_code() {
    let error = ResolveFixture::new().resolve(&target(action("#x"))).unwrap_err();
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["code"], "UnknownPromptId");
    assert_eq!(serde_json::to_value(MenuErrorCode::DataLoadFailed).unwrap(), "DataLoadFailed");
}
