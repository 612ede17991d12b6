//! The graph of a workflow: nodes from step files, edges from evidence, gates from menus.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::plan::EvidenceClass;
use crate::source_tree::folder_of;

use super::effect::ChoiceEffect;
use super::reading::{MenuOption, OpenLead, Reading};
use super::resolve::{has_step_name, sort_naturally};
use super::words::{begins, natural};

/// Most nodes of one workflow.
const MAX_NODES: usize = 2000;

/// Node at the end of an edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Goal {
    /// Step with this path.
    Step(String),
    /// End of the workflow.
    End,
}

/// Edge of the graph.
#[derive(Clone, Debug)]
pub(super) struct StepEdge {
    pub(super) to: Goal,
    /// Key of the option that takes it.
    pub(super) gate: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) class: EvidenceClass,
    pub(super) line: u32,
    pub(super) is_default: bool,
}

/// Node of the graph.
#[derive(Clone, Debug)]
pub(super) struct StepNode {
    pub(super) reading: Reading,
    pub(super) ways: Vec<StepEdge>,
    /// True for the text of the entry.
    pub(super) is_entry: bool,
    /// Line of the exit that was added because nothing else leads on.
    pub(super) exit_added: Option<u32>,
}

/// Step files of a folder, in natural order.
pub(super) type StepFolders = BTreeMap<String, Vec<String>>;

/// Graph of a workflow.
#[derive(Clone, Debug, Default)]
pub(super) struct StepGraph {
    /// The first one is the entry.
    pub(super) stops: Vec<StepNode>,
}

/// Follows the steps from an entry. `read` reads a step; it returns `None` for a file that is no text.
pub(super) fn follow(
    entry: Reading,
    starts: bool,
    folders: &StepFolders,
    halt_ends: bool,
    mut read: impl FnMut(&str, bool) -> Option<Reading>,
) -> StepGraph {
    let mut readings: BTreeMap<String, Reading> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut queue: VecDeque<String> = VecDeque::new();
    let first: Vec<String> = targets(&entry, folders, true);
    queue.extend(first.iter().cloned());
    let entry_step = if starts { None } else { first.first().cloned() };
    while let Some(path) = queue.pop_front() {
        if readings.contains_key(&path) || readings.len() >= MAX_NODES {
            continue;
        }
        let may_resume = !first.contains(&path);
        let Some(reading) = read(&path, may_resume) else { continue };
        queue.extend(
            targets(&reading, folders, false)
                .into_iter()
                .filter(|next| !readings.contains_key(next)),
        );
        order.push(path.clone());
        readings.insert(path, reading);
    }
    let reached: BTreeSet<String> = order.iter().cloned().collect();
    let sorted = in_order(order, entry_step.as_deref());
    let resuming: BTreeSet<&str> = readings
        .values()
        .filter(|reading| reading.resumes)
        .map(|reading| reading.path.as_str())
        .collect();
    let mut flow = StepGraph::default();
    let context = GraphContext { folders, reached: &reached, resuming: &resuming, halt_ends };
    if starts {
        let ways = context.ways(&entry, true);
        flow.stops.push(stop(entry, ways, true));
    }
    for path in &sorted {
        if let Some(reading) = readings.get(path) {
            let ways = context.ways(reading, false);
            flow.stops.push(stop(reading.clone(), ways, false));
        }
    }
    flow
}

fn stop(
    reading: Reading,
    (ways, exit_added): (Vec<StepEdge>, Option<u32>),
    is_entry: bool,
) -> StepNode {
    StepNode { reading, ways, is_entry, exit_added }
}

/// Sorts steps by folder in the order of discovery, then naturally; the entry first.
fn in_order(order: Vec<String>, entry: Option<&str>) -> Vec<String> {
    let mut folders: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in &order {
        let folder = folder_of(path);
        let group = groups.entry(folder).or_insert_with(|| {
            folders.push(folder);
            Vec::new()
        });
        group.push(path.clone());
    }
    let mut sorted: Vec<String> = entry.map(str::to_owned).into_iter().collect();
    for folder in folders {
        let mut group = groups.remove(folder).unwrap_or_default();
        sort_naturally(&mut group);
        sorted.extend(group.into_iter().filter(|path| Some(path.as_str()) != entry));
    }
    sorted
}

