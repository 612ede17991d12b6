//! Guarantees of the pictures: escaping, completeness, the same bytes every time.

use super::text::{CODE, SMALL, TITLE, clean, cut, wrap};
use super::{
    Diagram, DiagramCondition, DiagramEdge, DiagramNode, DiagramOption, NodeShape, Theme, dot,
    json, mermaid, svg,
};

pub(super) fn node(id: &str, title: &str, kind: NodeShape) -> DiagramNode {
    let title = Some(title.to_owned()).filter(|title| !title.is_empty());
    DiagramNode {
        id: id.to_owned(),
        title,
        kind,
        agent: None,
        calls: None,
        keys: Vec::new(),
        resumes: false,
        auto: false,
    }
}

pub(super) fn edge(from: &str, to: &str, label: &str) -> DiagramEdge {
    let [from, to, label] = [from, to, label].map(str::to_owned);
    DiagramEdge { from, to, label, is_default: false, condition: None, option: None }
}

pub(super) fn text(condition: &str) -> DiagramCondition {
    DiagramCondition::Text(condition.to_owned())
}

pub(super) fn diagram(nodes: Vec<DiagramNode>, edges: Vec<DiagramEdge>) -> Diagram {
    let entry = nodes.first().map(|node| node.id.clone()).unwrap_or_default();
    Diagram { title: "Test".to_owned(), entry, nodes, edges }
}

/// Returns a workflow: draft, review, revise or publish.
pub(super) fn review_loop() -> Diagram {
    let mut nodes = vec![
        node("draft", "Draft", NodeShape::Step),
        node("review", "Review?", NodeShape::Decision),
        node("revise", "Revise", NodeShape::Subworkflow),
        node("join", "", NodeShape::Merge),
        node("end", "End", NodeShape::End),
    ];
    nodes[0].agent = Some("writer".to_owned());
    nodes[2].calls = Some("rework".to_owned());
    let mut edges = vec![
        edge("draft", "review", "next"),
        edge("review", "revise", "changes"),
        edge("review", "join", "ok"),
        edge("revise", "review", "again"),
        edge("join", "end", "next"),
    ];
    edges[1].condition = Some(text("score < 3"));
    edges[2].is_default = true;
    diagram(nodes, edges)
}

/// Returns a diagram with everything that a title should not contain, wherever text is allowed.
pub(super) fn hostile() -> Diagram {
    let texts = [
        "quote \" and ' and `code`",
        "<script>alert(1)</script> & &amp; ]]> -->",
        "brackets ] ) } | ; : % # $ ^ * _ ~ \\",
        "two\nlines\r\n\tand\u{0}nul\u{7}\u{1b}[31m",
        "日本語のタイトルと 👩‍👩‍👧‍👦🇩🇪👍🏽",
        "\u{202e}turned \u{fffe}\u{ffff}",
        "#quot; #35; \\n \\N $$x$$ fa:fa-car",
        "   ",
    ];
    let kinds = [NodeShape::Step, NodeShape::Decision, NodeShape::Merge, NodeShape::End];
    let mut nodes: Vec<DiagramNode> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let mut hostile = node(&format!("{at}{text}"), text, kinds[at % kinds.len()]);
        hostile.agent = Some((*text).to_owned());
        hostile.calls = Some((*text).to_owned());
        nodes.push(hostile);
    }
    nodes.push(node(&"id".repeat(250), &"word ".repeat(100), NodeShape::Step));
    nodes.push(node("", &"字".repeat(500), NodeShape::Decision));
    let mut edges = Vec::new();
    for (at, pair) in nodes.windows(2).enumerate() {
        let mut hostile = edge(&pair[0].id, &pair[1].id, texts[at % texts.len()]);
        hostile.condition = Some(text(texts[at % texts.len()]));
        edges.push(hostile);
    }
    Diagram { title: texts.join(" "), ..diagram(nodes, edges) }
}

/// Checks the XML of the writer strictly: balanced tags, quoted attributes, known entities.
fn check_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml.trim_end();
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = rest[start..].find('>').map(|end| start + end).expect("a tag ends");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "a tag inside a tag: {tag}");
        let name = |tag: &'_ str| tag.find(' ').unwrap_or(tag.len());
        if let Some(closing) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closing));
        } else {
            let body = tag.trim_end_matches('/');
            assert_eq!(body.matches('"').count() % 2, 0, "{body}");
            check_text(&body.replace('"', ""));
            if !tag.ends_with('/') {
                open.push(&tag[..name(tag)]);
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "left open: {open:?} {rest}");
}

