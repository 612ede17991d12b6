//! How far a browser has followed each journal, as the id of a frame:
//! `run/<id>=<epoch>.<seq>.<part>,conversation/<id>=…`.

use std::fmt::Write as _;

use crate::stage::Position;
use crate::wire::Journal;

/// Longer is no cursor of ours.
const MAX_BYTES: usize = 16 * 1024;

/// How far a browser has followed each journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor(Vec<(Journal, Position)>);

impl Cursor {
    /// Reads what a browser shows. What makes no sense says nothing: that journal is sent from its beginning.
    pub(super) fn parse(text: &str) -> Self {
        if text.len() > MAX_BYTES {
            return Self::default();
        }
        let place = |part: &str| {
            let (journal, position) = part.split_once('=')?;
            let mut numbers = position.splitn(3, '.').map(str::parse::<u64>);
            let mut number = || numbers.next()?.ok();
            let position = Position { epoch: number()?, seq: number()?, part: number()? };
            Some((Journal::parse(journal)?, position))
        };
        Self(text.split(',').filter_map(place).collect())
    }

    /// How far this journal was followed.
    pub(super) fn position(&self, journal: &Journal) -> Position {
        let found = self.0.iter().find(|(known, _)| known == journal);
        found.map(|(_, position)| *position).unwrap_or_default()
    }

    /// What was followed.
    pub(super) fn journals(&self) -> impl Iterator<Item = &Journal> {
        self.0.iter().map(|(journal, _)| journal)
    }
}

/// Writes an id.
pub(crate) fn write<'j>(places: impl Iterator<Item = (&'j Journal, Position)>) -> String {
    let mut text = String::new();
    for (journal, Position { epoch, seq, part }) in places {
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
