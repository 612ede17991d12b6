//! Tests of configuring and resolving models.

use std::path::Path;

use serde_json::json;

use super::*;

/// Every key of these tables.
pub(in crate::store::settings) const EVERYTHING: &str = r#"
[models.one]
model = "deepseek-chat"
profile = "mine"
base-url = "https://api.deepseek.com"
key = "env:MY_KEY"
window = 64000
max-output = 8000
temperature = 0.5
retries = 2
connect-timeout = "5s"
first-byte-timeout = "1m"
idle-timeout = "30s"
call-timeout = "10m"
price = { input = 1, output = 2.5, cached = 0.1 }
headers = { x-title = "crew" }
fields = { top_p = 0.9 }
changes = { stream = false }

[profiles.mine]
base = "deepseek"
window = 5000

[prices."deepseek-*"]
input = 3
output = 4
cached = 1
"#;

fn parsed(text: &str) -> Settings {
    Settings::parse(Path::new("config.toml"), text).unwrap()
}

fn check_wrong(text: &str, expected: &[&str]) {
    let error = Settings::parse(Path::new("config.toml"), text).unwrap_err().to_string();
    for part in expected {
        assert!(error.contains(part), "{error:?} has no {part:?}");
    }
    assert!(!error.contains("sk-"), "{error:?} holds a key");
}

