//! The results, which `cargo xtask accept docs` writes into `docs/reliability.md`.

use std::env;

pub(crate) use crewagent_testkit::report::proven;

/// How much of a proof is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// So much that it fits into every build.
    Sample,
    /// All of it: `PROOF_SCALE=full`.
    Full,
}

pub(crate) fn scale() -> Scale {
    match env::var("PROOF_SCALE").as_deref() {
        Ok("full") => Scale::Full,
        _ => Scale::Sample,
    }
}
