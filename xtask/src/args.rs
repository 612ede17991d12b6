//! The command line of `cargo xtask`, parsed into one value.

use anyhow::{Context as _, bail, ensure};

use crate::accept::Suite;
use crate::fuzz::{self, FuzzPlan};
use crate::steps::{CiStep, Selection};
use crate::tidy::TidyMode;

/// Text for `help`, for a missing command and for an unknown one.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test [--skip STEP]... [--only STEP]...  the checks of every commit, as CI runs them
                                          steps: fmt tidy web clippy test browser doc
  nightly [--skip STEP]... [--only STEP]...
                                          what takes long or needs the network
                                          steps: deny advisories mcp bmad load pictures
                                          fuzz proofs real-models bench
  tidy [--shrink | --list RULE]           the rules of the architecture; --shrink lowers the
                                          lists of what is still allowed to what is found,
                                          --list shows what is counted for a rule
  accept [SUITE]...                       write what tests expect anew, and show the difference;
                                          all suites but docs, or these: fixtures schemas
                                          dialect golden types snapshots docs
  fuzz [TARGET]... [--seconds N]          fuzz each target of fuzz/ (default 60 seconds)
  bmad                                    fetch the public versions of BMAD for the tests of
                                          the importer
  real-models [NAME]...                   the chat adapter against real servers from PyPI; the
                                          first time takes a quarter of an hour
  help                                    this text";

/// Command to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum XtaskCommand {
    Help,
    /// Of `test` or `nightly`.
    Steps(Selection),
    Tidy(TidyMode),
    /// All suites but the documents when empty.
    Accept(Vec<Suite>),
    Fuzz(FuzzPlan),
    Bmad,
    /// With parts of the names of tests; all of them when empty.
    RealModels(Vec<String>),
}

impl XtaskCommand {
    /// Parses the arguments after `cargo xtask`.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> anyhow::Result<Self> {
        let mut words = ArgumentReader::new(words);
        let Some(command) = words.next() else { bail!("no command") };
        match command.as_str() {
            "help" | "--help" | "-h" => Ok(Self::Help),
            "test" => steps(words, &CiStep::TEST).map(Self::Steps),
            "nightly" => steps(words, &CiStep::NIGHTLY).map(Self::Steps),
            "tidy" => tidy(words).map(Self::Tidy),
            "accept" => accept(words).map(Self::Accept),
            "fuzz" => fuzz(words).map(Self::Fuzz),
            "bmad" => match words.next() {
                None => Ok(Self::Bmad),
                Some(word) => unexpected(&word),
            },
            "real-models" => names(words).map(Self::RealModels),
            _ => bail!("unknown command `{command}`"),
        }
    }
}

fn steps(mut words: ArgumentReader, all: &'static [CiStep]) -> anyhow::Result<Selection> {
    let mut only = Vec::new();
    let mut skip = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => only.push(Selection::step(all, &words.value_of(&word)?)?),
            "--skip" => skip.push(Selection::step(all, &words.value_of(&word)?)?),
            _ => return unexpected(&word),
        }
    }
    let selection = Selection::new(all, &only, &skip);
    ensure!(!selection.is_empty(), "`--skip` leaves no step to run");
    Ok(selection)
}

fn tidy(mut words: ArgumentReader) -> anyhow::Result<TidyMode> {
    let mut mode = TidyMode::Check;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--shrink" => mode = TidyMode::Shrink,
            "--list" => mode = TidyMode::List(words.value_of(&word)?),
            _ => return unexpected(&word),
        }
    }
    Ok(mode)
}

fn accept(mut words: ArgumentReader) -> anyhow::Result<Vec<Suite>> {
    let mut suites = Vec::new();
    while let Some(word) = words.next() {
        suites.push(Suite::parse(&word)?);
    }
    Ok(suites)
}

fn fuzz(mut words: ArgumentReader) -> anyhow::Result<FuzzPlan> {
    let mut plan = FuzzPlan { targets: Vec::new(), seconds: fuzz::DEFAULT_SECONDS };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => {
                let value = words.value_of(&word)?;
                plan.seconds = value
                    .parse()
                    .with_context(|| format!("`--seconds` takes a number, not `{value}`"))?;
                // libFuzzer reads 0 as "for ever".
                ensure!(plan.seconds > 0, "`--seconds` must be at least 1");
            }
            _ if word.starts_with('-') => return unexpected(&word),
            _ => plan.targets.push(word),
        }
    }
    Ok(plan)
}

