//! Models: set them up, test them, probe them. Keys are written and never returned.

use crewagent_adapters::chat::{StepStatus, local_servers, probe, test_connection};
use crewagent_adapters::names::NamedModel;
use crewagent_dialect::profile::Profile;
use crewagent_engine::store::MEASURED;
use crewagent_engine::store::{
    ChosenModel, Environment, KeySource, SecretError, Settings, SettingsFile, Store, key_of,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, post, put};
use crate::problem::Problem;
use crate::wire::{
    CheckStep, Code, LocalServer, LocalServers, Measurement, ModelItem, ModelTestResult, Models,
    Nothing, Price, ProbeResult, ProfileItem, SetModel,
};

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/models", "Lists the models that are set up", list),
        get("/api/local-servers", "Finds model servers that run on this computer", local),
        put("/api/models/{name}", "Sets up a model, or changes it", set),
        delete("/api/models/{name}", "Removes a model and its key", remove),
        post("/api/models/{name}/use", "Makes a model the one that runs use", choose),
        post("/api/models/{name}/test", "Tries out the way to a model, step by step", test),
        post("/api/models/{name}/probe", "Measures what a model can do, and remembers it", measure),
    ]
}

/// The model in a path.
#[derive(Deserialize)]
struct ModelPath {
    name: String,
}

fn list(asked: ParsedRequest) -> Result<Models, Problem> {
    let store = asked.app.store()?;
    let (settings, environment) = (store.settings(), Environment::of_process());
    let profiles = Profile::names().filter_map(|name| {
        let profile = Profile::built_in(name)?;
        Some(ProfileItem {
            name: name.to_owned(),
            title: profile.title.clone(),
            base_url: profile.base_url.clone(),
            key_variable: profile.key_variable.clone(),
        })
    });
    Ok(Models {
        models: settings.models.keys().map(|name| item(&store, name)).collect(),
        default: settings.model_name(None, &environment).ok().map(|(name, _)| name),
        profiles: profiles.collect(),
    })
}

fn local(asked: ParsedRequest) -> Result<LocalServers, Problem> {
    let found = local_servers(&asked.app.adapters.client()?, &Environment::of_process());
    let servers = found.into_iter().filter_map(|found| {
        let profile = Profile::built_in(&found.profile)?;
        Some(LocalServer {
            title: profile.title.clone(),
            profile: found.profile,
            base_url: found.base_url,
            models: found.models,
            needs_key: found.needs_key,
        })
    });
    Ok(LocalServers { servers: servers.collect() })
}

fn item(store: &Store, name: &str) -> ModelItem {
    let (settings, environment) = (store.settings(), Environment::of_process());
    let model = settings.models.get(name).map(|own| own.model.clone()).unwrap_or_default();
    let chosen = match settings.model(name, "", &environment) {
        Ok(chosen) => chosen,
        Err(error) => {
            let (name, problem) = (name.to_owned(), Some(error.to_string()));
            let (profile, base_url, key, window, price) = (None, None, None, None, None);
            return ModelItem { name, model, profile, base_url, key, window, price, problem };
        }
    };
    let key = chosen.key(&store.secrets(), &environment);
    ModelItem {
        name: name.to_owned(),
        model,
        key: key.as_ref().ok().map(|found| found.source.words()),
        problem: key.err().map(|error| error.to_string()),
        profile: Some(chosen.profile_name),
        base_url: Some(chosen.base_url),
        window: chosen.window,
        price: chosen.price.map(|price| Price {
            input: price.input,
            output: price.output,
            cached: price.cached,
        }),
    }
}

fn file(app: &App) -> Result<SettingsFile, Problem> {
    Ok(SettingsFile::open(&Settings::path(app.home()))?)
}

fn set(asked: ParsedRequest<ModelPath, (), SetModel>) -> Result<ModelItem, Problem> {
    let ParsedRequest { app, path: ModelPath { name }, body, .. } = asked;
    let store = app.store()?;
    let is_new = !store.settings().models.contains_key(&name);
    let is_profile = |name: &str| Profile::built_in(name).is_some();
    let by_name = Some(&name).filter(|name| is_new && body.base_url.is_none() && is_profile(name));
    let profile = body.profile.as_ref().or(by_name);
    if is_new && body.model.is_none() {
        return Err(Problem::invalid("a new model needs the name that its provider gives it"));
    }
    if is_new && profile.is_none() && body.base_url.is_none() {
        return Err(Problem::invalid("a new model needs an address, or a provider that is known"));
    }
    let key = body.key.as_deref().map(key_of).transpose()?;
    let source = match (&key, &body.key_variable) {
        (Some(_), _) => Some(KeySource::File),
        (None, Some(variable)) => Some(KeySource::Variable(variable.clone())),
        (None, None) => body.no_key.then_some(KeySource::None),
    };
    let mut file = file(&app)?;
    file.set_all(
        &["models", &name],
        &[
            ("profile", json!(profile)),
            ("base-url", json!(body.base_url)),
            ("model", json!(body.model)),
            ("key", json!(source)),
            ("window", json!(body.window)),
            ("max-output", json!(body.max_output)),
            ("temperature", json!(body.temperature)),
        ],
    )
    .map_err(Problem::unwritten)?;
    if let Some(Price { input, output, cached }) = body.price {
        let price = [("input", json!(input)), ("output", json!(output)), ("cached", json!(cached))];
        file.set_all(&["models", &name, "price"], &price).map_err(Problem::unwritten)?;
    }
    if body.use_it {
        file.set(&["run", "model"], &name.as_str().into())?;
    }
    // A model without an address is not saved.
    let environment = Environment::of_process();
    let changed = file.settings()?;
    let chosen = changed.model(&name, "", &environment)?;
    if let Ok(before) = store.settings().model(&name, "", &environment) {
        store.secrets().bind(&name, &before.base_url)?;
    }
    if let Some(key) = &key {
        store.secrets().put_for(&KeySource::File, &name, key, &chosen.base_url)?;
    }
    file.save()?;
    Ok(item(&app.store()?, &name))
}

