//! Questions as blocks, with the possible answers.

use crewagent_core::question::approval::Approval;
use crewagent_core::question::form::{Field, FieldKind, Form, Unsaid};
use crewagent_core::question::gate::ShownDraft;
use crewagent_core::question::{Question, QuestionKind, QuestionOption};

use crewagent_source::bytes;
use serde_json::Value as Json;
use unicode_width::UnicodeWidthStr as _;

use super::flow::{Flow, Width};
use crate::language::{say, text};
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET, WARNING};

/// The bar in front of each line.
const BAR: &str = "┃";

/// The author of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Model,
    /// The runtime, before a move. Any answer but a yes goes to the model.
    Runtime,
}

/// Formats a question. Drafts in `shown` are on the screen already.
pub(crate) fn question(
    question: &Question,
    asker: Asker,
    width: Width,
    shown: &[String],
) -> String {
    let inner = inside(width);
    let mut lines: Vec<String> =
        question.show.iter().flat_map(|draft| draft_lines(draft, shown, inner)).collect();
    lines.extend(titled(&question.question, inner));
    if !question.options.is_empty() {
        lines.push(String::new());
        let keys = question.options.iter().map(|option| option.value.as_str());
        let marks: Box<dyn Iterator<Item = String>> = match question.kind {
            QuestionKind::Gate => Box::new(keys.map(key_mark)),
            QuestionKind::Text
            | QuestionKind::Choice
            | QuestionKind::Confirm
            | QuestionKind::Form
            | QuestionKind::Approval => Box::new(marks(question.is_numbered())),
        };
        lines.extend(marks.zip(&question.options).flat_map(|(mark, choice)| match question.kind {
            QuestionKind::Gate => vec![format!("{mark}  {}", paint::printable(choice.shown()))],
            QuestionKind::Text
            | QuestionKind::Choice
            | QuestionKind::Confirm
            | QuestionKind::Form
            | QuestionKind::Approval => option(&mark, choice, inner),
        }));
    }
    if let Some(approval) = &question.approval {
        lines.extend(deed(approval, inner));
    }
    if let Some(form) = &question.schema {
        lines.push(String::new());
        lines.extend(form.fields().iter().flat_map(|field| summary(field, inner)));
    }
    if let Some(how) = how(question, asker) {
        lines.extend(quiet(&how, inner));
    }
    barred(&lines)
}

/// Formats one field of a form when it is asked for.
pub(crate) fn field(form: &Form, at: usize, width: Width) -> String {
    let Some(field) = form.fields().get(at) else { return String::new() };
    let inner = inside(width);
    let mut lines = titled(field.shown(), inner);
    if let [_, _, ..] = form.fields()
        && let Some(first) = lines.first_mut()
    {
        let place = format!("{}/{} ", at + 1, form.fields().len());
        *first = paint::styled(QUIET, place) + first;
    }
    if let Some(description) = &field.description {
        lines.extend(wrapped(description, inner));
    }
    for (mark, offer) in marks(field.is_numbered()).zip(field.offers()) {
        lines.push(format!("{mark}  {}", paint::printable(offer.shown())));
    }
    let blank = match &field.unsaid {
        Unsaid::Refused => String::new(),
        Unsaid::LeftOut => text!("; Enter alone leaves it out", "；直接回车表示不填").to_owned(),
        Unsaid::Is(value) if value.is_null() => {
            text!("; Enter alone leaves it empty", "；直接回车表示留空").to_owned()
        }
        Unsaid::Is(value) => say!("; Enter alone takes {}", "；直接回车取 {}", plain(value)),
    };
    lines.extend(quiet(&(describe_values(field) + &blank), inner));
    barred(&lines)
}

/// Formats a draft that a gate shows: where it is saved, and its text unless that is on the screen already.
fn draft_lines(draft: &ShownDraft, shown: &[String], width: Width) -> Vec<String> {
    let name = paint::printable(&draft.name);
    let size = bytes(draft.bytes);
    let to = draft.to.as_deref().map(|to| format!(" → {}", paint::printable(to)));
    let mut lines = vec![
        paint::styled(NAME, name)
            + &paint::styled(QUIET, format!("{}  {size}", to.unwrap_or_default())),
    ];
    match draft.text.inline() {
        Some(text) if shown.iter().any(|known| known.as_str() == &**text) => {}
        Some(text) => lines.extend(text.lines().flat_map(|line| match line.trim() {
            "" => vec![String::new()],
            _ => wrapped(line, width),
        })),
        None => lines.extend(quiet(
            &say!(
                "The text is too long to be shown here: {}",
                "正文过长，此处不显示：{}",
                draft.path
            ),
            width,
        )),
    }
    lines.push(String::new());
    lines
}

