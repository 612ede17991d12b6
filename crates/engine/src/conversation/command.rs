//! Commands that work in every mode of a conversation.

use std::fmt;

/// A command typed with `/` in front, or with `*` if no menu is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalCommand {
    /// Shows the menu; the active run keeps its position.
    Menu,
    /// Leaves the active run.
    Pause,
    /// Leaves the active run at once.
    Stop,
    /// Resumes the run that was left last.
    Resume,
    /// Returns to plain chat.
    Dismiss,
    /// Shows the available commands.
    Help,
    /// Shows the position and cost of everything.
    Status,
    Agent(String),
}

/// Prefixes of commands, including full-width forms of other keyboards.
pub(super) const PREFIXES: &[char] = &['/', '／', '*', '＊'];
/// Prefixes where `*` means something else.
pub(super) const SLASHES: [char; 2] = ['/', '／'];
/// Prefixes that are left for a message that the menu did not match.
pub(super) const STARS: &[char] = &['*', '＊'];

/// All commands, with descriptions.
pub const COMMANDS: &[(&str, &str)] = &[
    ("/menu", "show the agent's menu; a run is left where it is"),
    ("/agent NAME", "talk to another agent of the package"),
    ("/resume", "go on with the run that was left last"),
    ("/pause", "leave the run where it is"),
    ("/stop", "leave the run where it is, now"),
    ("/dismiss", "the agent leaves; plain chat goes on"),
    ("/status", "show where everything stands, and what it cost"),
    ("/help", "show what works now"),
];

impl fmt::Display for GlobalCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Menu => f.write_str("/menu"),
            Self::Pause => f.write_str("/pause"),
            Self::Stop => f.write_str("/stop"),
            Self::Resume => f.write_str("/resume"),
            Self::Dismiss => f.write_str("/dismiss"),
            Self::Help => f.write_str("/help"),
            Self::Status => f.write_str("/status"),
            Self::Agent(name) => write!(f, "/agent {name}"),
        }
    }
}

impl GlobalCommand {
    /// Returns its name in events, if it is recorded.
    pub(super) fn recorded(&self) -> Option<&'static str> {
        match self {
            Self::Menu => Some("ShowMenu"),
            Self::Pause => Some("PauseRun"),
            Self::Stop => Some("StopRun"),
            Self::Resume => Some("ResumeRun"),
            Self::Dismiss => Some("DismissAgent"),
            Self::Agent(_) => Some("ChooseAgent"),
            Self::Help | Self::Status => None,
        }
    }

    /// Parses a message that consists of a command alone. Other messages with a slash in front, such as paths, are no
    /// commands.
    pub(super) fn of(words: &str, prefixes: &[char]) -> Option<Self> {
        let words = words.trim();
        let rest = words.strip_prefix(prefixes)?;
        let (name, argument) = match rest.split_once(char::is_whitespace) {
            Some((name, argument)) => (name, argument.trim()),
            None => (rest, ""),
        };
        let command = match (name.to_lowercase().as_str(), argument) {
            ("menu", "") => Self::Menu,
            ("pause", "") => Self::Pause,
            ("stop", "") => Self::Stop,
            ("resume", "") => Self::Resume,
            ("dismiss", "") => Self::Dismiss,
            ("help", "") => Self::Help,
            ("status", "") => Self::Status,
            ("agent", name) if !name.contains('\n') => Self::Agent(name.to_owned()),
            _ => return None,
        };
        Some(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_command(words: &str, expected: Option<GlobalCommand>) {
        assert_eq!(GlobalCommand::of(words, PREFIXES), expected, "{words}");
    }

    #[test]
    fn only_whole_commands_are_commands() {
        check_command("/menu", Some(GlobalCommand::Menu));
        check_command("  *Menu \n", Some(GlobalCommand::Menu));
        check_command("/agent  dev ", Some(GlobalCommand::Agent("dev".to_owned())));
        check_command("/agent", Some(GlobalCommand::Agent(String::new())));
        check_command("／menu", Some(GlobalCommand::Menu));
        check_command("/menu please", None);
        check_command("menu", None);
        check_command("/etc/hosts is missing", None);
        check_command("//menu", None);
        check_command("/", None);
        check_command("", None);
    }
}
