//! `crewagent config …`: reads and changes settings, one by one or as a file.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use crewagent_engine::store::{SettingKey, Settings, SettingsError, SettingsFile, Store};
use crewagent_format::wording::nearest;
use serde_json::{Value as Json, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::console::Console;
use crate::language::settings::meaning;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, QUIET};

pub(crate) fn run(
    args: ConfigArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let home = home.map_or_else(Store::default_home, Ok)?;
    let path = Settings::path(&home);
    match args.command.unwrap_or(ConfigCommand::Get { key: None, json: false }) {
        ConfigCommand::Path => console.line(path.display()),
        ConfigCommand::Get { key: None, json } => list(&Settings::load(&path)?, json, console)?,
        ConfigCommand::Get { key: Some(key), json } => {
            get(&known(&key)?, &Settings::load(&path)?, json, console)?
        }
        ConfigCommand::Set { key, value, json } => {
            set(&known(&key)?, &value, &path, json, console)?
        }
        ConfigCommand::Edit => return edit(&path, console),
    }
    Ok(Outcome::Done)
}

/// A setting by its full name.
struct NamedSetting {
    key: SettingKey,
    name: String,
    parts: Vec<String>,
}

impl NamedSetting {
    fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }
}

/// Returns the setting of this name.
fn known(name: &str) -> Result<NamedSetting, UsageError> {
    if let Some(parts) = SettingsFile::parts(name)
        && let Some(key) = Settings::key(&parts.iter().map(String::as_str).collect::<Vec<_>>())
    {
        return Ok(NamedSetting { key, name: name.to_owned(), parts });
    }
    let parts = SettingsFile::parts(name).unwrap_or_default();
    let known: Vec<String> = Settings::keys().iter().map(|key| spelled(key.name, &parts)).collect();
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', '.', '"'], "");
    // Users tend to forget the table of a name.
    let similar = known.iter().find(|key| {
        key.rsplit_once('.').is_some_and(|(_, last)| last == name) || plain(key) == plain(name)
    });
    let similar = similar
        .map(String::as_str)
        .or_else(|| nearest(name, known.iter().map(String::as_str)))
        .filter(|key| !key.contains('*'));
    let hint = similar
        .map(|key| say!("; did you mean `{key}`?", "；是不是想写 `{key}`？"))
        .unwrap_or_default();
    Err(UsageError(say!(
        "there is no setting `{name}`{hint}; `crewagent config get` shows what there is",
        "没有设置项 `{name}`{hint}；`crewagent config get` 列出所有设置项"
    )))
}

/// Fills in the names that the user chose, where a key has a star.
fn spelled(key: &str, parts: &[String]) -> String {
    let own: Vec<&str> = key.split('.').collect();
    if own.len() != parts.len() {
        return key.to_owned();
    }
    let part = |(own, part): (&&str, &String)| match *own {
        "*" => quoted(&[part]),
        own => own.to_owned(),
    };
    own.iter().zip(parts).map(part).collect::<Vec<_>>().join(".")
}

/// A setting as it is listed.
struct Listed<'s> {
    name: String,
    value: Option<&'s Json>,
    about: &'static str,
    is_default: bool,
}

/// Lists every setting with its value.
fn list(settings: &Settings, is_json: bool, console: &mut Console) -> anyhow::Result<()> {
    let (own, default) =
        (serde_json::to_value(settings)?, serde_json::to_value(Settings::default())?);
    let mut listed: Vec<Listed<'_>> = Vec::new();
    for key in Settings::keys().iter().filter(|key| !key.is_family()) {
        let parts: Vec<&str> = key.name.split('.').collect();
        let value = value_of(&parts, &own);
        let is_default = value == value_of(&parts, &default);
        listed.push(Listed { name: key.name.to_owned(), value, about: meaning(key), is_default });
    }
    for table in ["models", "profiles", "mcp", "prices"] {
        if let Some(value) = own.get(table) {
            members(&mut vec![table], value, &mut listed);
        }
    }
    if is_json {
        let one = |one: &Listed<'_>| json!({ "name": one.name, "value": one.value, "default": one.is_default, "about": one.about });
        console
            .line(paint::json(&json!({ "settings": listed.iter().map(one).collect::<Vec<_>>() })));
        return Ok(());
    }
    for Listed { name, value, about, is_default } in listed {
        line(&name, value, about, is_default, console);
    }
    Ok(())
}