fn remove(asked: ParsedRequest<ModelPath>) -> Result<Nothing, Problem> {
    let ParsedRequest { app, path: ModelPath { name }, .. } = asked;
    let store = app.store()?;
    let settings = store.settings();
    let Some(own) = settings.models.get(&name) else { return Err(unknown(&name)) };
    let mut file = file(&app)?;
    file.remove(&["models", &name])?;
    if settings.run.model.as_deref() == Some(&name) {
        file.remove(&["run", "model"])?;
    }
    for tier in settings.tiers.of(&name) {
        file.remove(&["tiers", tier.name()])?;
    }
    file.save()?;
    let in_keyring = own.key == Some(KeySource::Keyring);
    let place = if in_keyring { KeySource::Keyring } else { KeySource::File };
    store.secrets().remove(&place, &name)?;
    Ok(Nothing {})
}

fn unknown(name: &str) -> Problem {
    Problem::missing(format!("there is no model `{name}`"))
}

fn choose(asked: ParsedRequest<ModelPath, (), Nothing>) -> Result<Nothing, Problem> {
    let ParsedRequest { app, path: ModelPath { name }, .. } = asked;
    if !name.starts_with("scripted:") && !name.starts_with("replay:") {
        app.store()?.settings().model(&name, "", &Environment::of_process())?;
    }
    let mut file = file(&app)?;
    file.set(&["run", "model"], &name.as_str().into())?;
    file.save()?;
    Ok(Nothing {})
}

/// Returns a model over the network.
fn chosen(store: &Store, name: &str) -> Result<Box<ChosenModel>, Problem> {
    match NamedModel::of(Some(name), store)? {
        NamedModel::Chat(chosen) => Ok(chosen),
        NamedModel::Scripted(_) | NamedModel::Replay(_) => Err(Problem::new(
            Code::Refused,
            "this model answers from a file; there is no way to try",
        )),
    }
}

fn test(asked: ParsedRequest<ModelPath, (), Nothing>) -> Result<ModelTestResult, Problem> {
    let store = asked.app.store()?;
    let chosen = chosen(&store, &asked.path.name)?;
    let environment = Environment::of_process();
    let (endpoint, no_key) = match chosen.endpoint(&store.secrets(), &environment) {
        Ok(endpoint) => (endpoint, None),
        // The connection can be tested without a key.
        Err(error @ (SecretError::Missing { .. } | SecretError::Elsewhere { .. })) => {
            (chosen.bare_endpoint(), Some(error.to_string()))
        }
        Err(error) => return Err(error.into()),
    };
    let client = asked.app.adapters.client()?;
    let steps = test_connection(&endpoint, no_key.as_deref(), &client, &mut |_| {})?;
    Ok(ModelTestResult {
        ok: steps.iter().all(|step| step.status != StepStatus::Failed),
        steps: steps
            .into_iter()
            .map(|step| CheckStep {
                name: word(&step.name),
                status: word(&step.status),
                message: step.message,
                advice: step.advice,
            })
            .collect(),
    })
}

/// Returns the JSON string of a value.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Json::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

fn measure(asked: ParsedRequest<ModelPath, (), Nothing>) -> Result<ProbeResult, Problem> {
    let store = asked.app.store()?;
    let chosen = chosen(&store, &asked.path.name)?;
    // Earlier measurements are ignored.
    let fresh = store.settings().unmeasured(&chosen);
    let endpoint = fresh.endpoint(&store.secrets(), &Environment::of_process())?;
    let found = probe(&endpoint, &asked.app.adapters.client()?, &mut |_| {})?;
    if chosen.is_configured {
        let mut file = file(&asked.app)?;
        for name in MEASURED {
            let key = ["models", &chosen.name, "changes", name];
            match found.changes.get(name) {
                Some(value) => file.set(&key, value)?,
                None => {
                    file.remove(&key)?;
                }
            }
        }
        file.save()?;
    }
    let line = |one: crewagent_adapters::chat::Measurement| Measurement {
        name: one.name.to_owned(),
        found: one.found,
        message: one.message,
    };
    Ok(ProbeResult {
        findings: found.findings.into_iter().map(line).collect(),
        changes: Json::Object(found.changes),
        remembered: chosen.is_configured,
    })
}
