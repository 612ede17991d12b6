//! Reads a form from a JSON Schema. Keywords outside the supported subset are errors, because a rule that is not
//! enforced is worse than one that is refused.

use crewagent_format::wording::{kind, quoted, ticked};
use serde_json::{Map, Value as Json};

use super::range::{Bound, Inclusion};
use super::{Field, FieldKind, FormPattern, Offer, Range, TextRule, Unsaid};

const MAX_FIELDS: usize = 50;
const MAX_NAME: usize = 128;
const MAX_OFFERS: usize = 100;
const MAX_OFFER: usize = 1024;
const MAX_PATTERN: usize = 1024;
const MAX_COMPILED: usize = 256 * 1024;

/// Keywords that are only annotations.
const NOTES: [&str; 12] = [
    "$comment",
    "$id",
    "$schema",
    "deprecated",
    "description",
    "examples",
    "format",
    "placeholder",
    "propertyOrdering",
    "readOnly",
    "title",
    "writeOnly",
];
/// Keywords of the form itself.
const FORM: [&str; 4] = ["additionalProperties", "properties", "required", "type"];
const TEXT: [&str; 5] = ["default", "maxLength", "minLength", "pattern", "type"];
const NUMBER: [&str; 6] =
    ["default", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "type"];
const PLAIN: [&str; 2] = ["default", "type"];
/// Keywords that list the options of a choice: a plain list, or a list with titles.
const CHOICES: [&str; 3] = ["enum", "oneOf", "anyOf"];
const ENUM: [&str; 4] = ["default", "enum", "enumNames", "type"];
const TITLED: [&str; 4] = ["anyOf", "default", "oneOf", "type"];
const CHOICE: [&str; 1] = ["const"];
const LIST: [&str; 6] = ["default", "items", "maxItems", "minItems", "type", "uniqueItems"];

/// Reads the fields of a form, or returns all mistakes of the schema.
pub(super) fn fields(schema: &Json) -> Result<Vec<Field>, Vec<String>> {
    let mut reader = Reader::default();
    let fields = reader.form(schema).unwrap_or_default();
    if reader.mistakes.is_empty() { Ok(fields) } else { Err(reader.mistakes) }
}

#[derive(Default)]
struct Reader {
    mistakes: Vec<String>,
}

/// Type of a value, and whether it may be null.
#[derive(Clone, Copy)]
struct Typed<'s> {
    name: Option<&'s str>,
    nullable: bool,
}

/// Object of the schema with its path.
#[derive(Clone, Copy)]
struct Part<'s> {
    keys: &'s Map<String, Json>,
    at: &'s str,
}

type ChoicePair<'s> = (&'s Json, Option<&'s str>);

/// Returns the list of options and the keyword that holds it.
fn choices<'s>(part: Part<'s>) -> Option<(&'static str, &'s [Json])> {
    CHOICES.iter().find_map(|key| Some((*key, part.keys.get(*key)?.as_array()?.as_slice())))
}

impl Reader {
    fn mistake(&mut self, mistake: impl Into<String>) {
        self.mistakes.push(mistake.into());
    }

