//! One library, one module: only the modules in the table of ARCHITECTURE.md may name a library.

use super::source::RustSources;
use super::{TidyFinding, TidyRule, crate_source};
use crate::repo::Repo;

const DOCUMENT: &str = "ARCHITECTURE.md";
const TEST_CRATE: &str = "testkit";
/// First cell of the table's head.
const HEAD: &str = "library";

/// Row of the table.
#[derive(Debug, PartialEq, Eq)]
struct LibraryRow {
    line: usize,
    libraries: Vec<String>,
    /// Written as `crate::module::child`.
    modules: Vec<String>,
}

/// Checks that only the listed modules name a library, and that they exist.
pub(super) fn check(repo: &Repo, sources: &RustSources) -> Vec<TidyFinding> {
    let Some(text) = repo.text(DOCUMENT) else { return Vec::new() };
    let rows = rows(text);
    if rows.is_empty() {
        let message = format!("has no table with the head `{HEAD}`; list who knows which library");
        return vec![TidyRule::Library.at(DOCUMENT, 1, message)];
    }
    let mut findings = Vec::new();
    for row in &rows {
        for module in row.modules.iter().filter(|module| !exists(repo, module)) {
            let message =
                format!("names the module `{module}`, which does not exist; mend the row");
            findings.push(TidyRule::Library.at(DOCUMENT, row.line, message));
        }
        for library in &row.libraries {
            findings.extend(strangers(sources, library, &row.modules));
        }
    }
    findings
}

/// Returns a finding for each file that names the library and is in none of the modules.
fn strangers(sources: &RustSources, library: &str, modules: &[String]) -> Vec<TidyFinding> {
    let name = library.replace('-', "_");
    let mut findings = Vec::new();
    for (path, source) in sources.iter() {
        let Some(module) = module_of(path) else { continue };
        let is_known = |known: &String| {
            module
                .strip_prefix(known.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        if modules.iter().any(is_known) {
            continue;
        }
        let uses = source.tokens.windows(4).find(|window| match window {
            [before, word, colon, next] => {
                word.is_word(&name)
                    && colon.is_mark(':')
                    && next.is_mark(':')
                    && !before.is_mark(':')
                    && !source.is_test(word.line)
            }
            _ => false,
        });
        if let Some([_, word, ..]) = uses {
            let message = format!(
                "names the library `{library}`, which only {} may; use what that module offers",
                modules.join(", "),
            );
            findings.push(TidyRule::Library.at(path, word.line, message));
        }
    }
    findings
}

/// Returns `core::syntax::yaml` for `crates/core/src/syntax/yaml.rs`; the crate for tests may name any library.
fn module_of(path: &str) -> Option<String> {
    let (name, file) = crate_source(path).filter(|(name, _)| *name != TEST_CRATE)?;
    Some(format!("{name}::{}", file.strip_suffix(".rs")?.replace('/', "::")))
}

fn exists(repo: &Repo, module: &str) -> bool {
    let Some((name, rest)) = module.split_once("::") else { return false };
    let stem = format!("crates/{name}/src/{}", rest.replace("::", "/"));
    repo.exists(&format!("{stem}.rs"))
}

/// Reads the rows of every table whose head begins with `library`: libraries, then modules, in backticks.
fn rows(text: &str) -> Vec<LibraryRow> {
    let mut rows = Vec::new();
    let mut in_table = false;
    for (index, line) in text.lines().enumerate() {
        let cells: Vec<_> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if !line.trim_start().starts_with('|') {
            in_table = false;
        } else if cells[0] == HEAD {
            in_table = true;
        } else if in_table && let [libraries, modules, ..] = cells.as_slice() {
            let row = LibraryRow {
                line: index + 1,
                libraries: in_code(libraries),
                modules: in_code(modules),
            };
            rows.extend((!row.libraries.is_empty()).then_some(row));
        }
    }
    rows
}

fn in_code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    const TABLE: &str = "\
| library | module |
|---|---|
| `zip`, `flate2` | `engine::source::archive` |
| `dagre-x` | `draw::place`, `draw::lanes` |

`zip` is also named here.
";

    fn check_table(path: &str, text: &str, expected: &[&str]) {
        let archive = "crates/engine/src/source/archive.rs";
        let mut files = vec![(DOCUMENT, TABLE), (path, text)];
        for known in [archive, "crates/draw/src/place.rs", "crates/draw/src/lanes.rs"] {
            if known != path {
                files.push((known, ""));
            }
        }
        let repo = Repo::of(&files);
        let (sources, errors) = RustSources::parse(&repo);
        assert_eq!(errors, []);
        assert_places(&check(&repo, &sources), expected);
    }

    #[test]
    fn a_library_named_in_another_module_is_found() {
        let path = "crates/engine/src/pack.rs";
        check_table(path, "\nuse zip::ZipWriter;", &["crates/engine/src/pack.rs:2"]);
        check_table(
            path,
            "//! A.\nfn f() { dagre_x::layout(); }",
            &["crates/engine/src/pack.rs:2"],
        );
        check_table(path, "use crate::zip::X;\nfn zip() { a.zip(b) }", &[]);
        check_table(path, "#[cfg(test)]\nmod tests { use zip::X; }", &[]);
    }

    #[test]
    fn its_own_modules_and_tests_may_name_it() {
        check_table("crates/engine/src/source/archive.rs", "//! A.\nuse zip::X;", &[]);
        check_table("crates/engine/src/source/archive/read.rs", "//! A.\nuse flate2::X;", &[]);
        check_table("crates/draw/src/lanes.rs", "//! A.\nuse dagre_x::X;", &[]);
        check_table("crates/engine/tests/it.rs", "//! A.\nuse zip::X;", &[]);
    }

    #[test]
    fn a_row_for_a_module_that_is_gone_is_found() {
        let repo =
            Repo::of(&[(DOCUMENT, "| library | module |\n|--|--|\n| `zip` | `engine::gone` |\n")]);
        let (sources, _) = RustSources::parse(&repo);
        assert_places(&check(&repo, &sources), &["ARCHITECTURE.md:3"]);
        let repo = Repo::of(&[(DOCUMENT, "no table")]);
        assert_places(&check(&repo, &sources), &["ARCHITECTURE.md:1"]);
    }
}