/// Lists every setting below these parts of a name whose name the user chose.
fn members<'v>(parts: &mut Vec<&'v str>, value: &'v Json, listed: &mut Vec<Listed<'v>>) {
    if let Some(key) = Settings::key(parts) {
        if key.is_family() {
            let (name, value) = (quoted(parts), Some(value));
            listed.push(Listed { name, value, about: meaning(&key), is_default: false });
        }
        return;
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        parts.push(name);
        members(parts, inner, listed);
        parts.pop();
    }
}

fn line(name: &str, value: Option<&Json>, about: &str, is_default: bool, console: &mut Console) {
    let shown = value.map_or_else(|| text!("(not set)", "（未设置）").to_owned(), Json::to_string);
    let (name, shown) = (paint::padded(&paint::printable(name), 28), paint::printable(&shown));
    let about = paint::styled(QUIET, format_args!("# {about}"));
    let (name, shown) = if is_default {
        (paint::styled(QUIET, name), paint::styled(QUIET, paint::padded(&shown, 12)))
    } else {
        (paint::styled(NAME, name), paint::styled(GOOD, paint::padded(&shown, 12)))
    };
    console.line(format_args!("{name} {shown}  {about}"));
}

/// Formats the parts of a name as `config set` takes them.
fn quoted(parts: &[&str]) -> String {
    let is_bare = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let quoted = |part: &&str| {
        if is_bare(part) { (*part).to_owned() } else { Json::from(*part).to_string() }
    };
    parts.iter().map(quoted).collect::<Vec<_>>().join(".")
}

/// Prints one bare value, for scripts.
fn get(
    named: &NamedSetting,
    settings: &Settings,
    is_json: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let settings = serde_json::to_value(settings)?;
    match value_of(&named.parts(), &settings) {
        value if is_json => {
            console.line(paint::json(&json!({ "name": named.name, "value": value })));
        }
        Some(Json::String(text)) => console.line(paint::printable(text)),
        Some(value) => console.line(paint::printable(&value.to_string())),
        None => console.error(say!("{} is not set", "{} 未设置", paint::printable(&named.name))),
    }
    Ok(())
}

fn value_of<'v>(parts: &[&str], settings: &'v Json) -> Option<&'v Json> {
    parts.iter().try_fold(settings, |table, part| table.get(*part))
}

/// Changes one value. Comments and everything else in the file stay.
fn set(
    named: &NamedSetting,
    value: &str,
    path: &Path,
    is_json: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let mut file = SettingsFile::open(path)?;
    file.say(&named.parts(), value).map_err(|error| refused(named, value, error))?;
    file.save()?;
    let settings = serde_json::to_value(file.settings()?)?;
    let now = value_of(&named.parts(), &settings);
    if is_json {
        console.line(paint::json(&json!({ "name": named.name, "value": now })));
        return Ok(());
    }
    let now = now.map(Json::to_string).unwrap_or_default();
    console.line(format_args!(
        "{} {} = {}",
        paint::styled(GOOD, text!("set", "已设置")),
        paint::styled(NAME, paint::printable(&named.name)),
        paint::printable(&now)
    ));
    if let Some(missing) = missing_amount(named, &settings) {
        let note = say!(
            "The price is unknown until {missing} is set, too.",
            "还要设置 {missing}，这个价格才生效。"
        );
        console.error(paint::printable(&note));
    }
    Ok(())
}

/// Returns the other amount that a price needs, if this setting belongs to an incomplete one.
fn missing_amount(named: &NamedSetting, settings: &Json) -> Option<String> {
    let parts = named.parts();
    let (_, table) = parts.split_last()?;
    let is_price = table.first() == Some(&"prices") || table.last() == Some(&"price");
    let price = value_of(table, settings).filter(|_| is_price)?;
    let missing = ["input", "output"].into_iter().find(|amount| price.get(*amount).is_none())?;
    Some(quoted(&[table, &[missing]].concat()))
}

