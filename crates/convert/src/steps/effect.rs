//! Effects of options, judged by what their text says.

use super::choice::{Menu, MenuChoice};
use super::evidence::{StepLead, instruction};
use super::handling::{Handling, HandlingStrength};
use super::mention::Spelling;
use super::page::{MarkdownPage, PageLine};
use super::resolve::{Meant, Resolver};
use super::setting::GO;
use super::words::{begins, find, has, has_any, tidy};

/// Most bytes of a handling that are looked at.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// Effect of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChoiceEffect {
    /// Leads to these steps.
    Steps(Vec<StepLead>),
    /// Ends the workflow.
    End,
    /// Calls the workflow made of a file; `None` if the source has no such file.
    Call(Option<String>),
    /// Stays at the step. False if nothing in the text says so.
    Stay(bool),
    /// Follows the only edge that leads on.
    Next,
    /// Resumes at the step that the document's state names.
    Resume,
}

/// A text and everything that is needed to judge its options.
pub(super) struct Judge<'a> {
    pub(super) page: &'a MarkdownPage<'a>,
    pub(super) resolver: &'a Resolver<'a>,
    pub(super) menu: &'a Menu,
    /// Files of the workflows that content calls elicitation and party.
    pub(super) familiar: &'a Familiar,
    /// True for a step that resumes where the document's state says.
    pub(super) resumes: bool,
}

/// Workflows that texts mention by what they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Familiar {
    pub(super) elicitation: Option<String>,
    pub(super) party: Option<String>,
}

const LEAVES: &[&str] = &[
    "abort",
    "conclude",
    "concludes",
    "end party",
    "end session",
    "end the party",
    "end the session",
    "end the workflow",
    "end this workflow",
    "end with",
    "end workflow",
    "exit",
    "exiting",
    "exits",
    "finish the workflow",
    "finish this workflow",
    "finish workflow",
    "quit",
    "terminate",
    "workflow complete",
    "workflow completed",
    "workflow is complete",
    "workflow is now complete",
];

const LEAVING_LABELS: &[&str] = &[
    "cancel", "close", "complete", "done", "end", "exit", "finish", "finished", "leave", "quit",
    "stop",
];

const ON_TO_NEXT: &[&str] = &[
    "load next",
    "load the next",
    "proceed to next",
    "proceed to the next",
    "continue to next",
    "continue to the next",
    "go to next",
    "go to the next",
    "move to next",
    "move to the next",
    "advance to next",
    "advance to the next",
    "next step",
    "next file",
    "follow next",
    "follow the next",
];

const STAYS: &[&str] = &[
    "again",
    "answer",
    "ask",
    "asks",
    "back to",
    "discuss",
    "let the user choose",
    "let user choose",
    "loop back",
    "re-display",
    "re-offer",
    "re-present",
    "redisplay",
    "redisplays",
    "repeat",
    "represent",
    "respond",
    "restart",
    "return here",
    "return to",
    "returns to",
    "start fresh",
    "start new",
    "start over",
    "stay",
];

const STAYING_LABELS: &[&str] = &[
    "adjust",
    "back",
    "customize",
    "details",
    "discuss",
    "edit",
    "explain",
    "fix",
    "help",
    "list",
    "modify",
    "more",
    "overview",
    "questions",
    "refine",
    "retry",
    "review",
    "revise",
    "see",
    "show",
    "shuffle",
];

const ONWARD: &[&str] = &[
    "accept",
    "advance",
    "approve",
    "append",
    "continue",
    "continues",
    "move on",
    "move to",
    "next",
    "proceed",
    "proceeds",
    "save",
    "saves",
];

const INSIDE: &[&str] = &["above", "as is", "as-is", "below", "section"];

const RESUMES: &[&str] = &[
    "appropriate next step",
    "appropriate step",
    "next step",
    "selected step",
    "correct step",
    "determined in",
];

