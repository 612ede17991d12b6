//! Hostile sources: refused or contained, each with a finding.

use crewagent_convert::{Conversion, SourceFiles};
use crewagent_format::code::Code;

use crate::fixture::{agent, converted, count, findings_text, folder, json, read};

const AGENT: &str = "_bmad/m/agents/a.agent.yaml";

/// Makes an installation with one agent, one task, and more.
fn source(more: &[(&str, &[u8])]) -> SourceFiles {
    let mut files = SourceFiles::default();
    files.insert("_bmad/_config/manifest.yaml", *b"installation:\n  version: 1.0.0\n");
    files.insert(
        AGENT,
        *b"agent:\n  metadata: {name: A, title: B, icon: C}\n  persona: {role: r, identity: i, communication_style: c, principles: [p]}\n  menu:\n    - {trigger: T, exec: \"{project-root}/_bmad/m/tasks/t.md\", description: Do it}\n",
    );
    files.insert("_bmad/m/tasks/t.md", *b"# T\n\nDo it.\n");
    for (path, bytes) in more {
        files.insert(path, bytes.to_vec());
    }
    files
}

/// Checks that everything else was converted, and that the finding is there.
fn check_contained(more: &[(&str, &[u8])], code: Code) -> Conversion {
    let conversion = converted(&source(more), "x");
    assert!(conversion.package.is_some(), "{}", findings_text(&conversion));
    assert_eq!(agent(&conversion, "a")["menu"][0]["workflow"], "t");
    assert!(count(&conversion, code) > 0, "{}", findings_text(&conversion));
    conversion
}

#[test]
fn nothing_at_all_is_told() {
    for files in [SourceFiles::default(), {
        let mut files = SourceFiles::default();
        files.insert("src/main.rs", *b"fn main() {}");
        files
    }] {
        let conversion = converted(&files, "x");
        assert!(conversion.package.is_none());
        assert_eq!(count(&conversion, Code::NothingFound), 1);
    }
}

#[test]
fn bombs_of_yaml_toml_and_xml_are_contained() {
    let laughs = (1..10).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("{text}a{level}: &a{level} [{list}]\n")
    });
    let broken_agent = format!("{laughs}agent: {{metadata: *a9}}\n");
    check_contained(
        &[("_bmad/m/agents/b.agent.yaml", broken_agent.as_bytes())],
        Code::AgentIncomplete,
    );
    let deep = format!("agent: {}", "[".repeat(200_000));
    check_contained(&[("_bmad/m/agents/b.agent.yaml", deep.as_bytes())], Code::AgentIncomplete);
    check_contained(&[("_bmad/m/module.yaml", laughs.as_bytes())], Code::ConfigMissing);
    check_contained(&[("_bmad/m/config.yaml", laughs.as_bytes())], Code::ConfigMissing);
    let toml = format!("a = {}", "[".repeat(200_000));
    let skill: &[u8] = b"---\nname: s\ndescription: d\n---\nBody\n";
    check_contained(
        &[
            (".claude/skills/s/SKILL.md", skill),
            (".claude/skills/s/customize.toml", toml.as_bytes()),
        ],
        Code::ConfigMissing,
    );
    let xml = format!(
        "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><agent name=\"&b;\"><menu><item cmd=\"X\" exec=\"/etc/passwd\">&b;</item></menu>{}</agent>",
        "<x>".repeat(100_000)
    );
    let conversion =
        check_contained(&[("_bmad/m/agents/b.md", xml.as_bytes())], Code::DanglingReference);
    assert_eq!(agent(&conversion, "b")["metadata"]["name"], "&b;");
}

#[test]
fn names_that_no_package_may_have_are_left_out() {
    for name in [
        "_bmad/m/data/a\u{1b}[31m.md",
        "_bmad/m/data/CON.md",
        "_bmad/m/data/a:b.md",
        "_bmad/m/data/x .md ",
        "_bmad/m/data/a\nb.md",
    ] {
        let conversion = check_contained(&[(name, b"x")], Code::CarriedAsText);
        assert!(conversion.findings.iter().all(|found| !found.message.contains('\u{1b}')));
    }
    check_contained(
        &[("_bmad/m/data/a.md", b"x"), ("_bmad/m/data/A.md", b"y")],
        Code::CarriedAsText,
    );
}

#[test]
fn a_link_out_of_the_source_is_told() {
    let mut files = source(&[]);
    files.insert_link_outside("_bmad/m/data/secrets");
    assert_eq!(count(&converted(&files, "x"), Code::LinkOutside), 1);
}

#[test]
fn a_huge_file_is_left_out() {
    let step = vec![b'x'; 100 * 1024 * 1024];
    let conversion = check_contained(&[("_bmad/m/tasks/huge.md", &step)], Code::CarriedAsText);
    assert!(conversion.package.as_ref().unwrap().get("bmad/m/tasks/huge.md").is_none());
    // Too large to be read as text, small enough to be carried.
    let step = vec![b'x'; 12 * 1024 * 1024];
    let conversion = converted(&source(&[("_bmad/m/tasks/large.md", &step)]), "x");
    assert!(conversion.package.as_ref().unwrap().get("bmad/m/tasks/large.md").is_some());
}

#[test]
fn very_many_files_are_refused() {
    let mut files = source(&[]);
    for number in 0..100_000 {
        files.insert(&format!("_bmad/m/data/{number}.md"), *b"x");
    }
    let conversion = converted(&files, "x");
    assert!(conversion.package.is_none());
    assert_eq!(count(&conversion, Code::TooManyEntries), 1, "{}", findings_text(&conversion));
}

#[test]
fn a_configuration_that_points_at_the_root_widens_nothing() {
    let conversion = check_contained(
        &[(
            "_bmad/config.toml",
            b"[core]\noutput_folder = \"/\"\nplanning_artifacts = \"/etc\"\nuser_name = \"a\\nb\"\n",
        )],
        Code::ConfigMissing,
    );
    let manifest = json(&conversion, "bmad.json");
    let roots = manifest["artifactRoots"].as_array().unwrap();
    assert!(
        roots.iter().all(|root| root == "artifacts" || root.as_str().unwrap().starts_with('{')),
        "{roots:?}"
    );
}

#[test]
fn binary_content_and_broken_text_are_carried() {
    let conversion = converted(
        &source(&[
            ("_bmad/m/tasks/binary.md", &[0, 159, 146, 150]),
            ("_bmad/m/tasks/latin.md", b"caf\xe9"),
            (".claude/skills/s/SKILL.md", b"---\nname: a: b: c\n---\nBody\n"),
        ]),
        "x",
    );
    let package = conversion.package.as_ref().unwrap();
    assert_eq!(package.get("bmad/m/tasks/latin.md").unwrap().as_ref(), b"caf\xe9");
    assert_eq!(
        count(&conversion, Code::FrontmatterUnreadable),
        1,
        "{}",
        findings_text(&conversion)
    );
}

#[test]
fn a_fixture_of_ours_gives_no_error() {
    for name in ["tree", "installed", "old"] {
        let conversion = converted(&read(&folder(name)), name);
        assert!(!conversion.findings.has_errors(), "{}", findings_text(&conversion));
    }
}
