//! Random secrets, compared in a time that does not depend on how much of a guess is right.

use std::fmt;

use crewagent_format::integrity::Digest;

/// Bytes of randomness in a secret.
const SECRET_BYTES: usize = 32;

/// A secret. It is never printed.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// Generates a secret.
    pub(crate) fn fresh() -> Self {
        let mut bytes = [0_u8; SECRET_BYTES];
        // Without randomness of the system there is no secret, and nothing may be served.
        if let Err(error) = getrandom::fill(&mut bytes) {
            unreachable!("the system gives no randomness: {error}");
        }
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the secret in plain text.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the digest, which may be stored.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// Returns true if a text is the secret. Digests are compared, so that timing reveals nothing.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.digest() == Digest::of(text.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
