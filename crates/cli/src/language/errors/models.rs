//! Errors of models. The message of a provider or of the connection is kept; its kind is said before it.

use crewagent_adapters::names::NamedError;
use crewagent_engine::model::{ModelError, ModelErrorKind};
use crewagent_engine::store::UnknownModel;

use super::{runs, store};

const ADD: &str = "用 `crewagent models add NAME` 添加，或写 `--model PROVIDER/MODEL`；不需要模型的有 `--model scripted:FILE` 和 `crewagent demo`";

pub(super) fn unknown(error: &UnknownModel) -> String {
    match error {
        UnknownModel::NotChosen { .. } => format!(
            "还没有选择模型；`crewagent models list` 列出已配置的，`crewagent models use NAME` 选择一个；{ADD}"
        ),
        UnknownModel::Unknown { name, advice, .. } => {
            let near =
                advice.strip_prefix("did you mean `").and_then(|rest| rest.strip_suffix("`?"));
            match near {
                Some(near) => format!("没有模型 `{name}`；是不是想写 `{near}`？"),
                None => format!("没有模型 `{name}`；`crewagent models list` 列出已配置的；{ADD}"),
            }
        }
        UnknownModel::NoAddress { name, profile } => format!(
            "不知道模型 `{name}` 在哪里：服务商配置 `{profile}` 没有地址；请用 `crewagent config set models.{name}.base-url URL` 设置"
        ),
        UnknownModel::BadAddress { variable, problem } => {
            format!("`{variable}` 中的地址无法使用：{problem}")
        }
    }
}

pub(super) fn named(error: &NamedError) -> String {
    match error {
        NamedError::Unknown(error) => unknown(error),
        NamedError::Scenario(error) => error.to_string(),
        NamedError::Replay(error) => {
            format!("模型 `replay` 用库中的一次运行作答：{}", runs::run(error))
        }
        NamedError::Key(error) => store::secret(error),
        NamedError::Client(error) => model(error),
    }
}

pub(super) fn model(error: &ModelError) -> String {
    let what = match error.kind {
        ModelErrorKind::Cancelled => "已取消",
        ModelErrorKind::Auth => "服务商不接受密钥",
        ModelErrorKind::Rate => "请求过多，或余额不足",
        ModelErrorKind::Window => "请求超出模型的上下文窗口",
        ModelErrorKind::Timeout => "模型没有及时作答",
        ModelErrorKind::Network => "无法连接模型，或服务商出错",
        ModelErrorKind::Rejected => "服务商拒绝了请求",
        ModelErrorKind::Malformed => "无法理解模型的回复",
        ModelErrorKind::Script => "代替模型的文件无法作答",
    };
    format!("{what}。{}", error.message)
}
