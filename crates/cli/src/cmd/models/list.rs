//! `crewagent models list`: one line a model.

use anstyle::Style;
use crewagent_dialect::prices::Price;
use crewagent_engine::store::{ChosenModel, Environment, ModelSettings, Store};
use serde_json::{Value as Json, json};

use crate::args::ModelsListArgs;
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::model;
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET};
use crate::render::table::{TableCell, table};

/// A configured model.
struct ModelRow<'s> {
    name: &'s str,
    settings: &'s ModelSettings,
    chosen: Result<ChosenModel, String>,
    /// The location of the key, or its problem.
    key: Result<String, String>,
    is_default: bool,
}

pub(super) fn run(
    args: &ModelsListArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let (settings, environment) = (store.settings(), Environment::of_process());
    let default = settings.model_name(None, &environment).ok();
    let row = |(name, own)| -> ModelRow<'_> {
        let name: &String = name;
        let chosen = settings.model(name, "", &environment).map_err(|error| shown(&error));
        let key = chosen.clone().and_then(|chosen| {
            let key = chosen.key(&store.secrets(), &environment);
            key.map(|found| found.source.words()).map_err(|error| shown(&error))
        });
        let is_default = default.as_ref().is_some_and(|(default, _)| default == name);
        ModelRow { name, settings: own, chosen, key, is_default }
    };
    let rows: Vec<ModelRow<'_>> = settings.models.iter().map(row).collect();
    let default = default.map(|(name, origin)| (name, origin.trim()));
    if args.json {
        let models: Vec<Json> = rows.iter().map(as_json).collect();
        let default = default.map(|(name, _)| name);
        console.line(paint::json(&json!({ "models": models, "default": default })));
    } else {
        human(&rows, default, store, console);
    }
    Ok(Outcome::Done)
}

fn human(
    rows: &[ModelRow<'_>],
    default: Option<(String, &str)>,
    store: &Store,
    console: &mut Console,
) {
    if rows.is_empty() {
        console.line(text!("No models are set up. `crewagent models add` sets one up; `--model PROFILE/MODEL` needs no setting up.", "还没有配置模型。`crewagent models add` 添加一个；`--model PROFILE/MODEL` 无需配置。"));
    } else {
        let cells: Vec<Vec<TableCell>> = rows.iter().map(cells).collect();
        console.text(&table(
            &[
                "",
                text!("NAME", "名称"),
                text!("MODEL", "模型"),
                text!("PROFILE", "服务商配置"),
                text!("KEY", "密钥"),
                text!("WINDOW", "窗口"),
                text!("PRICE", "价格"),
            ],
            &cells,
        ));
    }
    for row in rows {
        if let Err(problem) = &row.key {
            console.error(format_args!(
                "{} {}",
                paint::styled(ERROR, "!"),
                paint::printable(problem)
            ));
        }
    }
    match default {
        Some((name, origin)) if !rows.iter().any(|row| row.name == name) => {
            // A model chosen elsewhere may not exist.
            let problem =
                model::choose(None, store).err().map(|error| say!(": {error}", "：{error}"));
            let words = say!(
                "Runs use {name} {origin}{}",
                "运行使用 {name} {origin}{}",
                problem.unwrap_or_default()
            );
            console.error(paint::printable(&words));
        }
        Some(_) => {}
        None if rows.is_empty() => {}
        None => console.error(text!(
            "No model is chosen for runs. `crewagent models use NAME` chooses one.",
            "还没有为运行选择模型。用 `crewagent models use NAME` 选择。"
        )),
    }
}

fn cells(row: &ModelRow<'_>) -> Vec<TableCell> {
    let plain = Style::new();
    let chosen = row.chosen.as_ref().ok();
    let profile = chosen.map_or("", |chosen| chosen.profile_name.as_str());
    let window = chosen.and_then(|chosen| chosen.window).map(tokens);
    let price = chosen.and_then(|chosen| chosen.price).map(|price| dollars(&price));
    let (key_style, key) = match &row.key {
        Ok(words) => (plain, words.as_str()),
        Err(_) => (ERROR, text!("missing", "缺少")),
    };
    vec![
        TableCell::new(GOOD, if row.is_default { "*" } else { "" }),
        TableCell::new(NAME, row.name),
        TableCell::new(plain, &row.settings.model),
        TableCell::new(plain, profile),
        TableCell::new(key_style, key),
        TableCell::new(QUIET, window.as_deref().unwrap_or("?")),
        TableCell::new(QUIET, price.as_deref().unwrap_or("?")),
    ]
}

fn as_json(row: &ModelRow<'_>) -> Json {
    let chosen = row.chosen.as_ref().ok();
    json!({
        "name": row.name,
        "default": row.is_default,
        "model": row.settings.model,
        "profile": chosen.map(|chosen| &chosen.profile_name),
        "baseUrl": chosen.map(|chosen| &chosen.base_url),
        "key": row.key.as_ref().ok(),
        "window": chosen.and_then(|chosen| chosen.window),
        "price": chosen.and_then(|chosen| chosen.price),
        "problem": row.key.as_ref().err(),
    })
}

/// Formats a size as `128k` or `1M`.
fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        1_000_000.. => format!("{:.1}M", count as f64 / 1e6).replace(".0M", "M"),
    }
}

/// Formats the prices of input and output for a million tokens.
fn dollars(price: &Price) -> String {
    format!("${} / ${}", price.input, price.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (count, words) in [
            (512, "512"),
            (128_000, "128k"),
            (1_000_000, "1M"),
            (1_047_576, "1M"),
            (2_500_000, "2.5M"),
        ] {
            assert_eq!(tokens(count), words);
        }
    }
}
