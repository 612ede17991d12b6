//! Control of a run that works in another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::cancel::Cancel;

/// The user's current request to a run. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Control {
    request: Arc<AtomicU8>,
    cancel: Cancel,
}

/// Request of the user to a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlRequest {
    /// Continue.
    Run,
    /// Stop after the current call.
    Pause,
    /// Stop after the current call, and cancel a request to the model.
    Stop,
}

impl Control {
    /// Requests a stop after the current call.
    pub fn pause(&self) {
        let _ = self.request.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Requests a stop after the current call, and cancels a request to the model.
    pub fn stop(&self) {
        self.request.store(2, Ordering::SeqCst);
        self.cancel.cancel();
    }

    /// Clears the request.
    pub fn renew(&self) {
        self.request.store(0, Ordering::SeqCst);
        self.cancel.renew();
    }

    /// Returns the current request.
    pub fn request(&self) -> ControlRequest {
        match self.request.load(Ordering::SeqCst) {
            0 => ControlRequest::Run,
            1 => ControlRequest::Pause,
            _ => ControlRequest::Stop,
        }
    }

    /// Returns the token that cancels a request to the model.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}
