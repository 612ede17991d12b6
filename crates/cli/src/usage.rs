//! Mistakes on the command line: what was probably meant, and the same in Chinese.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use crewagent_format::wording::nearest;

use crate::console::Console;
use crate::language::{Language, current};
use crate::paint::{self, ACCENT, ERROR};

/// Prints what is wrong with the command line, or the help that it asked for, and ends the program.
pub(crate) fn exit(error: &clap::Error) -> ! {
    match chinese(error) {
        Some(text) if current() == Language::Chinese => {
            Console::new().error(format_args!("{} {text}", paint::styled(ERROR, "错误:")));
            leave(error.exit_code())
        }
        Some(_) | None => error.exit(),
    }
}

/// Replaces the library's suggestion for an unknown command, which prefers long names, by the nearest name.
pub(crate) fn suggesting(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let mut here = command;
    for argument in arguments.iter().skip(1).take_while(|argument| *argument != word.as_str()) {
        here = here.find_subcommand(argument).unwrap_or(here);
    }
    let names = here.get_subcommands().map(Command::get_name);
    if let Some(near) = nearest(word, names).map(str::to_owned) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    error
}

#[allow(clippy::exit, reason = "the command line cannot be read, and nothing has begun")]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// Returns the whole message, or none for help and for what is not known here.
fn chinese(error: &clap::Error) -> Option<String> {
    let said = |kind| context(error, kind);
    let argument = said(ContextKind::InvalidArg).unwrap_or_default();
    let value = said(ContextKind::InvalidValue).unwrap_or_default();
    let mut text = match error.kind() {
        ErrorKind::UnknownArgument => format!("没有参数“{argument}”"),
        ErrorKind::InvalidSubcommand => {
            format!("没有命令“{}”", said(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("“{argument}”缺少值"),
        ErrorKind::InvalidValue => format!("“{argument}”不能是“{value}”"),
        ErrorKind::ValueValidation => match std::error::Error::source(error) {
            Some(why) => format!("“{argument}”的值“{value}”无效：{why}"),
            None => format!("“{argument}”的值“{value}”无效"),
        },
        ErrorKind::MissingRequiredArgument => format!("缺少必需的参数：{argument}"),
        ErrorKind::ArgumentConflict => match said(ContextKind::PriorArg) {
            Some(prior) if prior == argument => format!("“{argument}”只能给一次"),
            Some(prior) => format!("“{argument}”不能与“{prior}”同时使用"),
            None => format!("“{argument}”不能与其他参数同时使用"),
        },
        ErrorKind::MissingSubcommand => format!("“{argument}”需要一个命令"),
        ErrorKind::TooManyValues => format!("“{argument}”不接受“{value}”这个多出来的值"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("“{argument}”的值的个数不对")
        }
        ErrorKind::NoEquals => format!("“{argument}”与它的值之间要写等号"),
        ErrorKind::InvalidUtf8
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion
        | ErrorKind::Io
        | ErrorKind::Format
        | _ => return None,
    };
    if let Some(values) = said(ContextKind::ValidValue) {
        text.push_str(&format!("\n  [可选：{values}]"));
    }
    if let Some(values) = said(ContextKind::ValidSubcommand) {
        text.push_str(&format!("\n  [命令：{values}]"));
    }
    let similar =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    if let Some(similar) = similar.into_iter().find_map(said) {
        text.push_str(&format!("\n\n  提示：是不是想写 {similar}？"));
    }
    if let Some(usage) = said(ContextKind::Usage) {
        let usage = usage.trim().trim_start_matches("Usage:").trim_start();
        text.push_str(&format!("\n\n用法：{usage}"));
    }
    text.push_str(&format!("\n\n更多说明：{}", paint::styled(ACCENT, "--help")));
    Some(text)
}

/// Returns what the library knows about the mistake, in one line.
fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let text = match error.get(kind)? {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join("、"),
        ContextValue::StyledStr(text) => text.to_string(),
        ContextValue::Number(number) => number.to_string(),
        ContextValue::None | ContextValue::Bool(_) | ContextValue::StyledStrs(_) | _ => {
            return None;
        }
    };
    (!text.is_empty()).then(|| paint::printable_lines(&text))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    fn check(line: &str, expected: &[&str]) {
        let mistake = Args::command().try_get_matches_from(line.split(' ')).unwrap_err();
        let text = chinese(&mistake).unwrap();
        for part in expected {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
    }

    #[test]
    fn a_mistake_is_named_with_what_is_possible() {
        check("crewagent rnu", &["没有命令“rnu”", "提示：是不是想写 run"]);
        check("crewagent run x --modle y", &["没有参数“--modle”", "--model"]);
        check("crewagent run", &["缺少必需的参数：<SOURCE>", "用法：crewagent run"]);
        check("crewagent run x --max-turns 0", &["“--max-turns <N>”的值“0”无效"]);
        check(
            "crewagent package graph x --format gif",
            &["不能是“gif”", "mermaid、dot、svg、json"],
        );
        check("crewagent runs list --all --project x", &["不能与", "同时使用"]);
        check("crewagent --lang fr", &["[可选：en、zh]"]);
    }

    #[test]
    fn the_nearest_command_is_suggested() {
        for (line, expected) in [
            ("crewagent rnu", "run"),
            ("crewagent runs lsit", "list"),
            ("crewagent modls", "models"),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let command = Args::command();
            let mistake = command.clone().try_get_matches_from(&words).unwrap_err();
            let mistake = suggesting(mistake, &command, &words).to_string();
            assert!(mistake.contains(&format!("'{expected}'\n")), "{line}: {mistake}");
        }
    }

    #[test]
    fn help_is_no_mistake() {
        let help = Args::command().try_get_matches_from(["crewagent", "--help"]).unwrap_err();
        assert_eq!(chinese(&help), None);
    }
}
