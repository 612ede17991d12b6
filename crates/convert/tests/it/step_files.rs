//! Workflows of step files: fixtures in our own words, hostile texts, and the numbers of the public versions.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_convert::{Conversion, SourceFiles};
use crewagent_format::code::Code;
use serde_json::Value as Json;

use crate::fixture::{converted, count, findings_text, json};
use crate::public::convert_public;

/// Makes a source of one module with one workflow, whose steps are `step-01.md`, `step-02.md` and so on.
fn source(entry: &str, steps: &[&str]) -> SourceFiles {
    let mut files = SourceFiles::default();
    files.insert("src/demo/module.yaml", *b"code: demo\nname: Demo\n");
    files.insert("src/demo/workflows/tour/workflow.md", entry.as_bytes());
    for (index, step) in steps.iter().enumerate() {
        let path = format!("src/demo/workflows/tour/steps/step-{:02}.md", index + 1);
        files.insert(&path, step.as_bytes());
    }
    files
}

const ENTRY: &str = "---\nname: tour\ndescription: A tour\n---\n\n# Tour\n\nRead fully and follow: `steps/step-01.md`\n";

fn tour(steps: &[&str]) -> Conversion {
    let conversion = converted(&source(ENTRY, steps), "demo");
    assert!(conversion.package.is_some(), "{}", findings_text(&conversion));
    conversion
}

fn graph(conversion: &Conversion) -> Json {
    json(conversion, "workflows/tour/workflow.graph.json")
}

/// Lists the edges as `from -> to [gate]`.
fn edges(conversion: &Conversion) -> Vec<String> {
    let graph = graph(conversion);
    let edges = graph["edges"].as_array().unwrap().iter().map(|edge| {
        let gate = edge["gate"].as_str().map(|key| format!(" [{key}]")).unwrap_or_default();
        format!("{} -> {}{gate}", edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap())
    });
    edges.collect()
}

