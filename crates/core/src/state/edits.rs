//! Edits of a state document, with a fallback for YAML that cannot be edited in place.

use crewagent_format::frontmatter::{Edit, EditError, Frontmatter};
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

/// Applies the edits in order, all or none. If one cannot be made in place, the whole value of its key is rewritten:
/// its comments are lost, every other key keeps its bytes.
pub(super) fn apply(document: &Frontmatter, edits: &[Edit]) -> Result<Frontmatter, EditError> {
    match document.edited(edits) {
        Err(EditError::Unsafe(_)) => {}
        result => return result,
    }
    edits.iter().try_fold(document.clone(), |document, edit| {
        match document.edited(std::slice::from_ref(edit)) {
            Err(EditError::Unsafe(place)) => {
                let whole = rewritten(&document, edit).ok_or(EditError::Unsafe(place))?;
                document.edited(&[whole])
            }
            result => result,
        }
    })
}

/// Returns the edit as a new value of its whole key.
fn rewritten(document: &Frontmatter, edit: &Edit) -> Option<Edit> {
    let old = |key: &String| document.tree().get(key).map(|entry| entry.tree.to_json());
    match edit {
        Edit::Set { path, value } => match path.as_slice() {
            [key, name] => {
                let mut map = old(key)?.as_object()?.clone();
                map.insert(name.clone(), value.clone());
                Some(set(key, map))
            }
            _ => None,
        },
        Edit::Push { path, value } => match path.as_slice() {
            [key] => {
                let mut list = old(key)?.as_array()?.clone();
                list.push(value.clone());
                Some(set(key, list))
            }
            _ => None,
        },
        Edit::Remove { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_apply(before: &str, edits: &[Edit], expected: &str) {
        let document = Frontmatter::parse(format!("---\n{before}---\nbody")).unwrap();
        let after = apply(&document, edits).unwrap();
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

    #[test]
    fn a_value_that_cannot_be_edited_in_place_is_written_anew() {
        let nested = json!({"deep": {"list": [1, {"x": "y: z"}]}});
        let edit =
            Edit::Set { path: vec!["variables".into(), "new".into()], value: nested.clone() };
        for before in
            ["variables: {a: 1}\n", "variables: {a: [1, 2]} # note\n", "variables: &v\n  a: 1\n"]
        {
            let document = Frontmatter::parse(format!("---\n{before}---\n")).unwrap();
            let after = apply(&document, std::slice::from_ref(&edit)).unwrap();
            assert_eq!(after.tree().to_json()["variables"]["new"], nested, "{before}");
        }
    }
}
