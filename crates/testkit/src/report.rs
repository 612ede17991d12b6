//! Results of benchmarks: medians, and tables that are printed and kept in `docs/performance.md`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::accept::is_accepting;

/// Sorts some measurements, and returns their median.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns a time in milliseconds, as a table shows it.
pub fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Prints a Markdown table. `cargo xtask accept docs` also puts it between the marks
/// `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of `docs/performance.md`.
#[allow(clippy::print_stdout, reason = "the table is what a benchmark is run for")]
pub fn publish(name: &str, table: &str) {
    println!("\n{name}\n\n{table}");
    if !is_accepting("docs") {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance.md");
    let written = std::fs::read_to_string(&path)
        .and_then(|text| {
            replaced(&text, name, table)
                .ok_or_else(|| std::io::Error::other("the marks are missing"))
        })
        .and_then(|text| std::fs::write(&path, text));
    match written {
        Ok(()) => println!("written into docs/performance.md"),
        Err(error) => println!("docs/performance.md was not changed: {error}"),
    }
}

/// Prints the result of a proof. `cargo xtask accept docs` also puts it between `<!-- proof:ROW -->` and
/// `<!-- /proof:ROW -->` of `docs/reliability.md`.
#[allow(clippy::print_stdout, reason = "the figures are what a proof is run for")]
pub fn proven(row: &str, result: &str) {
    static WRITING: Mutex<()> = Mutex::new(());
    println!("{row}: {result}");
    if !is_accepting("docs") {
        return;
    }
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let written = std::fs::read_to_string(&path)
        .and_then(|text| {
            let (begin, end) = (format!("<!-- proof:{row} -->"), format!("<!-- /proof:{row} -->"));
            let missing = || std::io::Error::other("the marks are missing");
            let (before, rest) = text.split_once(&begin).ok_or_else(missing)?;
            let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
            Ok(format!("{before}{begin}{result}{end}{after}"))
        })
        .and_then(|text| std::fs::write(&path, text));
    if let Err(error) = written {
        println!("docs/reliability.md was not changed: {error}");
    }
}

fn replaced(text: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- bench:{name} -->\n"), format!("<!-- /bench:{name} -->"));
    let start = text.find(&begin)? + begin.len();
    let stop = start + text.get(start..)?.find(&end)?;
    Some(format!("{}\n{}\n{}", text.get(..start)?, table.trim_end(), text.get(stop..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_between_its_marks() {
        let text = "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n";
        assert_eq!(
            replaced(text, "x", "| t |\n").unwrap(),
            "a\n<!-- bench:x -->\n\n| t |\n<!-- /bench:x -->\nb\n"
        );
        assert_eq!(replaced(text, "y", "t"), None);
    }
}
