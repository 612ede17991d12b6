//! The results, which go into `docs/reliability.md` when `UPDATE_DOCS` is set.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

static WRITING: Mutex<()> = Mutex::new(());

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

/// Says what was proven, and puts it between `<!-- proof:ROW -->` and `<!-- /proof:ROW -->` if that is wished.
#[allow(clippy::print_stdout, reason = "the figures are what a proof is run for")]
pub(crate) fn proven(row: &str, result: &str) {
    println!("{row}: {result}");
    if env::var_os("UPDATE_DOCS").is_none() {
        return;
    }
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- proof:{row} -->"), format!("<!-- /proof:{row} -->"));
    let start = text.find(&begin).expect("the mark is there") + begin.len();
    let stop = start + text[start..].find(&end).expect("the end mark is there");
    fs::write(&path, format!("{}{result}{}", &text[..start], &text[stop..])).unwrap();
}
