//! Layers of configuration: read, merged and made flat.

use std::collections::BTreeMap;

use crewagent_format::syntax::{Value, yaml};
use crewagent_format::text::is_unsafe_char;
use crewagent_format::wording::{cut, quoted};
use toml::Table;

use super::structural::merge;
use super::{
    ConfigFault, ConfigFaultKind, ConfigLayer, ConfigValues, MAX_LAYER_BYTES, MAX_NAMES,
    MAX_VALUE_BYTES,
};

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Most mistakes that are told.
const MAX_FAULTS: usize = 20;

/// Returns the values of all layers, each over those before it: YAML files in their order, then the merged TOML files.
pub fn resolve(defaults: &BTreeMap<String, String>, layers: &[ConfigLayer]) -> ConfigValues {
    let mut found = Found::default();
    for (name, value) in defaults {
        found.bind(name, value, "the package");
    }
    let mut table = Table::new();
    let mut yaml_values: BTreeMap<String, String> = BTreeMap::new();
    for layer in layers {
        let text = match &layer.content {
            Ok(text) if text.len() > MAX_LAYER_BYTES => {
                let why = format!("is larger than {MAX_LAYER_BYTES} bytes");
                found.fault(ConfigFaultKind::Missing, format!("{} {why}", layer.path));
                continue;
            }
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(why) => {
                let message = format!("{} cannot be read: {why}", layer.path);
                found.fault(ConfigFaultKind::Missing, message);
                continue;
            }
        };
        if layer.path.ends_with(".toml") {
            match text.parse::<Table>() {
                Ok(over) => merge(&mut table, over),
                Err(error) => found.unreadable(&layer.path, error.message()),
            }
            continue;
        }
        for (name, value) in found.yaml(&layer.path, text) {
            found.bind(&name, &value, &layer.path);
            yaml_values.insert(name, value);
        }
    }
    for (name, value) in flat(&table) {
        if let Some(other) = yaml_values.get(&name).filter(|other| **other != value) {
            let message = format!(
                "{name} is {} in YAML and {} in TOML, which counts",
                quoted(&cut(other, 80)),
                quoted(&cut(&value, 80))
            );
            found.fault(ConfigFaultKind::Differs, message);
        }
        found.bind(&name, &value, "config.toml");
    }
    found.values
}

/// Values that were found so far.
#[derive(Default)]
struct Found {
    values: ConfigValues,
}

impl Found {
    fn fault(&mut self, kind: ConfigFaultKind, message: String) {
        if self.values.faults.len() < MAX_FAULTS {
            self.values.faults.push(ConfigFault { kind, message });
        }
    }

    fn unreadable(&mut self, path: &str, why: &str) {
        let why = cut(why.lines().next().unwrap_or_default(), 200);
        self.fault(ConfigFaultKind::Missing, format!("{path} cannot be read: {why}"));
    }

    /// Returns the scalars of a YAML file.
    fn yaml(&mut self, path: &str, text: &str) -> Vec<(String, String)> {
        let tree = match yaml::parse(text) {
            Ok(tree) => tree,
            Err(errors) => {
                let why = errors.into_iter().next().map(|error| error.message);
                self.unreadable(path, &why.unwrap_or_default());
                return Vec::new();
            }
        };
        let Some(entries) = tree.as_map() else {
            self.unreadable(path, "it is no map of names and values");
            return Vec::new();
        };
        let scalar = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        };
        let values = entries.iter();
        values.filter_map(|entry| Some((entry.key.clone(), scalar(&entry.tree.value)?))).collect()
    }

    /// Binds a name, if it is one. A blank value says nothing.
    fn bind(&mut self, name: &str, value: &str, path: &str) {
        let value = value.trim();
        if value.is_empty() || !is_name(name) {
            return;
        }
        if value.len() > MAX_VALUE_BYTES || value.chars().any(is_unsafe_char) {
            let message = format!(
                "{name} of {path} is no single line of at most {MAX_VALUE_BYTES} bytes, and is left out"
            );
            self.fault(ConfigFaultKind::Missing, message);
            return;
        }
        if self.values.values.len() >= MAX_NAMES && !self.values.values.contains_key(name) {
            let message = format!("{path} has more than {MAX_NAMES} names");
            if !self.values.faults.iter().any(|fault| fault.message == message) {
                self.fault(ConfigFaultKind::Missing, message);
            }
            return;
        }
        self.values.values.insert(name.to_owned(), value.to_owned());
    }
}

/// Returns true if a name can stand in braces.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(is_part)
}

