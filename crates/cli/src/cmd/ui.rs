//! `crewagent` and `crewagent ui`: the app in the browser, served by this process.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use crewagent_server::Opened;

use crate::args::Ui;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, QUIET};

pub(crate) fn run(
    args: &Ui,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    match crewagent_server::open(home, args.port)? {
        Opened::Elsewhere(url) => {
            let words = "It is running already; this link opens its page.";
            show(&url, words, args, console);
            Ok(Outcome::Done)
        }
        Opened::Here(server) => {
            let shutdown = server.shutdown();
            ctrlc::set_handler(move || {
                if shutdown.begin() {
                    leave();
                }
            })
            .context("cannot listen for Ctrl-C")?;
            let words = "The link works once, on this computer alone. Press Ctrl-C to end; runs stop where nothing is lost.";
            show(server.url(), words, args, console);
            server.serve()?;
            Ok(Outcome::Done)
        }
    }
}

/// The link is the first line, so that other programs can read it.
fn show(url: &str, words: &str, args: &Ui, console: &mut Console) {
    console.line(url);
    console.show();
    console.error(paint::styled(QUIET, words));
    if !args.no_open && !browse(url) {
        console.error("No browser could be opened; open the link above in one.");
    }
}

/// Opens the link with the program that the system has for links. Says whether there is one.
fn browse(url: &str) -> bool {
    let (program, before): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

#[allow(
    clippy::exit,
    reason = "the second Ctrl-C means now; a run survives the death of its process"
)]
fn leave() {
    std::process::exit(130);
}
