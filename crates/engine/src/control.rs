//! The user's hand on a run that goes on in another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::cancel::Cancel;

/// What the user wants. Copies belong together.
#[derive(Clone, Debug, Default)]
pub struct Control {
    wish: Arc<AtomicU8>,
    cancel: Cancel,
}

/// What the user wants of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It goes on.
    Run,
    /// It stops after the call in hand.
    Pause,
    /// It stops after the call in hand, and a request to the model is given up.
    Stop,
}

impl Control {
    /// Stops after the call in hand.
    pub fn pause(&self) {
        let _ = self.wish.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Stops after the call in hand; a request to the model is given up.
    pub fn stop(&self) {
        self.wish.store(2, Ordering::SeqCst);
        self.cancel.cancel();
    }

    /// The user wants to go on after all.
    pub fn renew(&self) {
        self.wish.store(0, Ordering::SeqCst);
        self.cancel.renew();
    }

    /// What the user wants.
    pub fn wish(&self) -> Wish {
        match self.wish.load(Ordering::SeqCst) {
            0 => Wish::Run,
            1 => Wish::Pause,
            _ => Wish::Stop,
        }
    }

    /// For whoever waits for the model.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}