/// Returns the scalars of the tables that hold configuration: `[core]`, then `[modules.<code>]`, the later ones stronger.
fn flat(table: &Table) -> Vec<(String, String)> {
    let tables = |key: &str| table.get(key).and_then(toml::Value::as_table);
    let modules = tables("modules").into_iter().flatten();
    let modules = modules.filter_map(|(_, module)| module.as_table());
    let all = tables("core").into_iter().chain(modules).flatten();
    let scalar = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(value) => Some(value.to_string()),
        toml::Value::Datetime(time) => Some(time.to_string()),
        toml::Value::Array(_) | toml::Value::Table(_) => None,
    };
    all.filter_map(|(name, value)| Some((name.clone(), scalar(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(path: &str, text: &str) -> ConfigLayer {
        ConfigLayer { path: path.to_owned(), content: Ok(text.into()) }
    }

    fn resolved(layers: &[(&str, &str)]) -> ConfigValues {
        let layers: Vec<ConfigLayer> =
            layers.iter().map(|(path, text)| layer(path, text)).collect();
        resolve(&BTreeMap::from([("x".to_owned(), "default".to_owned())]), &layers)
    }

    fn check_value(layers: &[(&str, &str)], name: &str, expected: Option<&str>) {
        let values = resolved(layers).values;
        assert_eq!(values.get(name).map(String::as_str), expected, "{layers:?}");
    }

    const CORE: &str = "_bmad/core/config.yaml";
    const MODULE: &str = "_bmad/m/config.yaml";
    const TOML: &str = "_bmad/config.toml";
    const CUSTOM: &str = "_bmad/custom/config.toml";

    #[test]
    fn later_layers_win() {
        check_value(&[], "x", Some("default"));
        check_value(&[(CORE, "x: core")], "x", Some("core"));
        check_value(&[(CORE, "x: core"), (MODULE, "x: module")], "x", Some("module"));
        check_value(&[(CORE, "x: core"), (TOML, "[core]\nx = \"toml\"")], "x", Some("toml"));
        check_value(&[(TOML, "[core]\nx = \"a\""), (CUSTOM, "[core]\nx = \"b\"")], "x", Some("b"));
        check_value(
            &[(TOML, "[modules.m]\nx = \"m\""), (CUSTOM, "[core]\nx = \"b\"")],
            "x",
            Some("m"),
        );
        check_value(&[(CORE, "x: ''")], "x", Some("default"));
        check_value(&[(CORE, "x:")], "x", Some("default"));
        check_value(&[(CORE, "x: [1, 2]")], "x", Some("default"));
        check_value(&[(CORE, "x: 7")], "x", Some("7"));
        check_value(&[(CORE, "\u{feff}x: bom\r\n")], "x", Some("bom"));
        check_value(&[(TOML, "[core]\nx = true")], "x", Some("true"));
        check_value(&[(TOML, "[agents.a]\nx = \"agent\"")], "x", Some("default"));
    }

    fn check_fault(layers: &[(&str, &str)], code: &str, says: &str) {
        let faults = resolved(layers).faults;
        let is_it =
            |fault: &&ConfigFault| fault.kind.code() == code && fault.message.contains(says);
        assert!(faults.iter().any(|fault| is_it(&fault)), "{faults:?}");
    }

    #[test]
    fn a_layer_that_cannot_be_used_leaves_the_others() {
        check_fault(&[(CORE, "x: [")], "BM943", "core/config.yaml cannot be read");
        check_fault(&[(CORE, "- a")], "BM943", "no map");
        check_fault(&[(TOML, "x = = 1")], "BM943", "config.toml cannot be read");
        check_value(&[(CORE, "x: core"), (TOML, "= broken")], "x", Some("core"));
        let layers = [ConfigLayer { path: CORE.to_owned(), content: Err("it is a pipe".into()) }];
        let faults = resolve(&BTreeMap::new(), &layers).faults;
        assert_eq!(faults[0].message, "_bmad/core/config.yaml cannot be read: it is a pipe");
    }

    #[test]
    fn yaml_and_toml_that_differ_are_told() {
        let layers = [(CORE, "x: a"), (TOML, "[core]\nx = \"b\"")];
        check_fault(&layers, "BM944", "x is \"a\" in YAML and \"b\" in TOML");
        assert!(resolved(&[(CORE, "x: a"), (TOML, "[core]\nx = \"a\"")]).faults.is_empty());
    }

    #[test]
    fn hostile_values_are_left_out() {
        let long = format!("x: {}", "v".repeat(1 << 17));
        for text in ["x: \"a\\u0000b\"", "x: \"a\\nb\"", "x: \"\\e[2J\"", "x: \"a\\u202eb\"", &long]
        {
            check_value(&[(CORE, text)], "x", Some("default"));
            check_fault(&[(CORE, text)], "BM943", "x of _bmad/core/config.yaml");
        }
        let huge = format!("x: {}", "v".repeat(1 << 20));
        check_fault(&[(CORE, &huge)], "BM943", "is larger than");
    }

    #[test]
    fn bombs_are_contained() {
        let yaml = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]\n";
        check_fault(&[(CORE, yaml)], "BM943", "cannot be read");
        check_fault(&[(CORE, &"[".repeat(100_000))], "BM943", "cannot be read");
        check_fault(&[(TOML, &format!("x = {}", "[".repeat(100_000)))], "BM943", "cannot be read");
        let many: String = (0..10_000).map(|at| format!("k{at} = 1\n")).collect();
        let values = resolved(&[(TOML, &format!("[core]\n{many}"))]);
        assert_eq!(values.values.len(), MAX_NAMES);
        assert_eq!(values.faults.len(), 1);
    }

    #[test]
    fn names_that_cannot_stand_in_braces_are_no_names() {
        let layers = [(CORE, "'a b': 1\n'': 2\n'{x}': 3\n'中文': 4\na.b-c_d: 5")];
        let values = resolved(&layers).values;
        assert_eq!(values.keys().map(String::as_str).collect::<Vec<_>>(), ["a.b-c_d", "x", "中文"]);
    }

    #[test]
    fn layers_are_read_in_their_order() {
        let folders = ["zoo/", "core/", "_config/", "custom/", "abc/"].map(str::to_owned);
        assert_eq!(
            super::super::layer_paths(".bmad", &folders),
            [
                ".bmad/core/config.yaml",
                ".bmad/abc/config.yaml",
                ".bmad/zoo/config.yaml",
                ".bmad/config.toml",
                ".bmad/config.user.toml",
                ".bmad/custom/config.toml",
                ".bmad/custom/config.user.toml",
            ]
        );
    }
}