/// Returns the steps that a text leads to, in the order of the text.
fn targets(reading: &Reading, folders: &StepFolders, entry: bool) -> Vec<String> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for option in &reading.options {
        if let ChoiceEffect::Steps(leads) = &option.effect {
            found.extend(leads.iter().map(|lead| (option.lines.0, lead.step.clone())));
        }
    }
    found.extend(reading.leads.iter().map(|lead| (lead.line, lead.step.clone())));
    found.sort_by_key(|(line, _)| *line);
    found.extend(reading.declared.iter().map(|(step, _)| (u32::MAX, step.clone())));
    if found.is_empty() && !entry {
        found.extend(next_in_order(reading, folders).map(|step| (u32::MAX, step)));
    }
    let mut steps: Vec<String> = Vec::new();
    for (_, step) in found {
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}

/// Returns the next file of the folder, for a text that leads nowhere and does not say that it is the last one.
fn next_in_order(reading: &Reading, folders: &StepFolders) -> Option<String> {
    let ends = reading.options.iter().any(|option| option.effect == ChoiceEffect::End);
    if reading.completes.is_some() || ends || reading.resumes {
        return None;
    }
    let siblings = folders.get(folder_of(&reading.path))?;
    let at = place(siblings, &reading.path)?;
    siblings.get(at + 1).filter(|next| has_step_name(next)).cloned()
}

/// Returns the index of a path in a list in natural order.
fn place(siblings: &[String], path: &str) -> Option<usize> {
    siblings.binary_search_by(|known| natural(known, path)).ok()
}

/// Facts about a workflow while its edges are made.
struct GraphContext<'a> {
    folders: &'a StepFolders,
    reached: &'a BTreeSet<String>,
    resuming: &'a BTreeSet<&'a str>,
    halt_ends: bool,
}