/// Returns the mark of an option of a gate: the key that chooses it.
fn key_mark(key: &str) -> String {
    paint::styled(ACCENT, format!("[{}]", paint::printable(key)))
}

/// Formats the effect of a call that needs approval, and why.
fn deed(approval: &Approval, width: Width) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &approval.files {
        lines.push(String::new());
        let deleted = if file.file.after.is_none() { text!(", deleted", "，删除") } else { "" };
        if approval.files.len() > 1 || file.diff.is_empty() {
            let path = paint::printable(&file.file.path);
            lines.push(paint::styled(NAME, path + deleted));
        }
        // The two lines above the first hunk only name the file.
        let changed = file.diff.lines().skip_while(|line| !line.starts_with("@@"));
        lines.extend(changed.map(|line| diff_line(line, width)));
        let more = match (file.cut, file.diff.is_empty()) {
            (true, true) => text!(
                "what would change cannot be shown: it is too large, or no text",
                "无法展示更改：文件过大，或不是文本",
            ),
            (true, false) => text!("… and more than can be shown here", "……还有更多，此处放不下"),
            (false, _) => continue,
        };
        lines.push(paint::styled(WARNING, more));
    }
    if let Some(arguments) = &approval.arguments {
        lines.push(String::new());
        lines.extend(wrapped(arguments, width));
    }
    if let Some(offer) = &approval.offer {
        lines.push(String::new());
        if offer.redefined {
            let words = text!(
                "The server has changed this tool since you allowed it.",
                "自你允许以来，服务器更改了此工具。"
            );
            lines.push(paint::styled(WARNING, words));
        }
        if !offer.description.trim().is_empty() {
            lines.extend(quiet(
                &say!("The server says of it: {}", "服务器对它的说明：{}", offer.description),
                width,
            ));
        }
    }
    lines.push(String::new());
    lines.extend(quiet(
        &say!("You are asked because of the rule {}.", "根据规则 {} 需要你批准。", approval.rule),
        width,
    ));
    lines
}

/// Styles a line of a unified diff.
fn diff_line(line: &str, width: Width) -> String {
    let style = match line.as_bytes().first() {
        Some(b'+') => GOOD,
        Some(b'-') => ERROR,
        _ => QUIET,
    };
    let text = paint::printable(&line.replace('\t', "    "));
    let text = match width {
        Width::Columns(columns) => paint::fitted(&text, columns.max(20)),
        Width::Endless => text,
    };
    paint::styled(style, text)
}

/// Returns the width that the bar and its blanks leave.
fn inside(width: Width) -> Width {
    match width {
        Width::Columns(columns) => Width::Columns(columns.saturating_sub(4)),
        Width::Endless => Width::Endless,
    }
}

fn barred(lines: &[String]) -> String {
    let bar = paint::styled(ACCENT, BAR);
    lines.iter().map(|line| format!("  {bar} {line}").trim_end().to_owned() + "\n").collect()
}

fn wrapped(text: &str, width: Width) -> Vec<String> {
    let mut flow = Flow::new(width, "");
    (flow.push(text) + &flow.finish()).lines().map(str::to_owned).collect()
}

fn titled(text: &str, width: Width) -> Vec<String> {
    wrapped(text, width).iter().map(|line| paint::styled(NAME, line)).collect()
}

fn quiet(text: &str, width: Width) -> Vec<String> {
    wrapped(text, width).iter().map(|line| paint::styled(QUIET, line)).collect()
}

/// Formats an option in one line, or with its description below if that does not fit.
fn option(mark: &str, choice: &QuestionOption, width: Width) -> Vec<String> {
    /// The start of the label.
    const MARGIN: usize = 4;
    let label = paint::printable(choice.shown());
    let mut text = format!("{mark}  {label}");
    let mut used = MARGIN + label.width();
    if choice.shown() != choice.value {
        let value = paint::printable(&choice.value);
        used += 2 + value.width();
        text.push_str(&paint::styled(QUIET, format_args!("  {value}")));
    }
    let about = choice.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let Some(about) = about.map(paint::printable) else { return vec![text] };
    match width {
        Width::Columns(columns) if used + 2 + about.width() > columns => {
            let narrow = Width::Columns(columns.saturating_sub(MARGIN));
            let below = quiet(&about, narrow).into_iter().map(|line| format!("    {line}"));
            std::iter::once(text).chain(below).collect()
        }
        Width::Columns(_) | Width::Endless => {
            text.push_str(&paint::styled(QUIET, format_args!("  {about}")));
            vec![text]
        }
    }
}

