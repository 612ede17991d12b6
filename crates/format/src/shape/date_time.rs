//! Date-times of RFC 3339.

use super::{ShapeReader, Tolerance, string};
use crate::diagnostic::Code;
use crate::syntax::Tree;
use crate::wording::quoted;

/// Reads a date-time of RFC 3339. In frontmatter a blank one counts as absent, which is `Some(None)`.
pub(crate) fn date_time(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Option<String>> {
    let value = string(tree, reader)?;
    if value.trim().is_empty() && reader.tolerance == Tolerance::Blank {
        return Some(None);
    }
    if is_rfc3339(&value) {
        return Some(Some(value));
    }
    let name = reader.name();
    let help = "write date, time and offset, for example 2026-11-15T09:30:00Z or 2026-11-15T17:30:00+08:00";
    reader.report(
        Code::BadDateTime,
        tree.span,
        format!("{name} is not an RFC 3339 date-time: {}", quoted(&value)),
        help,
    );
    None
}

/// Returns true for a date, `T`, a time with seconds, an optional fraction, and `Z` or an offset of hours and minutes.
fn is_rfc3339(value: &str) -> bool {
    let (Some(civil), Some(tail)) = (value.get(..19), value.get(19..)) else { return false };
    // jiff also accepts wider forms, such as a date without separators, so the form is checked here.
    let in_form = civil.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => matches!(byte, b'T' | b't'),
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    in_form && is_offset(after_fraction(tail)) && civil.parse::<jiff::civil::DateTime>().is_ok()
}

/// Returns the text after `.` and digits; the same text if there is no such fraction.
fn after_fraction(tail: &str) -> &str {
    let Some(digits) = tail.strip_prefix('.') else { return tail };
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < digits.len() { rest } else { tail }
}

fn is_offset(text: &str) -> bool {
    match text.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit())
                && (*h1, *h2) <= (b'2', b'3')
                && *m1 <= b'5'
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_time_is_exactly_rfc_3339() {
        for good in [
            "2026-11-15T09:30:00Z",
            "2026-11-15t09:30:00z",
            "2026-11-15T17:30:00.123456789012+08:00",
            "2026-11-15T17:30:00-23:59",
            "9999-12-31T23:59:59Z",
            "0000-01-01T00:00:00-00:00",
        ] {
            assert!(is_rfc3339(good), "{good}");
        }
        for bad in [
            "",
            "2026-11-15",
            "2026-11-15T09:30Z",
            "2026-11-15 09:30:00Z",
            "2026-11-15T09:30:00",
            "2026-11-15T09:30:00+08",
            "2026-11-15T09:30:00+0800",
            "2026-11-15T09:30:00+24:00",
            "2026-11-15T09:30:00+08:60",
            "2026-11-15T09:30:00,5Z",
            "2026-11-15T09:30:00.Z",
            "2026-11-15T09:30:00Z[UTC]",
            "2026-13-15T09:30:00Z",
            "2026-02-30T09:30:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T09:30:00é",
            "2026-11-15T09:30:0éZ",
        ] {
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }
}
