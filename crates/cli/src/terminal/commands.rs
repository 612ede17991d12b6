//! Commands at the prompt, such as `/help`: one table of their names, help texts and actions.

use unicode_width::UnicodeWidthStr as _;

use crate::language::text;
use crate::paint::{self, NAME, QUIET};

/// One row of the command table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PromptCommand<A> {
    /// Includes the slash.
    pub(crate) name: &'static str,
    /// The argument as `/help` shows it, such as `NUMBER`.
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
    pub(crate) action: A,
}

/// The interpretation of one line of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind<'w, A> {
    /// A command and its argument.
    Command(A, &'w str),
    /// A line that looks like a command and is not in the table.
    Unknown(&'w str),
    Text(&'w str),
}

/// The commands available at a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Commands<A> {
    table: Vec<PromptCommand<A>>,
}

impl<A: Copy> Commands<A> {
    pub(crate) fn new(table: impl IntoIterator<Item = PromptCommand<A>>) -> Self {
        Self { table: table.into_iter().collect() }
    }

    /// Interprets a line. A leading blank turns a command into plain text.
    pub(crate) fn parse<'w>(&self, words: &'w str) -> LineKind<'w, A> {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        if let Some(command) = self.table.iter().find(|command| command.name == first) {
            let rest = rest.trim();
            if rest.is_empty() || !command.takes.is_empty() {
                return LineKind::Command(command.action, rest);
            }
        }
        let is_alike =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase());
        match words.trim_end().strip_prefix('/') {
            Some(name) if is_alike(name) && !self.names().any(|it| it == first) => {
                LineKind::Unknown(words.trim_end())
            }
            Some(_) | None => LineKind::Text(words),
        }
    }

    /// Returns the command names, for completion.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.table.iter().map(|command| command.name)
    }

    /// Returns the text of `/help`.
    pub(crate) fn help(&self) -> String {
        let call = |command: &PromptCommand<A>| format!("{} {}", command.name, command.takes);
        let keys = KEYS
            .iter()
            .map(|(key, (english, chinese))| ((*key).to_owned(), text!(*english, *chinese)));
        let rows: Vec<(String, &str)> =
            self.table.iter().map(|it| (call(it).trim_end().to_owned(), it.help)).collect();
        let widest = rows.iter().cloned().chain(keys.clone()).map(|(name, _)| name.width()).max();
        let mut text = String::new();
        let mut put = |(name, help): (String, &str)| {
            let name = paint::styled(NAME, paint::padded(&name, widest.unwrap_or(0)));
            text.push_str(&format!("  {name}  {help}\n"));
        };
        rows.into_iter().for_each(&mut put);
        put((String::new(), ""));
        keys.for_each(&mut put);
        let rest = text!(
            "A blank in front of a / sends the line as words.",
            "行首的 / 前加一个空格，整行就作为文字发送。",
        );
        text + &format!("\n  {}\n", paint::styled(QUIET, rest))
    }
}

/// Keys, each with its effect in English and in Chinese.
const KEYS: [(&str, (&str, &str)); 7] = [
    ("Enter", ("sends", "发送")),
    ("Alt-Enter", ("a new line; so does Enter behind a \\", "换行；行尾写 \\ 再按 Enter 也一样")),
    (
        "Tab",
        (
            "completes a command, a trigger or a path after @project/",
            "补全命令、触发词，或 @project/ 之后的路径",
        ),
    ),
    ("Up, Ctrl-R", ("what was typed before, or a search in it", "以前输入的内容，或在其中搜索")),
    ("Ctrl-C", ("clears the line; on an empty one it interrupts", "清空这一行；空行时中断")),
    ("Ctrl-D, Esc", ("on an empty line: leaves it for later", "空行时：离开，以后再答")),
    (
        "Ctrl-C at work",
        (
            "once pauses after the call in hand, twice stops now",
            "工作中按一次，当前调用完成后暂停；按两次立即停止",
        ),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check_parse(words: &str, expected: LineKind<'_, u8>) {
        let row = |name, takes, action| PromptCommand { name, takes, help: "…", action };
        let commands = Commands::new([row("/help", "", 1), row("/model", "NAME", 2)]);
        assert_eq!(commands.parse(words), expected, "{words:?}");
    }

    #[test]
    fn a_command_is_told_from_words() {
        check_parse("/help", LineKind::Command(1, ""));
        check_parse("/help ", LineKind::Command(1, ""));
        check_parse("/help me", LineKind::Text("/help me"));
        check_parse("/model a b", LineKind::Command(2, "a b"));
        check_parse("/hlep", LineKind::Unknown("/hlep"));
        check_parse(" /help", LineKind::Text(" /help"));
        check_parse("/etc/passwd", LineKind::Text("/etc/passwd"));
        check_parse("/ is a slash", LineKind::Text("/ is a slash"));
        check_parse("help", LineKind::Text("help"));
    }

    #[test]
    fn help_names_every_command_and_key() {
        let row = |name, takes, action| PromptCommand { name, takes, help: "does it", action };
        let help = Commands::new([row("/model", "NAME", ())]).help();
        let help = anstream::adapter::strip_str(&help).to_string();
        assert!(help.contains("/model NAME") && help.contains("does it"), "{help}");
        assert!(KEYS.iter().all(|(key, _)| help.contains(key)), "{help}");
    }
}
