//! User-defined fields of a profile. Each is checked while it is parsed, so that an error names its line.

use std::fmt;

use crewagent_dialect::profile::Profile;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value as Json};

/// Changed fields of a profile, named as in the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileChanges(Map<String, Json>);

/// User-defined profile: a built-in one with changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileSettings {
    /// Built-in profile to start from; when absent the one of the same name, else `generic`.
    pub base: Option<String>,
    pub changes: ProfileChanges,
}

impl ProfileChanges {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields and their values.
    pub fn fields(&self) -> &Map<String, Json> {
        &self.0
    }

    /// Returns true if this field is changed.
    pub(super) fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Removes these fields.
    pub(super) fn remove(&mut self, fields: &[&str]) {
        self.0.retain(|name, _| !fields.contains(&name.as_str()));
    }

    /// Applies the changes to a profile. Each field was checked when it was parsed.
    pub(super) fn on(&self, profile: Profile) -> Profile {
        if self.0.is_empty() { profile } else { profile.with(&self.0).unwrap_or(profile) }
    }
}

impl ProfileSettings {
    /// Builds the whole profile, under this name.
    pub(super) fn profile(&self, name: &str) -> Option<Profile> {
        const GENERIC: &str = "generic";
        let base = match &self.base {
            Some(base) => Profile::built_in(base),
            None => Profile::built_in(name).or_else(|| Profile::built_in(GENERIC)),
        };
        let mut profile = self.changes.on(base?.clone());
        if !self.changes.has("title") {
            name.clone_into(&mut profile.title);
        }
        Some(profile)
    }
}

impl Serialize for ProfileChanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for ProfileSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Map::new();
        fields.extend(self.base.clone().map(|base| (BASE.to_owned(), base.into())));
        fields.extend(self.changes.0.clone());
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ProfileChanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProfileVisitor { with_base: false }).map(|read| read.changes)
    }
}

impl<'de> Deserialize<'de> for ProfileSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ProfileVisitor { with_base: true })
    }
}

/// Key that names the base profile.
const BASE: &str = "base";

struct ProfileVisitor {
    with_base: bool,
}

impl<'de> de::Visitor<'de> for ProfileVisitor {
    type Value = ProfileSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with fields of a profile")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<ProfileSettings, A::Error> {
        let mut read = ProfileSettings::default();
        while let Some(name) = map.next_key_seed(FieldName { with_base: self.with_base })? {
            if self.with_base && name == BASE {
                read.base = Some(map.next_value_seed(Base)?);
            } else {
                let value = map.next_value_seed(FieldValue { name: &name })?;
                read.changes.0.insert(name, value);
            }
        }
        Ok(read)
    }
}

struct FieldName {
    with_base: bool,
}

impl<'de> de::DeserializeSeed<'de> for FieldName {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let name = String::deserialize(deserializer)?;
        if self.with_base && name == BASE {
            return Ok(name);
        }
        // Null is valid for some fields only, but an unknown field is always reported as unknown.
        let unknown = check(&name, &Json::Null).err().filter(|why| why.contains("unknown field"));
        unknown.map_or(Ok(name), |why| Err(de::Error::custom(why)))
    }
}

struct FieldValue<'n> {
    name: &'n str,
}

impl<'de> de::DeserializeSeed<'de> for FieldValue<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        let value = Json::deserialize(deserializer)?;
        check(self.name, &value).map_err(de::Error::custom)?;
        Ok(value)
    }
}

struct Base;

impl<'de> de::DeserializeSeed<'de> for Base {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let name = String::deserialize(deserializer)?;
        if Profile::built_in(&name).is_some() {
            return Ok(name);
        }
        let known: Vec<&str> = Profile::names().collect();
        Err(de::Error::custom(format!(
            "there is no built-in profile `{name}`; there are {}",
            known.join(", ")
        )))
    }
}

/// Checks that a profile accepts this value for this field.
fn check(name: &str, value: &Json) -> Result<(), String> {
    let change = Map::from_iter([(name.to_owned(), value.clone())]);
    Profile::default().with(&change).map(drop)
}
