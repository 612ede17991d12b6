//! Errors of the store: files, settings, keys, projects.

use std::io;

use crewagent_engine::blobs::BlobError;
use crewagent_engine::disk::DiskError;
use crewagent_engine::journal::JournalError;
use crewagent_engine::mounts::{MountError, OpenError};
use crewagent_engine::store::{
    Damaged, Harm, Holder, KnownServersError, ProjectError, SecretError, SettingsError, StoreError,
};

use super::super::near;
use super::{io_error, verb};

pub(super) fn store(error: &StoreError) -> String {
    match error {
        StoreError::NoHome => {
            "不知道当前用户的主文件夹；请把 `CREWAGENT_HOME` 设为存放库的文件夹".to_owned()
        }
        StoreError::Settings(error) => settings(error),
        StoreError::Damaged(damaged) => self::damaged(damaged),
        StoreError::Invalid(name) => {
            format!("包 {name} 有错误；`crewagent package validate {name}` 会逐一说明")
        }
        StoreError::Io { action, path, error } => format!(
            "无法{} `{}`：{}{}",
            verb(action),
            path.display(),
            io_error(error),
            advice(error)
        ),
    }
}

fn advice(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if matches!(kind, Kind::StorageFull | Kind::QuotaExceeded) {
        "；请腾出空间，或把 `CREWAGENT_HOME` 设为另一块磁盘上的文件夹"
    } else if matches!(kind, Kind::PermissionDenied | Kind::ReadOnlyFilesystem) {
        "；请开放库的写权限，或把 `CREWAGENT_HOME` 设为可写的文件夹"
    } else if matches!(kind, Kind::NotADirectory | Kind::AlreadyExists) {
        "；请移走该文件，或把 `CREWAGENT_HOME` 设为别的文件夹"
    } else {
        ""
    }
}

pub(super) fn damaged(damaged: &Damaged) -> String {
    let advice = match damaged.harm {
        Harm::Broken => "请重新导入这个包",
        Harm::Newer => "请更新本程序",
    };
    format!(
        "`{}` 中的包无法使用：{}；{advice}，或用 `crewagent package rm {}` 删除",
        damaged.folder.display(),
        damaged.reason,
        damaged.folder_name()
    )
}

pub(super) fn disk(DiskError { action, file, error }: &DiskError) -> String {
    format!("无法{}库中的 `{file}`：{}", verb(action), io_error(error))
}

pub(super) fn mount(MountError { action, path, error, .. }: &MountError) -> String {
    format!("无法{} `{path}`：{}", verb(action), io_error(error))
}

pub(super) fn open(OpenError { mount, path, error }: &OpenError) -> String {
    format!("无法把 `{}` 作为 {} 打开：{}", path.display(), mount.name(), io_error(error))
}

pub(super) fn blob(error: &BlobError) -> String {
    match error {
        BlobError::Missing(digest) => format!("运行的数据块 {digest} 缺失"),
        BlobError::Damaged(digest) => format!("运行的数据块 {digest} 已损坏：内容与摘要不符"),
        BlobError::NotText(digest) => format!("运行的数据块 {digest} 不是文本"),
        BlobError::Disk(error) => disk(error),
    }
}

pub(super) fn journal(error: &JournalError) -> String {
    match error {
        JournalError::Disk(error) => disk(error),
        JournalError::Blob(error) => blob(error),
        JournalError::TooLong { bytes } => format!("一条 {bytes} 字节的记录对日志来说太长"),
        JournalError::Order { expected, found } => {
            format!("日志下一个应是事件 {expected}，而不是 {found}")
        }
        JournalError::Json(error) => format!("事件无法写成 JSON：{error}"),
    }
}

pub(super) fn settings(error: &SettingsError) -> String {
    match error {
        SettingsError::Read { path, error } => {
            format!("无法读取 `{}` 中的设置：{}；请检查其权限", path.display(), io_error(error))
        }
        SettingsError::Wrong { path, line, column, text, message } => format!(
            "`{}` 中的设置有误，第 {line} 行第 {column} 列的 `{text}`：{message}；请改正或删除",
            path.display()
        ),
        SettingsError::Write { path, error } => {
            format!("无法写入 `{}` 中的设置：{}；请检查其权限", path.display(), io_error(error))
        }
        SettingsError::Edit { key, problem } => {
            format!("无法设置 `{key}`：{problem}；请用 `crewagent config edit` 修改")
        }
    }
}

