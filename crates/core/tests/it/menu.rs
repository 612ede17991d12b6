//! Agent menus: the table of routing, its laws, and the resolution of commands.

mod laws;
mod resolve;
mod similar;
mod table;

use crewagent_core::menu::{Command, Routed, Unclear, Work};
use crewagent_format::id::AgentId;
use crewagent_format::package::agents::{
    Agent, AgentMetadata, MenuItem, MenuTarget, Persona, Principles, Prompt, Trigger,
};

fn agent(menu: Vec<MenuItem>) -> Agent {
    let a = || "A".to_owned();
    Agent {
        id: AgentId::new("a").unwrap(),
        metadata: AgentMetadata {
            name: a(),
            title: a(),
            icon: a(),
            module: None,
            description: None,
            source_id: None,
            capabilities: None,
        },
        persona: Persona {
            role: a(),
            identity: a(),
            communication_style: a(),
            principles: Principles::Text(a()),
        },
        critical_actions: Vec::new(),
        prompts: vec![Prompt {
            id: "risk".to_owned(),
            content: "Name the risk.".to_owned(),
            description: None,
        }],
        menu,
        system_prompt: None,
        user_prompt_template: None,
        discussion: None,
        webskip: None,
        conversational_knowledge: Vec::new(),
        tools: None,
    }
}

fn action(text: &str) -> MenuTarget {
    let action = Some(text.to_owned()).filter(|text| !text.is_empty());
    MenuTarget { action, ..MenuTarget::default() }
}

/// Returns an item that does `does`; a blank text is absent.
fn item(trigger: &str, description: &str, does: &str) -> MenuItem {
    MenuItem {
        description: description.to_owned(),
        trigger: Some(trigger.to_owned()).filter(|text| !text.is_empty()),
        target: action(does),
        ..MenuItem::default()
    }
}

fn trigger(kind: &str, matches: &str, does: &str) -> Trigger {
    let matches = Some(matches.to_owned()).filter(|text| !text.is_empty());
    Trigger { kind: Some(kind.to_owned()), matches, target: action(does) }
}

/// Describes a command: `2 exact says` for an item, `several 1 3` for a question and its answers.
fn shown(routed: &Routed) -> String {
    let at = routed.item.map(|number| format!(" {number}")).unwrap_or_default();
    match &routed.command {
        Command::ShowMenu => format!("menu{at}"),
        Command::Dismiss => format!("dismiss{at}"),
        Command::Resume => format!("resume{at}"),
        Command::Chat => format!("chat{at}"),
        Command::Item(target) => {
            let (Work::Workflow(says) | Work::Exec(says) | Work::Action(says)) = &target.work;
            let sure = format!("{:?}", routed.confidence).to_lowercase();
            format!("{} {sure} {says}", at.trim_start())
        }
        Command::Clarify { why, candidates } => {
            let why = match why {
                Unclear::OutOfRange => "range",
                Unclear::SeveralMatch => "several",
            };
            let answers: Vec<_> = candidates.iter().map(|one| one.answer.as_str()).collect();
            format!("{why} {}", answers.join(" "))
        }
    }
}
