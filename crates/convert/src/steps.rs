//! Workflows of step files: entries, the steps that they lead to, and the menus between them.
//!
//! Shapes decide, never names: a step is a file that an entry leads to, an option is what a text shows and handles.
//! Every reader below is linear in its text.

mod choice;
mod documents;
mod effect;
mod entry;
mod evidence;
mod flow;
mod handling;
mod mention;
mod needs;
mod page;
mod plans;
mod reading;
mod remarks;
mod resolve;
mod setting;
mod shown;
mod text;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::WorkflowPlan;
use crate::recorder::ImportRecorder;
use crate::references::References;
use crate::source_tree::{SourceTree, folder_of, join, name_of};

use effect::Familiar;
use flow::{StepFolders, StepGraph, follow};
use plans::Identity;
use reading::{OpenLead, Reading, familiar};
use resolve::{Meant, Resolver, is_entry_name, is_step_file, sort_naturally, stem};
use text::{Home, StepText, read_text};

/// Reads all workflows whose entry leads to step files.
pub(crate) fn workflows(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    recorder: &mut ImportRecorder,
) -> Vec<WorkflowPlan> {
    let reader = StepReader { tree, references, folders: folders(tree), familiar: familiar(tree) };
    let entries: Vec<&str> = tree.content().filter(|path| is_entry_name(path)).collect();
    let mut read: BTreeMap<&str, StepText> = BTreeMap::new();
    for path in &entries {
        if let Some(text) = reader.entry(path) {
            read.insert(path, text);
        }
    }
    let mut plans = Vec::new();
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut remarks = remarks::Remarks::new(tree);
    for (path, entry) in &read {
        if !leads_on(entry) || is_double(path, &read) {
            continue;
        }
        let (flow, texts) = reader.flow(entry);
        reached.extend(flow.stops.iter().map(|stop| stop.reading.path.clone()));
        let identity = identity(tree, path, entry);
        let plan = plans::plan(tree, identity, entry, &flow, &texts);
        remarks.workflow(recorder, &plan, entry, &flow, &texts);
        plans.push(plan);
    }
    remarks.unreached(recorder, &reader.folders, &reached);
    plans
}

/// Everything that readers of one source share.
struct StepReader<'a> {
    tree: &'a SourceTree<'a>,
    references: &'a References<'a>,
    folders: StepFolders,
    familiar: Familiar,
}

impl StepReader<'_> {
    /// Reads a file that can be an entry.
    fn entry(&self, path: &str) -> Option<StepText> {
        let names = BTreeMap::new();
        let home = Home { base: folder_of(path), names: &names, familiar: &self.familiar };
        let mut text = read_text(self.tree, self.references, path, &home, false)?;
        if !leads_on(&text) {
            self.add_mentioned(path, &mut text);
        }
        Some(text)
    }

    /// Takes the first step that an entry mentions, if it leads to none in so many words.
    fn add_mentioned(&self, path: &str, text: &mut StepText) {
        let mut names = text.bullets.clone();
        names.extend(text.keys.clone());
        let resolver = Resolver::new(
            self.tree,
            self.references,
            (path, folder_of(path)),
            [names, BTreeMap::new()],
        );
        let mut steps: Vec<(String, u32)> = Vec::new();
        for (index, line) in text.document.body().lines().enumerate() {
            for found in resolver.found(line) {
                if let (Meant::Step(step), true) = (found.meant, steps.len() < 1000) {
                    let line = text.document.body_line + u32::try_from(index).unwrap_or(0);
                    steps.push((step, line));
                }
            }
        }
        steps.sort_by(|one, two| words::natural(&one.0, &two.0));
        if let Some((step, line)) = steps.into_iter().next() {
            let (condition, words) = (None, String::new());
            let lead =
                OpenLead { step, line, named: false, condition, by_user: false, next: true, words };
            text.reading.leads.push(lead);
        }
    }

    /// Follows the steps from an entry.
    fn flow(&self, entry: &StepText) -> (StepGraph, BTreeMap<String, StepText>) {
        let mut names = entry.bullets.clone();
        names.extend(entry.keys.clone());
        let base = folder_of(&entry.reading.path);
        let home = Home { base, names: &names, familiar: &self.familiar };
        let mut texts: BTreeMap<String, StepText> = BTreeMap::new();
        let several = first_steps(&entry.reading).len() > 1;
        let read = |path: &str, may_resume: bool| {
            let text = read_text(self.tree, self.references, path, &home, may_resume)?;
            let reading = text.reading.clone();
            texts.insert(path.to_owned(), text);
            Some(reading)
        };
        let flow = follow(
            entry.reading.clone(),
            entry.works || several,
            &self.folders,
            entry.defines_halt,
            read,
        );
        (flow, texts)
    }
}

/// Returns the steps that an entry leads to.
fn first_steps(reading: &Reading) -> BTreeSet<&str> {
    let of_options = reading.options.iter().flat_map(|option| match &option.effect {
        effect::ChoiceEffect::Steps(leads) => leads.as_slice(),
        effect::ChoiceEffect::End
        | effect::ChoiceEffect::Call(_)
        | effect::ChoiceEffect::Stay(_)
        | effect::ChoiceEffect::Next
        | effect::ChoiceEffect::Resume => &[],
    });
    let declared = reading.declared.iter().map(|(step, _)| step.as_str());
    let leads = reading.leads.iter().map(|lead| lead.step.as_str());
    leads.chain(of_options.map(|lead| lead.step.as_str())).chain(declared).collect()
}

fn leads_on(entry: &StepText) -> bool {
    !first_steps(&entry.reading).is_empty()
}

/// Returns true for an entry of a folder that another entry of the same folder describes as well.
fn is_double(path: &str, read: &BTreeMap<&str, StepText>) -> bool {
    let Some(own) = read.get(path) else { return false };
    let is_skill = |path: &str| name_of(path).eq_ignore_ascii_case("SKILL.md");
    read.iter().any(|(other, entry)| {
        *other != path
            && folder_of(other) == folder_of(path)
            && leads_on(entry)
            && is_skill(other) != is_skill(path)
            && first_steps(&entry.reading) == first_steps(&own.reading)
            && is_skill(other)
    })
}

/// Returns name and description of a workflow: from its entry, else from the skill beside it, else from its place.
fn identity(tree: &SourceTree<'_>, path: &str, entry: &StepText) -> Identity {
    let folder = folder_of(path);
    let skill = join(folder, "SKILL.md");
    let skill = if skill == path { None } else { tree.text(&skill) };
    let skill = skill.map(|text| crate::document::SourceDocument::read(text.text()));
    let from = |key: &str| entry.document.scalar(key).or_else(|| skill.as_ref()?.scalar(key));
    let file = stem(path).unwrap_or_default();
    let place = match file.split_once(['-', '_']) {
        Some((_, rest))
            if file.to_ascii_lowercase().starts_with("workflow") && !rest.is_empty() =>
        {
            rest
        }
        _ if folder.is_empty() => file,
        _ => name_of(folder),
    };
    Identity {
        id: from("name").unwrap_or_else(|| place.to_owned()),
        title: entry.title.clone(),
        description: from("description").unwrap_or_else(|| entry.goal.clone()),
    }
}

/// Returns the step files of each folder, in natural order.
fn folders(tree: &SourceTree<'_>) -> StepFolders {
    let mut folders: StepFolders = BTreeMap::new();
    for path in tree.content().filter(|path| is_step_file(path)) {
        folders.entry(folder_of(path).to_owned()).or_default().push(path.to_owned());
    }
    for paths in folders.values_mut() {
        sort_naturally(paths);
    }
    folders
}