    fn form(&mut self, schema: &Json) -> Option<Vec<Field>> {
        let part = self.part(schema, "schema")?;
        self.keywords(part, &FORM, "a form");
        if part.keys.get("type").is_some_and(|of| of != "object") {
            self.mistake("`schema.type` must be `object`: a form is one object, and each field is one of its `properties`");
        }
        let properties = part.keys.get("properties").and_then(Json::as_object);
        let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
            self.mistake("`schema.properties` must name the fields of the form, such as {\"name\":{\"type\":\"string\"}}");
            return None;
        };
        if properties.len() > MAX_FIELDS {
            self.mistake(format!("`schema.properties` has more than {MAX_FIELDS} fields"));
            return None;
        }
        let required = self.required(part, properties);
        let fields = properties
            .iter()
            .filter_map(|(name, schema)| self.field(name, schema, required.contains(&&**name)))
            .collect();
        Some(fields)
    }

    fn part<'s>(&mut self, value: &'s Json, at: &'s str) -> Option<Part<'s>> {
        if !value.is_object() {
            self.mistake(format!("`{at}` must be an object, but it is {}", kind(value)));
        }
        value.as_object().map(|keys| Part { keys, at })
    }

    fn keywords(&mut self, part: Part<'_>, known: &[&str], what: &str) {
        let is_known =
            |key: &str| known.contains(&key) || NOTES.contains(&key) || key.starts_with("x-");
        let listed = ticked(known);
        for key in part.keys.keys().filter(|key| !is_known(key)) {
            let at = part.at;
            self.mistake(format!(
                "`{at}` has {}, which is not supported there; {what} may have {listed}, `title`, `description`",
                quoted(key)
            ));
        }
    }

    fn required<'s>(&mut self, part: Part<'s>, properties: &Map<String, Json>) -> Vec<&'s str> {
        let Some(required) = part.keys.get("required").filter(|list| !list.is_null()) else {
            return Vec::new();
        };
        let names = required.as_array().and_then(|names| names.iter().map(Json::as_str).collect());
        let Some(names): Option<Vec<&str>> = names else {
            self.mistake("`schema.required` must be a list of names");
            return Vec::new();
        };
        for name in names.iter().filter(|name| !properties.contains_key(**name)) {
            self.mistake(format!(
                "`schema.required` names {}, which is not in `schema.properties`",
                quoted(name)
            ));
        }
        names
    }

    fn field(&mut self, name: &str, schema: &Json, is_required: bool) -> Option<Field> {
        if name.trim().is_empty() || name.len() > MAX_NAME || name.contains(['\n', '\r']) {
            self.mistake(format!(
                "the field name {} must be one line of 1 to {MAX_NAME} bytes",
                quoted(name)
            ));
            return None;
        }
        let at = format!("schema.properties.{name}");
        let part = self.part(schema, &at)?;
        let typed = self.typed(part)?;
        let field_kind = self.kind(part, typed)?;
        let has_null = choices(part).is_none_or(|(_, choices)| {
            choices.iter().any(|choice| choice.get("const").unwrap_or(choice).is_null())
        });
        let unsaid = match is_required {
            true if typed.nullable && has_null => Unsaid::Is(Json::Null),
            true => Unsaid::Refused,
            false => Unsaid::LeftOut,
        };
        let words = |key: &str| {
            let text = part.keys.get(key).and_then(Json::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (title, description) = (words("title"), words("description"));
        let mut field =
            Field { name: name.to_owned(), title, description, kind: field_kind, unsaid };
        let default = part.keys.get("default").filter(|value| !value.is_null() && **value != "");
        if let Some(default) = default {
            match field.value(default) {
                Ok(value) => field.unsaid = Unsaid::Is(value),
                Err(why) => self.mistake(format!(
                    "`{at}.default` does not fit its own field: {}",
                    why.trim_end_matches('.')
                )),
            }
        }
        Some(field)
    }

    fn typed<'s>(&mut self, part: Part<'s>) -> Option<Typed<'s>> {
        match part.keys.get("type") {
            None => Some(Typed { name: None, nullable: false }),
            Some(Json::String(name)) => Some(Typed { name: Some(name), nullable: false }),
            Some(Json::Array(names)) => {
                let nullable = names.iter().any(|name| name == "null");
                let mut others = names.iter().filter(|name| *name != "null").map(Json::as_str);
                if let (Some(Some(name)), None) = (others.next(), others.next()) {
                    return Some(Typed { name: Some(name), nullable });
                }
                self.mistake(format!("`{}.type` must be one type", part.at));
                None
            }
            Some(_) => {
                self.mistake(format!("`{}.type` must be one type", part.at));
                None
            }
        }
    }

    fn kind(&mut self, part: Part<'_>, typed: Typed<'_>) -> Option<FieldKind> {
        let Part { keys, at } = part;
        match typed.name {
            Some("string" | "number" | "integer" | "boolean") | None
                if CHOICES.iter().any(|key| keys.contains_key(*key)) =>
            {
                self.offers(part, typed).map(FieldKind::One)
            }
            Some("string") | None => {
                let what = "a field of type `string`";
                self.keywords(part, &TEXT, what);
                self.text(part).map(FieldKind::Text)
            }
            Some("number") => {
                self.keywords(part, &NUMBER, "a field of type `number`");
                let range = self.range(part)?;
                if range.is_empty() {
                    self.mistake(format!(
                        "no number fits `{at}`: its bounds leave nothing between them"
                    ));
                    return None;
                }
                Some(FieldKind::Number(range))
            }
            Some("integer") => {
                self.keywords(part, &NUMBER, "a field of type `integer`");
                let range = self.range(part)?;
                if range.is_empty() || range.has_no_integer() {
                    self.mistake(format!(
                        "no whole number fits `{at}`: its bounds leave none between them"
                    ));
                    return None;
                }
                Some(FieldKind::Integer(range))
            }
            Some("boolean") => {
                self.keywords(part, &PLAIN, "a field of type `boolean`");
                Some(FieldKind::YesNo)
            }
            Some("array") => {
                self.keywords(part, &LIST, "a field of type `array`");
                self.several(part)
            }
            Some("object") => {
                self.mistake(format!(
                    "`{at}` is an object; a form is flat, so make each of its parts a field of its own"
                ));
                None
            }
            Some(other) => {
                self.mistake(format!(
                    "`{at}.type` must be `string`, `number`, `integer`, `boolean`, or `array` of an `enum`, but it is {}",
                    quoted(other)
                ));
                None
            }
        }
    }

    fn text(&mut self, part: Part<'_>) -> Option<TextRule> {
        let least = self.count(part, "minLength")?.unwrap_or(0);
        let most = self.count(part, "maxLength")?;
        if most.is_some_and(|most| most < least || most == 0) {
            self.mistake(format!("no text fits `{}`: `maxLength` is too small", part.at));
            return None;
        }
        let format = part.keys.get("format").and_then(Json::as_str).map(str::to_owned);
        let pattern = match part.keys.get("pattern") {
            None => None,
            Some(Json::String(text)) => Some(self.pattern(part, text)?),
            Some(_) => {
                self.mistake(format!("`{}.pattern` must be a string", part.at));
                return None;
            }
        };
        Some(TextRule { least, most, pattern, format })
    }

    /// Compiles a pattern in JavaScript's syntax, as JSON Schema writes it. Patterns that need backtracking are
    /// refused.
    fn pattern(&mut self, part: Part<'_>, text: &str) -> Option<FormPattern> {
        let compiled =
            jsonschema_regex::to_rust_regex(text).ok().filter(|_| text.len() <= MAX_PATTERN);
        let regex = compiled.and_then(|text| {
            let mut builder = regex::RegexBuilder::new(&text);
            builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).build().ok()
        });
        if regex.is_none() {
            self.mistake(format!(
                "`{}.pattern` {} is not a regular expression that can be used: at most {MAX_PATTERN} bytes, without look-around and back-references",
                part.at,
                quoted(text)
            ));
        }
        Some(FormPattern { text: text.to_owned(), regex: regex? })
    }

    fn range(&mut self, part: Part<'_>) -> Option<Range> {
        let ends = [
            ("minimum", Inclusion::Inside),
            ("exclusiveMinimum", Inclusion::Outside),
            ("maximum", Inclusion::Inside),
            ("exclusiveMaximum", Inclusion::Outside),
        ];
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for (key, edge) in ends {
            let Some(end) = part.keys.get(key) else { continue };
            let number = match end {
                Json::Number(number) => number.as_f64().map(|value| (number, value)),
                Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    None
                }
            };
            let Some((number, value)) = number else {
                self.mistake(format!(
                    "`{}.{key}` must be a number, but it is {}",
                    part.at,
                    kind(end)
                ));
                return None;
            };
            let bound = Bound { number: number.clone(), value, edge };
            if key.ends_with("inimum") { lower.push(bound) } else { upper.push(bound) }
        }
        Some(Range::within(lower, upper))
    }

    /// Reads an optional count; `None` if the value is not a count.
    fn count(&mut self, part: Part<'_>, key: &str) -> Option<Option<u64>> {
        let Some(value) = part.keys.get(key) else { return Some(None) };
        if value.as_u64().is_none() {
            self.mistake(format!("`{}.{key}` must be a whole number from 0", part.at));
        }
        value.as_u64().map(Some)
    }

    fn offers(&mut self, part: Part<'_>, typed: Typed<'_>) -> Option<Vec<Offer>> {
        let listed =
            choices(part).filter(|(_, choices)| !choices.is_empty() && choices.len() <= MAX_OFFERS);
        let Some((key, choices)) = listed else {
            let key = CHOICES.iter().find(|key| part.keys.contains_key(**key)).unwrap_or(&"enum");
            self.mistake(format!("`{}.{key}` must be a list of 1 to {MAX_OFFERS} values", part.at));
            return None;
        };
        let at = format!("{}.{key}", part.at);
        let values = if key == "enum" {
            self.keywords(part, &ENUM, "a field with `enum`");
            self.plain_choices(part, choices)
        } else {
            self.keywords(part, &TITLED, &format!("a field with `{key}`"));
            self.titled_choices(&at, choices)?
        };
        let mut offers: Vec<Offer> = Vec::new();
        for (value, title) in values {
            if typed.nullable && value.is_null() {
                continue;
            }
            let fits = match value {
                Json::String(_) => matches!(typed.name, None | Some("string")),
                Json::Number(number) => match typed.name {
                    Some("integer") => number.as_f64().is_some_and(|value| value.fract() == 0.0),
                    other => matches!(other, None | Some("number")),
                },
                Json::Bool(_) => matches!(typed.name, None | Some("boolean")),
                Json::Null | Json::Array(_) | Json::Object(_) => false,
            };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if !fits || text.trim().is_empty() || text.len() > MAX_OFFER {
                let what = typed.name.unwrap_or("string, number or boolean");
                self.mistake(format!(
                    "`{at}` has {}, which is not a {what} of 1 to {MAX_OFFER} bytes",
                    quoted(&text)
                ));
            }
            let title = title.map(str::trim).filter(|title| !title.is_empty()).map(str::to_owned);
            let names = [Some(&text), title.as_ref()];
            let is_taken = |name: &&String| {
                offers.iter().any(|other| [other.shown(), &other.text].contains(&name.as_str()))
            };
            if let Some(name) = names.into_iter().flatten().find(is_taken) {
                self.mistake(format!("`{at}` has {} twice", quoted(name)));
            }
            if title.as_ref().is_some_and(|title| title.len() > MAX_OFFER) {
                self.mistake(format!("`{at}` has a title of more than {MAX_OFFER} bytes"));
            }
            offers.push(Offer { value: value.clone(), text, title });
        }
        if offers.is_empty() {
            self.mistake(format!("`{at}` offers nothing"));
        }
        Some(offers)
    }

    /// Reads the values of an `enum` with their names in `enumNames`.
    fn plain_choices<'s>(&mut self, part: Part<'s>, values: &'s [Json]) -> Vec<ChoicePair<'s>> {
        let names = part.keys.get("enumNames").map(|names| names.as_array().map(Vec::as_slice));
        let names = match names {
            None => &[],
            Some(Some(names)) if names.len() == values.len() => names,
            Some(_) => {
                self.mistake(format!(
                    "`{}.enumNames` must be a list with a name for each value of `enum`",
                    part.at
                ));
                &[]
            }
        };
        let name = |at: usize| names.get(at).and_then(Json::as_str);
        values.iter().enumerate().map(|(at, value)| (value, name(at))).collect()
    }

    /// Reads the values of a `oneOf` or an `anyOf`, each a `const` with a `title`.
    fn titled_choices<'s>(&mut self, at: &str, choices: &'s [Json]) -> Option<Vec<ChoicePair<'s>>> {
        let mut values = Vec::new();
        for choice in choices {
            let value = choice.as_object().and_then(|keys| Some((keys, keys.get("const")?)));
            let Some((keys, value)) = value else {
                self.mistake(format!(
                    "`{at}` must be a list of choices such as {{\"const\":\"a\",\"title\":\"The first\"}}"
                ));
                return None;
            };
            self.keywords(Part { keys, at }, &CHOICE, "a choice");
            values.push((value, keys.get("title").and_then(Json::as_str)));
        }
        Some(values)
    }

    fn several(&mut self, part: Part<'_>) -> Option<FieldKind> {
        let at = format!("{}.items", part.at);
        let items = part.keys.get("items").and_then(Json::as_object);
        let is_choice =
            |keys: &&Map<String, Json>| CHOICES.iter().any(|key| keys.contains_key(*key));
        let Some(keys) = items.filter(is_choice) else {
            self.mistake(format!(
                "`{at}` must have an `enum`: a field of type `array` lets the user choose several values; for a list of free text use a field of type `string`"
            ));
            return None;
        };
        let items = Part { keys, at: &at };
        let typed = self.typed(items)?;
        let offers = self.offers(items, typed)?;
        let size =
            |count: Option<u64>| count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let least = size(self.count(part, "minItems")?).unwrap_or(0);
        let most = size(self.count(part, "maxItems")?).unwrap_or(usize::MAX);
        if least > most || least > offers.len() {
            self.mistake(format!("nothing fits `{}`: `minItems` is too large", part.at));
            return None;
        }
        Some(FieldKind::Several { offers, least, most })
    }
}
