//! Errors of packages on their way in and out, and of the server's start.

use crewagent_engine::store::{FindError, ImportError};
use crewagent_server::ServerError;
use crewagent_source::SourceError;
use crewagent_source::author::NewError;
use crewagent_source::pack::PackError;

use super::{io_error, store, verb};

pub(super) fn find(error: &FindError) -> String {
    match error {
        FindError::Empty { reference } => {
            format!("没有包 `{reference}`：还没有导入任何包；请用 `crewagent package import` 导入")
        }
        FindError::Unknown { reference, similar, damaged } => {
            let similar = similar.as_deref().map(|name| format!("；是不是想写 `{name}`？"));
            let damaged = match &damaged[..] {
                [] => String::new(),
                many => format!("；文件夹 `{}` 已损坏", many.join("`、`")),
            };
            format!(
                "没有包 `{reference}`{}；`crewagent package list` 列出所有包{damaged}",
                similar.unwrap_or_default()
            )
        }
        FindError::UnknownVersion { name, version, known } => {
            format!("没有 `{name}` 的版本 {version}；有 {}", known.join("、"))
        }
        FindError::Ambiguous { reference, candidates } => {
            format!("`{reference}` 可以指多个包：{}；请写得更完整", candidates.join("、"))
        }
        FindError::Several { reference, candidates } => format!(
            "有 {} 个包名为 `{reference}`：{}；请写出所指的摘要或版本",
            candidates.len(),
            candidates.join("、")
        ),
        FindError::Damaged(damaged) => store::damaged(damaged),
        FindError::Store(error) => store::store(error),
    }
}

pub(super) fn import(error: &ImportError) -> String {
    match error {
        ImportError::Source(error) => source(error),
        ImportError::Rejected(_) => "包有错误；没有导入任何内容".to_owned(),
        ImportError::Read { path, error } => {
            format!("无法读取包中的 `{path}`：{}；没有导入任何内容", io_error(error))
        }
        ImportError::Store(error) => store::store(error),
    }
}

pub(super) fn source(error: &SourceError) -> String {
    match error {
        SourceError::NotFound { path } => format!("`{}` 不存在；请检查路径", path.display()),
        SourceError::Denied { path } => {
            format!("无权读取 `{}`；请修改其权限，或换有权限的用户运行", path.display())
        }
        SourceError::NotAFile { path } => format!(
            "`{}` 既不是文件也不是文件夹；请给出包的文件夹，或 `.bmad`、`.zip` 文件",
            path.display()
        ),
        SourceError::Io { path, error } => format!(
            "无法读取 `{}`：{}；请检查磁盘或所在的网络共享，然后重试",
            path.display(),
            io_error(error)
        ),
    }
}

pub(super) fn pack(error: &PackError) -> String {
    match error {
        PackError::Source(error) => source(error),
        PackError::Rejected(_) => "包有错误；请改正后再打包".to_owned(),
        PackError::Inside { path } => format!(
            "`{}` 在包的文件夹里，下次打包会把它也包进去；请写到别处，或作为包根目录下的 `.bmad` 文件",
            path.display()
        ),
        PackError::Older { version, reason } => {
            format!("不能以 {version} 版格式写出包：{reason}")
        }
        PackError::Read { path, error } => {
            format!("无法读取包中的 `{path}`：{}", io_error(error))
        }
        PackError::TooLarge => "包太大，一个归档放不下：最多 65,535 个文件、4 GiB".to_owned(),
        PackError::NotAFile { path, .. } => {
            format!("`{}` 不是普通文件；请给出新文件，或可以替换的文件", path.display())
        }
        PackError::Occupied { path, name } => format!(
            "`{}` 已存在，而且不是打包好的 `{name}`；请移走它，或指定输出位置",
            path.display()
        ),
        PackError::Write { path, error } => format!(
            "无法写入 `{}`：{}；请检查其文件夹是否存在、可写、有空间",
            path.display(),
            io_error(error)
        ),
    }
}

pub(super) fn author(error: &NewError) -> String {
    match error {
        NewError::NotEmpty { path } => {
            format!("`{}` 里已有文件；请选择新的或空的文件夹", path.display())
        }
        NewError::NotReplaceable { path } => {
            format!("`{}` 里已有文件，且不是转换得到的包；请选择新的或空的文件夹", path.display())
        }
        NewError::NotAFolder { path } => {
            format!("`{}` 是文件；请选择新的或空的文件夹", path.display())
        }
        NewError::Io { path, error } => {
            format!("无法写入 `{}`：{}", path.display(), io_error(error))
        }
    }
}

pub(super) fn server(error: &ServerError) -> String {
    match error {
        ServerError::Store(error) => store::store(error),
        ServerError::Files { action, path, error } => {
            format!("无法{} `{}`：{}；请检查其权限", verb(action), path.display(), io_error(error))
        }
        ServerError::Ports { first, last, error } => format!(
            "127.0.0.1 上从 {first} 到 {last} 没有空闲端口：{}；请用 --port 另选",
            io_error(error)
        ),
        ServerError::Mute(why) => format!(
            "另一个 `crewagent` 正在为这个库提供服务，但没有给出链接（{why}）；请结束它，或用 --home 换一个库"
        ),
        ServerError::Start(error) => format!("无法启动服务：{}", io_error(error)),
    }
}
