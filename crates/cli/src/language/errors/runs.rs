//! Errors of runs and conversations.

use crewagent_engine::changes::ChangesError;
use crewagent_engine::conversation::ConversationError;
use crewagent_engine::runtime::{ForkError, ResumeError, StartError};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::RunError;
use crewagent_scenario::record::RecordError;

use super::super::near;
use super::{models, shown, store};

pub(super) fn run(error: &RunError) -> String {
    match error {
        RunError::Unknown { kind, reference } => format!(
            "没有{} `{reference}`；`crewagent {} list` 列出所有{0}",
            kind_of(kind.command()),
            kind.command()
        ),
        RunError::Ambiguous { kind, reference, candidates } => format!(
            "`{reference}` 可以指多个{}：{}；请写得更完整",
            kind_of(kind.command()),
            candidates.join("、")
        ),
        RunError::InUse { id, holder } => {
            format!("{id} 正被{}使用；请等它结束，或在那里停止", store::holder(holder))
        }
        RunError::Exists(id) => format!("运行 {id} 已经存在"),
        RunError::Damaged { id, reason } => format!(
            "{id} 无法使用：{reason}；用 `crewagent runs rm {id}` 删除；若是对话，用 `crewagent chats rm {id}`"
        ),
        RunError::Newer { id, version } => {
            format!("运行 {id} 由更新版本的程序写成（版本 {version}）；请更新本程序")
        }
        RunError::PackageGone { id, package, digits } => format!(
            "运行 {id} 的包 {package}（{digits}）不在库中；请用 `crewagent package import` 重新导入"
        ),
        RunError::NoProject { id, project } => format!("运行 {id} 的项目 `{project}` 不在库中"),
        RunError::Project(error) => store::project(error),
        RunError::Journal(error) => store::journal(error),
        RunError::Store(error) => store::store(error),
        RunError::Disk(error) => store::disk(error),
    }
}

/// Returns what a command lists.
fn kind_of(command: &str) -> &'static str {
    if command == "chats" { "对话" } else { "运行" }
}

pub(super) fn start(error: &StartError) -> String {
    match error {
        StartError::Workflow { asked, known } => {
            let near = near(asked, known.iter().map(String::as_str));
            format!("这个包里没有流程 `{asked}`{near}；它有 {}", known.join("、"))
        }
        StartError::Agent { asked, known } => {
            let near = near(asked, known.iter().map(String::as_str));
            format!("这个包里没有智能体 `{asked}`{near}；它有 {}", known.join("、"))
        }
        StartError::Adopt { file, why } => format!("这次运行无法接着 `{file}` 继续：{why}"),
        StartError::Document(error) => format!("无法由包的模板生成运行的状态文档：{error}"),
        StartError::Project(error) => store::project(error),
        StartError::Mounts(error) => store::open(error),
        StartError::Store(error) => store::store(error),
        StartError::Run(error) => run(error),
        StartError::Host(error) => shown(&**error),
    }
}

pub(super) fn resume(error: &ResumeError) -> String {
    match error {
        ResumeError::Run(error) => run(error),
        ResumeError::Workflow(workflow) => format!("这次运行的包里没有流程 `{workflow}`"),
        ResumeError::Mounts(error) => store::open(error),
        ResumeError::Store(error) => store::store(error),
        ResumeError::State(error) => error.to_string(),
        ResumeError::Halt(error) => halt(error),
        ResumeError::Host(error) => shown(&**error),
    }
}

pub(super) fn fork(error: &ForkError) -> String {
    match error {
        ForkError::Visit { run, event } => {
            format!("到事件 {event} 为止，运行 {run} 没有到过任何节点")
        }
        ForkError::Lost { run, node, document } => format!(
            "无法在 `{node}` 处分叉运行 {run}：{document} 当时的内容已不再保存。请在更后面的节点分叉"
        ),
        ForkError::Document(error) => format!("无法生成新运行的状态文档：{error}"),
        ForkError::Project(error) => store::project(error),
        ForkError::Run(error) => run(error),
        ForkError::Resume(error) => resume(error),
    }
}

pub(super) fn halt(halt: &Halt) -> String {
    match halt {
        Halt::Model(error) => models::model(error),
        Halt::Mount(error) => store::mount(error),
        Halt::Log(error) => shown(&**error),
        Halt::Stopped => "已被用户停止".to_owned(),
        Halt::Broken => "这次运行先前已失败；请重新接手".to_owned(),
        Halt::TooLong { bytes, limit } => format!(
            "一次输入最多 {limit} 字节，这次有 {bytes} 字节；请写入项目的文件，再说明文件名"
        ),
        Halt::Unfit(why) => format!("日志与运行不符：{why}"),
        Halt::CaughtUp => "记录到此为止".to_owned(),
    }
}

pub(super) fn conversation(error: &ConversationError) -> String {
    match error {
        ConversationError::Start(error) => start(error),
        ConversationError::Resume(error) => resume(error),
        ConversationError::Store(error) => run(error),
        ConversationError::Halt(error) => halt(error),
    }
}

pub(super) fn changes(error: &ChangesError) -> String {
    match error {
        ChangesError::Unchanged(path) => format!("这次运行没有修改 `{path}`"),
        ChangesError::NoVisit(event) => format!("到事件 {event} 为止，这次运行没有到过任何节点"),
        ChangesError::NotText(path) => format!("无法逐行比较 `{path}`：不是文本，或太长"),
        ChangesError::Stale(path) => format!("`{path}` 在你查看之后又有改动"),
        ChangesError::Refused(refusal) => refusal.message.clone(),
        ChangesError::Run(error) => run(error),
        ChangesError::Project(error) => store::project(error),
        ChangesError::Blob(error) => store::blob(error),
        ChangesError::Mount(error) => store::mount(error),
    }
}

pub(super) fn record(error: &RecordError) -> String {
    match error {
        RecordError::Nothing => "模型还没有回复，没有可记录的内容".to_owned(),
        RecordError::Lost(digest) => format!("运行的一段文本缺失：数据块 {digest}"),
        RecordError::Unfit(why) => format!("这次运行无法写成场景：{why}"),
    }
}
