//! While the model works, keys are not written into its words. What is typed ahead waits for the next prompt.

/// Keys are not shown as long as this lives.
#[derive(Debug)]
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn begin() -> Self {
        keys::hide();
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        show_keys();
    }
}

/// Keys are shown again, also where nothing is dropped because the process ends.
pub(crate) fn show_keys() {
    keys::show();
}

#[cfg(unix)]
mod keys {
    use std::io::{IsTerminal as _, stdin};
    use std::sync::{Mutex, PoisonError};

    use rustix::process::getpgrp;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

    /// How the terminal was.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide() {
        // In the background the terminal is not ours to change.
        if !stdin().is_terminal() || tcgetpgrp(stdin()) != Ok(getpgrp()) {
            return;
        }
        let Ok(before) = tcgetattr(stdin()) else { return };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        if tcsetattr(stdin(), OptionalActions::Now, &quiet).is_ok() {
            *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        }
    }

    pub(super) fn show() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            // Whoever closed the terminal needs no keys.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod keys {
    pub(super) fn hide() {}

    pub(super) fn show() {}
}
