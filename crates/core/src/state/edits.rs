//! Edits of a state document.

use crewagent_format::frontmatter::Edit;
use serde_json::{Map, Value as Json};

/// Returns an edit that sets a key of the frontmatter.
pub(super) fn set(key: &str, value: impl Into<Json>) -> Edit {
    Edit::Set { path: vec![key.to_owned()], value: value.into() }
}

/// Returns an edit that appends to a list of the frontmatter.
pub(super) fn push(key: &str, value: impl Into<Json>) -> Edit {
    Edit::Push { path: vec![key.to_owned()], value: value.into() }
}

/// Returns the edits that merge values into `variables`. An empty map is replaced as a whole, which gives readable
/// block style.
pub(super) fn merge_variables(old: &Map<String, Json>, new: &Map<String, Json>) -> Vec<Edit> {
    if old.is_empty() && !new.is_empty() {
        return vec![set("variables", new.clone())];
    }
    let one = |(name, value): (&String, &Json)| Edit::Set {
        path: vec!["variables".to_owned(), name.clone()],
        value: value.clone(),
    };
    new.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crewagent_format::frontmatter::Frontmatter;
    use serde_json::json;

    use super::*;

    fn check_apply(before: &str, edits: &[Edit], expected: &str) {
        let document = Frontmatter::parse(format!("---\n{before}---\nbody")).unwrap();
        let after = document.edited(edits).unwrap();
        assert_eq!(&**after.text(), format!("---\n{expected}---\nbody"));
    }

    #[test]
    fn the_first_variables_are_written_in_block_style() {
        let new = json!({"storyKey": "1-2-login", "epicNum": 1});
        let edits = merge_variables(&Map::new(), new.as_object().unwrap());
        check_apply(
            "variables: {}\na: 1\n",
            &edits,
            "variables:\n  storyKey: \"1-2-login\"\n  epicNum: 1\na: 1\n",
        );
        assert!(merge_variables(&Map::new(), &Map::new()).is_empty());
    }
}
