//! libFuzzer's entry to the body of the same name.
#![no_main]

#[path = "../bodies/frontmatter.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::run(bytes));
