//! Gates: the drafts are read from disk and shown, and the choice of the user becomes one change of files.

use crewagent_core::call::{Call, GateCall, WriteCall};
use crewagent_core::draft::DraftName;
use crewagent_core::event::{Answer, Intent};
use crewagent_core::gate::{self, BoundDraft, GateChoice, GateOutcome, GateTerms};
use crewagent_core::question::Question;
use crewagent_core::question::gate::{GateAction, ShownDraft};
use crewagent_core::refusal::Refusal;
use crewagent_core::run::machine::{CallJob, Machine, Moves};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::tool::window::decode;
use crewagent_core::vpath::VPath;
use crewagent_format::integrity::Digest;
use serde_json::Value as Json;

use super::World;
use crate::mounts::{MountResult, Mounts};
use crate::step_log::Halt;
use crate::tools::{CallContext, CallPlan, SavedText, Tools};

/// A call, with what a choice at a gate makes of it.
pub(super) struct ResolvedCall {
    pub(super) call: Call,
    /// Result of the choice that the call carries out.
    pub(super) outcome: Option<GateOutcome>,
}

/// Returns the call that is carried out: at a gate whose user chose to go on, the change that follows from it.
pub(super) fn resolved(
    call: Call,
    job: &CallJob,
    machine: &Machine,
) -> Result<ResolvedCall, Refusal> {
    let (Call::Gate(asked), Some(choice)) = (&call, &job.gate.choice) else {
        return Ok(ResolvedCall { call, outcome: None });
    };
    let terms = machine.gate_terms(&job.gate.visit);
    let terms = terms.ok_or_else(|| gate::no_gate(machine.current_node()))?;
    let outcome = terms.outcome(asked, choice)?;
    let call = Call::State(Box::new(outcome.call.clone()));
    call.check_policy(&job.policy)?;
    Ok(ResolvedCall { call, outcome: Some(outcome) })
}

/// Returns the question of a gate, or the answer to a call that cannot ask it. What would be refused in any case is
/// refused before the user is asked.
pub(super) fn ask(
    call: &GateCall,
    job: &CallJob,
    machine: &Machine,
    tools: &Tools<'_>,
    context: &CallContext<'_>,
) -> Result<Result<Question, Answer>, Halt> {
    let Some(terms) = machine.gate_terms(&job.gate.visit) else {
        return Ok(Err(Answer::from(&gate::no_gate(machine.current_node()))));
    };
    let names = if call.drafts.is_empty() { &job.gate.drafts } else { &call.drafts };
    let is_written = |path: &crewagent_core::state::project_path::ProjectPath| {
        job.files.has_changed(path.as_str())
    };
    if names.is_empty() && terms.saves_drafts() && !terms.targets().iter().any(is_written) {
        return Ok(Err(Answer::from(&gate::no_draft(&terms))));
    }
    let mut show = Vec::new();
    for name in names {
        match shown(name, tools.mounts, job.policy.fs.max_write_bytes)? {
            Ok(draft) => show.push(draft),
            Err(refusal) => return Ok(Err(Answer::from(&refusal))),
        }
    }
    if let Some(refused) = refused_anyway(&terms, call, &show, tools, context)? {
        return Ok(Err(refused));
    }
    Ok(Ok(terms.question(call, show)))
}

