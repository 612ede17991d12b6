//! Tests: keys are stored, found and never shown.

use std::path::Path;

use crate::store::settings::{Environment, Settings};

use super::*;

fn model(text: &str, name: &str) -> crate::store::settings::ChosenModel {
    let settings = Settings::parse(Path::new("c"), text).unwrap();
    settings.model(name, "", &nothing()).unwrap()
}

fn nothing() -> Environment<'static> {
    Environment::new(|_| None)
}

fn stored(secrets: &Secrets, name: &str) -> Option<String> {
    let key = secrets.get(&KeySource::File, name).unwrap();
    key.map(|key| key.expose_secret().to_owned())
}

#[test]
fn keys_are_kept_by_name() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(&home.path().join("store"));
    assert_eq!(stored(&secrets, "a"), None);
    assert!(!secrets.remove(&KeySource::File, "a").unwrap());
    assert!(!secrets.path().exists(), "looking makes nothing");
    for (name, key) in [("a", "sk-1"), ("b.c d", "sk-2"), ("a", "sk-3")] {
        secrets.put(&KeySource::File, name, &key_of(key).unwrap()).unwrap();
    }
    assert_eq!(stored(&secrets, "a").as_deref(), Some("sk-3"));
    assert_eq!(stored(&secrets, "b.c d").as_deref(), Some("sk-2"));
    assert!(secrets.remove(&KeySource::File, "a").unwrap());
    assert_eq!(stored(&secrets, "a"), None);
    assert_eq!(stored(&secrets, "b.c d").as_deref(), Some("sk-2"));
}

#[test]
fn keys_that_are_added_at_the_same_time_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(&home.path().join("store"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let secrets = &secrets;
            let put = move || {
                let key = key_of(&format!("sk-{number}")).unwrap();
                secrets.put(&KeySource::File, &number.to_string(), &key).unwrap();
            };
            scope.spawn(put);
        }
    });
    for number in 0..8 {
        assert_eq!(stored(&secrets, &number.to_string()), Some(format!("sk-{number}")));
    }
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_not_used() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    let key = key_of("sk-1").unwrap();
    secrets.put(&KeySource::File, "a", &key).unwrap();
    let mode = || metadata(secrets.path()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    for exposed in [0o644, 0o640, 0o604, 0o620, 0o601] {
        set_permissions(secrets.path(), Permissions::from_mode(exposed)).unwrap();
        let error = secrets.get(&KeySource::File, "a").unwrap_err().to_string();
        assert!(error.contains("chmod 600") && error.contains(&format!("{exposed:o}")), "{error}");
        assert!(secrets.put(&KeySource::File, "b", &key).is_err());
    }
    for private in [0o600, 0o400] {
        set_permissions(secrets.path(), Permissions::from_mode(private)).unwrap();
        assert_eq!(stored(&secrets, "a").as_deref(), Some("sk-1"));
    }
    secrets.put(&KeySource::File, "b", &key).unwrap();
    assert_eq!(mode(), 0o600);
}

#[cfg(unix)]
#[test]
fn a_file_with_a_mistake_is_told_without_its_text() {
    use std::os::unix::fs::OpenOptionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).mode(0o600).open(secrets.path()).unwrap();
    std::io::Write::write_all(&mut file, b"[keys]\na = sk-secret\n").unwrap();
    let error = secrets.get(&KeySource::File, "a").unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("line 2") && !shown.contains("sk-secret"), "{shown}");
}

#[test]
fn a_key_must_fit_a_header() {
    assert_eq!(key_of(" sk-1\n").unwrap().expose_secret(), "sk-1");
    for bad in ["", "  ", "a b", "a\nb", "schlüssel"] {
        let error = key_of(bad).unwrap_err().to_string();
        assert!(bad.trim().is_empty() || !error.contains(bad), "{error}");
    }
}

#[test]
fn a_key_is_found_where_it_may_be() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    let text = "[models.a]\nmodel = \"m\"\nprofile = \"deepseek\"\n";
    let chosen = model(text, "a");
    let error = chosen.key(&secrets, &nothing()).unwrap_err().to_string();
    assert!(error.contains("`DEEPSEEK_API_KEY` is not set") && error.contains("models add a"));
    secrets.put(&KeySource::File, "a", &key_of("sk-file").unwrap()).unwrap();
    let found = chosen.key(&secrets, &nothing()).unwrap();
    assert_eq!((found.source, found.key.unwrap().expose_secret()), (KeySource::File, "sk-file"));
    let set = Environment::new(|name| (name == "DEEPSEEK_API_KEY").then(|| "sk-env".to_owned()));
    assert_eq!(chosen.key(&secrets, &set).unwrap().key.unwrap().expose_secret(), "sk-env");
    let none = model(&format!("{text}key = \"none\"\n"), "a");
    assert!(none.key(&secrets, &set).unwrap().key.is_none());
    let named = model(&format!("{text}key = \"env:OTHER\"\n"), "a");
    let error = named.key(&secrets, &set).unwrap_err().to_string();
    assert!(error.contains("`OTHER` is not set"), "{error}");
    let local = model("", "ollama/qwen3");
    assert!(local.key(&secrets, &nothing()).unwrap().key.is_none(), "it needs none");
}