fn check_text(text: &str) {
    assert!(
        !text
            .chars()
            .any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}')),
        "{text:?}"
    );
    for after in text.split('&').skip(1) {
        let entity = after.split(';').next().unwrap_or_default();
        assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity}");
    }
}

#[test]
fn svg_is_well_formed_whatever_the_titles_contain() {
    for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
        check_well_formed(&svg(&hostile(), theme));
        check_well_formed(&svg(&review_loop(), theme));
    }
}

#[test]
fn no_markup_of_a_title_becomes_markup_of_a_picture() {
    let svg = svg(&hostile(), Theme::Auto);
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"));
    let mermaid = mermaid(&hostile());
    let graph = mermaid.split_once("flowchart").map_or("", |(_, graph)| graph);
    assert!(!graph.contains("<script") && !graph.contains("&amp"));
}

#[test]
fn every_line_of_mermaid_has_exactly_the_quotes_that_hold_its_label() {
    for line in mermaid(&hostile()).lines().skip(4) {
        let quotes = line.matches('"').count();
        assert!(quotes == 0 || quotes == 2, "{line}");
    }
}

#[test]
fn every_quote_and_backslash_of_dot_is_escaped() {
    for line in dot(&hostile()).lines() {
        let bare = line.replace("\\\\", "").replace("\\\"", "").replace("\\n", "");
        assert!(!bare.contains('\\'), "{line}");
        assert_eq!(bare.matches('"').count() % 2, 0, "{line}");
    }
}

