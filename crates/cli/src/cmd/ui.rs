//! `crewagent` and `crewagent ui`: serves the web app and opens the browser.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use crewagent_server::{PageLink, ServerLocation};

use crate::args::UiArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, QUIET};

/// Time that a start that does not serve waits for the browser opener.
const OPENER_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) fn run(
    args: &UiArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    match crewagent_server::open(home, args.port)? {
        ServerLocation::Elsewhere(link) => {
            let words = text!(
                "It is running already; this link opens its page.",
                "已在运行；用此链接打开它的页面。"
            );
            let opening = show(&link, words, args, console);
            // Some openers run until the browser ends; these have found one.
            let _ = opening.map(|opening| opening.recv_timeout(OPENER_TIMEOUT));
            Ok(Outcome::Done)
        }
        ServerLocation::Here(server) => {
            let shutdown = server.shutdown();
            ctrlc::set_handler(move || {
                if shutdown.begin() {
                    leave();
                }
            })
            .context(text!("cannot listen for Ctrl-C", "无法监听 Ctrl-C"))?;
            let words = text!(
                "The link works once, within half an hour, on this computer alone. Press Ctrl-C to end; runs stop where nothing is lost.",
                "链接只能用一次，半小时内有效，仅限本机。按 Ctrl-C 结束；运行会停在不丢失内容的地方。"
            );
            show(server.link(), words, args, console);
            server.serve()?;
            Ok(Outcome::Done)
        }
    }
}

/// Prints the link as the first line, so that other programs can read it. Returns the receiver of the opener's result.
fn show(
    link: &PageLink,
    words: &str,
    args: &UiArgs,
    console: &mut Console,
) -> Option<mpsc::Receiver<()>> {
    console.line(link.url());
    console.show();
    console.error(paint::styled(QUIET, words));
    if args.no_open {
        return None;
    }
    // Sandboxed browsers, such as snap packages, cannot read the store.
    console.error(paint::styled(
        QUIET,
        text!(
            "If no page opens, open the link above in your browser.",
            "如果没有打开页面，请在浏览器中打开上面的链接。"
        ),
    ));
    match browse(link) {
        Ok(opening) => Some(opening),
        Err(error) => {
            report_failure(&error, console);
            None
        }
    }
}

fn report_failure(why: &anyhow::Error, console: &mut Console) {
    let why = paint::printable(&format!("{why:#}"));
    console.error(say!(
        "No browser could be opened ({why}); open the link above in one.",
        "无法打开浏览器（{why}）；请自行打开上面的链接。"
    ));
}

/// Opens the link with the system's program for pages; a thread waits for it.
#[allow(clippy::disallowed_methods, reason = "the browser is no process of a run")]
fn browse(link: &PageLink) -> anyhow::Result<mpsc::Receiver<()>> {
    let (program, before): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    // Other users of the computer can read arguments, so these hold the path of a private page instead of the link.
    command.args(before).arg(link.page()?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command
        .spawn()
        .with_context(|| say!("`{program}` cannot be started", "无法启动 `{program}`"))?;
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let failure = match child.wait() {
            Ok(status) if status.success() => None,
            Ok(status) => Some(anyhow::Error::msg(say!(
                "`{program}` ended with {status}",
                "`{program}` 以 {status} 结束"
            ))),
            Err(error) => Some(error.into()),
        };
        if let Some(failure) = failure {
            report_failure(&failure, &mut Console::new());
        }
        let _ = sender.send(());
    })?;
    Ok(receiver)
}

#[allow(
    clippy::exit,
    reason = "the second Ctrl-C means now; a run survives the death of its process"
)]
fn leave() {
    std::process::exit(130);
}