impl GraphContext<'_> {
    /// Returns the edges of a text, and the line at which an exit was added.
    fn ways(&self, reading: &Reading, is_entry: bool) -> (Vec<StepEdge>, Option<u32>) {
        let mut ways: Vec<StepEdge> = Vec::new();
        for option in &reading.options {
            match &option.effect {
                ChoiceEffect::Steps(leads) => {
                    for lead in leads.iter().filter(|lead| self.reached.contains(&lead.step)) {
                        let condition =
                            lead.condition.clone().or_else(|| Some(option.header.clone()));
                        push(
                            &mut ways,
                            Goal::Step(lead.step.clone()),
                            Some(option),
                            condition,
                            option.lines.0,
                        );
                    }
                }
                ChoiceEffect::End => {
                    push(
                        &mut ways,
                        Goal::End,
                        Some(option),
                        Some(option.header.clone()),
                        option.lines.0,
                    );
                }
                ChoiceEffect::Call(_)
                | ChoiceEffect::Stay(_)
                | ChoiceEffect::Next
                | ChoiceEffect::Resume => {}
            }
        }
        if reading.resumes {
            self.resume(reading, &mut ways);
        }
        for option in reading.options.iter().filter(|option| option.effect == ChoiceEffect::Next) {
            if let Some(goal) = self.way_on(reading, &ways, is_entry) {
                push(&mut ways, goal, Some(option), Some(option.header.clone()), option.lines.0);
            }
        }
        self.open_ways(reading, &mut ways, is_entry);
        let exit = self.exits(reading, &mut ways);
        self.choose_default(reading, &mut ways);
        (ways, exit)
    }

    /// Adds the edges outside of options.
    fn open_ways(&self, reading: &Reading, ways: &mut Vec<StepEdge>, is_entry: bool) {
        let mut steps: Vec<&str> = Vec::new();
        for lead in &reading.leads {
            if !steps.contains(&lead.step.as_str()) && self.reached.contains(&lead.step) {
                steps.push(&lead.step);
            }
        }
        let plain = |lead: &&OpenLead| lead.condition.is_none();
        let last = reading.leads.iter().filter(plain).max_by_key(|lead| (lead.next, lead.line));
        let next = last.map(|lead| lead.step.as_str());
        for step in steps {
            let leads = || reading.leads.iter().filter(|lead| lead.step == step);
            let gated = leads_to(ways, step);
            let automatic = leads().find(|lead| lead.condition.is_some() && !lead.by_user);
            let plain = leads().find(|lead| lead.condition.is_none());
            let lead = if gated { automatic } else { plain.or_else(|| leads().next()) };
            let Some(lead) = lead.filter(|_| !(reading.resumes && gated)) else { continue };
            // Of several unconditional leads the one in a section about what is next is the default.
            let aside = next.is_some_and(|next| next != step) && lead.condition.is_none();
            let class = match (&lead.condition, leads().any(|lead| lead.named)) {
                (Some(_), _) => EvidenceClass::Option,
                (None, true) => EvidenceClass::Named,
                (None, false) => EvidenceClass::Literal,
            };
            let to = Goal::Step(step.to_owned());
            let condition = lead.condition.clone().or_else(|| aside.then(|| lead.words.clone()));
            ways.push(StepEdge {
                to,
                gate: None,
                condition,
                class,
                line: lead.line,
                is_default: false,
            });
        }
        for (step, line) in &reading.declared {
            if self.reached.contains(step) && !leads_to(ways, step) {
                ways.push(plain_way(Goal::Step(step.clone()), EvidenceClass::Declared, *line));
            }
        }
        let to_step = ways.iter().any(|way| matches!(way.to, Goal::Step(_)));
        let next = next_in_order(reading, self.folders).filter(|next| self.reached.contains(next));
        if let (false, false, Some(next)) = (to_step, is_entry, next) {
            ways.push(plain_way(Goal::Step(next), EvidenceClass::Order, 1));
        }
    }

    /// Adds the edges that leave the workflow without an option; returns the line if nothing in the text asks for one.
    fn exits(&self, reading: &Reading, ways: &mut Vec<StepEdge>) -> Option<u32> {
        if let (true, Some((line, text))) = (self.halt_ends, &reading.halts) {
            let mut way = plain_way(Goal::End, EvidenceClass::Exit, *line);
            way.condition = Some(text.clone());
            ways.push(way);
            return None;
        }
        if reading.resumes && !ways.iter().any(|way| way.to == Goal::End) {
            let mut way = plain_way(Goal::End, EvidenceClass::Exit, reading.completes.unwrap_or(1));
            way.condition = Some("the document says that the workflow is complete".to_owned());
            ways.push(way);
            return None;
        }
        let sure = |way: &StepEdge| way.class < EvidenceClass::Declared || way.gate.is_some();
        let only_declared = !ways.iter().any(sure);
        if let (true, false, Some(line)) = (only_declared, ways.is_empty(), reading.completes) {
            ways.push(plain_way(Goal::End, EvidenceClass::Exit, line));
            return None;
        }
        if ways.is_empty() && !reading.options.is_empty() {
            let line = reading
                .completes
                .or(reading.options.last().map(|option| option.lines.0))
                .unwrap_or(1);
            ways.push(plain_way(Goal::End, EvidenceClass::Exit, line));
            return reading.completes.is_none().then_some(line);
        }
        None
    }

    /// Adds the edges of a step that resumes where the document's state says.
    fn resume(&self, reading: &Reading, ways: &mut Vec<StepEdge>) {
        let later = self.later(reading);
        let options: Vec<Option<&MenuOption>> = reading
            .options
            .iter()
            .filter(|option| option.effect == ChoiceEffect::Resume)
            .map(Some)
            .collect();
        let options = if options.is_empty() { vec![None] } else { options };
        for option in options {
            for (before, step) in &later {
                let condition = match before {
                    Some(before) => {
                        format!("the document says that {before} is done and {} is not", name(step))
                    }
                    None => format!("the document says that {} is the next step", name(step)),
                };
                let line = option
                    .map_or(reading.leads.first().map_or(1, |lead| lead.line), |option| {
                        option.lines.0
                    });
                push(ways, Goal::Step((*step).to_owned()), option, Some(condition), line);
            }
        }
    }

    /// Returns the steps behind a continuing one, each with the name of the step before it.
    fn later(&self, reading: &Reading) -> Vec<(Option<String>, &str)> {
        let folder = folder_of(&reading.path);
        let Some(siblings) = self.folders.get(folder) else { return Vec::new() };
        let mut before: Option<&str> = None;
        let mut later = Vec::new();
        let mut passed = false;
        for path in siblings {
            if *path == reading.path {
                passed = true;
            } else if self.reached.contains(path) && !self.resuming.contains(path.as_str()) {
                if passed {
                    later.push((before.map(name), path.as_str()));
                }
                before = Some(path);
            }
        }
        later
    }

    /// Returns the one way on of a text; `None` if there are several.
    fn way_on(&self, reading: &Reading, ways: &[StepEdge], is_entry: bool) -> Option<Goal> {
        let taken = |step: &str| {
            reading.options.iter().any(|option| {
                matches!(&option.effect, ChoiceEffect::Steps(leads) if leads.iter().any(|lead| lead.step == step))
            })
        };
        let fits = |step: &str| !self.resuming.contains(step) && self.reached.contains(step);
        let all: BTreeSet<&str> = reading
            .leads
            .iter()
            .map(|lead| lead.step.as_str())
            .filter(|step| fits(step) && !taken(step))
            .collect();
        let sure: BTreeSet<&str> = reading
            .leads
            .iter()
            .filter(|lead| lead.condition.is_none() || lead.by_user)
            .map(|lead| lead.step.as_str())
            .filter(|step| all.contains(step))
            .collect();
        let declared: BTreeSet<&str> = reading
            .declared
            .iter()
            .map(|(step, _)| step.as_str())
            .filter(|step| fits(step))
            .collect();
        let optioned: BTreeSet<&str> = ways
            .iter()
            .filter_map(|way| match &way.to {
                Goal::Step(step) => Some(step.as_str()),
                Goal::End => None,
            })
            .filter(|step| fits(step))
            .collect();
        let anything = !all.is_empty() || !declared.is_empty() || !optioned.is_empty();
        let step = if all.is_empty() {
            one(declared).or_else(|| one(optioned))
        } else {
            one(sure).or_else(|| one(all))
        };
        match step {
            Some(step) => Some(Goal::Step(step.to_owned())),
            None if anything => None,
            None if is_entry => None,
            None => {
                let next =
                    next_in_order(reading, self.folders).filter(|next| self.reached.contains(next));
                Some(next.map_or(Goal::End, Goal::Step))
            }
        }
    }

    /// Marks the default of a text with several edges: the option that continues, else the unconditional edge, else the
    /// next step in order.
    fn choose_default(&self, reading: &Reading, ways: &mut [StepEdge]) {
        if ways.len() < 2 {
            return;
        }
        let continues = |way: &StepEdge| {
            let option =
                reading.options.iter().find(|option| Some(&option.key) == way.gate.as_ref());
            way.to != Goal::End
                && option.is_some_and(|option| {
                    begins(
                        &option.label.to_ascii_lowercase(),
                        &["continue", "proceed", "next", "save"],
                    )
                })
        };
        let open = |way: &StepEdge| {
            way.gate.is_none() && way.condition.is_none() && way.class != EvidenceClass::Declared
        };
        let siblings = self.folders.get(folder_of(&reading.path));
        let next = siblings.and_then(|siblings| siblings.get(place(siblings, &reading.path)? + 1));
        let in_order = |way: &StepEdge| matches!((&way.to, next), (Goal::Step(step), Some(next)) if step == next && !self.resuming.contains(step.as_str()));
        let onward = |way: &StepEdge| matches!(&way.to, Goal::Step(step) if !self.resuming.contains(step.as_str()));
        let chosen = ways
            .iter()
            .position(continues)
            .or_else(|| ways.iter().position(open))
            .or_else(|| ways.iter().position(in_order))
            .or_else(|| ways.iter().position(onward))
            .unwrap_or(0);
        if let Some(way) = ways.get_mut(chosen) {
            way.is_default = true;
        }
    }
}

/// Returns true if an option already leads to a step.
fn leads_to(ways: &[StepEdge], step: &str) -> bool {
    ways.iter().any(|way| matches!(&way.to, Goal::Step(known) if known == step))
}

/// Returns the only member of a set.
fn one(steps: BTreeSet<&str>) -> Option<&str> {
    let mut steps = steps.into_iter();
    steps.next().filter(|_| steps.next().is_none())
}

fn plain_way(to: Goal, class: EvidenceClass, line: u32) -> StepEdge {
    StepEdge { to, gate: None, condition: None, class, line, is_default: false }
}

/// Adds the edge of an option, once.
fn push(
    ways: &mut Vec<StepEdge>,
    to: Goal,
    option: Option<&MenuOption>,
    condition: Option<String>,
    line: u32,
) {
    let gate = option.map(|option| option.key.clone());
    let class = if to == Goal::End { EvidenceClass::Exit } else { EvidenceClass::Option };
    if !ways.iter().any(|way| way.to == to && way.gate == gate) {
        ways.push(StepEdge { to, gate, condition, class, line, is_default: false });
    }
}

/// Returns the name of a step for people.
fn name(path: &str) -> String {
    super::resolve::stem(path).unwrap_or(path).to_owned()
}
