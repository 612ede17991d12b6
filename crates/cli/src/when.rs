//! Formats times relative to now.

use jiff::Timestamp;

/// Formats how long ago a time is.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - time.as_second();
    match seconds {
        ..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..172_800 => "yesterday".to_owned(),
        172_800..2_592_000 => format!("{} days ago", seconds / 86_400),
        _ => date(time),
    }
}

/// Formats the day, in UTC.
pub(crate) fn date(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_ago(seconds: i64, expected: &str) {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let time = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
        assert_eq!(ago(time, now), expected);
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        check_ago(-5, "just now");
        check_ago(59, "just now");
        check_ago(60, "1 min ago");
        check_ago(3 * 3600, "3 h ago");
        check_ago(86_400, "yesterday");
        check_ago(5 * 86_400, "5 days ago");
        check_ago(90 * 86_400, "2026-10-17");
    }
}
