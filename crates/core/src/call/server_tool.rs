//! Calls of tools that servers offer: arguments, subjects, refusals.

use crewagent_format::wording::{nearest, one_line, quoted};
use serde_json::{Map, Value as Json};

use super::arguments::{refusal as unreadable, understand};
use crate::policy::Policy;
use crate::policy::rules::Verdict;
use crate::refusal::{Refusal, RefusalCode};

/// Parses the arguments of a call from the model's text: one object. Blank arguments are an empty object.
pub fn arguments(name: &str, text: &str) -> Result<Map<String, Json>, Refusal> {
    let (ticked, bare) = (format!("`{}`", one_line(name)), one_line(name));
    understand(None, text)
        .map(|arguments| arguments.object)
        .map_err(|broken| unreadable([&ticked, &bare], &broken, "Send one JSON object."))
}

/// Returns the subject of a call for one line on a screen.
pub fn subject(arguments: &Map<String, Json>) -> Option<String> {
    let parts = arguments.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("{key}={text}"),
        None => format!("{key}={value}"),
    });
    let text = parts.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| one_line(&text))
}

/// Returns the canonical name of a server tool, in whatever spelling the model used.
pub fn written(name: &str) -> String {
    name.replace("__", ".")
}

/// Returns the refusal of a call to a server tool that a rule denies, or that was not offered to the model.
pub fn refusal(name: &str, offered: &[String], policy: &Policy) -> Refusal {
    let (tool, unavailable) = (written(name), RefusalCode::ToolNotAvailable);
    let outlook = policy.outlook(&tool);
    if let Some(rule) = outlook.rule.filter(|_| outlook.verdict == Verdict::Deny) {
        let message = format!("The tool `{tool}` is denied by the rule {rule}.");
        return Refusal::new(unavailable, message)
            .hint("Do without it, or tell the user what you would need and why.");
    }
    let message = if policy.mcp.enabled {
        format!("There is no tool {}.", quoted(name))
    } else {
        format!("The tool {} is switched off: this run may not use MCP servers.", quoted(name))
    };
    let mut hint = nearest(name, offered.iter().map(String::as_str))
        .map(|similar| format!("Did you mean `{similar}`? "))
        .unwrap_or_default();
    hint.push_str(match offered {
        [] => "No MCP server offers a tool here; go on without.",
        [..] => "Call only tools that you were given.",
    });
    Refusal::new(unavailable, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_one_object() {
        assert_eq!(arguments("t", "").unwrap(), Map::new());
        assert_eq!(arguments("t", r#"{"a":1}"#).unwrap()["a"], 1);
        assert_eq!(arguments("t", r#""{\"a\":1}""#).unwrap()["a"], 1);
        assert_eq!(arguments("t", "{'a': 1,}").unwrap()["a"], 1);
        // A tool of a server may have a parameter of this name.
        assert_eq!(arguments("t", r#"{"arguments":{"a":1}}"#).unwrap()["arguments"]["a"], 1);
        for bad in ["[1]", "7", "{\"a\":1 \"b\":2}"] {
            let refusal = arguments("mcp.s.t", bad).unwrap_err();
            assert_eq!(refusal.code, RefusalCode::InvalidArguments);
            assert!(refusal.message.contains("`mcp.s.t`"), "{}", refusal.message);
        }
        let refusal = arguments("mcp.s.t", "{").unwrap_err();
        assert!(refusal.message.starts_with("mcp.s.t was not executed:"), "{}", refusal.message);
    }

    #[test]
    fn a_call_is_told_in_one_line() {
        let Json::Object(args) = json!({ "path": "a\nb", "n": 3 }) else { panic!() };
        assert_eq!(subject(&args).unwrap(), "path=a b n=3");
        assert_eq!(subject(&Map::new()), None);
    }
}