fn variables<'e>(set: &'e [(&'e str, &'e str)]) -> Environment<'e> {
    Environment::new(|name| {
        set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

/// Compares profile, address, model id and key sources of the resolved model.
fn check_chosen(
    settings: &str,
    set: &[(&str, &str)],
    flag: Option<&str>,
    expected: Result<[&str; 4], &str>,
) {
    let (settings, environment) = (parsed(settings), variables(set));
    let chosen = settings
        .model_name(flag, &environment)
        .and_then(|(name, origin)| settings.model(&name, origin, &environment));
    match (chosen, expected) {
        (Ok(chosen), Ok([profile, base_url, model, keys])) => {
            let places: Vec<String> = chosen.keys.iter().map(ToString::to_string).collect();
            let found = [
                chosen.profile_name.as_str(),
                &chosen.base_url,
                &chosen.settings.model,
                &places.join(" "),
            ];
            assert_eq!(found, [profile, base_url, model, keys]);
        }
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
        (chosen, expected) => panic!("{chosen:?} is not {expected:?}"),
    }
}

#[test]
fn settings_of_models_are_written_as_they_are_read() {
    let settings = parsed(EVERYTHING);
    assert_eq!(parsed(&toml::to_string(&settings).unwrap()), settings);
    let chosen = settings.model("one", "", &variables(&[])).unwrap();
    assert_eq!(chosen.profile_name, "mine");
    assert!(!chosen.profile.stream, "changed for the model");
    assert_eq!(chosen.window, Some(64000), "the model's own size counts");
    assert_eq!(chosen.profile.fields["top_p"], json!(0.9));
    assert_eq!(chosen.price.unwrap().output, 2.5);
    assert!(chosen.is_configured);
}

#[test]
fn a_mistake_is_told_with_its_line() {
    check_wrong("[models.a]\nprofile = \"deepseek\"\n", &["line 1", "`model` is missing"]);
    check_wrong("[models.a]\nmodel = \"\"\n", &["line 2", "what the provider calls"]);
    check_wrong("[models.a]\nmodel = \"m\"\nbase-url = \"ftp://x\"\n", &["line 3", "https://"]);
    check_wrong("[models.a]\nmodel = \"m\"\ntemperature = 3\n", &["line 3", "from 0 to 2"]);
    check_wrong("[models.a]\nmodel = \"m\"\nretries = 5000\n", &["line 3", "up to 100"]);
    check_wrong("[models.a]\nmodel = \"m\"\nwindow = 0\n", &["line 3", "above zero"]);
    check_wrong("[models.a]\nmodel = \"m\"\nidle-timeout = \"x\"\n", &["line 3", "`10m`"]);
    check_wrong("[models.a]\nmodel = \"m\"\nwindows = 1\n", &["line 3", "there is no setting"]);
    check_wrong(
        "[models.a]\nmodel = \"m\"\nprofile = \"deepsek\"\n",
        &["line 3", "no profile `deepsek`", "deepseek"],
    );
    check_wrong("[models.\"a b\"]\nmodel = \"m\"\n", &["line 1", "no blanks"]);
    check_wrong("[models.\"replay:x\"]\nmodel = \"m\"\n", &["line 1", "`replay:`"]);
    check_wrong(
        "[models.a]\nmodel = \"m\"\n[models.a.fields]\nmessages = []\n",
        &["`messages`", "runtime itself"],
    );
    check_wrong("[prices.\"x\"]\ninput = -1\noutput = 1\n", &["line 2", "zero or more"]);
}

#[test]
fn a_mistake_in_a_profile_is_told_with_its_line() {
    check_wrong(
        "[models.a]\nmodel = \"m\"\n\n[models.a.changes]\nstream = true\nstreams = false\n",
        &["line 6", "did you mean `stream`?"],
    );
    check_wrong("[profiles.p]\nstream = \"yes\"\n", &["line 2", "true or false"]);
    check_wrong("[profiles.p]\nbase = \"x\"\n", &["line 2", "no built-in profile", "generic"]);
    check_wrong(
        "[models.a]\nmodel = \"m\"\nchanges = { base = \"generic\" }\n",
        &["line 3", "there is no setting `base`"],
    );
}

#[test]
fn a_key_does_not_stand_in_the_settings() {
    let place = "write where it is";
    check_wrong("[models.a]\nmodel = \"m\"\nkey = \"sk-123\"\n", &["line 3", place, "`key = …`"]);
    check_wrong("models.a = { model = \"m\", key = \"sk-123\" }\n", &["line 1", place]);
    check_wrong(
        "[models.a]\nmodel = \"m\"\napi-key = \"sk-123\"\n",
        &["line 3", "there is no setting"],
    );
    check_wrong("[models.a]\nmodel = \"m\"\nkey = \"env:sk-123\"\n", &["line 3", place]);
    check_wrong(
        "[models.a]\nmodel = \"m\"\nheaders = { Authorization = \"Bearer sk-123\" }\n",
        &["line 3", "env:VARIABLE"],
    );
    check_wrong(
        "[models.a]\nmodel = \"m\"\n[models.a.headers]\nx-api-key = \"sk-123\"\n",
        &["env:VARIABLE"],
    );
    check_wrong("[models.a]\nmodel = \"m\"\nheaders = { host = \"x\" }\n", &["runtime itself"]);
    parsed("[models.a]\nmodel = \"m\"\nheaders = { Authorization = \"env:TOKEN\" }\n");
    for text in ["file", "keyring", "none", "env:X_1"] {
        let source: KeySource = text.parse().unwrap();
        assert_eq!(source.to_string(), text);
    }
}

#[test]
fn a_profile_of_ones_own_begins_with_another() {
    let settings = parsed(
        "[profiles.deepseek]\nwindow = 5\n[profiles.house]\nbase-url = \"http://gpu:8000\"\nkey-variable = \"HOUSE\"\n[models.a]\nmodel = \"m\"\nprofile = \"house\"\n",
    );
    let own = profile(&settings.profiles, "deepseek").unwrap();
    let built_in = Profile::built_in("deepseek").unwrap();
    assert_eq!((own.window, own.base_url), (Some(5), built_in.base_url.clone()));
    let chosen = settings.model("a", "", &variables(&[])).unwrap();
    assert_eq!(chosen.base_url, "http://gpu:8000");
    assert_eq!(chosen.keys[0].to_string(), "env:HOUSE");
}

const TWO: &str = "[models.a]\nmodel = \"m\"\nprofile = \"deepseek\"\n[models.b]\nmodel = \"n\"\nbase-url = \"http://gpu:8000/v1\"\n";
const DEEPSEEK: &str = "https://api.deepseek.com";

#[test]
fn a_flag_counts_more_than_the_environment_and_that_more_than_a_setting() {
    let b = Ok(["generic", "http://gpu:8000/v1", "n", "file"]);
    let a = Ok(["deepseek", DEEPSEEK, "m", "env:DEEPSEEK_API_KEY file"]);
    check_chosen(TWO, &[("CREWAGENT_MODEL", "a")], Some("b"), b);
    check_chosen(TWO, &[("CREWAGENT_MODEL", " a ")], None, a);
    check_chosen(&format!("[run]\nmodel = \"a\"\n{TWO}"), &[], None, a);
    check_chosen(&format!("[run]\nmodel = \"a\"\n{TWO}"), &[("CREWAGENT_MODEL", "b")], None, b);
    check_chosen(TWO, &[("CREWAGENT_MODEL", "")], None, Err("`a`, `b`"));
    let only = TWO.split("[models.b]").next().unwrap();
    check_chosen(only, &[], None, a);
    check_chosen("", &[], None, Err("crewagent models add"));
    check_chosen("", &[("OPENAI_BASE_URL", "http://x")], None, Err("CREWAGENT_MODEL"));
}

#[test]
fn a_model_that_is_set_up_is_not_sent_elsewhere_by_the_environment() {
    let set = [("CREWAGENT_BASE_URL", "http://other:1/v1"), ("CREWAGENT_API_KEY", "k")];
    check_chosen(
        TWO,
        &set,
        Some("a"),
        Ok(["deepseek", DEEPSEEK, "m", "env:DEEPSEEK_API_KEY file"]),
    );
    check_chosen(
        TWO,
        &set,
        Some("c"),
        Ok(["generic", "http://other:1/v1", "c", "env:CREWAGENT_API_KEY env:OPENAI_API_KEY"]),
    );
}

#[test]
fn the_key_of_one_provider_is_not_sent_to_another() {
    let moved =
        "[models.a]\nmodel = \"m\"\nprofile = \"deepseek\"\nbase-url = \"http://gpu:8000\"\n";
    check_chosen(moved, &[], None, Ok(["deepseek", "http://gpu:8000", "m", "file"]));
    let own = [("CREWAGENT_BASE_URL", DEEPSEEK)];
    check_chosen(
        "",
        &own,
        Some("deepseek-chat"),
        Ok(["deepseek", DEEPSEEK, "deepseek-chat", "env:CREWAGENT_API_KEY env:DEEPSEEK_API_KEY"]),
    );
    let other = [("OPENAI_BASE_URL", DEEPSEEK)];
    check_chosen(
        "",
        &other,
        Some("deepseek-chat"),
        Ok([
            "deepseek",
            DEEPSEEK,
            "deepseek-chat",
            "env:CREWAGENT_API_KEY env:DEEPSEEK_API_KEY env:OPENAI_API_KEY",
        ]),
    );
}

#[test]
fn a_provider_and_a_model_are_enough() {
    let found =
        Ok(["deepseek", DEEPSEEK, "deepseek-chat", "env:CREWAGENT_API_KEY env:DEEPSEEK_API_KEY"]);
    check_chosen("", &[], Some("deepseek/deepseek-chat"), found);
    check_chosen("", &[("OPENAI_BASE_URL", "http://x")], Some("deepseek/deepseek-chat"), found);
    let at = [("CREWAGENT_BASE_URL", "https://openrouter.ai/api/v1")];
    check_chosen(
        "",
        &at,
        Some("deepseek/deepseek-chat"),
        Ok([
            "openrouter",
            "https://openrouter.ai/api/v1",
            "deepseek/deepseek-chat",
            "env:CREWAGENT_API_KEY env:OPENROUTER_API_KEY",
        ]),
    );
    check_chosen("", &[], Some("deepseek/"), Err("there is no model `deepseek/`"));
    check_chosen("", &[], Some("generic/m"), Err("there is no model"));
    check_chosen(
        "",
        &[],
        Some("openrouter/a/b"),
        Ok([
            "openrouter",
            "https://openrouter.ai/api/v1",
            "a/b",
            "env:CREWAGENT_API_KEY env:OPENROUTER_API_KEY",
        ]),
    );
}

#[test]
fn a_name_that_is_nothing_gets_advice() {
    check_chosen(TWO, &[], Some("c"), Err("did you mean `a`"));
    check_chosen(TWO, &[], Some("something"), Err("models list"));
    check_chosen("", &[("OPENAI_API_KEY", "k")], Some("gpt-5"), Err("--model openai/gpt-5"));
    check_chosen("", &[("CREWAGENT_BASE_URL", "nowhere")], Some("m"), Err("CREWAGENT_BASE_URL"));
    let nowhere = "[models.a]\nmodel = \"m\"\n";
    check_chosen(nowhere, &[], Some("a"), Err("models.a.base-url"));
    check_chosen("[run]\nmodel = \"x\"\n", &[], None, Err("(from the setting run.model)"));
}

#[test]
fn the_users_prices_count_first() {
    let price = |text: &str, name: &str| {
        parsed(text).model(name, "", &variables(&[])).unwrap().price.map(|price| price.input)
    };
    assert_eq!(price("", "openai/gpt-4o"), Some(2.5));
    assert_eq!(price("", "ollama/gpt-4o"), None);
    let own = "prices.\"gpt-*\" = { input = 7, output = 8 }\n";
    assert_eq!(price(own, "openai/gpt-4o"), Some(7.0));
    let model = format!(
        "{own}models.x = {{ model = \"gpt-4o\", profile = \"openai\", price = {{ input = 9, output = 9 }} }}\n"
    );
    assert_eq!(price(&model, "x"), Some(9.0));
}
