//! Ctrl-C: once pauses a run after the current call, twice stops it now. Either way nothing is lost.

use anyhow::Context as _;
use crewagent_engine::control::{Control, ControlRequest};

use crate::language::text;
use crate::terminal;
use crate::terminal::spinner::Spinner;

/// Makes Ctrl-C control this run.
pub(crate) fn watch(control: Control, spinner: Spinner) -> anyhow::Result<()> {
    ctrlc::set_handler(move || match control.request() {
        ControlRequest::Run => {
            control.pause();
            spinner.pausing();
            spinner.say(text!(
                "Pausing after the call in hand. Press Ctrl-C again to stop now.",
                "当前调用完成后暂停。再按一次 Ctrl-C 立即停止。",
            ));
        }
        ControlRequest::Pause => {
            control.stop();
            spinner.stopping();
            spinner.say(text!("Stopping.", "正在停止。"));
        }
        // A run survives the end of its process, whatever it waits for.
        ControlRequest::Stop => leave(),
    })
    .context(text!("cannot listen for Ctrl-C", "无法监听 Ctrl-C"))
}

#[allow(clippy::exit, reason = "the third Ctrl-C means now")]
fn leave() {
    terminal::show_keys();
    std::process::exit(130);
}
