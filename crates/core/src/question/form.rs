//! A form: fields that are asked for in one question, read from a small part of JSON Schema.
//!
//! [`Form::read`] is the only way to make one, so whoever holds a form can ask for every field of it and judge every
//! answer. What it accepts as an answer, the schema accepts too.

mod answer;
mod range;
mod read;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::range::Range;
use super::pick::{self, Named};

/// A form that can be filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct Form {
    schema: Json,
    fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    /// What the user reads instead of the name.
    pub title: Option<String>,
    pub description: Option<String>,
    pub kind: FieldKind,
    /// What becomes of it when the user says nothing.
    pub unsaid: Unsaid,
}

/// What fits into a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    Text(TextRule),
    Number(Range),
    Integer(Range),
    YesNo,
    One(Vec<Offer>),
    Several { offers: Vec<Offer>, least: usize, most: usize },
}

/// What becomes of a field that the user says nothing about.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsaid {
    /// It is asked for again: the field is required.
    Refused,
    /// It is not in the answer.
    LeftOut,
    /// It has this value: its default, or null where the schema wants the field to be there.
    Is(Json),
}

/// Which words fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRule {
    pub least: u64,
    pub most: Option<u64>,
    pub pattern: Option<Pattern>,
    /// What they are, as a hint for the user: `date`, `email`. It is not checked.
    pub format: Option<String>,
}

/// A regular expression that is found in linear time.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: regex::Regex,
}

/// A value that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub value: Json,
    /// The value as it is typed.
    pub text: String,
    /// What the user reads instead of the value.
    pub title: Option<String>,
}

impl Offer {
    /// What the user reads.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.text)
    }
}

impl Form {
    /// The form that a schema describes. The errors are parts of a sentence for whoever wrote the schema, all at once.
    pub fn read(schema: &Json) -> Result<Self, Vec<String>> {
        let fields = read::fields(schema)?;
        Ok(Self { schema: schema.clone(), fields })
    }

    /// Its fields, at least one, in the order of the schema.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The schema as it was given.
    pub fn schema(&self) -> &Json {
        &self.schema
    }
}

impl TryFrom<Json> for Form {
    type Error = String;

    fn try_from(schema: Json) -> Result<Self, String> {
        Self::read(&schema).map_err(|mistakes| mistakes.join("; "))
    }
}

impl From<Form> for Json {
    fn from(form: Form) -> Self {
        form.schema
    }
}

impl JsonSchema for Form {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Form".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A JSON Schema of an object whose properties are strings, numbers, integers, booleans, or choices.",
            "type": "object"
        })
    }
}

impl Field {
    /// What the user reads.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// What fits into it, in a few words.
    pub fn wanted(&self) -> String {
        match &self.kind {
            FieldKind::Text(rule) => rule.wanted(),
            FieldKind::Number(range) => format!("a number{}", range.wanted()),
            FieldKind::Integer(range) => format!("a whole number{}", range.wanted()),
            FieldKind::YesNo => "yes or no".to_owned(),
            FieldKind::One(offers) | FieldKind::Several { offers, .. } => {
                format!("{} of: {}", self.how_many(), pick::offered(offers))
            }
        }
    }

    /// How many values it takes, in a word or two.
    pub fn how_many(&self) -> String {
        match &self.kind {
            FieldKind::Several { offers, least, most } => match (*least, *most) {
                (0, most) if most >= offers.len() => "any".to_owned(),
                (least, most) if most >= offers.len() => format!("at least {least}"),
                (0, most) => format!("at most {most}"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            },
            FieldKind::Text(_)
            | FieldKind::Number(_)
            | FieldKind::Integer(_)
            | FieldKind::YesNo
            | FieldKind::One(_) => "one".to_owned(),
        }
    }

    /// Whether what can be chosen for it may be called by its number.
    pub fn is_numbered(&self) -> bool {
        pick::is_numbered(self.offers())
    }

    /// What can be chosen for it.
    pub fn offers(&self) -> &[Offer] {
        match &self.kind {
            FieldKind::One(offers) | FieldKind::Several { offers, .. } => offers,
            FieldKind::Text(_)
            | FieldKind::Number(_)
            | FieldKind::Integer(_)
            | FieldKind::YesNo => &[],
        }
    }
}

impl Named for Field {
    fn value(&self) -> &str {
        &self.name
    }

    fn shown(&self) -> &str {
        Field::shown(self)
    }
}

impl TextRule {
    fn wanted(&self) -> String {
        let count = |count: u64| match count {
            1 => "1 character".to_owned(),
            count => format!("{count} characters"),
        };
        let mut text = match (self.least, self.most) {
            (0 | 1, None) => "text".to_owned(),
            (least, None) => format!("text of at least {}", count(least)),
            (0 | 1, Some(most)) => format!("text of at most {}", count(most)),
            (least, Some(most)) if least == most => format!("text of {}", count(least)),
            (least, Some(most)) => format!("text of {least} to {}", count(most)),
        };
        if let Some(format) = &self.format {
            text.push_str(&format!(" ({format})"));
        }
        if let Some(pattern) = &self.pattern {
            text.push_str(&format!(" that matches {}", pattern.text));
        }
        text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Named for Offer {
    fn value(&self) -> &str {
        &self.text
    }

    fn shown(&self) -> &str {
        Offer::shown(self)
    }
}
