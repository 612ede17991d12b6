//! Events in the form of journals.

use crewagent_core::event::{CommandResolved, ConversationEvent, Event, EventKind};

#[test]
fn a_command_has_the_name_of_the_contract_and_an_old_journal_is_read() {
    let line = |name: &str| {
        format!(
            r#"{{"seq":3,"time":"2026-11-15T16:10:55.006Z","runId":"r","type":"{name}","text":"2","command":"RunAction","confidence":"exact","reason":"number 2","item":2}}"#
        )
    };
    for name in ["session.command", "command.resolved"] {
        let event: Event = serde_json::from_str(&line(name)).unwrap();
        assert!(
            matches!(
                event.kind,
                EventKind::Conversation(ConversationEvent::CommandResolved(CommandResolved {
                    item: Some(2),
                    ..
                }))
            ),
            "{name}"
        );
        assert_eq!(serde_json::to_string(&event).unwrap(), line("command.resolved"));
    }
}
