//! The offset of a browser in each journal, as the id of a frame:
//! `run/<id>=<epoch>.<seq>.<part>,conversation/<id>=…`.

use std::fmt::Write as _;

use crewagent_engine::store::JournalId;

use crewagent_engine::workers::Offset;

/// A longer text is no cursor of this server.
const MAX_CURSOR_BYTES: usize = 16 * 1024;

/// The offset of a browser in each journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor(Vec<(JournalId, Offset)>);

impl Cursor {
    /// Parses the id that a browser sends. A part that makes no sense is ignored: that journal is sent from its start.
    pub(super) fn parse(text: &str) -> Self {
        if text.len() > MAX_CURSOR_BYTES {
            return Self::default();
        }
        let entry = |part: &str| {
            let (journal, offset) = part.split_once('=')?;
            let mut numbers = offset.splitn(3, '.').map(str::parse::<u64>);
            let mut number = || numbers.next()?.ok();
            let offset = Offset { epoch: number()?, seq: number()?, part: number()? };
            Some((JournalId::parse(journal)?, offset))
        };
        Self(text.split(',').filter_map(entry).collect())
    }

    /// Returns the offset in a journal.
    pub(super) fn offset(&self, journal: &JournalId) -> Offset {
        let found = self.0.iter().find(|(known, _)| known == journal);
        found.map(|(_, offset)| *offset).unwrap_or_default()
    }

    /// Returns the journals that were followed.
    pub(super) fn journals(&self) -> impl Iterator<Item = &JournalId> {
        self.0.iter().map(|(journal, _)| journal)
    }
}

/// Writes an id.
pub(crate) fn write<'j>(offsets: impl Iterator<Item = (&'j JournalId, Offset)>) -> String {
    let mut text = String::new();
    for (journal, Offset { epoch, seq, part }) in offsets {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{journal}={epoch}.{seq}.{part}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cursor(text: &str, expected: &str) {
        let cursor = Cursor::parse(text);
        assert_eq!(write(cursor.0.iter().map(|(journal, at)| (journal, *at))), expected, "{text}");
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        check_cursor("run/a=1.2.3", "run/a=1.2.3");
        check_cursor("run/a=1.2.3,conversation/b-c=4.5.0", "run/a=1.2.3,conversation/b-c=4.5.0");
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        check_cursor("", "");
        check_cursor("run/a", "");
        check_cursor("run/a=1.2", "");
        check_cursor("run/a=1.2.-3", "");
        check_cursor("run/../x=1.2.3", "");
        check_cursor("walk/a=1.2.3,run/b=1.1.1", "run/b=1.1.1");
        check_cursor(&"run/a=1.2.3,".repeat(4000), "");
    }
}
