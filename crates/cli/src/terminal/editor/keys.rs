//! Key bindings that differ from rustyline's defaults.

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent,
    Modifiers, Movement, RepeatCount,
};

/// Binds the keys.
pub(super) fn bind<H: Helper, I: rustyline::history::History>(
    editor: &mut rustyline::Editor<H, I>,
) {
    let handlers = [
        (KeyEvent(KeyCode::Enter, Modifiers::NONE), EditorKey::Enter),
        (KeyEvent(KeyCode::Char('C'), Modifiers::CTRL), EditorKey::Interrupt),
        (KeyEvent(KeyCode::Esc, Modifiers::NONE), EditorKey::Escape),
    ];
    for (key, does) in handlers {
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(does)));
    }
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
}

enum EditorKey {
    Enter,
    Interrupt,
    Escape,
}

impl ConditionalEventHandler for EditorKey {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let (line, cursor) = (context.line(), context.pos());
        match self {
            Self::Enter => is_continued(line, cursor).then_some(Cmd::Complete),
            Self::Interrupt if line.is_empty() => Some(Cmd::Interrupt),
            Self::Interrupt => Some(Cmd::Kill(Movement::WholeBuffer)),
            Self::Escape => line.is_empty().then_some(Cmd::EndOfFile),
        }
    }
}

/// Returns true if Enter inserts a line break: a backslash ends the cursor's line. The caller completes it to the end
/// of the line, so that a pasted backslash stays.
pub(super) fn is_continued(line: &str, cursor: usize) -> bool {
    line.split_at_checked(cursor).is_some_and(|(before, after)| {
        before.ends_with('\\') && (after.is_empty() || after.starts_with('\n'))
    })
}
