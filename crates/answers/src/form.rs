//! Forms: several fields in one question, read from a subset of JSON Schema.
//!
//! Only [`Form::read`] makes a form, so that every field of a form can be asked for and every answer checked. The
//! schema accepts every answer that the form accepts.

mod answer;
mod range;
mod read;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::range::Range;
use crate::pick::{self, Named};

/// Form for the user to fill in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct Form {
    schema: Json,
    fields: Vec<Field>,
}

/// Field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub kind: FieldKind,
    /// Value if the user leaves the field blank.
    pub unsaid: Unsaid,
}

/// Type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    Text(TextRule),
    Number(Range),
    Integer(Range),
    YesNo,
    One(Vec<Offer>),
    Several { offers: Vec<Offer>, least: usize, most: usize },
}

/// Result of a field that the user leaves blank.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsaid {
    /// The field is required, so the user is asked again.
    Refused,
    /// The answer has no such key.
    LeftOut,
    /// The default, or null where the schema requires the field.
    Is(Json),
}

/// Rules for a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRule {
    pub least: u64,
    pub most: Option<u64>,
    pub pattern: Option<FormPattern>,
    /// Hint for the user, such as `date` or `email`. It is not checked.
    pub format: Option<String>,
}

/// Regular expression that matches in linear time.
#[derive(Clone, Debug)]
pub struct FormPattern {
    text: String,
    regex: regex::Regex,
}

/// Value that the user can choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub value: Json,
    /// Value as the user types it.
    pub text: String,
    pub title: Option<String>,
}

impl Offer {
    /// Returns the text that the user sees.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.text)
    }
}

impl Form {
    /// Returns true if every field takes any text, so that one text can answer all of them.
    pub fn is_plain(&self) -> bool {
        self.fields.iter().all(|field| field.kind == FieldKind::Text(TextRule::default()))
    }

    /// Reads a form from a schema. The errors are parts of a sentence for the schema's author, all at once.
    pub fn read(schema: &Json) -> Result<Self, Vec<String>> {
        let fields = read::fields(schema)?;
        Ok(Self { schema: schema.clone(), fields })
    }

    /// Returns the fields, at least one, in the order of the schema.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the original schema.
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
    /// Returns the text that the user sees.
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Describes the valid values in a few words.
    pub fn describe(&self) -> String {
        match &self.kind {
            FieldKind::Text(rule) => rule.describe(),
            FieldKind::Number(range) => format!("a number{}", range.describe()),
            FieldKind::Integer(range) => format!("a whole number{}", range.describe()),
            FieldKind::YesNo => "yes or no".to_owned(),
            FieldKind::One(offers) | FieldKind::Several { offers, .. } => {
                format!("{} of: {}", self.how_many(), pick::offered(offers))
            }
        }
    }

    /// Describes in a word or two how many values it takes.
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

    /// Returns true if the user may choose its options by number.
    pub fn is_numbered(&self) -> bool {
        pick::is_numbered(self.offers())
    }

    /// Returns its options.
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
    fn describe(&self) -> String {
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

impl PartialEq for FormPattern {
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
