//! The results, which `cargo xtask accept docs` writes into `docs/reliability.md`.

use std::env;

pub(crate) use crewagent_testkit::report::proven;

/// Extent of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Fits into every build.
    Sample,
    /// Everything, with `PROOF_SCALE=full`.
    Full,
}

pub(crate) fn scale() -> Scale {
    match env::var("PROOF_SCALE").as_deref() {
        Ok("full") => Scale::Full,
        _ => Scale::Sample,
    }
}