#[test]
fn a_menu_becomes_a_gate() {
    let first = "---\nnextStepFile: './step-02.md'\noutputFile: '{output_folder}/tour.md'\n---\n# One\n\nDisplay: \"**Select:** [E] Edit [C] Continue [X] Exit\"\n\n- IF E: Change it, then redisplay the menu\n- IF C: Save content to {outputFile}, then read fully and follow: {nextStepFile}\n- IF X: Display a summary and exit\n";
    let conversion = tour(&[first, "# Two\n\nThe workflow is complete.\n"]);
    assert_eq!(edges(&conversion), ["step-01 -> step-02 [C]", "step-01 -> end [X]"]);
    let gate = graph(&conversion)["nodes"][0]["gate"].clone();
    let does: Vec<&str> = gate["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["does"].as_str().unwrap())
        .collect();
    assert_eq!(does, ["stay", "edge", "edge"]);
    assert_eq!(gate["commit"][0]["to"], "{output_folder}/tour.md");
}

#[test]
fn an_option_with_several_steps_gets_a_decision_of_its_own() {
    let first = "# One\n\n[Y] Go on\n[N] Begin again\n\n- **[Y] Go on:**\n  - `one` → Load `./step-02.md`\n  - `two` → Load `./step-03.md`\n- **[N] Begin again:**\n  - Ask what to do\n";
    let conversion =
        tour(&[first, "# Two\n\nLoad `./step-03.md`\n", "# Three\n\nThe workflow is complete.\n"]);
    let edges = edges(&conversion);
    assert!(edges.contains(&"step-01 -> step-01-Y [Y]".to_owned()), "{edges:?}");
    assert!(edges.contains(&"step-01-Y -> step-02".to_owned()), "{edges:?}");
    assert!(edges.contains(&"step-01-Y -> step-03".to_owned()), "{edges:?}");
}

#[test]
fn a_text_that_names_no_next_step_is_followed_by_the_next_file() {
    let conversion = tour(&["# One\n\nTalk.\n", "# Two\n\nThe workflow is complete.\n"]);
    assert_eq!(edges(&conversion), ["step-01 -> step-02"]);
    assert_eq!(count(&conversion, Code::EdgeByOrder), 1);
}

#[test]
fn a_step_that_nothing_leads_to_is_told() {
    let steps = ["# One\n\nThe workflow is complete.\n", "# Two\n\nThe workflow is complete.\n"];
    assert_eq!(count(&tour(&steps), Code::UnreachableStep), 1);
}

#[test]
fn hostile_steps_are_read_in_one_pass() {
    let itself = format!("# One\n\n{}", "Load `./step-01.md`\n".repeat(10_000));
    let one_line = format!("# One\n\n{}", "load `./step-01.md` ".repeat(10_000));
    let open = format!("# One\n\n{}", "[A] [".repeat(20_000));
    let fences = format!("# One\n\n{}", "```md\n~~~\n".repeat(10_000));
    let keys = format!("# One\n\n{}", "- IF A: again\n[A] x\n".repeat(5_000));
    let quotes = format!("# One\n\n{}", "> ".repeat(20_000));
    let deep: String = (0..500).map(|indent| format!("{}- If A:\n", " ".repeat(indent))).collect();
    for text in [itself, one_line, open, fences, keys, quotes, deep] {
        let conversion = converted(&source(ENTRY, &[&text]), "demo");
        assert!(
            conversion.package.is_some(),
            "{}",
            findings_text(&conversion).get(..500).unwrap_or_default()
        );
    }
}

/// Steps with a gate, and their options, by the file of the step.
fn gates(conversion: &Conversion) -> BTreeMap<String, usize> {
    let mut gates = BTreeMap::new();
    for workflow in &conversion.report.workflows {
        let graph = json(conversion, &format!("workflows/{}/workflow.graph.json", workflow.id));
        for node in graph["nodes"].as_array().unwrap() {
            let at = workflow.nodes.iter().find(|known| node["id"] == known.id.as_str());
            let file = at.and_then(|node| node.at.as_ref()).and_then(|at| at.rsplit_once(':'));
            if let (Some((file, _)), Some(options)) = (file, node["gate"]["options"].as_array()) {
                gates.insert(file.to_owned(), options.len());
            }
        }
    }
    gates
}

/// Files of findings of a code, by the ends of their paths.
fn files_of(conversion: &Conversion, code: Code) -> BTreeSet<String> {
    let found = conversion.findings.iter().filter(|found| found.code == code);
    found
        .map(|found| {
            found
                .place
                .file
                .rsplit('/')
                .take(2)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
                .join("/")
        })
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_step_files_of_the_public_versions_are_understood() {
    // The specification counts 87 steps with menus and 221 options. Here some more: options that are handled and not
    // shown (`When 'A' selected`, `(y/n)` with its two lines), and keys that are words (`[Back]`, `[Details]`).
    let Some(conversion) = convert_public("6.0.4/src") else { return };
    let gates = gates(&conversion);
    let options: usize = gates.values().sum();
    assert!(gates.len() >= 87 && options >= 221, "{} gates, {options} options", gates.len());
    assert!(count(&conversion, Code::OptionNotUnderstood) <= 10);
    assert_eq!(count(&conversion, Code::EdgeByOrder), 0);
    assert_eq!(
        files_of(&conversion, Code::UnreachableStep),
        set(&["market-steps/step-06-research-completion.md", "steps/step-01-agent-loading.md"])
    );
    assert_eq!(
        files_of(&conversion, Code::EndNotRecorded),
        set(&["steps-c/step-12-complete.md", "steps/step-06-complete.md"])
    );
    assert_eq!(
        files_of(&conversion, Code::FrontmatterUnreadable),
        set(&["steps-v/step-v-07-implementation-leakage-validation.md"])
    );
    let Some(conversion) = convert_public("6.11.0/src") else { return };
    assert!(count(&conversion, Code::OptionNotUnderstood) <= 7);
    assert_eq!(count(&conversion, Code::UnreachableStep), 0);
}
