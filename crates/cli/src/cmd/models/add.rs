//! `crewagent models add`: sets up a model or changes one. Omitted options stay as they are.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use crewagent_dialect::profile::Profile;
use crewagent_engine::store::{
    ChosenModel, Environment, KeySource, SecretError, Settings, SettingsError, SettingsFile, Store,
    key_of,
};
use serde_json::{Value as Json, json};

use super::{ask, told_use};
use crate::args::ModelsAddArgs;
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::model;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::shell;

/// Maximum length of a key.
const LONGEST_KEY: u64 = 16 << 10;

/// A typed or piped key, and where it will be stored.
pub(super) struct NewKey {
    pub(super) text: String,
    pub(super) place: KeySource,
}

pub(super) fn run(
    mut args: ModelsAddArgs,
    store: &Store,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let settings = store.settings();
    let mut key = given_key(&args)?;
    let is_new = |args: &ModelsAddArgs| {
        args.name.as_ref().is_none_or(|name| !settings.models.contains_key(name))
    };
    if !args.yes && !args.json && crate::ask::is_possible() && is_new(&args) {
        let Some((complete, typed)) = ask::complete(args, key.is_some(), settings)? else {
            console.line(text!("Nothing was written.", "没有写入任何内容。"));
            return Ok(Outcome::Cancelled);
        };
        args = complete;
        key = key.or(typed);
    }
    let (name, is_new) = (named(&args)?, is_new(&args));
    let values = values(&args, &name, key.as_ref(), settings)?;
    let mut file = SettingsFile::open(path)?;
    file.set_all(&["models", &name], &values).map_err(usage)?;
    if !args.price.is_empty() {
        let price = price(&args.price)?;
        file.set_all(&["models", &name, "price"], &price).map_err(usage)?;
    }
    if args.use_it {
        file.set(&["run", "model"], &name.as_str().into())?;
    }
    let changed = file.settings()?;
    // A model that cannot be resolved is not stored.
    let chosen = changed
        .model(&name, "", &Environment::of_process())
        .map_err(|error| UsageError(shown(&error)))?;
    if let Ok(before) = settings.model(&name, "", &Environment::of_process()) {
        store.secrets().bind(&name, &before.base_url).map_err(model::key_problem)?;
        if key.is_none() && !args.yes && crate::ask::is_possible() {
            key = key_again(&chosen, store)?;
        }
    }
    if let Some(NewKey { text, place }) = key {
        let key = key_of(&text).map_err(model::key_problem)?;
        let stored = store.secrets().put_for(&place, &name, &key, &chosen.base_url);
        stored.map_err(model::key_problem)?;
    }
    file.save()?;
    if args.json {
        console.line(paint::json(&json!({
            "name": name,
            "model": chosen.settings.model,
            "baseUrl": chosen.base_url,
            "profile": chosen.profile_name,
            "new": is_new,
            "default": args.use_it,
        })));
        return Ok(Outcome::Done);
    }
    let details = say!("{} at {}", "{}，地址 {}", chosen.settings.model, chosen.base_url);
    console.line(say!(
        "{} {}: {}, profile {}",
        "{} {}：{}，服务商配置 {}",
        paint::styled(
            GOOD,
            if is_new { text!("added", "已添加") } else { text!("changed", "已修改") }
        ),
        paint::styled(NAME, paint::printable(&name)),
        paint::printable(&details),
        paint::printable(&chosen.profile_name)
    ));
    match chosen.key(&store.secrets(), &Environment::of_process()) {
        Ok(found) => console.line(say!("key: {}", "密钥：{}", found.source.words())),
        Err(error @ (SecretError::Missing { .. } | SecretError::Elsewhere { .. })) => {
            console.error(paint::printable(&shown(&error)))
        }
        Err(error) => return Err(model::key_problem(error)),
    }
    if args.use_it {
        told_use(&name, console);
    }
    next(&name, args.use_it, &changed, console);
    Ok(Outcome::Done)
}

