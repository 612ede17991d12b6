//! Findings about step files.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::code::Code;
use crewagent_format::wording::quoted;

use crate::plan::WorkflowPlan;
use crate::recorder::ImportRecorder;
use crate::source_tree::SourceTree;

use super::effect::ChoiceEffect;
use super::flow::{Goal, StepFolders, StepGraph, StepNode};
use super::plans::is_weak;
use super::resolve::has_step_name;
use super::text::StepText;

/// Findings that are told once, whatever number of workflows a step belongs to.
pub(super) struct Remarks<'a> {
    tree: &'a SourceTree<'a>,
    told: BTreeSet<(Code, String, u32)>,
}

impl<'a> Remarks<'a> {
    /// Makes an empty list for a source.
    pub(super) fn new(tree: &'a SourceTree<'a>) -> Self {
        Self { tree, told: BTreeSet::new() }
    }

    /// Tells what is remarkable about a workflow.
    pub(super) fn workflow(
        &mut self,
        recorder: &mut ImportRecorder,
        plan: &WorkflowPlan,
        entry: &StepText,
        flow: &StepGraph,
        texts: &BTreeMap<String, StepText>,
    ) {
        for stop in &flow.stops {
            let text = texts.get(&stop.reading.path).filter(|_| !stop.is_entry).unwrap_or(entry);
            self.frontmatter(recorder, &stop.reading.path, text);
            self.menu(recorder, plan, stop);
            for way in stop.ways.iter().filter(|way| is_weak(way)) {
                let Goal::Step(next) = &way.to else { continue };
                self.tell(
                    recorder,
                    Code::EdgeByOrder,
                    (&stop.reading.path, way.line),
                    format!("nothing in this text says what comes next; {} follows because it is the next file", quoted(next)),
                    "name the next step in the text, or say that the workflow is complete",
                );
            }
            if let Some(line) = stop.exit_added {
                self.tell(
                    recorder,
                    Code::ExitAdded,
                    (&stop.reading.path, line),
                    "this text has a menu and leads to no step, so an exit was added".to_owned(),
                    "say in the text that the workflow ends here",
                );
            }
        }
        self.frontmatter(recorder, &entry.reading.path, entry);
        self.needs(recorder, flow, texts);
        if plan.mirror.is_some() {
            self.mirror(recorder, plan, flow, texts);
        }
    }

    fn frontmatter(&mut self, recorder: &mut ImportRecorder, path: &str, text: &StepText) {
        if let Some((line, reason)) = &text.document.unreadable {
            self.tell(
                recorder,
                Code::FrontmatterUnreadable,
                (path, *line),
                format!("this frontmatter is not YAML: {reason}; its keys were read line by line"),
                "correct the YAML, such as the quotes around a value",
            );
        }
    }

    fn menu(&mut self, recorder: &mut ImportRecorder, plan: &WorkflowPlan, stop: &StepNode) {
        let path = stop.reading.path.as_str();
        for option in &stop.reading.options {
            let leads_on = stop.ways.iter().any(|way| way.gate.as_ref() == Some(&option.key));
            let understood = match &option.effect {
                ChoiceEffect::Stay(understood) => *understood,
                ChoiceEffect::Next
                | ChoiceEffect::Resume
                | ChoiceEffect::Steps(_)
                | ChoiceEffect::End => leads_on,
                ChoiceEffect::Call(_) => true,
            };
            if !understood {
                self.tell(
                    recorder,
                    Code::OptionNotUnderstood,
                    (path, option.lines.0),
                    format!(
                        "the text does not say what the option {} does; it stays at this step",
                        quoted(&option.key)
                    ),
                    "say in the text where the option leads, or correct it with `--overrides`",
                );
            }
        }
        let _ = plan;
        if let Some((_, line)) = stop.reading.repeated.first() {
            let keys: Vec<String> =
                stop.reading.repeated.iter().map(|(key, _)| quoted(key)).collect();
            self.tell(
                recorder,
                Code::SeveralMenus,
                (path, *line),
                format!("several menus of this text have the same keys ({}); the last handling of each counts", keys.join(", ")),
                "give the options of different menus different keys",
            );
        }
    }

