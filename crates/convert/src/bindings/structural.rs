//! Structural merge of TOML: later layers change earlier ones in place.

use toml::{Table, Value};

/// Keys by which tables of an array are matched.
const KEYS: [&str; 2] = ["code", "id"];

/// Merges `over` into `base`: tables by key; arrays of tables that all have a `code`, or all an `id`, by that key; other
/// arrays append; everything else is replaced.
pub fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) => append(old, new),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn append(old: &mut Vec<Value>, new: Vec<Value>) {
    let has = |key: &str| {
        let mut all = old.iter().chain(&new);
        all.all(|item| item.as_table().is_some_and(|table| table.contains_key(key)))
    };
    let Some(key) = KEYS.into_iter().find(|key| has(key)) else {
        old.extend(new);
        return;
    };
    for item in new {
        let twin = old.iter_mut().find(|known| known.get(key) == item.get(key));
        match (twin, item) {
            (Some(Value::Table(twin)), Value::Table(item)) => merge(twin, item),
            (_, item) => old.push(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_merged(base: &str, over: &str, expected: &str) {
        let mut merged: Table = base.parse().unwrap();
        merge(&mut merged, over.parse().unwrap());
        assert_eq!(merged, expected.parse::<Table>().unwrap(), "{base} + {over}");
    }

    #[test]
    fn a_later_layer_changes_an_earlier_one_in_place() {
        check_merged("a = 1", "a = 2", "a = 2");
        check_merged("a = 1", "b = 2", "a = 1\nb = 2");
        check_merged("[t]\na = 1\nb = 2", "[t]\nb = 3", "[t]\na = 1\nb = 3");
        check_merged("a = [1, 2]", "a = [2, 3]", "a = [1, 2, 2, 3]");
        check_merged("[t]\na = 1", "t = 5", "t = 5");
        check_merged("a = []", "a = [{id = \"x\"}]", "a = [{id = \"x\"}]");
    }

    #[test]
    fn tables_of_an_array_are_matched_by_code_or_id() {
        check_merged(
            "m = [{code = \"a\", n = 1}, {code = \"b\", n = 2}]",
            "m = [{code = \"b\", n = 3}, {code = \"c\", n = 4}]",
            "m = [{code = \"a\", n = 1}, {code = \"b\", n = 3}, {code = \"c\", n = 4}]",
        );
        check_merged(
            "m = [{id = 1, x = 1}]",
            "m = [{id = 1, y = 2}]",
            "m = [{id = 1, x = 1, y = 2}]",
        );
        check_merged("m = [{id = 1}]", "m = [{code = \"a\"}]", "m = [{id = 1}, {code = \"a\"}]");
        check_merged("m = [{id = 1}]", "m = [7]", "m = [{id = 1}, 7]");
    }
}
