//! What one text says: its menu, the steps that it leads to, and the workflows that it calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::SourceDocument;
use crate::source_tree::SourceTree;

use super::choice::{Menu, MenuChoice};
use super::effect::{ChoiceEffect, Familiar, Judge};
use super::evidence::{StepLead, instruction, leads};
use super::page::MarkdownPage;
use super::resolve::{Meant, Resolver, stem};
use super::setting::{GO, is_of_user, settings};
use super::words::{cut, has, has_any, tidy};

/// Longest condition that is kept.
const MAX_CONDITION_CHARS: usize = 300;

/// Most references to steps that are kept, in all and to one step.
const MAX_LEADS: usize = 2000;
const MAX_LEADS_OF_A_STEP: usize = 8;

/// Most workflows that one text calls.
const MAX_CALLS: usize = 64;

/// Content of a step file or an entry, as edges and menus need it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) path: String,
    pub(super) options: Vec<MenuOption>,
    /// Steps outside of options.
    pub(super) leads: Vec<OpenLead>,
    /// Steps that the frontmatter names and the text does not use: path and line.
    pub(super) declared: Vec<(String, u32)>,
    /// Line at which it says that the workflow is complete.
    pub(super) completes: Option<u32>,
    /// Line with the word `HALT`.
    pub(super) halts: Option<(u32, String)>,
    /// True for a step that resumes where the document's state says.
    pub(super) resumes: bool,
    /// Files of workflows that it calls, sorted.
    pub(super) calls: Vec<String>,
    /// Key that stands in several menus, with its line.
    pub(super) repeated: Vec<(String, u32)>,
}

/// Option with its effect.
#[derive(Clone, Debug)]
pub(super) struct MenuOption {
    pub(super) key: String,
    pub(super) label: String,
    pub(super) effect: ChoiceEffect,
    /// Lines of the handling, or the line that shows the option.
    pub(super) lines: (u32, u32),
    /// Text of its handling, verbatim.
    pub(super) text: Option<String>,
    /// First line of its handling, for people.
    pub(super) header: String,
}

/// Step outside of options.
#[derive(Clone, Debug)]
pub(super) struct OpenLead {
    pub(super) step: String,
    pub(super) line: u32,
    pub(super) named: bool,
    pub(super) condition: Option<String>,
    /// True if the condition is one that a user decides.
    pub(super) by_user: bool,
    /// True in a section about what is next.
    pub(super) next: bool,
    /// Text of its line.
    pub(super) words: String,
}

/// Reads a text.
pub(super) fn read(
    document: &SourceDocument,
    page: &MarkdownPage<'_>,
    resolver: &Resolver<'_>,
    familiar: &Familiar,
    may_resume: bool,
) -> Reading {
    let settings = settings(page);
    let menu = Menu::read(page);
    let resumes = may_resume && is_resuming(resolver.file(), page);
    let judge = Judge { page, resolver, menu: &menu, familiar, resumes };
    let mut options: Vec<MenuOption> = Vec::new();
    let mut superseded: Vec<StepLead> = Vec::new();
    for choice in &menu.choices {
        let (effect, handling) = judge.effect(choice);
        superseded.extend(judge.superseded(choice, handling));
        options.push(option(page, &menu, choice, effect, handling));
    }
    let mut reading = Reading {
        path: resolver.file().to_owned(),
        options,
        resumes,
        completes: completes(page),
        halts: halts(page),
        ..Reading::default()
    };
    let mut calls: BTreeSet<String> = BTreeSet::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, line) in page.instructions() {
        let mut found = resolver.found(line.content);
        // A step that names itself leads nowhere.
        found.retain(|found| !matches!(&found.meant, Meant::Step(step) if step == resolver.file()));
        if found.is_empty() {
            continue;
        }
        let setting = settings.get(index).copied().unwrap_or_default();
        collect_calls(line.content, resolver.file(), &found, &mut calls);
        if menu.owns(index) {
            continue;
        }
        for lead in leads(index, line, setting, &found) {
            let known = seen.entry(lead.step.clone()).or_default();
            *known += 1;
            if lead.step != resolver.file()
                && *known <= MAX_LEADS_OF_A_STEP
                && reading.leads.len() < MAX_LEADS
            {
                let above = setting.condition.or(setting.lead.filter(|_| is_exit(line.content)));
                let above = above.and_then(|at| page.lines.get(at)).map(|line| line.content);
                reading.leads.push(OpenLead {
                    next: setting.next,
                    ..open(lead, line.number, line.content, above)
                });
            }
        }
    }
    for lead in superseded.into_iter().filter(|lead| lead.step != resolver.file()) {
        let text =
            page.lines.get(lead.line).map(|line| cut(&tidy(line.content), MAX_CONDITION_CHARS));
        let (step, line) = (lead.step, page.number(lead.line));
        let words = text.clone().unwrap_or_default();
        let lead = OpenLead {
            step,
            line,
            named: lead.named,
            condition: text,
            by_user: false,
            next: false,
            words,
        };
        reading.leads.push(lead);
    }
    reading.calls = calls.into_iter().collect();
    reading.declared = declared(document, resolver, &reading);
    reading.repeated =
        menu.repeated.iter().map(|(key, line)| (key.clone(), page.number(*line))).collect();
    reading
}