#[test]
fn an_endpoint_has_what_was_set_and_shows_no_key() {
    let home = tempfile::tempdir().unwrap();
    let text = "[models.a]\nmodel = \"m\"\nprofile = \"deepseek\"\nkey = \"env:K\"\nidle-timeout = \"7s\"\nretries = 0\nheaders = { x-token = \"env:T\", x-title = \"crew\" }\n";
    let chosen = model(text, "a");
    let set = |with: &'static [(&str, &str)]| {
        Environment::new(move |name| {
            with.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    let secrets = Secrets::of(home.path());
    let error = chosen.endpoint(&secrets, &set(&[("K", "sk-1")])).unwrap_err().to_string();
    assert!(error.contains("`x-token`") && error.contains("`T`"), "{error}");
    let endpoint = chosen.endpoint(&secrets, &set(&[("K", "sk-1"), ("T", "sk-2")])).unwrap();
    assert_eq!(endpoint.timeouts.idle.as_secs(), 7);
    assert_eq!((endpoint.timeouts.retries, endpoint.headers.len()), (0, 2));
    let shown = format!("{endpoint:?}");
    assert!(!shown.contains("sk-"), "{shown}");
}

#[test]
fn a_bad_value_in_a_variable_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let chosen = model("", "ollama/qwen3");
    let set = Environment::new(|name| (name == "CREWAGENT_API_KEY").then(|| "sk 1".to_owned()));
    let error = chosen.endpoint(&Secrets::of(home.path()), &set).unwrap_err().to_string();
    assert!(!error.contains("sk 1"), "{error}");
}

#[test]
fn a_stored_key_is_for_one_server() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    let at = |address: &str| {
        model(
            &format!("[models.a]\nmodel = \"m\"\nkey = \"file\"\nbase-url = \"{address}\"\n"),
            "a",
        )
    };
    let found = |address: &str| {
        let found = at(address).key(&secrets, &nothing());
        found.map(|found| found.key.unwrap().expose_secret().to_owned())
    };
    let key = key_of("sk-1").unwrap();
    secrets.put_for(&KeySource::File, "a", &key, "https://one.test:8443/v1").unwrap();
    for same in ["https://one.test:8443/v1", "https://ONE.test:8443/v2/"] {
        assert_eq!(found(same).unwrap(), "sk-1", "{same}");
    }
    for other in [
        "https://two.test/v1",
        "http://one.test:8443/v1",
        "https://one.test/v1",
        "https://one.test.evil.test:8443/v1",
    ] {
        let error = found(other).unwrap_err();
        assert!(matches!(error, SecretError::Elsewhere { .. }), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("https://one.test:8443") && !shown.contains("sk-1"), "{shown}");
    }
    secrets.put_for(&KeySource::File, "a", &key, "https://two.test/v1").unwrap();
    assert_eq!(found("https://two.test/v1").unwrap(), "sk-1");
    assert!(secrets.remove(&KeySource::File, "a").unwrap());
    assert!(!std::fs::read_to_string(secrets.path()).unwrap().contains("two.test"));
}

#[test]
fn a_key_of_an_earlier_version_is_bound_before_its_model_moves() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    secrets.put(&KeySource::File, "a", &key_of("sk-1").unwrap()).unwrap();
    assert_eq!(secrets.bound_elsewhere("a", "https://any.test").unwrap(), None);
    secrets.bind("a", "https://one.test/v1").unwrap();
    secrets.bind("a", "https://two.test/v1").unwrap();
    secrets.bind("none", "https://two.test/v1").unwrap();
    assert_eq!(secrets.bound_elsewhere("a", "https://one.test").unwrap(), None);
    let bound = secrets.bound_elsewhere("a", "https://two.test").unwrap();
    assert_eq!(bound.as_deref(), Some("https://one.test"));
    assert_eq!(secrets.bound_elsewhere("none", "https://one.test").unwrap(), None);
}

#[test]
fn what_killed_processes_left_is_seen_and_removed_with_the_next_key() {
    let home = tempfile::tempdir().unwrap();
    let secrets = Secrets::of(home.path());
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for name in [".tmpA1b2C3", ".credentials.toml-1.tmp", ".tmpfresh", "notes.tmp"] {
        std::fs::write(home.path().join(name), "key").unwrap();
        let file = std::fs::File::options().write(true).open(home.path().join(name)).unwrap();
        if name != ".tmpfresh" {
            file.set_modified(old).unwrap();
        }
    }
    std::fs::write(home.path().join(".tmpD4e5F6"), "being written").unwrap();
    let mut left = secrets.leftovers();
    left.sort();
    assert_eq!(left, [".credentials.toml-1.tmp", ".tmpA1b2C3"].map(|name| home.path().join(name)));
    secrets.put(&KeySource::File, "a", &key_of("sk-1").unwrap()).unwrap();
    assert!(secrets.leftovers().is_empty());
    assert!(home.path().join(".tmpD4e5F6").exists() && home.path().join("notes.tmp").exists());
}
