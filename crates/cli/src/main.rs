//! The binary `crewagent`: reads the command line, runs one command, and turns its result into an exit code.

mod args;
mod ask;
mod cmd;
mod complete;
mod console;
mod interrupt;
mod language;
mod model;
mod outcome;
mod paint;
mod render;
mod resume_hint;
mod shell;
mod terminal;
mod usage;
mod when;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use clap_complete::CompleteEnv;

use crate::args::Args;
use crate::console::Console;
use crate::language::say;
use crate::outcome::Outcome;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    language::choose(&arguments);
    let localized = || language::help::localized(Args::command());
    CompleteEnv::with_factory(localized).var(complete::VARIABLE).complete();
    let mut command = args::examples::added(localized());
    let args = command
        .try_get_matches_from_mut(&arguments)
        .and_then(|matches| Args::from_arg_matches(&matches))
        .unwrap_or_else(|error| usage::exit(&usage::suggesting(error, &command, &arguments)));
    let mut console = Console::new();
    crewagent_engine::private::on_wait(|lock| {
        Console::new().error(say!(
            "waiting for another process that holds the lock `{}` …",
            "正在等待另一个进程释放锁 `{}`……",
            lock.display()
        ));
    });
    let outcome = cmd::run(args, &mut console)
        .unwrap_or_else(|error| Outcome::of_error(&error, &mut console));
    match console.flush() {
        Ok(()) => outcome.exit_code(),
        // The reader closed the pipe, as in `crewagent package list | head -1`; the outcome stands.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => outcome.exit_code(),
        Err(error) => {
            console.error(say!(
                "error: cannot write to standard output: {error}",
                "错误：无法写到标准输出：{error}"
            ));
            ExitCode::FAILURE
        }
    }
}