/// Asks for the key again if the model has moved to another server than its stored key is for.
fn key_again(chosen: &ChosenModel, store: &Store) -> anyhow::Result<Option<NewKey>> {
    match chosen.key(&store.secrets(), &Environment::of_process()) {
        Err(SecretError::Elsewhere { bound, address, .. }) => {
            let place = match chosen.settings.key {
                Some(KeySource::Keyring) => KeySource::Keyring,
                Some(_) | None => KeySource::File,
            };
            let words = say!(
                "The stored key is for {bound}. Key for {address} (empty: none now):",
                "已保存的密钥属于 {bound}。请输入 {address} 的密钥（留空则暂不设置）："
            );
            let typed = ask::key(&words)?.filter(|text| !text.trim().is_empty());
            Ok(typed.map(|text| NewKey { text, place }))
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Prints the next step.
fn next(name: &str, is_used: bool, settings: &Settings, console: &mut Console) {
    let name = shell::word(name);
    console.line(say!(
        "\nNext:\n  crewagent models test {name}",
        "\n下一步：\n  crewagent models test {name}"
    ));
    if !is_used && settings.models.len() > 1 {
        console.line(format_args!("  crewagent models use {name}"));
    }
}

fn named(args: &ModelsAddArgs) -> Result<String, UsageError> {
    let name = args.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.map(str::to_owned).ok_or_else(|| {
        UsageError(
            text!(
                "name the model: `crewagent models add NAME --profile PROFILE --model ID`",
                "请给模型起名：`crewagent models add NAME --profile PROFILE --model ID`"
            )
            .to_owned(),
        )
    })
}

/// Applies the flags.
fn values(
    args: &ModelsAddArgs,
    name: &str,
    key: Option<&NewKey>,
    settings: &Settings,
) -> Result<Vec<(&'static str, Json)>, UsageError> {
    let old = settings.models.get(name);
    let is_profile =
        |name: &str| settings.profiles.contains_key(name) || Profile::built_in(name).is_some();
    // `crewagent models add deepseek` needs no profile.
    let by_name =
        Some(name).filter(|name| old.is_none() && args.base_url.is_none() && is_profile(name));
    let profile = args.profile.as_deref().or(by_name);
    if old.is_none() && args.model.is_none() {
        return Err(UsageError(
            text!(
                "say what the provider calls the model: add --model ID",
                "请给出服务商使用的模型 id：加上 --model ID"
            )
            .to_owned(),
        ));
    }
    if old.is_none() && profile.is_none() && args.base_url.is_none() {
        let known: Vec<&str> = Profile::names().collect();
        return Err(UsageError(say!(
            "say where the model is: add --base-url URL, or --profile with one of {}",
            "请说明模型在哪里：加上 --base-url URL，或用 --profile 指定 {} 之一",
            known.join(", ")
        )));
    }
    let source = match (key, &args.key_env) {
        (Some(key), _) => Some(key.place.clone()),
        (None, Some(variable)) => Some(KeySource::Variable(variable.clone())),
        (None, None) if args.no_key => Some(KeySource::None),
        (None, None) => None,
    };
    Ok(vec![
        ("profile", json!(profile)),
        ("base-url", json!(args.base_url)),
        ("model", json!(args.model)),
        ("key", json!(source)),
        ("window", json!(args.window)),
        ("max-output", json!(args.max_output)),
        ("temperature", json!(args.temperature)),
    ])
}

fn price(amounts: &[f64]) -> Result<Vec<(&'static str, Json)>, UsageError> {
    match amounts {
        [input, output] => Ok(vec![("input", json!(input)), ("output", json!(output))]),
        [input, output, cached] => {
            Ok(vec![("input", json!(input)), ("output", json!(output)), ("cached", json!(cached))])
        }
        _ => Err(UsageError(
            text!(
                "--price takes two or three amounts, such as 2.5,10 or 2.5,10,1.25",
                "--price 接受两个或三个金额，例如 2.5,10 或 2.5,10,1.25"
            )
            .to_owned(),
        )),
    }
}

/// Reads the key from a pipe, or from the terminal if requested.
fn given_key(args: &ModelsAddArgs) -> anyhow::Result<Option<NewKey>> {
    let place = if args.keyring { KeySource::Keyring } else { KeySource::File };
    if !args.key_stdin {
        return match args.keyring && (args.yes || !crate::ask::is_possible()) {
            true => Err(UsageError(
                text!(
                    "--keyring keeps a key: pipe it in and add --key-stdin",
                    "--keyring 用于保存密钥：请通过管道输入密钥并加上 --key-stdin"
                )
                .to_owned(),
            )
            .into()),
            false => Ok(None),
        };
    }
    if crate::ask::is_possible() {
        let text = ask::key(text!("Key:", "密钥："))?.unwrap_or_default();
        return Ok(Some(NewKey { text, place }));
    }
    let mut text = String::new();
    std::io::stdin()
        .take(LONGEST_KEY)
        .read_to_string(&mut text)
        .context(text!("the key cannot be read from standard input", "无法从标准输入读取密钥"))?;
    // Errors are reported before anything is written.
    key_of(&text).map_err(model::key_problem)?;
    Ok(Some(NewKey { text, place }))
}

/// Turns conflicts with the request into usage errors.
fn usage(error: SettingsError) -> anyhow::Error {
    match error {
        SettingsError::Wrong { message, .. } => UsageError(message).into(),
        SettingsError::Edit { .. } => UsageError(shown(&error)).into(),
        SettingsError::Read { .. } | SettingsError::Write { .. } => error.into(),
    }
}