fn open(lead: StepLead, line: u32, text: &str, above: Option<&str>) -> OpenLead {
    let spoken = |text: &str| is_of_user(&tidy(text).to_ascii_lowercase());
    let after_choice =
        has_any(&text.to_ascii_lowercase(), &["after user", "when user", "once user", "only when"]);
    let by_user = lead.condition.as_deref().or(above).is_some_and(spoken) || after_choice;
    let condition =
        lead.condition.or_else(|| above.map(|text| cut(&tidy(text), MAX_CONDITION_CHARS)));
    let words = cut(&tidy(text), MAX_CONDITION_CHARS);
    OpenLead { step: lead.step, line, named: lead.named, condition, by_user, next: false, words }
}

/// Returns true for a line that only says to leave this text for another one.
fn is_exit(text: &str) -> bool {
    let lower = tidy(text).to_ascii_lowercase();
    lower.starts_with("early exit") || lower.starts_with("exit ") || lower.starts_with('→')
}

fn option(
    page: &MarkdownPage<'_>,
    menu: &Menu,
    choice: &MenuChoice,
    effect: ChoiceEffect,
    said: Option<usize>,
) -> MenuOption {
    let said = said.or(choice.said.first().copied());
    let handling = said.and_then(|index| menu.handlings.get(index));
    let (first, end) =
        handling.map_or((choice.line, choice.line + 1), |handling| (handling.header, handling.end));
    let mut last = end.max(first + 1) - 1;
    while last > first && page.lines.get(last).is_none_or(|line| line.is_blank()) {
        last -= 1;
    }
    let text = handling.map(|_| {
        let lines = page.lines.get(first..=last).unwrap_or_default();
        let kept: Vec<&str> = lines.iter().take(40).map(|line| line.raw).collect();
        cut(kept.join("\n").trim(), 2000)
    });
    let header = page.lines.get(first).map(|line| cut(&tidy(line.content), MAX_CONDITION_CHARS));
    MenuOption {
        key: choice.key.clone(),
        label: choice.label.clone(),
        effect,
        lines: (page.number(first), page.number(last)),
        text,
        header: header.unwrap_or_default(),
    }
}

