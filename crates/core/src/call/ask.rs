//! The arguments of `ui.ask_user`.

use crewagent_format::wording::quoted;
use serde_json::{Map, Value as Json, json};

use super::Tool;
use super::params::{Params, Problems};
use crate::question::form::Form;
use crate::question::{Question, QuestionKind, QuestionOption};

/// Maximum size of a question, in bytes.
const MAX_QUESTION: usize = 16 * 1024;
/// Maximum number of options of a question.
const MAX_OPTIONS: usize = 100;
/// Maximum size of the value, the label and the description of an option, in bytes each.
const MAX_OPTION: usize = 1024;
/// Maximum size of a form's schema, in bytes.
const MAX_SCHEMA: usize = 64 * 1024;

const KINDS: [(&str, QuestionKind); 4] = [
    ("text", QuestionKind::Text),
    ("choice", QuestionKind::Choice),
    ("confirm", QuestionKind::Confirm),
    ("form", QuestionKind::Form),
];

pub(super) fn ask(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<Question> {
    let params = Params::open(arguments, Tool::AskUser.parameters(), problems);
    let question = params.required_text("question", problems);
    if let Some(question) = question {
        if question.trim().is_empty() {
            problems.mistake("`question` is empty");
        } else if question.len() > MAX_QUESTION {
            problems.mistake(format!("`question` has more than {MAX_QUESTION} bytes"));
        }
    }
    let mut options = options(&params, problems);
    let schema = schema(&params, problems);
    let multi = params.flag("multi", problems);
    let is_yes_no = !multi && is_yes_no(&options);
    let kind = match params.get("kind") {
        Some(_) => params.choice("kind", &KINDS, problems)?,
        // The other fields imply the kind of question.
        None if is_yes_no => QuestionKind::Confirm,
        None if !options.is_empty() => QuestionKind::Choice,
        None if schema.is_some() => QuestionKind::Form,
        None => QuestionKind::Text,
    };
    if kind == QuestionKind::Confirm && is_yes_no {
        options.clear();
    }
    check_kind(kind, &options, multi, problems);
    let form = form(kind, schema.as_ref(), problems);
    let question = question?.to_owned();
    Some(Question { question, kind, options, multi, schema: form, ..Question::default() })
}

/// Returns true if the options are a yes and a no, and nothing else.
fn is_yes_no(options: &[QuestionOption]) -> bool {
    const PAIRS: [[&str; 2]; 2] = [["yes", "no"], ["是", "否"]];
    let [one, other] = options else { return false };
    let is_word = |option: &QuestionOption, word: &str| {
        let is_it = |text: &str| text.trim().to_lowercase() == word;
        let label = option.label.as_deref().filter(|label| !label.trim().is_empty());
        is_it(&option.value) && label.is_none_or(is_it) && option.description.is_none()
    };
    let is_pair = |[yes, no]: [&str; 2]| {
        is_word(one, yes) && is_word(other, no) || is_word(one, no) && is_word(other, yes)
    };
    PAIRS.into_iter().any(is_pair)
}

/// Returns the schema of a form: as given, or of required texts with the names in `fields`.
fn schema(params: &Params<'_>, problems: &mut Problems) -> Option<Json> {
    let is_empty = |schema: &Json| schema.as_object().is_some_and(Map::is_empty);
    let schema = params.structure("schema").map(std::borrow::Cow::into_owned);
    let schema = schema.filter(|schema| !is_empty(schema));
    let names = params.list("fields", problems).unwrap_or_default();
    if names.is_empty() {
        return schema;
    }
    if schema.is_some() {
        problems.mistake("`fields` and `schema` are both there; give one");
        return schema;
    }
    let mut properties = Map::new();
    for (index, name) in names.iter().enumerate() {
        let Some(name) = name.as_str() else {
            let kind = crewagent_format::wording::kind(name);
            problems.mistake(format!("`fields[{index}]` must be a string, but it is {kind}"));
            continue;
        };
        if properties.insert(name.to_owned(), json!({ "type": "string" })).is_some() {
            problems.mistake(format!("`fields[{index}]` {} is there twice", quoted(name)));
        }
    }
    let required: Vec<&String> = properties.keys().collect();
    Some(json!({ "type": "object", "required": required, "properties": properties }))
}

fn check_kind(
    kind: QuestionKind,
    options: &[QuestionOption],
    multi: bool,
    problems: &mut Problems,
) {
    let is_choice = kind == QuestionKind::Choice;
    if is_choice && options.is_empty() {
        problems.mistake(
            "a question of kind `choice` needs `options`, such as [{\"value\":\"a\",\"label\":\"The first\"}]",
        );
    }
    if !is_choice && !options.is_empty() {
        problems.mistake("`options` belong to a question of kind `choice`");
    }
    if !is_choice && multi {
        problems.mistake("`multi` belongs to a question of kind `choice`");
    }
}

/// Returns the form, if the kind of question needs one.
fn form(kind: QuestionKind, schema: Option<&Json>, problems: &mut Problems) -> Option<Form> {
    match schema {
        None if kind == QuestionKind::Form => problems.mistake(
            "a question of kind `form` needs `fields`, such as [\"name\"], or `schema`, such as {\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}",
        ),
        None => {}
        Some(_) if kind != QuestionKind::Form => {
            problems.mistake("`schema` and `fields` belong to a question of kind `form`");
        }
        Some(schema) if schema.to_string().len() > MAX_SCHEMA => {
            problems.mistake(format!("`schema` has more than {MAX_SCHEMA} bytes"));
        }
        Some(schema) => match Form::read(schema) {
            Ok(form) => return Some(form),
            Err(mistakes) => mistakes.into_iter().for_each(|mistake| problems.mistake(mistake)),
        },
    }
    None
}

fn options(params: &Params<'_>, problems: &mut Problems) -> Vec<QuestionOption> {
    let items = params.list("options", problems).unwrap_or_default();
    if items.len() > MAX_OPTIONS {
        problems.mistake(format!("`options` has more than {MAX_OPTIONS} items"));
        return Vec::new();
    }
    let mut choices: Vec<QuestionOption> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("options[{index}]");
        let Some(choice) = option(item, &at, problems) else { continue };
        let parts = [Some(&choice.value), choice.label.as_ref(), choice.description.as_ref()];
        if parts.into_iter().flatten().any(|part| part.len() > MAX_OPTION) {
            problems.mistake(format!("`{at}` has a text of more than {MAX_OPTION} bytes"));
        } else if choice.value.trim().is_empty() {
            problems.mistake(format!("`{at}.value` is empty"));
        } else if choices.iter().any(|other| other.value == choice.value) {
            problems.mistake(format!("`{at}.value` {} is there twice", quoted(&choice.value)));
        }
        choices.push(choice);
    }
    choices
}

/// Parses an option; a text alone is an option without a label.
fn option(item: &Json, at: &str, problems: &mut Problems) -> Option<QuestionOption> {
    if let Json::String(value) = item {
        return Some(QuestionOption { value: value.clone(), ..QuestionOption::default() });
    }
    let params = Params::open_inside(item, at, &["value", "label", "description"], problems)?;
    let own = |text: Option<&str>| text.map(str::to_owned);
    let label = own(params.text("label", problems));
    let description = own(params.text("description", problems));
    let value = own(params.required_text("value", problems))?;
    Some(QuestionOption { value, label, description, does: None })
}
