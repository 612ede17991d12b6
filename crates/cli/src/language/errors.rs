//! Errors of the engine and its neighbours in Chinese. A variant is the code of an error and its fields are the parameters,
//! so a new one does not compile until it has its text here. What a system or a provider says stays as it is.

mod models;
mod packages;
mod runs;
mod store;

use std::error::Error;
use std::io;

use super::{Language, current};

/// Returns the text of an error in the current language.
pub(crate) fn shown(error: &(dyn Error + 'static)) -> String {
    match current() {
        Language::English => error.to_string(),
        Language::Chinese => chinese(error).unwrap_or_else(|| error.to_string()),
    }
}

/// Returns the Chinese of a known error.
fn chinese(error: &(dyn Error + 'static)) -> Option<String> {
    macro_rules! known {
        ($($translate:path),+ $(,)?) => {
            $(if let Some(error) = error.downcast_ref() { return Some($translate(error)); })+
        };
    }
    known!(
        io_error,
        store::store,
        store::disk,
        store::settings,
        store::secret,
        store::servers,
        store::project,
        store::mount,
        store::open,
        store::blob,
        store::journal,
        runs::run,
        runs::start,
        runs::resume,
        runs::fork,
        runs::halt,
        runs::conversation,
        runs::changes,
        runs::record,
        models::unknown,
        models::named,
        models::model,
        packages::find,
        packages::import,
        packages::source,
        packages::pack,
        packages::author,
        packages::server,
    );
    None
}

/// Returns the text of a failure of the system, with its number.
fn io_error(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    let text = if kind == Kind::NotFound {
        "文件或文件夹不存在"
    } else if kind == Kind::PermissionDenied {
        "没有权限"
    } else if kind == Kind::AlreadyExists {
        "已经存在"
    } else if kind == Kind::NotADirectory {
        "不是文件夹"
    } else if kind == Kind::IsADirectory {
        "是文件夹"
    } else if kind == Kind::StorageFull {
        "磁盘已满"
    } else if kind == Kind::QuotaExceeded {
        "超出磁盘配额"
    } else if kind == Kind::ReadOnlyFilesystem {
        "文件系统只读"
    } else if kind == Kind::AddrInUse {
        "地址已被占用"
    } else if kind == Kind::TimedOut {
        "超时"
    } else if kind == Kind::ResourceBusy {
        "另一个进程占用着它而不释放；请等它结束，或终止它，然后重试"
    } else {
        return error.to_string();
    };
    match error.raw_os_error() {
        Some(code) => format!("{text}（系统错误 {code}）"),
        None => text.to_owned(),
    }
}

/// Returns the verb of "cannot write …".
fn verb(english: &'static str) -> &'static str {
    match english {
        "create" => "创建",
        "flush" => "写盘",
        "list" => "列出",
        "lock" => "锁定",
        "open" => "打开",
        "protect" => "设置权限：",
        "read" => "读取",
        "remove" => "删除",
        "replace" => "替换",
        "rename" => "重命名",
        "write" => "写入",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crewagent_engine::store::{ProjectError, RunError, StoreError};

    use super::*;

    #[test]
    fn an_error_inside_others_is_told_in_chinese() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let inner = StoreError::Io { action: "write", path: PathBuf::from("/s"), error };
        let text = chinese(&RunError::from(inner)).unwrap();
        assert_eq!(
            text,
            "无法写入 `/s`：没有权限；请开放库的写权限，或把 `CREWAGENT_HOME` 设为可写的文件夹"
        );
        let inner = ProjectError::Unknown { reference: "x".to_owned() };
        let text = chinese(&RunError::from(inner)).unwrap();
        assert_eq!(text, "没有项目 `x`；`crewagent projects list` 列出所有项目");
    }

    #[test]
    fn what_is_not_known_stays_as_it_is() {
        assert_eq!(chinese(&std::fmt::Error), None);
        assert_eq!(shown(&std::fmt::Error), std::fmt::Error.to_string());
    }
}
