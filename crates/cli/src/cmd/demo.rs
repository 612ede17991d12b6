//! `crewagent demo`: runs a workflow from its first node to its last, offline, in a scratch folder.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use crewagent_adapters::mcp::tool_servers;
use crewagent_core::settings::RunSettings;
use crewagent_engine::control::Control;
use crewagent_engine::runtime::{Runtime, StartRun};
use crewagent_engine::store::{Settings, SettingsFile, Store};
use crewagent_scenario::sample;
use crewagent_scenario::scripted::{Pace, Scripted};
use crewagent_source::author;

use super::run::open_output;
use super::run_driver::{AnswerSource, Farewell, RunDriver};
use crate::args::{ConversationOptions, DemoArgs, UiArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::flow::Flow;
use crate::resume_hint::ResumeHint;

/// Fast enough to end within three seconds, slow enough to follow.
const PACE: Pace = Pace { characters: 6, delay: Duration::from_millis(5) };

pub(crate) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<Outcome> {
    let scratch = tempfile::Builder::new()
        .prefix("crewagent-demo-")
        .tempdir()
        .context(text!("cannot make a scratch folder", "无法创建临时文件夹"))?
        .keep();
    let (package, project) = (scratch.join("create-story-micro"), scratch.join("project"));
    author::write(&package, &sample::package())?;
    author::write(&project, &sample::project())?;
    let home = scratch.join("store");
    let store = Store::open(Some(home.clone()))?;
    let imported = store.packages().import(&package, &mut || {})?;
    if args.ui {
        let scenario = scratch.join("scenario.yaml");
        std::fs::write(&scenario, sample::read_aloud())
            .context(text!("cannot write the scenario", "无法写入场景"))?;
        let opened = store.projects().of(&project)?;
        store.projects().used(&opened.id, &imported.installed.reference())?;
        let mut settings = SettingsFile::open(&Settings::path(&home))?;
        settings.set(&["run", "model"], &format!("scripted:{}", scenario.display()).into())?;
        settings.save()?;
        let ui = UiArgs { no_open: args.no_open, port: 0 };
        console.error(say!(
            "Open the project, start the workflow, and answer {} when you are asked.",
            "打开项目，启动流程，被问到时回答 {}。",
            sample::ANSWER
        ));
        return super::ui::run(&ui, Some(home), console);
    }
    introduce(&scratch, console);
    let plan = StartRun {
        package: imported.installed,
        workflow: None,
        agent: None,
        project,
        variables: serde_json::Map::new(),
        settings: RunSettings::default(),
        user_name: String::new(),
        id: None,
        conversation: None,
        data: None,
        earlier: Vec::new(),
        adopt: crewagent_engine::runtime::Adopt::default(),
    };
    let run = Runtime::new(&store, tool_servers(&store)).start(&plan)?;
    let control = Control::default();
    let model = Scripted::parse("scenario.yaml", sample::SCENARIO)?;
    let model = if std::io::stdout().is_terminal() { model.paced(PACE) } else { model };
    let output =
        open_output(&ConversationOptions::default(), &run, &model, &control, &store, console)?;
    let driver = RunDriver {
        run,
        opening: None,
        model: Box::new(model),
        control,
        inputs: [sample::ANSWER.to_owned()].into(),
        answers: AnswerSource::None,
        prompt: None,
        output,
        resume_hint: ResumeHint::new(Some(&home)),
        farewell: Farewell::Tour,
    };
    let outcome = driver.drive_to_end(console)?;
    let folder = paint::printable(&scratch.display().to_string());
    let words = say!(
        "The scratch folder stays, with the project and its history: {folder}. Remove it when you have seen enough.",
        "临时文件夹会保留，里面有项目及其历史：{folder}。看够了就可以删除。"
    );
    console.line(paint::styled(QUIET, words));
    Ok(outcome)
}

fn introduce(scratch: &Path, console: &mut Console) {
    let words = text!(
        "A package with six steps runs on a small project. The model is a script, so nothing leaves this computer; the runtime is the real one.",
        "一个六步的包在一个小项目上运行。模型由脚本代替，任何数据都不会离开这台电脑；运行时是真的。"
    );
    let mut flow = Flow::new(paint::text_width(), "");
    console.text(&paint::styled(QUIET, flow.push(words) + &flow.finish()));
    let folder = paint::styled(NAME, paint::printable(&scratch.display().to_string()));
    console.line(say!(
        "{} into {folder}\n",
        "{}：{folder}\n",
        paint::styled(GOOD, text!("Checked and imported", "已检查并导入"))
    ));
}
