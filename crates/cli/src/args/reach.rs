//! Test that the app can do everything that a command does, or that the documentation gives a reason why not.

use std::collections::BTreeMap;

use clap::CommandFactory as _;

use super::Args;

const PAGE: &str = include_str!("../../../../docs/server.md");
const HEADING: &str = "## What the command line can do";

/// Lists the commands that act, such as `mcp add`.
fn commands(command: &clap::Command, before: &str) -> Vec<String> {
    let inner = command.get_subcommands().flat_map(|one| {
        let name = format!("{before} {}", one.get_name());
        commands(one, name.trim())
    });
    let inner: Vec<String> = inner.collect();
    if inner.is_empty() { vec![before.to_owned()] } else { inner }
}

/// Returns the table of the documentation: each command with its text.
fn table() -> BTreeMap<&'static str, &'static str> {
    let section = PAGE.split_once(HEADING).unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| {
        let (command, said) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some((command, said.strip_suffix(" |")?))
    });
    let (rows, mut table) = (rows.collect::<Vec<_>>(), BTreeMap::new());
    for (command, said) in rows {
        assert!(table.insert(command, said).is_none(), "`{command}` is there twice");
    }
    table
}

/// Returns the requests that a text names, such as `GET /api/runs`.
fn requests(said: &str) -> Vec<(String, String)> {
    let quoted = said.split('`').skip(1).step_by(2);
    let named = quoted.filter_map(|text| text.split_once(' '));
    let named = named.filter(|(_, path)| path.starts_with("/api/"));
    named.map(|(method, path)| (method.to_lowercase(), path.to_owned())).collect()
}

#[test]
fn every_command_has_a_request_or_a_reason() {
    let known = commands(&Args::command(), "");
    let (table, document) = (table(), crewagent_server::requests());
    for command in &known {
        let said = table.get(command.as_str());
        let said =
            said.unwrap_or_else(|| panic!("docs/server.md does not say how `{command}` is done"));
        let requests = requests(said);
        let reason = said.strip_prefix("none: ").unwrap_or_default();
        assert_eq!(requests.is_empty(), reason.len() > 10, "`{command}`: {said}");
        for (method, path) in requests {
            let there = document["paths"].get(&path).and_then(|methods| methods.get(&method));
            assert!(there.is_some(), "`{command}`: there is no {method} {path}");
        }
    }
    for command in table.keys() {
        assert!(known.iter().any(|one| one == command), "there is no command `{command}`");
    }
}