    /// Tells once for a workflow and an ability that a step asks for it.
    fn needs(
        &mut self,
        recorder: &mut ImportRecorder,
        flow: &StepGraph,
        texts: &BTreeMap<String, StepText>,
    ) {
        use crate::plan::NodeNeed;
        let mut told: BTreeSet<Code> = BTreeSet::new();
        for stop in &flow.stops {
            let Some(text) = texts.get(&stop.reading.path) else { continue };
            for (need, line) in &text.needs {
                let (code, what) = match need {
                    NodeNeed::Subagent => (Code::NeedsSubagent, "subagents"),
                    NodeNeed::Web | NodeNeed::Browser => (Code::NeedsWeb, "the web"),
                    NodeNeed::Shell | NodeNeed::Git => (Code::NeedsShell, "commands"),
                    NodeNeed::Script => (Code::ScriptNotRun, "a script"),
                };
                if told.insert(code) {
                    self.tell(
                        recorder,
                        code,
                        (&stop.reading.path, *line),
                        format!("this step asks for {what}, which the runtime does not have"),
                        "the step is told so, and does that part itself or leaves it to the user",
                    );
                }
            }
        }
    }

    fn mirror(
        &mut self,
        recorder: &mut ImportRecorder,
        plan: &WorkflowPlan,
        flow: &StepGraph,
        texts: &BTreeMap<String, StepText>,
    ) {
        let mut values: BTreeMap<String, (String, u32)> = BTreeMap::new();
        for stop in flow.stops.iter().filter(|stop| !stop.is_entry && !stop.reading.resumes) {
            let Some(text) = texts.get(&stop.reading.path) else { continue };
            let path = stop.reading.path.as_str();
            if let Some((value, line)) = &text.papers.records {
                let folder = crate::source_tree::folder_of(path);
                let known = values.insert(format!("{folder}/{value}"), (path.to_owned(), *line));
                let doubled = known
                    .filter(|(other, _)| value.is_number() && !are_alternatives(flow, other, path));
                if let Some((other, _)) = doubled {
                    self.tell(
                        recorder,
                        Code::NumberOfSeveralSteps,
                        (path, *line),
                        format!(
                            "{} records the same value {value} as {}",
                            quoted(path),
                            quoted(&other)
                        ),
                        "give every step a value of its own",
                    );
                }
            }
            let recorded = plan.nodes.iter().any(|node| {
                node.source.as_ref().is_some_and(|source| source.file == path)
                    && node.mirror_value.is_some()
            });
            if is_final(stop) && text.papers.records.is_none() && recorded {
                self.tell(
                    recorder,
                    Code::EndNotRecorded,
                    (path, text.document.body_line),
                    "this last step never says to record itself in `stepsCompleted`; the runtime records it".to_owned(),
                    "tell the step to add itself to `stepsCompleted`",
                );
            }
        }
    }

    /// Tells of step files beside others that nothing leads to.
    pub(super) fn unreached(
        &mut self,
        recorder: &mut ImportRecorder,
        folders: &StepFolders,
        reached: &BTreeSet<String>,
    ) {
        for paths in
            folders.values().filter(|paths| paths.iter().any(|path| reached.contains(path)))
        {
            for path in paths.iter().filter(|path| has_step_name(path) && !reached.contains(*path))
            {
                self.tell(
                    recorder,
                    Code::UnreachableStep,
                    (path, 1),
                    format!("no entry leads to {}", quoted(path)),
                    "name it in the step before it, or delete it; it is in the package as a file",
                );
            }
        }
    }

    fn tell(
        &mut self,
        recorder: &mut ImportRecorder,
        code: Code,
        (file, line): (&str, u32),
        message: String,
        help: &str,
    ) {
        if self.told.insert((code, file.to_owned(), line)) {
            recorder.line(self.tree, code, (file, line), message, help);
        }
    }
}

/// Returns true for a step from which only a way out, or a step that it merely declares, leads on.
fn is_final(stop: &StepNode) -> bool {
    use crate::plan::EvidenceClass;
    stop.ways.iter().all(|way| way.to == Goal::End || way.class >= EvidenceClass::Declared)
}

/// Returns true for steps that one step leads to, so that a run takes one of them.
fn are_alternatives(flow: &StepGraph, one: &str, two: &str) -> bool {
    flow.stops.iter().any(|stop| {
        let to = |path: &str| {
            stop.ways.iter().any(|way| matches!(&way.to, Goal::Step(step) if step == path))
        };
        !stop.reading.resumes && to(one) && to(two)
    })
}
