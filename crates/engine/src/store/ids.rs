//! Ids of projects and runs: short, sortable where that helps, valid on every file system.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use crewagent_format::text::folded;
use crewagent_source::names::slug;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest id, in bytes.
const MAX_ID: usize = 100;
/// Digits and letters that are hard to confuse.
const ALPHABET: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz0";

/// Text that is not an id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not the id of a run or a project: it may have small letters, digits and dashes")]
pub struct BadId(pub String);

/// Id of a run, such as `20261115-083015-k3f9w`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// Id of a project, such as `my-app-k3f9w`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectId(String);

impl RunId {
    /// Generates an id; later ones sort after earlier ones.
    pub fn fresh(now: Timestamp) -> Self {
        Self(format!("{}-{}", now.strftime("%Y%m%d-%H%M%S"), random(5)))
    }
}

impl ProjectId {
    /// Generates an id for a folder of this name.
    pub fn fresh(name: &str) -> Self {
        let slug = slug(name).unwrap_or_else(|| "project".to_owned());
        let slug: String = slug.chars().take(40).collect();
        Self(format!("{}-{}", slug.trim_end_matches('-'), random(5)))
    }
}

macro_rules! id {
    ($($id:ident by $checked:ident)*) => {$(
        impl $id {
            /// Parses an id.
            pub fn parse(text: &str) -> Result<Self, BadId> {
                $checked(text).map(Self).ok_or_else(|| BadId(text.to_owned()))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $id {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                Self::parse(&text)
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.0
            }
        }
    )*};
}

id!(RunId by checked_run ProjectId by checked_project);

fn checked_run(text: &str) -> Option<String> {
    (text.is_ascii() && is_id(text)).then(|| text.to_owned())
}

/// Checks the id of a project, which has letters of the folder's script. Some disks list a name with its accents spelled
/// another way; the id has one spelling.
fn checked_project(text: &str) -> Option<String> {
    let is_small = !text.contains(char::is_uppercase);
    is_small.then(|| folded(text)).filter(|id| is_id(id))
}

fn is_id(text: &str) -> bool {
    let fits = |c: char| (c.is_alphanumeric() && !c.is_uppercase()) || c == '-';
    (1..=MAX_ID).contains(&text.len()) && text.chars().all(fits) && !text.starts_with('-')
}

/// Returns a random number, from the seed that the standard library draws for its maps.
fn dice() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns random characters of the alphabet.
fn random(count: u32) -> String {
    let mut bits = dice();
    let mut text = String::new();
    for _ in 0..count {
        text.push(char::from(ALPHABET[(bits % 32) as usize]));
        bits /= 32;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_id(text: &str, is_good: bool) {
        assert_eq!(RunId::parse(text).is_ok(), is_good, "{text:?}");
        assert_eq!(ProjectId::parse(text).is_ok(), is_good, "{text:?}");
    }

    #[test]
    fn an_id_is_a_plain_name() {
        check_id("20261115-083015-k3f9w", true);
        check_id("my-app-2", true);
        for bad in ["", ".", "..", "a/b", "a\\b", ".new-x", "-x", "A", "Ä", "a b", "💥", "a\0"] {
            check_id(bad, false);
        }
        check_id(&"a".repeat(100), true);
        check_id(&"a".repeat(101), false);
    }

    #[test]
    fn run_ids_have_the_time_and_sort_by_it() {
        let at = |second| RunId::fresh(Timestamp::from_second(second).unwrap());
        let (one, two) = (at(1_794_731_415), at(1_794_731_416));
        assert!(one.as_str().starts_with("20261115-083015-"), "{one}");
        assert_eq!(one.as_str().len(), "20261115-083015-k3f9w".len());
        assert!(one < two);
        assert_eq!(RunId::parse(one.as_str()), Ok(one));
    }

    #[test]
    fn a_project_id_is_an_id_whatever_the_folder_is_called() {
        for (name, begins) in [
            ("My App!", "my-app-"),
            ("项目甲", "项目甲-"),
            ("Über", "über-"),
            ("", "project-"),
            ("💥", "project-"),
            ("../x", "x-"),
            (&"x".repeat(300), "xxx"),
            (&"程".repeat(300), "程程程"),
        ] {
            let id = ProjectId::fresh(name);
            assert!(id.as_str().starts_with(begins), "{name}: {id}");
            assert_eq!(ProjectId::parse(id.as_str()), Ok(id));
        }
        assert_eq!(ProjectId::parse("u\u{308}ber-1").unwrap().as_str(), "über-1");
        assert!(RunId::parse("über-1").is_err());
    }
}
