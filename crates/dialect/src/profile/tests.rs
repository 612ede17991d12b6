//! Tests of the built-in profiles, of addresses and of users' changes.

use serde_json::json;

use super::*;

#[test]
fn the_built_in_profiles_are_those_of_the_file_and_their_rules_fit() {
    let all: BTreeMap<String, Profile> = toml::from_str(include_str!("../profiles.toml")).unwrap();
    assert!(Profile::names().all(|name| all.contains_key(name)));
    assert_eq!(all.len(), NAMES.len());
    for (name, profile) in &all {
        profile.with(&Map::new()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert_eq!(Profile::built_in(name), Some(profile));
    }
    let generic = Profile {
        title: all["generic"].title.clone(),
        calls_in_text: CallsInText::All,
        ..Profile::default()
    };
    assert_eq!(all["generic"], generic);
}

#[test]
fn every_unusual_flag_has_a_reason() {
    // Fields that need no reason in the file: names, addresses, sizes, order.
    let plain = [
        "title",
        "base-url",
        "hosts",
        "key",
        "key-variable",
        "match",
        "window",
        "reasoning-field",
        "echo",
    ];
    let mut explained = false;
    for line in include_str!("../profiles.toml").lines() {
        let key = line.split_once(" = ").map(|(key, _)| key);
        match key {
            _ if line.starts_with('#') => explained = true,
            _ if line.is_empty() => explained = false,
            Some(key) => {
                assert!(explained || plain.contains(&key) || key == "systems", "why `{line}`?")
            }
            None => {}
        }
    }
}

fn check_recognised(base_url: &str, expected: &str) {
    assert_eq!(Profile::recognise(base_url), expected, "{base_url}");
}

#[test]
fn addresses_are_recognised() {
    for name in Profile::names() {
        if let Some(base_url) = &Profile::built_in(name).unwrap().base_url {
            check_recognised(base_url, name);
        }
    }
    check_recognised("https://API.OpenAI.com", "openai");
    check_recognised("https://eu.api.openai.com/v1", "openai");
    check_recognised("https://notapi.openai.com.evil.example/v1", "generic");
    check_recognised("https://xapi.openai.com/v1", "generic");
    check_recognised("http://192.168.1.7:11434", "ollama");
    check_recognised("http://[::1]:8080/v1", "llama-cpp");
    check_recognised("http://example.com:8080/v1", "generic");
    check_recognised("https://api.openai.com:1234/v1", "openai");
    check_recognised("localhost:11434", "generic");
    check_recognised("", "generic");
}

fn check_endpoint(base_url: &str, expected: &str) {
    assert_eq!(endpoint(base_url, "chat/completions").as_deref(), Ok(expected), "{base_url}");
}

#[test]
fn any_spelling_of_an_address_leads_to_the_endpoint() {
    for base_url in [
        "http://localhost:11434",
        "http://localhost:11434/",
        "http://localhost:11434/v1",
        "http://localhost:11434/v1/",
        " HTTP://LocalHost:11434/v1/chat/completions ",
        "http://localhost:11434//v1//",
        "http://localhost:11434/v1/models",
    ] {
        check_endpoint(base_url, "http://localhost:11434/v1/chat/completions");
    }
    check_endpoint("https://example.com", "https://example.com/v1/chat/completions");
    check_endpoint(
        "https://example.com/api/paas/v4",
        "https://example.com/api/paas/v4/chat/completions",
    );
    check_endpoint(
        "https://example.com/inference/",
        "https://example.com/inference/chat/completions",
    );
    check_endpoint("https://example.com/chat/completions", "https://example.com/chat/completions");
    check_endpoint("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions");
    check_endpoint("https://api.deepseek.com", "https://api.deepseek.com/chat/completions");
    check_endpoint("https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions");
    let gemini = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions";
    check_endpoint("https://generativelanguage.googleapis.com", gemini);
    check_endpoint("https://generativelanguage.googleapis.com/v1beta/", gemini);
    check_endpoint("https://generativelanguage.googleapis.com/v1beta/openai/", gemini);
    check_endpoint("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions");
    assert_eq!(
        endpoint("https://example.com/v1", "models").as_deref(),
        Ok("https://example.com/v1/models")
    );
}

#[test]
fn what_is_no_address_is_refused() {
    for base_url in [
        "",
        "localhost:11434",
        "ftp://example.com",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "https://user:secret@example.com/v1",
        "https://example.com:99999",
        "https://example.com:/v1",
        "https://exa mple.com",
        "https://example.com/a b",
        "https://example.com\\v1",
        "https://example.com/v1?key=secret",
        "https://example.com/v1#x",
        "https://[::1",
        "https://[zz]/v1",
        "https://bücher.example/v1",
    ] {
        let problem = endpoint(base_url, "models").unwrap_err();
        assert!(!problem.contains("secret"), "{problem}");
    }
}

#[test]
fn servers_that_lose_calls_have_them_read_from_text() {
    for name in Profile::names() {
        let loses = ["ollama", "lm-studio", "llama-cpp", "vllm", "generic"].contains(&name);
        let expected = if loses { CallsInText::All } else { CallsInText::Tagged };
        assert_eq!(Profile::built_in(name).unwrap().calls_in_text, expected, "{name}");
    }
}

#[test]
fn users_change_fields_and_unknown_ones_are_named() {
    let openai = Profile::built_in("openai").unwrap();
    let change = |changes: Json| openai.with(changes.as_object().unwrap());
    let changed = change(json!({ "stream": false, "key-variable": null, "ids": "nine" })).unwrap();
    assert_eq!((changed.stream, changed.key_variable, changed.ids), (false, None, IdForm::Nine));
    let calls_in_text =
        |value: Json| change(json!({ "calls-in-text": value })).map(|it| it.calls_in_text);
    assert_eq!(calls_in_text(json!("all")), Ok(CallsInText::All));
    assert_eq!(calls_in_text(json!(true)), Ok(CallsInText::All));
    assert_eq!(calls_in_text(json!(false)), Ok(CallsInText::Never));
    assert!(calls_in_text(json!("some")).unwrap_err().contains("`never`, `tagged` or `all`"));
    assert!(change(json!({ "steram": false })).unwrap_err().contains("steram"));
    assert!(change(json!({ "stream": "yes" })).unwrap_err().contains("yes"));
    let rule = |rule: Json| change(json!({ "models": [rule] }));
    assert!(rule(json!({ "match": ["x*"], "stream": false })).is_ok());
    assert!(rule(json!({ "match": ["x*"], "steram": false })).unwrap_err().contains("x*"));
    assert!(rule(json!({ "match": ["x"], "models": [] })).is_err());
}

#[test]
fn models_of_one_provider_differ() {
    let openai = Profile::built_in("openai").unwrap();
    assert!(matches!(openai.for_model("davinci"), Cow::Borrowed(_)));
    for model in ["o1", "o3-mini", "o4-mini-2025-04-16", "GPT-5", "gpt-5.1-codex"] {
        let profile = openai.for_model(model);
        assert_eq!(
            (profile.system_role, profile.temperature),
            (SystemRole::Developer, false),
            "{model}"
        );
    }
    assert_eq!(openai.for_model("gpt-5-chat-latest").system_role, SystemRole::System);
    assert_eq!(openai.for_model("gpt-4o-mini").window, Some(128_000));
    let kimi = Profile::built_in("kimi").unwrap();
    assert_eq!(kimi.for_model("kimi-k2-0711-preview").window, Some(131_072));
    assert_eq!(kimi.for_model("kimi-k2.6").fields["thinking"]["keep"], "all");
}

#[test]
fn patterns_match() {
    let check = |pattern: &str, name: &str, expected: bool| {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}")
    };
    check("o1", "o1", true);
    check("o1", "o1-mini", false);
    check("o1*", "o1", true);
    check("*", "", true);
    check("a*b*c", "aXbYc", true);
    check("a*b*c", "ac", false);
    check("a*a", "a", false);
    check("*ab*", "xaby", true);
    check("", "x", false);
    check("gpt-5.*-chat*", "gpt-5.2-chat-latest", true);
}
