//! Masks secrets in a server's output: they came from us, and belong in no journal.

use std::sync::{Mutex, PoisonError};

use secrecy::{ExposeSecret as _, SecretString};

/// Minimum length of a masked secret; masking shorter ones would garble ordinary text.
const SHORTEST: usize = 6;

/// Secrets of one server.
#[derive(Debug, Default)]
pub(super) struct Veil(Mutex<Vec<SecretString>>);

impl Veil {
    /// Masks this secret from now on.
    pub(super) fn add(&self, secret: &SecretString) {
        let mut secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, is_known) = (secret.expose_secret(), |known: &SecretString| {
            known.expose_secret() == secret.expose_secret()
        });
        if text.len() >= SHORTEST && !secrets.iter().any(is_known) {
            secrets.push(secret.clone());
        }
    }

    /// Returns the text without secrets.
    pub(super) fn over(&self, text: &str) -> String {
        let secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hide =
            |text: String, secret: &SecretString| text.replace(secret.expose_secret(), "•••");
        secrets.iter().fold(text.to_owned(), hide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_ordinary_words_are_not() {
        let veil = Veil::default();
        veil.add(&"hunter22".into());
        veil.add(&"eu".into());
        assert_eq!(veil.over("key=hunter22 in eu"), "key=••• in eu");
    }
}
