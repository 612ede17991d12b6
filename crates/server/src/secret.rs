//! Words that nobody can guess, and comparing them without telling how far a guess was right.

use std::fmt;

use crewagent_core::integrity::Digest;

/// Bytes of randomness in a secret.
const BYTES: usize = 32;

/// A secret. It is never printed.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// A new one.
    pub(crate) fn fresh() -> Self {
        let mut bytes = [0_u8; BYTES];
        // Without the randomness of the system there is no secret, and nothing may be served.
        if let Err(error) = getrandom::fill(&mut bytes) {
            unreachable!("the system gives no randomness: {error}");
        }
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The words themselves, for the one who may have them.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What may be kept of it, to know it again.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// Whether these are the words. The time it takes says nothing about them: digests are compared.
    pub(crate) fn is(&self, words: &str) -> bool {
        self.digest() == Digest::of(words.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