impl Judge<'_> {
    /// Judges an option; returns its effect and the handling that says so.
    pub(super) fn effect(&self, choice: &MenuChoice) -> (ChoiceEffect, Option<usize>) {
        let judged: Vec<(usize, ChoiceEffect)> = choice
            .said
            .iter()
            .filter_map(|index| {
                let handling = self.menu.handlings.get(*index)?;
                let said = self.text_of(handling, &choice.key);
                Some((*index, self.judged(&said, handling.strength, &choice.label)?))
            })
            .collect();
        let of = |fits: fn(&ChoiceEffect) -> bool| judged.iter().find(|(_, effect)| fits(effect));
        // The last handling of a key counts if it stands in several menus; else the one that names a step.
        let steps =
            of(|effect| matches!(effect, ChoiceEffect::Steps(_))).filter(|_| !choice.repeated);
        let sure = of(|effect| !matches!(effect, ChoiceEffect::Stay(false)));
        match steps.or(sure).or(judged.first()) {
            Some((index, ChoiceEffect::Stay(_))) => (ChoiceEffect::Stay(true), Some(*index)),
            Some((index, effect)) => (effect.clone(), Some(*index)),
            None => {
                let effect = self.by_label(&choice.label);
                let unknown = effect == ChoiceEffect::Stay(false);
                (if unknown { self.by_label(&choice.key) } else { effect }, None)
            }
        }
    }

    /// Returns the steps of handlings that do not count, because a later one has the same key.
    pub(super) fn superseded(&self, choice: &MenuChoice, counts: Option<usize>) -> Vec<StepLead> {
        let others = choice.said.iter().filter(|index| choice.repeated && Some(**index) != counts);
        let handlings = others.filter_map(|index| self.menu.handlings.get(*index));
        handlings.flat_map(|handling| self.text_of(handling, &choice.key).leads).collect()
    }

    /// Judges what is said about an option, without its label. `Stay(false)` is weak: another text may know better.
    fn judged(
        &self,
        said: &HandlingText,
        strength: HandlingStrength,
        label: &str,
    ) -> Option<ChoiceEffect> {
        if !said.leads.is_empty() {
            return Some(ChoiceEffect::Steps(said.leads.clone()));
        }
        let lower = said.lower.as_str();
        let ends = leaves(lower) || label_ends(&label.to_ascii_lowercase());
        if strength != HandlingStrength::Section && ends {
            return Some(ChoiceEffect::End);
        }
        if let Some(file) = &said.call {
            return Some(ChoiceEffect::Call(Some(file.clone())));
        }
        if let Some(familiar) = self.familiar_in(lower) {
            return Some(ChoiceEffect::Call(familiar));
        }
        if strength == HandlingStrength::Section {
            return None;
        }
        if self.resumes && has_any(lower, RESUMES) && !has(lower, "let user choose") {
            return Some(ChoiceEffect::Resume);
        }
        if said.inside || has_any(lower, INSIDE) {
            return Some(ChoiceEffect::Stay(false));
        }
        if has_any(lower, ON_TO_NEXT) && !has_any(lower, &["redisplay", "return to menu"]) {
            return Some(ChoiceEffect::Next);
        }
        if has_any(lower, STAYS) {
            return Some(ChoiceEffect::Stay(true));
        }
        has_any(lower, ONWARD).then_some(ChoiceEffect::Next)
    }

    fn by_label(&self, label: &str) -> ChoiceEffect {
        let lower = label.to_ascii_lowercase();
        if label_ends(&lower) || leaves(&lower) {
            return ChoiceEffect::End;
        }
        if let Some(familiar) = self.familiar_in(&lower) {
            return ChoiceEffect::Call(familiar);
        }
        if begins(&lower, STAYING_LABELS) || has_any(&lower, &["return to", "start over"]) {
            return ChoiceEffect::Stay(true);
        }
        if begins(&lower, ONWARD) || has_any(&lower, &["continue", "proceed", "next"]) {
            return if self.resumes { ChoiceEffect::Resume } else { ChoiceEffect::Next };
        }
        ChoiceEffect::Stay(false)
    }

    /// Returns the workflow that a text calls elicitation or party.
    fn familiar_in(&self, lower: &str) -> Option<Option<String>> {
        if lower.contains("elicitation") {
            return Some(self.familiar.elicitation.clone());
        }
        let party = ["party mode", "party-mode", "partymode", "party_mode"];
        party.iter().any(|name| lower.contains(name)).then(|| self.familiar.party.clone())
    }

    /// Collects what a handling says about a key.
    fn text_of(&self, handling: &Handling, key: &str) -> HandlingText {
        let mut said = HandlingText::default();
        for index in handling.header..handling.end {
            let Some(line) = self.page.lines.get(index).filter(|line| line.instructs()) else {
                continue;
            };
            if said.lower.len() > MAX_TEXT_BYTES {
                break;
            }
            let mine = index == handling.header
                || self
                    .menu
                    .keys_of(index)
                    .is_none_or(|keys| keys.iter().any(|other| other == key));
            let from = if index == handling.header { handling.inline } else { 0 };
            if mine && line.content.len() > from {
                self.read_line(index, line, from, &mut said);
            }
        }
        said
    }

    fn read_line(&self, index: usize, line: &PageLine<'_>, from: usize, said: &mut HandlingText) {
        let lower = line.content.to_ascii_lowercase();
        let condition =
            (index > 0 && super::setting::is_condition(&tidy(&lower)) && line.bullet && from == 0)
                .then(|| super::words::cut(&tidy(line.content), 300));
        for found in self.resolver.found(line.content).into_iter().take(32) {
            if found.mention.start < from || instruction(&lower, found.mention.start).is_none() {
                continue;
            }
            let named = matches!(found.mention.written, Spelling::Name(_));
            match found.meant {
                Meant::Step(step) if step != self.resolver.file() => {
                    let own = super::evidence::condition_on(line.content, found.mention.start);
                    let own = own.filter(|_| line.content.contains(['→', '>']) && from == 0);
                    said.lead(StepLead {
                        step,
                        line: index,
                        named,
                        condition: own.or_else(|| condition.clone()),
                    });
                }
                Meant::Workflow(file) => {
                    said.call.get_or_insert(file);
                }
                Meant::Step(_) | Meant::File(_) => {}
            }
        }
        let rest = lower.get(from..).unwrap_or_default();
        self.read_numbers(index, rest, condition, said);
        said.inside |= self.goes_inside(rest);
        said.lower.push_str(&tidy(rest));
        said.lower.push('\n');
    }

    /// Reads steps that are named by number: `→ Step 3`, `proceed to step-03`.
    fn read_numbers(
        &self,
        index: usize,
        lower: &str,
        condition: Option<String>,
        said: &mut HandlingText,
    ) {
        let mut from = 0;
        for _ in 0..8 {
            let Some(at) =
                lower.get(from..).and_then(|rest| find(rest, "step")).map(|at| from + at)
            else {
                return;
            };
            from = at + 4;
            let rest = lower.get(from..).unwrap_or_default();
            let number = rest.strip_prefix([' ', '-', '_']).unwrap_or_default();
            let length = number.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
            let number = number.get(..length).unwrap_or_default();
            let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let mut behind = rest.get(1 + length..).unwrap_or_default().chars();
            let full_name = matches!(behind.next(), Some('-' | '_' | '.'))
                && behind.next().is_some_and(char::is_alphanumeric);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || full_name {
                continue;
            }
            let Some(segment) = instruction(lower, at) else { continue };
            let near = segment.get(segment.floor_char_boundary(segment.len().saturating_sub(24))..);
            let goes =
                near.is_some_and(|near| near.contains('→') || has_any(near, GO) || has(near, "or"));
            if !goes {
                continue;
            }
            if self.page.has_numbered_heading(digits) {
                said.inside = true;
                continue;
            }
            let padded =
                format!("{:0>2}{}", digits, number.get(digits.len()..).unwrap_or_default());
            let step = [format!("step-{padded}"), format!("step-{number}")];
            let step = step.iter().find_map(|prefix| self.resolver.step_beside(prefix));
            if let Some(step) = step.filter(|step| step != self.resolver.file()) {
                let condition = condition.clone();
                said.lead(StepLead { step, line: index, named: false, condition });
            }
        }
    }

    /// Returns true if a line leads to a place of the same text, such as a checkpoint with a heading.
    fn goes_inside(&self, lower: &str) -> bool {
        ["continue to ", "proceed to ", "go to ", "return to ", "back to ", "jump to "].iter().any(
            |words| {
                let Some(at) = lower.find(words) else { return false };
                let rest = lower.get(at + words.len()..).unwrap_or_default();
                let rest = rest.strip_prefix("the ").unwrap_or(rest);
                let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                word.len() > 5 && self.page.has_heading_word(word)
            },
        )
    }
}

