//! Durations as users write them.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Time limit of at least one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timeout(u64);

const EXPECTED: &str = "expected a time of at least one second, such as `90s`, `10m` or `1h 30m`";

impl Timeout {
    /// Returns the limit in seconds.
    pub fn seconds(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Timeout {
    type Error = &'static str;

    fn try_from(seconds: u64) -> Result<Self, Self::Error> {
        // A limit must fit a clock.
        if seconds >= 1 && i64::try_from(seconds).is_ok() {
            Ok(Self(seconds))
        } else {
            Err(EXPECTED)
        }
    }
}

impl FromStr for Timeout {
    type Err = &'static str;

    /// Parses `90s`, `10m`, `1h 30m`; a bare number counts seconds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<u64>() {
            return Self::try_from(seconds);
        }
        let duration: SignedDuration = text.parse().map_err(|_| EXPECTED)?;
        Self::try_from(u64::try_from(duration.as_secs()).map_err(|_| EXPECTED)?)
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0).unwrap_or(i64::MAX);
        write!(f, "{:#}", SignedDuration::from_secs(seconds))
    }
}

impl Serialize for Timeout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Timeout;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"90s\", \"10m\" or \"1h 30m\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timeout, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Timeout, E> {
                Timeout::try_from(seconds).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Timeout, E> {
                u64::try_from(seconds)
                    .map_err(|_| E::custom(EXPECTED))
                    .and_then(|s| self.visit_u64(s))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_timeout(text: &str, expected: Option<u64>) {
        assert_eq!(text.parse::<Timeout>().ok().map(Timeout::seconds), expected, "{text:?}");
    }

    #[test]
    fn a_timeout_is_written_as_people_write_it() {
        check_timeout("90s", Some(90));
        check_timeout("90", Some(90));
        check_timeout("10m", Some(600));
        check_timeout(" 1h30m ", Some(5400));
        check_timeout("1h 30m", Some(5400));
        check_timeout("2 hours", Some(7200));
        for bad in ["", "0", "0s", "-5s", "10ms", "soon", "1.5.2s", "99999999999999999999"] {
            check_timeout(bad, None);
        }
    }

    #[test]
    fn a_timeout_reads_what_it_writes() {
        for seconds in [1, 59, 90, 3600, 86_400, 123_456] {
            let timeout = Timeout::try_from(seconds).unwrap();
            assert_eq!(timeout.to_string().parse(), Ok(timeout), "{timeout}");
        }
    }
}