/// Reads a draft as the user sees it.
fn shown(name: &DraftName, mounts: &Mounts, limit: u64) -> MountResult<ShownDraft> {
    let path = match VPath::parse(&name.path()) {
        Ok(path) => path,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let content = match mounts.read(&path, usize::try_from(limit).unwrap_or(usize::MAX))? {
        Ok(content) => content,
        Err(refusal) => {
            let why = refusal.message.trim_end_matches('.').to_owned();
            return Ok(Err(gate::no_such_draft(name, &why)));
        }
    };
    let text = decode(&content.bytes).ok().filter(|_| content.is_whole());
    let Some(text) = text else {
        return Ok(Err(gate::no_such_draft(name, "the file is too large, or no text")));
    };
    Ok(Ok(ShownDraft {
        name: name.as_str().to_owned(),
        path: name.path(),
        sha256: content.sha256.to_string(),
        bytes: content.size,
        text: text.into(),
        to: None,
    }))
}

/// Returns the refusal that every option which leads on would get; none if one of them may be taken, or if there is
/// none.
fn refused_anyway(
    terms: &GateTerms<'_>,
    call: &GateCall,
    show: &[ShownDraft],
    tools: &Tools<'_>,
    context: &CallContext<'_>,
) -> Result<Option<Answer>, Halt> {
    let drafts: Vec<BoundDraft> = show.iter().filter_map(bound).collect();
    let mut first = None;
    let options = terms.options();
    for option in options.iter().filter(|option| option.does.is_some_and(GateAction::leads_on)) {
        let key = option.value.clone();
        let mut visit = terms.visit.clone();
        visit.chosen.extend(terms.keys_of(&key));
        let choice = GateChoice { key, label: option.shown().to_owned(), drafts: drafts.clone() };
        let answer = match terms.outcome(call, &choice) {
            Err(refusal) => Answer::from(&refusal),
            Ok(outcome) => {
                let call = Call::State(Box::new(outcome.call));
                match call.check_policy(context.policy) {
                    Err(refusal) => Answer::from(&refusal),
                    Ok(()) => match tools.plan(&call, &of_gate(context, &visit))? {
                        CallPlan::Answer(answer) if answer.refused.is_some() => answer,
                        CallPlan::Answer(_)
                        | CallPlan::Change(_)
                        | CallPlan::Ask(_)
                        | CallPlan::Approve(_) => return Ok(None),
                    },
                }
            }
        };
        first.get_or_insert(answer);
    }
    Ok(first)
}

fn bound(shown: &ShownDraft) -> Option<BoundDraft> {
    Some(BoundDraft {
        name: DraftName::parse(&shown.name).ok()?,
        sha256: Digest::parse(&shown.sha256)?,
        bytes: shown.bytes,
    })
}

/// Returns the circumstances of a change that the user decided about at a gate.
fn of_gate<'c>(context: &CallContext<'c>, visit: &'c GateVisit) -> CallContext<'c> {
    CallContext { gate: visit, moves: Moves::Free, agreed: None, ..*context }
}

/// Adds the choice to the answer of the change that it led to.
pub(super) fn with_choice(
    plan: CallPlan,
    choice: Option<&GateChoice>,
    outcome: &GateOutcome,
) -> CallPlan {
    let Some(choice) = choice else { return plan };
    let tell = |answer: Answer| {
        if answer.refused.is_some() {
            return answer;
        }
        let change = answer.result.inline().and_then(|text| serde_json::from_str(text).ok());
        let result = gate::outcome_answer(choice, outcome, &change.unwrap_or(Json::Null));
        Answer {
            result: result.to_string().into(),
            saved: outcome.saved.clone(),
            repeats: false,
            ..answer
        }
    };
    match plan {
        CallPlan::Answer(answer) => CallPlan::Answer(tell(answer)),
        CallPlan::Change(mut change) => {
            let answer = tell(change.intent.answer.clone());
            change.intent = Intent { answer, ..change.intent };
            CallPlan::Change(change)
        }
        CallPlan::Ask(_) | CallPlan::Approve(_) => plan,
    }
}

/// Returns the drafts that a call saves, as the run saved them before. What cannot be found counts as never saved.
pub(super) fn saved_before(call: &Call, job: &CallJob, world: &World<'_>) -> Vec<SavedText> {
    let mut texts = Vec::new();
    for name in drafts_of(call) {
        for saved in job.gate.saved.iter().filter(|saved| saved.name == name.as_str()) {
            let text = Digest::parse(&saved.sha256).and_then(|sha| world.blobs.text(sha).ok());
            texts.extend(text.map(|text| SavedText {
                name: saved.name.clone(),
                path: saved.path.clone(),
                text,
            }));
        }
    }
    texts
}

/// Stores the drafts that a call saves, so that a later one can replace them.
pub(super) fn keep_drafts(call: &Call, mounts: &Mounts, world: &World<'_>) -> Result<(), Halt> {
    for name in drafts_of(call) {
        let Ok(path) = VPath::parse(&name.path()) else { continue };
        if let Ok(content) = mounts.read(&path, crate::tools::KEPT)?
            && content.is_whole()
        {
            world.blobs.put(&content.bytes)?;
        }
    }
    Ok(())
}

/// Returns the drafts that a call saves in other files.
fn drafts_of(call: &Call) -> Vec<DraftName> {
    let files: &[WriteCall] = match call {
        Call::Write(write) => std::slice::from_ref(write),
        Call::State(state) => &state.files,
        Call::Read(_)
        | Call::List(_)
        | Call::Search(_)
        | Call::Patch(_)
        | Call::Move(_)
        | Call::Delete(_)
        | Call::AskUser(_)
        | Call::Gate(_) => &[],
    };
    files
        .iter()
        .flat_map(|file| &file.copies)
        .filter_map(|copy| DraftName::of(&copy.from))
        .collect()
}