fn names(mut words: ArgumentReader) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            return unexpected(&word);
        }
        names.push(word);
    }
    Ok(names)
}

fn unexpected<T>(word: &str) -> anyhow::Result<T> {
    bail!("unexpected argument `{word}`")
}

/// Remaining arguments; `--flag=value` counts as two.
struct ArgumentReader(std::vec::IntoIter<String>);

impl ArgumentReader {
    fn new(words: impl IntoIterator<Item = String>) -> Self {
        let split = words.into_iter().flat_map(|word| match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => vec![flag.into(), value.into()],
            Some(_) | None => vec![word],
        });
        Self(split.collect::<Vec<_>>().into_iter())
    }

    fn next(&mut self) -> Option<String> {
        self.0.next()
    }

    fn value_of(&mut self, flag: &str) -> anyhow::Result<String> {
        self.next().with_context(|| format!("`{flag}` needs a value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<XtaskCommand, String> {
        XtaskCommand::parse(line.split_whitespace().map(String::from))
            .map_err(|error| error.to_string())
    }

    fn check_error(line: &str, expected: &str) {
        let error = parse(line).unwrap_err();
        assert!(error.contains(expected), "`{line}` gave `{error}`");
    }

    #[test]
    fn each_command_has_its_value() {
        assert_eq!(parse("help"), Ok(XtaskCommand::Help));
        assert_eq!(parse("bmad"), Ok(XtaskCommand::Bmad));
        let all = |steps| Ok(XtaskCommand::Steps(Selection::new(steps, &[], &[])));
        assert_eq!(parse("test"), all(&CiStep::TEST));
        assert_eq!(parse("nightly"), all(&CiStep::NIGHTLY));
        assert_eq!(parse("tidy"), Ok(XtaskCommand::Tidy(TidyMode::Check)));
        assert_eq!(parse("tidy --shrink"), Ok(XtaskCommand::Tidy(TidyMode::Shrink)));
        assert_eq!(
            parse("tidy --list word"),
            Ok(XtaskCommand::Tidy(TidyMode::List("word".into())))
        );
        assert_eq!(parse("accept"), Ok(XtaskCommand::Accept(Vec::new())));
        assert_eq!(parse("accept golden"), Ok(XtaskCommand::Accept(vec![Suite::Golden])));
        assert_eq!(parse("real-models"), Ok(XtaskCommand::RealModels(Vec::new())));
        assert_eq!(parse("real-models llama"), Ok(XtaskCommand::RealModels(vec!["llama".into()])));
    }

    #[test]
    fn a_flag_takes_its_value_after_a_space_or_an_equals_sign() {
        let skipped = [CiStep::Fuzz, CiStep::Deny];
        let expected = Ok(XtaskCommand::Steps(Selection::new(&CiStep::NIGHTLY, &[], &skipped)));
        assert_eq!(parse("nightly --skip fuzz --skip=deny"), expected);
        let expected =
            Ok(XtaskCommand::Fuzz(FuzzPlan { targets: vec!["graph".into()], seconds: 5 }));
        assert_eq!(parse("fuzz graph --seconds 5"), expected);
        assert_eq!(parse("fuzz --seconds=5 graph"), expected);
    }

    #[test]
    fn an_unknown_step_lists_the_valid_ones() {
        check_error("test --only lint", "fmt, tidy, web, clippy, test, browser");
        check_error("test --skip lint", "`lint`");
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        check_error("", "no command");
        check_error("tset", "`tset`");
        check_error("test fmt", "`fmt`");
        check_error("test --only", "needs a value");
        check_error("test --only fmt --skip fmt", "no step");
        check_error("tidy --grow", "`--grow`");
        check_error(
            "accept silver",
            "fixtures, schemas, dialect, golden, types, reference, snapshots, docs",
        );
        check_error("fuzz --minutes 1", "`--minutes`");
        check_error("fuzz --seconds soon", "`soon`");
        check_error("fuzz --seconds 0", "at least 1");
        check_error("real-models --fast", "`--fast`");
        check_error("nightly --only fmt", "deny, advisories");
    }
}
