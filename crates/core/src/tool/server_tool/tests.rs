//! Tests of server tools: names, caps, and omissions.

use serde_json::json;

use super::*;

fn server(name: &str) -> ServerName {
    name.parse().unwrap()
}

fn offer(name: &str) -> Result<ToolOffer, String> {
    Ok(ToolOffer { name: name.to_owned(), ..ToolOffer::default() })
}

fn check_server(text: &str, is_legal: bool) {
    assert_eq!(text.parse::<ServerName>().is_ok(), is_legal, "{text:?}");
}

#[test]
fn the_name_of_a_server_is_one_part_of_a_name() {
    for legal in ["a", "git-hub", "9lives", "a_b", &"x".repeat(32)] {
        check_server(legal, true);
    }
    for illegal in ["", "a.b", "a b", "-a", "_a", "a__b", "é", "a/b", &"x".repeat(33)] {
        check_server(illegal, false);
    }
    assert_eq!(ServerName::like("Brave Search!").unwrap().as_str(), "Brave-Search");
    assert_eq!(ServerName::like("@scope/x").unwrap().as_str(), "scope-x");
    assert_eq!(ServerName::like("…"), None);
}

#[test]
fn tools_have_one_order_and_one_name_each() {
    let names =
        |listed: &ServerToolList| listed.tools.iter().map(ServerTool::name).collect::<Vec<_>>();
    let one = ServerToolList::of(&server("s"), vec![offer("b"), offer("a"), offer("b")], None);
    let other = ServerToolList::of(&server("s"), vec![offer("a"), offer("b")], None);
    assert_eq!(names(&one), ["mcp.s.a", "mcp.s.b"]);
    assert_eq!(one.tools, other.tools);
    assert_eq!(one.left_out, ["`b`: the server has another tool of this name, which comes first"]);
}

#[test]
fn hostile_names_are_left_out() {
    let hostile = ["", " ", "a\u{202e}b", "a\nb", "a\u{1b}[2J", &"x".repeat(129)];
    let listed = ServerToolList::of(&server("s"), hostile.map(offer).into(), None);
    assert!(listed.tools.is_empty());
    assert_eq!(listed.left_out.len(), hostile.len());
    assert!(listed.left_out.iter().all(|why| !why.chars().any(is_unsafe_char)), "{listed:?}");
}

#[test]
fn what_a_server_says_is_cleaned_and_capped() {
    let long = format!("a\u{200b}b\u{1b}[31m {}", "é".repeat(4000));
    let schema = json!({ "properties": { "x": { "type": "string", "description": long } } });
    let Json::Object(schema) = schema else { panic!() };
    let offer = ToolOffer { name: "t".into(), description: long, schema };
    let tool = &ServerToolList::of(&server("s"), vec![Ok(offer)], None).tools[0];
    for text in
        [&tool.description, tool.parameters["properties"]["x"]["description"].as_str().unwrap()]
    {
        assert!(text.starts_with("ab[31m é") && text.ends_with('…'), "{text}");
        assert!(text.len() <= DESCRIPTION_BYTES + '…'.len_utf8());
    }
    assert_eq!(tool.parameters["type"], "object");
}

#[test]
fn what_is_no_tool_is_left_out_with_the_reason() {
    let unreadable = |what: Json| Err(ToolOffer::unreadable(&what, "missing\n`inputSchema`"));
    let offers =
        vec![unreadable(json!({ "name": "a\u{1b}b" })), offer("good"), unreadable(json!(7))];
    let listed = ServerToolList::of(&server("s"), offers, None);
    assert_eq!(listed.tools.len(), 1);
    assert_eq!(
        listed.left_out,
        [
            "`a\u{fffd}b`: it is not described as the protocol asks: missing `inputSchema`",
            "a tool that is not described as the protocol asks: missing `inputSchema`"
        ]
    );
}

#[test]
fn too_much_is_left_out() {
    let Json::Object(huge) = json!({ "enum": ["x".repeat(SCHEMA_BYTES)] }) else { panic!() };
    let huge = ToolOffer { name: "huge".into(), schema: huge, ..ToolOffer::default() };
    let listed = ServerToolList::of(&server("s"), vec![Ok(huge), offer("small")], None);
    assert_eq!(listed.tools.len(), 1);
    assert!(listed.left_out[0].starts_with("`huge`: its schema has "), "{listed:?}");
    let many = (0..1000).map(|n| offer(&format!("t{n}"))).collect();
    let listed = ServerToolList::of(&server("s"), many, None);
    assert_eq!(listed.tools.len(), MOST_TOOLS);
    assert_eq!(listed.left_out.len(), MOST_TOLD + 1);
    assert_eq!(listed.left_out[MOST_TOLD], "724 more");
}

#[test]
fn resources_are_read_by_a_tool_unless_the_server_has_one() {
    let resources: Vec<ResourceOffer> = (0..25)
        .map(|n| ResourceOffer { uri: format!("demo://{n}"), name: format!("r{n}") })
        .collect();
    let listed = ServerToolList::of(&server("s"), vec![offer("z")], Some(&resources));
    assert_eq!(listed.tools[0].name(), "mcp.s.read_resource");
    assert_eq!(listed.tools[0].used, ToolUse::Resource);
    assert!(listed.tools[0].description.contains("- demo://0 (r0)"));
    assert!(listed.tools[0].description.ends_with("- and 5 more"));
    let own = ServerToolList::of(&server("s"), vec![offer(READ_RESOURCE)], Some(&resources));
    assert_eq!((own.tools.len(), own.tools[0].used), (1, ToolUse::Tool));
}

#[test]
fn the_journal_keeps_tools_as_they_are() {
    let listed = ServerToolList::of(&server("s"), vec![offer("a")], Some(&[]));
    let text = serde_json::to_string(&listed.tools).unwrap();
    assert_eq!(serde_json::from_str::<Vec<ServerTool>>(&text).unwrap(), listed.tools);
}
