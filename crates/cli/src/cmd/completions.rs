//! `crewagent completions`: prints a shell completion script, which asks the program for completions.

use clap_complete::env::Shells;

use crate::args::CompletionsArgs;
use crate::complete::VARIABLE;
use crate::console::Console;
use crate::language::say;
use crate::outcome::Outcome;

pub(crate) fn run(args: &CompletionsArgs, console: &mut Console) -> anyhow::Result<Outcome> {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name);
    let shell = shell.ok_or_else(|| {
        anyhow::Error::msg(say!("there are no completions for {name}", "没有 {name} 的补全脚本"))
    })?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "crewagent", "crewagent", "crewagent", &mut script)?;
    console.text(&String::from_utf8(script)?);
    Ok(Outcome::Done)
}
