//! The remaining limit of an answer.

use crate::fault::{Fault, FaultKind};

/// Remainder of a limit.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Subtracts `bytes`, or fails if the answer is too long.
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
