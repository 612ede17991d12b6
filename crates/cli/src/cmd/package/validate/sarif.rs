//! Findings in SARIF 2.1.0, which code hosts and editors read.

use std::collections::BTreeMap;

use crewagent_format::diagnostic::{Code, Diagnostic, Location, Severity, Sources};
use crewagent_format::text::{LineColumn, LineIndex};
use serde_json::{Value as Json, json};

use super::CheckedPackage;
use crate::render::path_of;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns the log of one run over these packages.
pub(super) fn log(packages: &[CheckedPackage]) -> Json {
    let mut rules: BTreeMap<Code, usize> = BTreeMap::new();
    let (mut results, mut failures) = (Vec::new(), Vec::new());
    for package in packages {
        match &package.inspected {
            Ok(inspected) => {
                for found in inspected.findings.iter() {
                    let next = rules.len();
                    let rule = *rules.entry(found.code).or_insert(next);
                    results.push(result(found, rule, &package.reference, &inspected.sources));
                }
            }
            Err(error) => failures.push(json!({
                "level": "error",
                "message": { "text": format!("{}: {error:#}", package.reference) },
            })),
        }
    }
    let mut described: Vec<(usize, Code)> =
        rules.into_iter().map(|(code, index)| (index, code)).collect();
    described.sort_unstable();
    let described: Vec<Json> = described.into_iter().map(|(_, code)| rule(code)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "crewagent",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": described,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": failures.is_empty(),
                "toolExecutionNotifications": failures,
            }],
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Json {
    json!({
        "id": code.as_str(),
        "name": code.name(),
        "shortDescription": { "text": code.summary() },
        "help": { "text": code.explanation(), "markdown": code.explanation() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(found: &Diagnostic, rule: usize, package: &str, sources: &Sources) -> Json {
    let text = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let mut result = json!({
        "ruleId": found.code.as_str(),
        "ruleIndex": rule,
        "level": level(found.severity()),
        "message": { "text": text },
        "locations": [location(&found.place, package, sources)],
    });
    if let Some(related) = &found.related {
        let mut other = location(&related.place, package, sources);
        other["id"] = json!(1);
        other["message"] = json!({ "text": related.message });
        result["relatedLocations"] = json!([other]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn location(place: &Location, package: &str, sources: &Sources) -> Json {
    let uri = uri(&path_of(package, &place.file));
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(LineColumn { line, column }) = place.position {
        physical["region"] = json!({ "startLine": line, "startColumn": column });
        if let (Some(span), Some(text)) = (place.span, sources.get(&place.file)) {
            let end = LineIndex::new(text).position(text, span.end);
            physical["region"]["endLine"] = json!(end.line);
            physical["region"]["endColumn"] = json!(end.column);
        }
    }
    json!({ "physicalLocation": physical })
}

/// Writes a path as a URI reference: relative ones stay relative to the current folder.
fn uri(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut uri = String::from(if is_absolute { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri_reference() {
        assert_eq!(uri("my flow/步.md"), "my%20flow/%E6%AD%A5.md");
        assert_eq!(uri("../a/b.json"), "../a/b.json");
        assert_eq!(uri("/tmp/a:b"), "file:///tmp/a%3Ab");
    }
}
