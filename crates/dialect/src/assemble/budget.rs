//! How much more of an answer is taken.

use crate::fault::{Fault, FaultKind};

/// What is left of a limit.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Takes `bytes` from it, or says that the answer is too long.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::new(FaultKind::TooLong)),
        }
    }
}
