//! Asks the user for the options of a model that no flag gives.

use anyhow::Context as _;
use crewagent_dialect::profile::{KeyRule, Profile, endpoint};
use crewagent_engine::store::{Environment, KeySource, Settings};
use inquire::validator::Validation;
use inquire::{InquireError, Password, PasswordDisplayMode, Select, Text};

use super::add::NewKey;
use crate::args::ModelsAddArgs;
use crate::language::text;

/// The profile of servers that are not known.
const GENERIC: &str = "generic";

type AskResult<T> = Result<T, InquireError>;

/// Returns the flags completed by the answers; none when the user cancels.
pub(super) fn complete(
    args: ModelsAddArgs,
    has_key: bool,
    settings: &Settings,
) -> anyhow::Result<Option<(ModelsAddArgs, Option<NewKey>)>> {
    match questions(args, has_key, settings) {
        Ok(answers) => Ok(Some(answers)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(None),
        Err(error) => Err(error).context(text!(
            "cannot ask in this terminal; use flags, and add --yes",
            "此终端无法询问；请使用参数并加上 --yes"
        )),
    }
}

/// Asks for a key without echo; none if the answer is empty.
pub(super) fn key(prompt: &str) -> anyhow::Result<Option<String>> {
    typed_key(prompt).context(text!(
        "cannot ask in this terminal; pipe the key in with --key-stdin",
        "此终端无法询问；请用 --key-stdin 通过管道输入密钥"
    ))
}

fn typed_key(prompt: &str) -> AskResult<Option<String>> {
    let typed = Password::new(prompt)
        .without_confirmation()
        .with_display_mode(PasswordDisplayMode::Masked)
        .prompt()?;
    Ok(Some(typed.trim().to_owned()).filter(|typed| !typed.is_empty()))
}

fn questions(
    mut args: ModelsAddArgs,
    has_key: bool,
    settings: &Settings,
) -> AskResult<(ModelsAddArgs, Option<NewKey>)> {
    let by_name = args.name.clone().filter(|name| Profile::built_in(name).is_some());
    let by_address = args.base_url.as_deref().map(|url| Profile::recognise(url).to_owned());
    let known = args.profile.clone().or(by_address).or(by_name);
    let name = match known {
        Some(name) => name,
        None => choose_profile(settings)?,
    };
    let profile = settings.profile(&name).unwrap_or_default();
    if args.base_url.is_none() {
        args.base_url = address(&profile)?;
        args.profile = Some(name.clone());
    }
    if args.model.is_none() {
        let check = |name: &str| {
            Ok(match name.trim() {
                "" => Validation::Invalid(
                    text!("what does the provider call it?", "服务商怎么称呼它？").into(),
                ),
                _ => Validation::Valid,
            })
        };
        let wanted = Text::new(text!("Model:", "模型："))
            .with_help_message(text!(
                "as the provider calls it, such as gpt-5 or qwen3:8b",
                "服务商使用的名称，例如 gpt-5 或 qwen3:8b"
            ))
            .with_validator(check);
        args.model = Some(wanted.prompt()?.trim().to_owned());
    }
    let typed = match has_key || args.key_env.is_some() || args.no_key {
        true => None,
        false => new_key(&args, &profile)?,
    };
    if args.name.is_none() {
        let suggested = free_name(&short_name(&name, args.model.as_deref()), settings);
        let own = Text::new(text!("What do you want to call it?", "你想叫它什么？"))
            .with_default(&suggested)
            .prompt()?;
        args.name = Some(own.trim().to_owned());
    }
    Ok((args, typed))
}

fn choose_profile(settings: &Settings) -> AskResult<String> {
    let own = settings.profiles.keys().map(String::as_str);
    let names: Vec<&str> = own.chain(Profile::names().map(|name| -> &str { name })).collect();
    let titles: Vec<String> = names
        .iter()
        .map(|name| settings.profile(name).map(|profile| profile.title).unwrap_or_default())
        .collect();
    let chosen =
        Select::new(text!("Who serves the model?", "模型由谁提供？"), titles).raw_prompt()?;
    Ok(names.get(chosen.index).map_or_else(String::new, |name| (*name).to_owned()))
}

/// Asks for an address other than the profile's own.
fn address(profile: &Profile) -> AskResult<Option<String>> {
    let check = |url: &str| {
        Ok(match endpoint(url, "models") {
            Ok(_) => Validation::Valid,
            Err(problem) => Validation::Invalid(problem.into()),
        })
    };
    let question = Text::new(text!("Base URL:", "地址：")).with_validator(check);
    let typed = match &profile.base_url {
        Some(own) => question.with_default(own).prompt()?,
        None => question.with_placeholder("https://api.example.com/v1").prompt()?,
    };
    let typed = typed.trim().to_owned();
    Ok(Some(typed).filter(|typed| profile.base_url.as_ref() != Some(typed)))
}

fn new_key(args: &ModelsAddArgs, profile: &Profile) -> AskResult<Option<NewKey>> {
    let variable = profile.key_variable.as_deref();
    let is_set = variable.is_some_and(|name| Environment::of_process().get(name).is_some());
    if is_set && args.base_url.is_none() && !args.keyring {
        return Ok(None);
    }
    let prompt = match profile.key {
        KeyRule::Required => text!("Key:", "密钥："),
        KeyRule::Optional => {
            text!("Key (Enter if it needs none):", "密钥（不需要就直接按 Enter）：")
        }
    };
    let place = if args.keyring { KeySource::Keyring } else { KeySource::File };
    Ok(typed_key(prompt)?.map(|text| NewKey { text, place }))
}

/// Returns a name for a model: that of its provider, or of an unknown server that of the model itself.
fn short_name(profile: &str, model: Option<&str>) -> String {
    let own = model.and_then(|model| model.rsplit('/').next());
    let own = own.filter(|own| profile == GENERIC && !own.contains(char::is_whitespace));
    own.filter(|own| !own.is_empty()).unwrap_or(profile).to_owned()
}

/// Returns a name that is not taken.
fn free_name(wanted: &str, settings: &Settings) -> String {
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !settings.models.contains_key(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_an_unknown_server_is_called_by_its_own_name() {
        assert_eq!(short_name("generic", Some("org/qwen3:8b")), "qwen3:8b");
        assert_eq!(short_name("generic", Some("a b")), "generic");
        assert_eq!(short_name("deepseek", Some("v4")), "deepseek");
    }
}