pub(super) fn secret(error: &SecretError) -> String {
    match error {
        SecretError::Exposed { path, mode } => format!(
            "`{path}` 中的密钥可被他人读取（权限 {mode:03o}）；请执行 `chmod 600 {path}`，并考虑更换密钥",
            path = path.display()
        ),
        SecretError::Wrong { path, line } => format!(
            "`{}` 中的密钥无法使用：第 {line} 行有误；请改正，或删除该文件并重新添加密钥",
            path.display()
        ),
        SecretError::Io { action, path, error } => {
            format!("无法{} `{}` 中的密钥：{}", verb(action), path.display(), io_error(error))
        }
        SecretError::Keyring(why) => format!("无法使用系统钥匙串：{why}"),
        SecretError::NotAKey(why) => format!("这不可能是密钥：{why}"),
        SecretError::Missing { model, problem, .. } => format!(
            "模型 `{model}` 没有密钥（{problem}）；用 `crewagent models add {model} --key-stdin` 保存，或设置服务商的环境变量"
        ),
        SecretError::Elsewhere { model, bound, address } => format!(
            "模型 `{model}` 的密钥是为 {bound} 保存的，而该模型现在位于 {address}；请用 `crewagent models add {model} --key-stdin` 重新保存密钥，或改回原地址"
        ),
        SecretError::Header { model, header, variable } => format!(
            "模型 `{model}` 的请求头 `{header}` 取自环境变量 `{variable}`，而它没有设置；请设置"
        ),
    }
}

pub(super) fn servers(error: &KnownServersError) -> String {
    match error {
        KnownServersError::Unknown { name, known } => {
            let near = near(name, known.iter().map(String::as_str));
            format!("没有 MCP 服务器 `{name}`{near}")
        }
        KnownServersError::Settings(error) => settings(error),
        KnownServersError::Secret(error) => secret(error),
    }
}

pub(super) fn project(error: &ProjectError) -> String {
    match error {
        ProjectError::Folder { path, error } => {
            format!("无法把 `{}` 用作项目：{}", path.display(), io_error(error))
        }
        ProjectError::NotText { path } => {
            format!("无法把 `{}` 用作项目：路径不是 Unicode；请重命名文件夹", path.display())
        }
        ProjectError::Overlap { path, home } => format!(
            "无法把 `{}` 用作项目，因为它与 `{}` 中的库重叠，运行可能改到自己的记录；请换一个文件夹，或用 `--home` 换一个库",
            path.display(),
            home.display()
        ),
        ProjectError::Gone { id, name, path } => format!(
            "项目 `{name}` 的文件夹 `{}` 已不在；如果是移动了，请用 `crewagent projects relink {id} FOLDER` 指明新位置",
            path.display()
        ),
        ProjectError::Unknown { reference } => {
            format!("没有项目 `{reference}`；`crewagent projects list` 列出所有项目")
        }
        ProjectError::Ambiguous { reference, candidates } => {
            format!("`{reference}` 可以指多个项目：{}；请写得更完整", candidates.join("、"))
        }
        ProjectError::Occupied { path, by } => format!(
            "`{}` 已是项目 `{by}` 的文件夹；请先用 `crewagent projects forget {by}` 移除它",
            path.display()
        ),
        ProjectError::InUse { id, run, holder } => {
            format!("无法移除项目 `{id}`：它的运行 {run} 正被{}使用", self::holder(holder))
        }
        ProjectError::Damaged { id, reason } => format!("项目 `{id}` 无法使用：{reason}"),
        ProjectError::Disk(error) => disk(error),
    }
}

/// Names the process that holds a run.
pub(super) fn holder(holder: &Holder) -> String {
    let process = match holder.pid {
        Some(pid) => format!("进程 {pid} "),
        None => "另一个进程".to_owned(),
    };
    match holder.since {
        Some(since) => format!("{process}（自 {since} 起）"),
        None => process,
    }
}
