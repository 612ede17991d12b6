//! Help in Chinese: every text of the command line is replaced by that of the table.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

use super::help_table::CHINESE;
use super::{Language, current};

/// The layout of a help page.
const TEMPLATE: &str = "{before-help}{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}";

/// Returns the command line with help in the current language.
pub(crate) fn localized(command: Command) -> Command {
    match current() {
        Language::English => command,
        Language::Chinese => chinese(command, true),
    }
}

fn chinese(mut command: Command, is_top: bool) -> Command {
    command = command
        .help_template(TEMPLATE)
        .subcommand_help_heading("命令")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(argument)
        .mut_subcommands(|inner| chinese(inner, false))
        .arg(flag("help", 'h', "显示帮助").action(ArgAction::Help))
        .arg(flag("version", 'V', "显示版本").action(ArgAction::Version));
    // The version of a subcommand is that of the program.
    if is_top {
        command = command.propagate_version(true);
    }
    let about = command.get_about().map(translated);
    let long_about = command.get_long_about().map(translated);
    let after = command.get_after_help().map(translated);
    let long_after = command.get_after_long_help().map(translated);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(about) = long_about {
        command = command.long_about(about);
    }
    if let Some(after) = after {
        command = command.after_help(after);
    }
    if let Some(after) = long_after {
        command = command.after_long_help(after);
    }
    command
}

fn flag(name: &'static str, short: char, help: &'static str) -> Arg {
    Arg::new(name).short(short).long(name).help(help).help_heading("选项")
}

/// Translates an argument. The library's own remarks are English, so they are replaced, too.
fn argument(mut argument: Arg) -> Arg {
    let help = argument.get_help().map(translated).unwrap_or_default();
    let long_help = argument.get_long_help().map(translated);
    let heading = match argument.get_help_heading() {
        Some(heading) => lookup(heading),
        None if argument.is_positional() => Some("参数"),
        None => Some("选项"),
    };
    if let Some(heading) = heading {
        argument = argument.help_heading(heading);
    }
    let remarks = remarks(&argument);
    if argument.get_action().takes_values() {
        argument = argument.hide_default_value(true).hide_possible_values(true).hide_env(true);
    }
    if let Some(long_help) = long_help {
        argument = argument.long_help(format!("{long_help}{remarks}"));
    }
    argument.help(format!("{help}{remarks}"))
}

/// Returns the default and the possible values of an argument, as the library would add them in English.
fn remarks(argument: &Arg) -> String {
    let mut remarks = String::new();
    let takes_values = argument.get_action().takes_values();
    let defaults = argument.get_default_values();
    if takes_values && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let values: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        remarks.push_str(&format!(" [默认：{}]", values.join(" ")));
    }
    let values = if takes_values { argument.get_possible_values() } else { Vec::new() };
    let values: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("{}（{}）", value.get_name(), translated(help)),
            None => value.get_name().to_owned(),
        })
        .collect();
    if !values.is_empty() && !argument.is_hide_possible_values_set() {
        remarks.push_str(&format!(" [可选：{}]", values.join("、")));
    }
    remarks
}

fn translated(text: &StyledStr) -> String {
    let english = text.to_string();
    lookup(&english).map_or(english, str::to_owned)
}

/// Returns the Chinese of an English text of the help.
fn lookup(english: &str) -> Option<&'static str> {
    CHINESE.iter().find(|(known, _)| *known == english).map(|(_, chinese)| *chinese)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    /// Collects every text that a help page may show.
    fn texts(command: &Command, found: &mut BTreeSet<String>) {
        let own = [
            command.get_about(),
            command.get_long_about(),
            command.get_after_help(),
            command.get_after_long_help(),
        ];
        found.extend(own.into_iter().flatten().map(ToString::to_string));
        for argument in command.get_arguments() {
            let own = [argument.get_help(), argument.get_long_help()];
            found.extend(own.into_iter().flatten().map(ToString::to_string));
            found.extend(argument.get_help_heading().map(str::to_owned));
            let values = argument.get_possible_values();
            found.extend(values.iter().filter_map(|value| Some(value.get_help()?.to_string())));
        }
        command.get_subcommands().for_each(|inner| texts(inner, found));
    }

    #[test]
    fn every_text_of_the_help_is_there_in_chinese_and_no_other() {
        let mut found = BTreeSet::new();
        texts(&Args::command(), &mut found);
        let known: BTreeSet<String> =
            CHINESE.iter().map(|(english, _)| (*english).to_owned()).collect();
        let missing: Vec<_> = found.difference(&known).collect();
        let dead: Vec<_> = known.difference(&found).collect();
        assert!(
            missing.is_empty() && dead.is_empty(),
            "language/help_table.rs lacks {missing:#?}\nand has without need {dead:#?}"
        );
        assert_eq!(known.len(), CHINESE.len(), "an English text is there twice");
    }

    #[test]
    fn the_chinese_command_line_is_consistent() {
        chinese(Args::command(), true).debug_assert();
    }

    #[test]
    fn a_help_page_is_chinese_throughout() {
        let mut command = chinese(Args::command(), true);
        let page = command.render_help().to_string();
        assert!(page.contains("用法：crewagent"), "{page}");
        for english in ["Usage", "Options", "Commands", "Arguments", "Print", "[default"] {
            assert!(!page.contains(english), "{english} in {page}");
        }
    }
}
