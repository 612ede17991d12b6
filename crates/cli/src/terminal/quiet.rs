//! Hides typed keys while the model works. Keys typed ahead wait for the next prompt.

/// Guard that hides typed keys until it is dropped.
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

/// Shows typed keys again; also called before the process exits, where nothing is dropped.
pub(crate) fn show_keys() {
    keys::show();
}

#[cfg(unix)]
mod keys {
    use std::io::{IsTerminal as _, stdin};
    use std::sync::{Mutex, PoisonError};

    use rustix::process::getpgrp;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

    /// The terminal modes before the change.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide() {
        // A background process must not change the terminal.
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
            // Fails only if the terminal was closed.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod keys {
    pub(super) fn hide() {}

    pub(super) fn show() {}
}
