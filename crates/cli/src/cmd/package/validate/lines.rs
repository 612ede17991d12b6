//! Findings as one line each: for editors and grep, and as annotations of GitHub Actions.

use crewagent_format::diagnostic::{Diagnostic, Findings, Severity};

use super::CheckedPackage;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint;
use crate::render::path_of;

/// Iterates over the findings to print: notes only if all are asked for.
fn visible(findings: &Findings, all: bool) -> impl Iterator<Item = &Diagnostic> {
    findings.iter().filter(move |found| all || found.severity() != Severity::Note)
}

/// Prints `path:line:column: severity[code]: message`.
pub(super) fn short(packages: &[CheckedPackage], all: bool, console: &mut Console) {
    for package in packages {
        match &package.inspected {
            Ok(inspected) => {
                for found in visible(&inspected.findings, all) {
                    let place = found.place.position.map_or_else(String::new, |position| {
                        format!(":{}:{}", position.line, position.column)
                    });
                    let path = path_of(&package.reference, &found.place.file);
                    let (severity, code) = (found.severity().word(), found.code.as_str());
                    let line = format!("{path}{place}: {severity}[{code}]: {}", found.message);
                    console.line(paint::printable(&line));
                }
            }
            Err(error) => {
                Outcome::of_error(error, console);
            }
        }
    }
}

/// Prints workflow commands such as `::error file=…,line=…::message`.
pub(super) fn github(packages: &[CheckedPackage], all: bool, console: &mut Console) {
    for package in packages {
        match &package.inspected {
            Ok(inspected) => {
                for found in visible(&inspected.findings, all) {
                    console.line(annotation(found, &package.reference));
                }
            }
            Err(error) => {
                let text = format!("{}: {error:#}", package.reference);
                console.line(format_args!("::error::{}", message(&text)));
            }
        }
    }
}

fn annotation(found: &Diagnostic, package: &str) -> String {
    let mut fields = format!("file={}", field(&path_of(package, &found.place.file)));
    if let Some(position) = found.place.position {
        fields.push_str(&format!(",line={},col={}", position.line, position.column));
    }
    let text = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let command = match found.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let code = found.code.as_str();
    format!("::{command} {fields},title={code}::{}", message(&text))
}

/// Escapes the text of a workflow command.
fn message(text: &str) -> String {
    let escaped = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    paint::printable(&escaped)
}

/// Escapes a property of a workflow command.
fn field(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_command_is_one_line() {
        assert_eq!(message("50%\nsee: a, b"), "50%25%0Asee: a, b");
        assert_eq!(field("a:b,c"), "a%3Ab%2Cc");
    }
}