fn refused(named: &NamedSetting, value: &str, error: SettingsError) -> UsageError {
    let why = match error {
        SettingsError::Wrong { message, .. } => message,
        other @ (SettingsError::Read { .. }
        | SettingsError::Write { .. }
        | SettingsError::Edit { .. }) => other.to_string(),
    };
    let NamedSetting { key, name, .. } = named;
    // The value may be a key, which belongs elsewhere.
    let value = if name.to_lowercase().contains("key") || name.contains(".headers.") {
        text!("this", "这个值").to_owned()
    } else {
        format!("{value:?}")
    };
    UsageError(say!(
        "{name} cannot be {value}: {why} ({})",
        "{name} 不能是 {value}：{why}（{}）",
        meaning(key)
    ))
}

/// Opens the file in the user's editor. A new file begins with every setting as a comment.
#[allow(clippy::disallowed_methods, reason = "the editor is no process of a run")]
fn edit(path: &Path, console: &mut Console) -> anyhow::Result<Outcome> {
    if !path.exists() {
        SettingsFile::parse(path, &template()?)?.save()?;
    }
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let fallback = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| fallback.to_owned());
    // The variable holds a program and its options, such as `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(fallback);
    let status =
        std::process::Command::new(program).args(words).arg(path).status().with_context(|| {
            format!(
                "cannot start the editor `{editor}`; set EDITOR, or edit `{}` yourself",
                path.display()
            )
        })?;
    if !status.success() {
        anyhow::bail!(
            "{}",
            say!(
                "the editor `{editor}` ended with {status}; the settings may be unchanged",
                "编辑器 `{editor}` 以 {status} 结束；设置可能没有改变"
            )
        );
    }
    Settings::load(path)?;
    console.line(format_args!("{} {}", paint::styled(GOOD, text!("ok", "通过")), path.display()));
    Ok(Outcome::Done)
}

/// Returns a file that lists every setting and changes nothing.
fn template() -> anyhow::Result<String> {
    let defaults = serde_json::to_value(Settings::default())?;
    let mut text = String::from("# Settings of CrewAgent. Remove a `#` to change one.\n");
    let mut table = "";
    for key in Settings::keys().iter().filter(|key| !key.is_family()) {
        let (own_table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if own_table != table {
            text.push_str(&format!("\n[{own_table}]\n"));
            table = own_table;
        }
        let parts: Vec<&str> = key.name.split('.').collect();
        let value = value_of(&parts, &defaults).map_or_else(|| "…".to_owned(), Json::to_string);
        text.push_str(&format!("# {name} = {value}  # {}\n", key.about));
    }
    text.push_str(MODELS);
    Ok(text)
}

const MODELS: &str = "
# Models: `crewagent models add` writes such a table. The other keys are in docs/settings.md.
# [models.…]
# profile = \"…\"
# model = \"…\"
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_the_reason() {
        let refused = |key: &str, value: &str| {
            let mut file = SettingsFile::parse(Path::new("c"), "").unwrap();
            let named = known(key).unwrap();
            let error = file.say(&named.parts(), value).unwrap_err();
            refused(&named, value, error).to_string()
        };
        assert!(refused("run.max-turns", "0").contains("whole number above zero"));
        assert!(refused("run.mode", "fast").contains("autopilot"));
        assert!(refused("run.max-turns", "many").contains("whole number"));
        assert!(!refused("models.a.key", "sk-12345").contains("sk-12345"));
    }

    #[test]
    fn a_key_that_is_not_there_is_explained() {
        assert!(known("max-turns").err().unwrap().to_string().contains("`run.max-turns`"));
        assert!(known("run.max_turns").err().unwrap().to_string().contains("`run.max-turns`"));
        assert!(known("run.modle").err().unwrap().to_string().contains("`run.model`?"));
        let prices = known("prices.\"gpt-4.1\".inptu").err().unwrap().to_string();
        assert!(prices.contains("`prices.\"gpt-4.1\".input`?"), "{prices}");
        assert!(
            known("models.big.windwo").err().unwrap().to_string().contains("`models.big.window`")
        );
        assert!(known("nope").err().unwrap().to_string().contains("config get"));
    }

    #[test]
    fn the_template_says_nothing() {
        let text = template().unwrap();
        assert_eq!(Settings::parse(Path::new("c"), &text).unwrap(), Settings::default());
        let bare: String = text
            .lines()
            .filter(|line| !line.starts_with("# Settings") && !line.starts_with("# Models"))
            .map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n")
            .filter(|line| !line.contains('…'))
            .collect();
        assert_eq!(Settings::parse(Path::new("c"), &bare).unwrap(), Settings::default());
    }
}