/// Text of a handling, as it is judged.
#[derive(Default)]
struct HandlingText {
    leads: Vec<StepLead>,
    call: Option<String>,
    /// Text in lower case, without marks.
    lower: String,
    /// True if it leads to a place of the same text.
    inside: bool,
}

impl HandlingText {
    fn lead(&mut self, lead: StepLead) {
        if !self.leads.iter().any(|known| known.step == lead.step) {
            self.leads.push(lead);
        }
    }
}

/// Returns true if a text says that the workflow ends.
fn leaves(lower: &str) -> bool {
    let said = LEAVES.iter().any(|phrase| {
        find(lower, phrase).is_some_and(|at| {
            let before = lower.get(..at).unwrap_or_default();
            let near =
                before.get(before.floor_char_boundary(at.saturating_sub(12))..).unwrap_or_default();
            !["not ", "n't ", "never ", "without ", "early "]
                .iter()
                .any(|word| near.ends_with(word))
        })
    });
    said || lower.lines().any(completes)
}

/// Returns true for `complete the … workflow` and the like.
pub(super) fn completes(line: &str) -> bool {
    ["complete the", "complete this", "completes the", "finish the", "end the", "mark the"]
        .iter()
        .any(|words| {
            find(line, words).is_some_and(|at| {
                let rest = line.get(at + words.len()..).unwrap_or_default();
                let near = rest.get(..rest.floor_char_boundary(60)).unwrap_or_default();
                let clause = near.split([',', '.', ';']).next().unwrap_or_default();
                has(clause, "workflow") && !has_any(clause, &["step", "menu"])
            })
        })
}

/// Returns true if a label says that an option ends the workflow.
fn label_ends(lower: &str) -> bool {
    begins(lower, LEAVING_LABELS)
        && !has_any(
            lower,
            &["and continue", "and proceed", "& continue", "continue to", "proceed to", "step"],
        )
}
