//! The language of messages and help: English, or Chinese where the user or the system asks for it.
//!
//! Both texts stand side by side: `say!("{n} files", "{n} 个文件")` checks both at compile time, and `text!` chooses
//! between two that need no values. Everything that a program or a model reads stays English: JSON, events, prompts.

pub(crate) mod errors;
pub(crate) mod help;
mod help_table;
pub(crate) mod settings;

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::ValueEnum;
use crewagent_format::wording::nearest;

/// Environment variable that sets the language.
pub(crate) const VARIABLE: &str = "CREWAGENT_LANG";

/// A language that messages exist in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    #[default]
    #[value(name = "en")]
    English,
    #[value(name = "zh")]
    Chinese,
}

static CURRENT: OnceLock<Language> = OnceLock::new();

/// Formats a message in the current language: the English format string, the Chinese one, and the arguments of both.
macro_rules! say {
    ($english:literal, $chinese:literal $(, $($arguments:tt)*)?) => {
        match $crate::language::current() {
            $crate::language::Language::English => format!($english $(, $($arguments)*)?),
            $crate::language::Language::Chinese => format!($chinese $(, $($arguments)*)?),
        }
    };
}
pub(crate) use say;

/// Chooses between a text in English and one in Chinese.
macro_rules! text {
    ($english:expr, $chinese:expr $(,)?) => {
        match $crate::language::current() {
            $crate::language::Language::English => $english,
            $crate::language::Language::Chinese => $chinese,
        }
    };
}
pub(crate) use text;

/// Returns the end of a sentence that asks for the word that was probably meant; empty if none is like it.
pub(crate) fn near<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates)
        .map(|near| say!("; did you mean `{near}`?", "；是不是想写 `{near}`？"))
        .unwrap_or_default()
}

/// Returns the language of this process; English until it is chosen.
pub(crate) fn current() -> Language {
    CURRENT.get().copied().unwrap_or_default()
}

/// Sets the language of this process from its command line and environment. Help is printed while the command line is
/// read, so the language is needed before.
pub(crate) fn choose(arguments: &[OsString]) {
    let environment = |name: &str| std::env::var(name).ok();
    let language = match is_for_programs(arguments) {
        true => Language::English,
        false => of_arguments(arguments).unwrap_or_else(|| of_environment(environment)),
    };
    let _ = CURRENT.set(language);
}

/// Returns true if the output is for programs, which read the same bytes everywhere.
fn is_for_programs(arguments: &[OsString]) -> bool {
    let words: Vec<&str> = words(arguments).collect();
    const FORMATS: [&str; 4] = ["json", "short", "sarif", "github"];
    let is_format = |value: &str| FORMATS.contains(&value);
    let is_flag =
        |word: &&str| *word == "--json" || word.strip_prefix("--format=").is_some_and(is_format);
    words.iter().any(is_flag)
        || words.windows(2).any(|pair| pair[0] == "--format" && is_format(pair[1]))
}

/// Returns the arguments before those of another program.
fn words(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments.iter().map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--")
}

/// Returns the language that `--lang` names.
fn of_arguments(arguments: &[OsString]) -> Option<Language> {
    let mut words = words(arguments);
    let mut language = None;
    while let Some(word) = words.next() {
        let name = if word == "--lang" { words.next() } else { word.strip_prefix("--lang=") };
        language = name.and_then(named).or(language);
    }
    language
}

/// Returns the language of the environment: the program's own variable, then the locale for messages.
fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Language {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(language) = set(VARIABLE).as_deref().and_then(named) {
        return language;
    }
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set).unwrap_or_default();
    of_locale(&locale)
}

/// Returns the language of a locale such as `zh_CN.UTF-8`. A terminal with another encoding cannot show Chinese.
fn of_locale(locale: &str) -> Language {
    let locale = locale.to_ascii_lowercase();
    let (language, encoding) = locale.split_once('.').unwrap_or((&locale, "utf-8"));
    let is_chinese = language.split(['_', '-', '@']).next() == Some("zh");
    let is_utf8 = encoding.starts_with("utf-8") || encoding.starts_with("utf8");
    if is_chinese && is_utf8 { Language::Chinese } else { Language::English }
}

fn named(name: &str) -> Option<Language> {
    Language::from_str(name.trim(), true).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_environment(variables: &[(&str, &str)], expected: Language) {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(of_environment(value), expected, "{variables:?}");
    }

    fn check_arguments(line: &str, expected: Option<Language>) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        assert_eq!(of_arguments(&arguments), expected, "{line}");
    }

    #[test]
    fn the_locale_for_messages_decides() {
        check_environment(&[], Language::English);
        check_environment(&[("LANG", "zh_CN.UTF-8")], Language::Chinese);
        check_environment(&[("LANG", "zh")], Language::Chinese);
        check_environment(&[("LANG", "zh-Hans")], Language::Chinese);
        check_environment(&[("LANG", "de_DE.UTF-8")], Language::English);
        check_environment(&[("LANG", "zha_CN.UTF-8")], Language::English);
        check_environment(&[("LC_ALL", ""), ("LANG", "zh_CN.utf8")], Language::Chinese);
        check_environment(
            &[("LC_MESSAGES", "en_US.UTF-8"), ("LANG", "zh_CN.UTF-8")],
            Language::English,
        );
        check_environment(&[("LC_ALL", "zh_TW.UTF-8"), ("LANG", "C")], Language::Chinese);
    }

    #[test]
    fn a_terminal_with_another_encoding_gets_english() {
        check_environment(&[("LANG", "zh_CN.GBK")], Language::English);
    }

    #[test]
    fn the_own_variable_comes_before_the_locale() {
        check_environment(&[(VARIABLE, "en"), ("LANG", "zh_CN.UTF-8")], Language::English);
        check_environment(&[(VARIABLE, "ZH"), ("LANG", "C")], Language::Chinese);
        check_environment(&[(VARIABLE, "fr"), ("LANG", "zh_CN.UTF-8")], Language::Chinese);
    }

    #[test]
    fn the_option_comes_before_the_environment() {
        check_arguments("crewagent runs --lang zh list", Some(Language::Chinese));
        check_arguments("crewagent --lang=en", Some(Language::English));
        check_arguments("crewagent --lang", None);
        check_arguments("crewagent mcp add x -- tool --lang zh", None);
    }

    #[test]
    fn what_programs_read_is_english() {
        let is_for_programs =
            |line: &str| is_for_programs(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(is_for_programs("crewagent doctor --json"));
        assert!(is_for_programs("crewagent package validate x --format json"));
        assert!(!is_for_programs("crewagent package graph x --format dot"));
        assert!(!is_for_programs("crewagent mcp add x -- tool --json"));
    }
}