/// Collects the workflows that a line tells to follow.
fn collect_calls(
    line: &str,
    own: &str,
    found: &[super::resolve::FoundFile<'_>],
    calls: &mut BTreeSet<String>,
) {
    let mut lower = None;
    for found in found.iter().take(16) {
        let Meant::Workflow(file) = &found.meant else { continue };
        if file == own || calls.len() >= MAX_CALLS || calls.contains(file) {
            continue;
        }
        let lower = lower.get_or_insert_with(|| line.to_ascii_lowercase());
        let told = instruction(lower, found.mention.start);
        let verbs = ["using", "use", "run", "invoke", "call", "follow", "execute", "load", "read"];
        if told.is_some_and(|segment| has_any(segment, &verbs) || has_any(segment, GO)) {
            calls.insert(file.clone());
        }
    }
}

/// Returns the steps that the frontmatter names and nothing else leads to.
fn declared(
    document: &SourceDocument,
    resolver: &Resolver<'_>,
    reading: &Reading,
) -> Vec<(String, u32)> {
    let mut declared: Vec<(String, u32)> = Vec::new();
    for key in &document.keys {
        let Some(value) = key.scalar() else { continue };
        let Some(Meant::Step(step)) = resolver.path(value.trim()) else { continue };
        let known = step == resolver.file()
            || declared.iter().any(|(known, _)| *known == step)
            || reading.leads.iter().any(|lead| lead.step == step)
            || reading.options.iter().any(|option| {
                matches!(&option.effect, ChoiceEffect::Steps(leads) if leads.iter().any(|lead| lead.step == step))
            });
        if !known {
            declared.push((step, key.line));
        }
    }
    declared
}

/// Returns the line that says that the workflow is complete.
fn completes(page: &MarkdownPage<'_>) -> Option<u32> {
    const SAYS: &[&str] = &[
        "workflow complete",
        "workflow completion",
        "workflow is complete",
        "workflow is now complete",
        "workflow completed",
        "final step",
        "complete the workflow",
        "workflow finalization",
        "workflow ends",
        "end of the workflow",
        "end of workflow",
        "last step",
    ];
    let mut instructions = page.instructions();
    let line = instructions.find(|(_, line)| {
        let lower = tidy(line.content).to_ascii_lowercase();
        let plain = SAYS.iter().any(|phrase| has(&lower, phrase))
            && !has_any(&lower, &["if", "not", "already"]);
        let closes = lower.find("complete.").is_some_and(|at| {
            lower.get(..at).is_some_and(|before| {
                before.len() < 80
                    && !before.contains('.')
                    && !has_any(before, &["is", "if", "when", "after"])
            })
        });
        let whole = super::effect::completes(&lower) && !lower.starts_with("if");
        plain || whole || (closes && has_any(&lower, GO) && !has(&lower, "next step"))
    });
    line.map(|(_, line)| line.number)
}

/// Returns the first line that says `HALT`, and its text.
fn halts(page: &MarkdownPage<'_>) -> Option<(u32, String)> {
    let line =
        page.instructions().find(|(_, line)| line.level == 0 && has_word(line.content, "HALT"));
    line.map(|(_, line)| (line.number, cut(&tidy(line.content), MAX_CONDITION_CHARS)))
}

fn has_word(text: &str, word: &str) -> bool {
    text.contains(word) && has(text, word)
}

/// Returns true for a step that resumes where a document's state says.
fn is_resuming(file: &str, page: &MarkdownPage<'_>) -> bool {
    let name = stem(file).unwrap_or_default().to_ascii_lowercase();
    let named = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| matches!(word, "continue" | "continuation" | "resume" | "resuming"));
    let maps = || {
        page.instructions().filter(|(_, line)| {
            let lower = line.content.to_ascii_lowercase();
            let state = ["laststep", "last_step", "stepscompleted", "last completed"];
            state.iter().any(|word| lower.contains(word))
                && (lower.contains('→') || lower.contains("load"))
                && lower.contains("if")
        })
    };
    named || maps().count() >= 3
}

/// Finds the workflows of a source that are elicitation and party.
pub(super) fn familiar(tree: &SourceTree<'_>) -> Familiar {
    let mut familiar = Familiar::default();
    for path in tree.content() {
        let entry = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if !matches!(entry, "workflow.md" | "workflow.xml" | "workflow.yaml" | "SKILL.md") {
            continue;
        }
        let folder =
            crate::source_tree::name_of(crate::source_tree::folder_of(path)).to_ascii_lowercase();
        if folder.contains("elicitation") && familiar.elicitation.is_none() {
            familiar.elicitation = Some(path.to_owned());
        }
        if folder.contains("party") && familiar.party.is_none() {
            familiar.party = Some(path.to_owned());
        }
    }
    familiar
}