#[test]
fn mermaid_of_a_review_loop() {
    insta::assert_snapshot!(mermaid(&review_loop()), @r#"
    ---
    title: "Test"
    ---
    flowchart TD
        n0("Draft<br/>draft<br/>writer")
        n1{"Review?<br/>review"}
        n2[["Revise<br/>revise<br/>↳ rework"]]
        n3(("join"))
        n4(["End<br/>end"])
        start((" ")) --> n0
        n0 -->|"next"| n1
        n1 -.->|"changes<br/><i>score #60; 3</i>"| n2
        n1 ==>|"ok"| n3
        n2 -->|"again"| n1
        n3 -->|"next"| n4
        style start fill:#3b4fd8,stroke:#3b4fd8
    "#);
}

#[test]
fn dot_of_a_review_loop() {
    insta::assert_snapshot!(dot(&review_loop()), @r##"
    digraph workflow {
      graph [label="Test", labelloc=t, rankdir=TB, fontname="sans-serif"];
      node [fontname="sans-serif", fontsize=11, color="#8a94a3", fillcolor="#ffffff"];
      edge [fontname="sans-serif", fontsize=9, color="#8a94a3", fontcolor="#4a5361"];
      n0 [label="Draft\ndraft\nwriter", tooltip="Draft", shape=box, style="rounded,filled"];
      n1 [label="Review?\nreview", tooltip="Review?", shape=diamond, style=filled];
      n2 [label="Revise\nrevise\ncalls rework", tooltip="Revise", shape=box3d, style=filled];
      n3 [label="join", tooltip="join", shape=ellipse, style=filled, fillcolor="#f0f2f5"];
      n4 [label="End\nend", tooltip="End", shape=box, style="rounded,filled", peripheries=2];
      start [shape=point, width=0.15, color="#3b4fd8", fillcolor="#3b4fd8"];
      start -> n0 [color="#3b4fd8"];
      n0 -> n1 [label="next", tooltip="next"];
      n1 -> n2 [label=<changes<BR/><I>score &lt; 3</I>>, tooltip="changes if score < 3", style=dashed];
      n1 -> n3 [label="ok", tooltip="ok", style=bold, penwidth=2, color="#4a5361"];
      n2 -> n1 [label="again", tooltip="again"];
      n3 -> n4 [label="next", tooltip="next"];
    }
    "##);
}

#[test]
fn json_of_a_review_loop() {
    let value: serde_json::Value = serde_json::from_str(&json(&review_loop())).expect("it is JSON");
    assert_eq!(value["entry"], "draft");
    assert_eq!(value["nodes"][1]["kind"], "decision");
    assert_eq!(value["edges"][2]["isDefault"], true);
    assert_eq!(value["edges"][1]["condition"], "score < 3");
    let flows: Vec<&str> = value["edges"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|edge| edge["flow"].as_str())
        .collect();
    assert_eq!(flows, ["forward", "forward", "forward", "back", "forward"]);
    for part in value["nodes"].as_array().into_iter().chain(value["edges"].as_array()).flatten() {
        let shape = if part["labelBox"].is_null() { part } else { &part["labelBox"] };
        for key in ["x", "y", "width", "height"] {
            assert!(shape[key].as_f64().is_some_and(|number| number > 0.0), "{key} of {part}");
        }
    }
    assert!(value["edges"][0]["points"].as_array().is_some_and(|points| points.len() > 1));
}

/// Returns a diagram of one edge.
fn one_edge(label: &str, condition: Option<DiagramCondition>) -> Diagram {
    let mut diagram = diagram(
        vec![node("a", "A", NodeShape::Decision), node("b", "B", NodeShape::End)],
        vec![edge("a", "b", label)],
    );
    diagram.edges[0].condition = condition;
    diagram
}

#[test]
fn pictures_show_a_condition_in_italics_below_the_name() {
    let rule = serde_json::json!({ "==": [{ "var": "kind" }, "new & \\bold"] });
    let with = one_edge("new", Some(DiagramCondition::Rule(rule)));
    assert!(
        mermaid(&with)
            .contains(r#"|"new<br/><i>kind #61;#61; #34;new #38; #92;#92;bold#34;</i>"|"#)
    );
    assert!(
        dot(&with).contains(
            "label=<new<BR/><I>kind == &quot;new &amp; &#92;&#92;&#92;&#92;bold&quot;</I>>"
        )
    );
    let svg = svg(&with, Theme::Auto);
    assert!(svg.contains(r#"<text class="ca-if" "#) && svg.contains(">kind == &quot;new &amp; "));
    check_well_formed(&svg);

    let alone = one_edge(" ", Some(text("it rains")));
    assert!(mermaid(&alone).contains(r#"|"<i>it rains</i>"|"#));
    assert!(dot(&alone).contains("label=<<I>it rains</I>>, tooltip=\"if it rains\""));
}

#[test]
fn a_long_condition_is_cut_and_whole_in_the_tooltip() {
    let long = "only if ".repeat(40);
    let svg = svg(&one_edge("go", Some(text(&long))), Theme::Auto);
    assert_eq!(svg.matches(r#"class="ca-if""#).count(), 2);
    assert!(
        svg.contains("…</text>") && svg.contains(&format!("go: a → b if {}</title>", long.trim()))
    );
}

#[test]
fn json_has_conditions_as_written_and_no_space_for_them() {
    let rule = serde_json::json!({ "var": "ready" });
    let with = json(&one_edge("go", Some(DiagramCondition::Rule(rule))));
    let without = json(&one_edge("go", None));
    assert_eq!(
        with,
        without.replace(r#""condition": null"#, r#""condition": "{\"var\":\"ready\"}""#)
    );
    let blank = one_edge("go", Some(text(" \n")));
    assert!(!svg(&blank, Theme::Auto).contains("ca-if\"") && !mermaid(&blank).contains("<i>"));
}

#[test]
fn json_keeps_texts_as_they_are() {
    let value: serde_json::Value = serde_json::from_str(&json(&hostile())).expect("it is JSON");
    for (at, node) in hostile().nodes.iter().enumerate() {
        assert_eq!(value["nodes"][at]["id"].as_str(), Some(node.id.as_str()));
        assert_eq!(value["nodes"][at]["title"].as_str(), node.title.as_deref());
    }
}

#[test]
fn the_same_diagram_gives_the_same_bytes() {
    for diagram in [review_loop(), hostile()] {
        let all = |diagram: &Diagram| {
            [mermaid(diagram), dot(diagram), svg(diagram, Theme::Auto), json(diagram)]
        };
        let first = all(&diagram);
        for _ in 0..12 {
            assert_eq!(all(&diagram), first);
        }
    }
}

#[test]
fn every_node_and_edge_is_drawn_once() {
    for diagram in [review_loop(), hostile()] {
        let svg = svg(&diagram, Theme::Light);
        assert_eq!(svg.matches(" data-node=\"").count(), diagram.nodes.len());
        assert_eq!(svg.matches("<g class=\"ca-edge").count(), diagram.edges.len());
    }
}

#[test]
fn edges_to_nowhere_and_repeated_ids_are_left_out() {
    let mut diagram = review_loop();
    diagram.edges.push(edge("draft", "nowhere", "lost"));
    diagram.edges.push(edge("nowhere", "draft", "lost"));
    diagram.nodes.push(node("draft", "Another draft", NodeShape::End));
    assert_eq!(svg(&diagram, Theme::Auto), svg(&review_loop(), Theme::Auto));
    assert_eq!(mermaid(&diagram), mermaid(&review_loop()));
    assert_eq!(dot(&diagram), dot(&review_loop()));
}

#[test]
fn an_empty_diagram_is_a_picture() {
    let empty = Diagram::default();
    check_well_formed(&svg(&empty, Theme::Auto));
    assert_eq!(mermaid(&empty), "flowchart TD\n");
    assert!(dot(&empty).ends_with("}\n") && json(&empty).contains("\"nodes\": []"));
}

#[test]
fn an_unknown_entry_has_no_start_mark() {
    let mut diagram = review_loop();
    diagram.entry = "nowhere".to_owned();
    assert!(!svg(&diagram, Theme::Auto).contains("<circle"));
    assert!(!mermaid(&diagram).contains("start"));
}

#[test]
fn only_a_default_among_several_moves_is_marked() {
    let all = |diagram: &Diagram| [svg(diagram, Theme::Auto), mermaid(diagram), dot(diagram)];
    let mut diagram = review_loop();
    let [svg, mermaid, dot] = all(&diagram);
    let thick = [(&*svg, "ca-slash\""), (&mermaid, "==>"), (&dot, "penwidth=2")];
    assert_eq!(thick.map(|(text, mark)| text.matches(mark).count()), [1; 3]);
    // A step of one move, whose author calls it the default.
    diagram.edges[4].is_default = true;
    assert_eq!(all(&diagram), [svg, mermaid, dot]);
}

#[test]
fn colours_are_literal_and_the_second_palette_only_overrides() {
    for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
        let svg = svg(&review_loop(), theme);
        assert!(!svg.contains("var("), "renderers outside browsers draw black instead");
        let page = |colour: &str| svg.find(&format!(".ca-page{{fill:{colour}}}"));
        let (light, dark) = (page("#f6f7f9"), page("#0e1116"));
        match theme {
            Theme::Auto => assert!(light.unwrap() < dark.unwrap()),
            Theme::Light => assert!(light.is_some() && dark.is_none()),
            Theme::Dark => assert!(light.is_none() && dark.is_some()),
        }
    }
}

#[test]
fn a_theme_is_fixed_unless_it_is_automatic() {
    let sheet = |theme| svg(&review_loop(), theme);
    assert!(sheet(Theme::Auto).contains("prefers-color-scheme:dark"));
    assert!(
        !sheet(Theme::Light).contains("prefers-color-scheme")
            && sheet(Theme::Light).contains("#ffffff")
    );
    assert!(
        !sheet(Theme::Dark).contains("prefers-color-scheme")
            && !sheet(Theme::Dark).contains("#ffffff")
    );
}

fn check_wrap(text: &str, expected: &[&str]) {
    let lines = wrap(text, TITLE, 120.0, 3);
    assert_eq!(lines, expected);
    assert!(lines.iter().all(|line| TITLE.width(line) <= 120.0), "{lines:?}");
}

#[test]
fn titles_wrap_at_words_into_even_lines() {
    check_wrap("Draft", &["Draft"]);
    check_wrap("", &[""]);
    check_wrap("Update the sprint status", &["Update the", "sprint status"]);
    check_wrap("step-04-validate-story", &["step-04-", "validate-story"]);
    check_wrap("整理需求、编写验收标准", &["整理需求、编", "写验收标准"]);
    check_wrap("Pneumonoultramicroscopic", &["Pneumonoultrami", "croscopic"]);
}

#[test]
fn what_does_not_fit_ends_in_an_ellipsis() {
    let lines = wrap(&"word ".repeat(100), TITLE, 120.0, 3);
    assert_eq!(lines.len(), 3);
    assert!(lines[2].ends_with('…') && lines.iter().all(|line| TITLE.width(line) <= 120.0));
    assert!(CODE.width(&cut(&"x".repeat(900), CODE, 90.0)) <= 90.0);
}

#[test]
fn what_is_seen_as_one_character_is_never_split() {
    let family = "👩‍👩‍👧‍👦";
    for max in 1..60 {
        let shown = cut(&family.repeat(5), SMALL, f64::from(max));
        assert!(shown.trim_end_matches('…').replace(family, "").is_empty(), "{shown}");
    }
}

#[test]
fn clean_text_is_one_line_without_control_characters() {
    assert_eq!(clean(" a\n\tb\u{0}c \u{202e}d\u{2069} "), "a b c d");
    assert_eq!(clean("\n \t"), "");
}

/// Returns a workflow whose first step may resume at every later one.
fn resumable(steps: usize) -> Diagram {
    let name = |at: usize| format!("step-{at}");
    let mut nodes = vec![
        node("start", "Begin", NodeShape::Decision),
        node("go-on", "Go on", NodeShape::Decision),
    ];
    nodes[0].keys = vec!["C".to_owned(), "a very long key of an option".to_owned()];
    nodes[1].resumes = true;
    nodes.extend((0..steps).map(|at| node(&name(at), "Step", NodeShape::Step)));
    let mut edges = vec![edge("start", "go-on", "continue"), edge("start", "step-0", "C")];
    let key = "C".to_owned();
    edges[1].option = Some(DiagramOption { text: "C · Continue".to_owned(), key });
    edges.extend((1..steps).map(|at| edge(&name(at - 1), &name(at), "next")));
    edges.extend((0..steps).map(|at| edge("go-on", &name(at), "resume")));
    diagram(nodes, edges)
}

#[test]
fn a_node_that_resumes_work_counts_its_ways() {
    let picture = svg(&resumable(9), Theme::Light);
    assert!(picture.contains(">resumes at 9 steps<"), "{picture}");
    let read = |diagram: &Diagram| -> serde_json::Value {
        serde_json::from_str(&json(diagram)).expect("JSON")
    };
    let picture = read(&resumable(9));
    assert_eq!(picture["nodes"][1]["resumesAt"].as_array().map(Vec::len), Some(9));
    assert_eq!(picture["edges"].as_array().map(Vec::len), Some(10));
    // Two ways are drawn, and so is the only way to a node.
    assert_eq!(read(&resumable(2))["nodes"][1]["resumesAt"], serde_json::Value::Null);
    let mut lonely = resumable(9);
    lonely.edges.retain(|edge| edge.from != "step-3" || edge.to != "step-4");
    assert_eq!(read(&lonely)["edges"].as_array().map(Vec::len), Some(10));
}

#[test]
fn a_gate_is_shown_by_its_keys() {
    let picture = svg(&resumable(9), Theme::Light);
    assert!(picture.contains(r#"<text class="ca-keytext""#), "{picture}");
    assert!(picture.contains("C · Continue") && picture.contains("gate C, a very long key"));
    let read: serde_json::Value = serde_json::from_str(&json(&resumable(9))).expect("JSON");
    assert_eq!(read["nodes"][0]["keys"][0], "C");
    assert_eq!(read["edges"][1]["gate"], "C");
    assert_eq!(read["edges"][1]["labelBox"]["lines"][0], "C · Continue");
    assert!(mermaid(&resumable(9)).contains("C"));
}

#[test]
fn an_end_that_completes_itself_is_small() {
    let mut diagram = review_loop();
    let width = |diagram: &Diagram| -> f64 {
        let read: serde_json::Value = serde_json::from_str(&json(diagram)).expect("JSON");
        read["nodes"][4]["width"].as_f64().expect("a number")
    };
    let before = width(&diagram);
    diagram.nodes[4].auto = true;
    assert!(width(&diagram) < before);
}
