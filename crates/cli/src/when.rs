//! Formats times relative to now.

use jiff::Timestamp;

use crate::language::{say, text};

/// Formats how long ago a time is.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - time.as_second();
    match seconds {
        ..60 => text!("just now", "刚刚").to_owned(),
        60..3600 => say!("{} min ago", "{} 分钟前", seconds / 60),
        3600..86_400 => say!("{} h ago", "{} 小时前", seconds / 3600),
        86_400..172_800 => text!("yesterday", "昨天").to_owned(),
        172_800..2_592_000 => say!("{} days ago", "{} 天前", seconds / 86_400),
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