/// Formats a field among others: its key in the answer, and the valid values.
fn summary(field: &Field, width: Width) -> Vec<String> {
    let unsaid = match &field.unsaid {
        Unsaid::Refused => String::new(),
        Unsaid::Is(value) if !value.is_null() => say!(", else {}", "，否则为 {}", plain(value)),
        Unsaid::LeftOut | Unsaid::Is(_) => text!(", may be left out", "，可以不填").to_owned(),
    };
    wrapped(&format!("- {}: {}{unsaid}", field.name, kind_of(field)), width)
}

/// Describes the valid values. A rule about them is shown as the form has it, in English.
fn kind_of(field: &Field) -> String {
    let english = field.describe();
    let chinese = match english.as_str() {
        "text" => "文本",
        "a number" => "数字",
        "a whole number" => "整数",
        "yes or no" => "yes 或 no",
        _ => return english,
    };
    text!(&english, chinese).to_owned()
}

/// Returns the marks before options: numbers, or dashes where a number could mean an option itself.
fn marks(is_numbered: bool) -> impl Iterator<Item = String> {
    let mark = move |number: usize| if is_numbered { number.to_string() } else { "-".to_owned() };
    (1..).map(move |number| paint::styled(ACCENT, format_args!("{:>2}", mark(number))))
}

/// Says how an option can be named.
fn naming(is_numbered: bool) -> &'static str {
    if is_numbered {
        text!("by number or name", "编号或名称")
    } else {
        text!("by name", "名称")
    }
}

/// Describes the valid values of a field whose options are listed already.
fn describe_values(field: &Field) -> String {
    let (count, called) = (field.how_many(), naming(field.is_numbered()));
    match &field.kind {
        FieldKind::One(_) => say!("{count} of them, {called}", "选一个，写{called}"),
        FieldKind::Several { .. } => say!(
            "{count} of them, {called}, with commas between them",
            "选 {count} 个，写{called}，用逗号隔开"
        ),
        FieldKind::Text(_) | FieldKind::Number(_) | FieldKind::Integer(_) | FieldKind::YesNo => {
            kind_of(field)
        }
    }
}

/// Formats a value as a user writes it.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Json::Null | Json::Number(_) | Json::Object(_) => value.to_string(),
    }
}

/// Describes the accepted answers, unless the question does so itself.
fn how(question: &Question, asker: Asker) -> Option<String> {
    match question.kind {
        QuestionKind::Text => None,
        QuestionKind::Gate => Some(
            text!("a key, a number or a name, or what to change", "写按键、编号或名称，或说明要改什么")
                .to_owned(),
        ),
        QuestionKind::Confirm if asker == Asker::Runtime => {
            Some(text!("yes, or what to do first", "同意请答 yes，或说明要先做什么").to_owned())
        }
        QuestionKind::Confirm => Some(text!("yes or no", "yes 或 no").to_owned()),
        QuestionKind::Approval => {
            Some(text!(
"o once, r for all of this rule in this run, d deny: and why",
"o 允许这一次，r 本次运行内此规则都允许，d 拒绝（可写明原因）").to_owned())
        }
        QuestionKind::Choice if question.multi => {
            let called = naming(question.is_numbered());
            Some(say!(
"one or several, {called}, with commas between them",
"选一个或多个，写{called}，用逗号隔开"))
        }
        QuestionKind::Choice => Some(say!("one of them, {}", "选一个，写{}", naming(question.is_numbered()))),
        QuestionKind::Form => question.schema.as_ref().map(|form| match form.fields() {
            [_] => text!("the value alone, or a JSON object", "只写值，或写一个 JSON 对象").to_owned(),
            _ => text!(
"one after the other; with --input as lines such as `name: value`, or as a JSON object",
"逐项填写；用 --input 时每行写 `名称: 值`，或写一个 JSON 对象").to_owned(),
        }),
    }
}
