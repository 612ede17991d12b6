//! A question as a block of its own, with what can be answered.

use crewagent_core::question::{Choice, Question, QuestionKind};

use super::flow::{Flow, Width};
use crate::paint::{self, ACCENT, NAME, QUIET};

/// The bar in front of each line.
const BAR: &str = "┃";

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The model.
    Model,
    /// The runtime, before a move. Whatever is no yes goes to the model.
    Runtime,
}

/// The lines of a question.
pub(crate) fn question(question: &Question, asker: Asker, width: Width) -> String {
    let mut lines = Vec::new();
    // The bar and the blanks around it.
    let inner = match width {
        Width::Columns(columns) => Width::Columns(columns.saturating_sub(4)),
        Width::Endless => Width::Endless,
    };
    let mut flow = Flow::new(inner, "");
    let words = flow.push(&question.question) + &flow.finish();
    lines.extend(words.lines().map(|line| paint::styled(NAME, line)));
    if !question.options.is_empty() {
        lines.push(String::new());
        lines.extend((1..).zip(&question.options).map(|(number, choice)| option(number, choice)));
    }
    if let Some(how) = how(question, asker) {
        lines.push(paint::styled(QUIET, how));
    }
    let bar = paint::styled(ACCENT, BAR);
    lines.iter().map(|line| format!("  {bar} {line}").trim_end().to_owned() + "\n").collect()
}

fn option(number: usize, choice: &Choice) -> String {
    let label = paint::printable(choice.shown());
    let mut text = format!("{}  {label}", paint::styled(ACCENT, format_args!("{number:>2}")));
    if choice.shown() != choice.value {
        let value = paint::printable(&choice.value);
        text.push_str(&paint::styled(QUIET, format_args!("  {value}")));
    }
    if let Some(description) = choice.description.as_deref().filter(|text| !text.is_empty()) {
        let description = paint::printable(description);
        text.push_str(&paint::styled(QUIET, format_args!("  {description}")));
    }
    text
}

/// What counts as an answer, where the question does not say so itself.
fn how(question: &Question, asker: Asker) -> Option<String> {
    match question.kind {
        QuestionKind::Text => None,
        QuestionKind::Confirm if asker == Asker::Runtime => {
            Some("yes, or what to do first".to_owned())
        }
        QuestionKind::Confirm => Some("yes or no".to_owned()),
        QuestionKind::Choice if question.multi => {
            Some("one or several, by number or name, with commas between them".to_owned())
        }
        QuestionKind::Choice => Some("one of them, by number or name".to_owned()),
        QuestionKind::Form => Some(match fields(question) {
            Some(fields) => format!("a JSON object with {fields}"),
            None => "a JSON object".to_owned(),
        }),
    }
}

/// The fields of a form, as its schema names them.
fn fields(question: &Question) -> Option<String> {
    let properties = question.schema.as_ref()?.get("properties")?.as_object()?;
    let names: Vec<String> = properties
        .iter()
        .map(|(name, schema)| {
            let kind = schema.get("type").and_then(|kind| kind.as_str()).unwrap_or("value");
            paint::printable(&format!("{name} ({kind})"))
        })
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}
