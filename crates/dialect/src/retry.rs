//! The wait before a request is retried.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

/// Bound of the first wait if the provider gives none. It doubles with every attempt.
const BASE: Duration = Duration::from_millis(500);
/// Maximum of the bound.
const CAP: Duration = Duration::from_secs(30);
/// Maximum wait; longer ones are cut to it. Callers have bounds of their own, and sums must not overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Smallest number taken as seconds since 1970, not seconds from now: it is beyond [`LONGEST`].
const EPOCH_SECONDS: f64 = 1e9;
/// Smallest number taken as milliseconds since 1970.
const EPOCH_MILLISECONDS: f64 = 1e11;

/// Returns the wait that the provider asks for, from any header and form. The value may be absurd.
///
/// Headers meant for clients (`retry-after-ms`, `retry-after`) count first. The reset times of limits count if the
/// limit is used up, or if no header gives the remainder.
pub fn retry_after<'h>(
    headers: &mut dyn Iterator<Item = (&'h str, &'h str)>,
    now: Timestamp,
) -> Option<Duration> {
    let mut milliseconds = None;
    let mut seconds = None;
    let mut resets: Vec<(String, Duration)> = Vec::new();
    let mut left: Vec<(String, bool)> = Vec::new();
    for (name, value) in headers {
        let name = name.trim().to_ascii_lowercase();
        let value = value.trim();
        match name.as_str() {
            "retry-after-ms" | "x-ms-retry-after-ms" => {
                milliseconds = milliseconds.or(number(value).and_then(|ms| of_seconds(ms / 1e3)));
            }
            "retry-after" => seconds = seconds.or_else(|| from_now(value, now)),
            _ => match limit(&name) {
                Some((LimitHeader::Reset, limit)) => {
                    resets.extend(from_now(value, now).map(|wait| (limit, wait)));
                }
                Some((LimitHeader::Left, limit)) => {
                    left.extend(number(value).map(|number| (limit, number <= 0.0)));
                }
                None => {}
            },
        }
    }
    let is_used_up =
        |limit: &str| left.iter().find(|(of, _)| of == limit).is_none_or(|(_, no)| *no);
    let resets = resets.iter().filter(|(limit, _)| is_used_up(limit)).map(|(_, wait)| *wait);
    milliseconds.or(seconds).or_else(|| resets.max())
}

/// Returns the wait before the next attempt if the provider gives none: anything up to a bound that doubles with every
/// attempt. The first attempt is 1; `dice` is any random number.
pub fn backoff(attempt: u32, dice: u64) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    let bound = BASE.saturating_mul(1 << doublings).min(CAP);
    let bound = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX - 1);
    Duration::from_millis(dice % (bound + 1))
}

/// Reads the wait in the text of an error: `Please try again in 1m2.5s.`
pub(super) fn in_words(text: &str) -> Option<Duration> {
    const BEFORE: &[&str] = &["again in ", "again after ", "retry in ", "retry after ", "wait "];
    let text = text.to_ascii_lowercase();
    BEFORE.iter().find_map(|before| {
        let rest = &text[text.find(before)? + before.len()..];
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || "hms".contains(c);
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (amount, after) = rest.split_at(end);
        let amount = amount.trim_end_matches('.');
        let is_seconds = after.trim_start().starts_with("second");
        units(amount).or_else(|| is_seconds.then(|| number(amount)).flatten().and_then(of_seconds))
    })
}

/// Parses a wait in a form of `google.rpc.RetryInfo` and others: `34s`, `1m30s`, `20ms`.
pub(super) fn units(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount = number(&rest[..end])?;
        rest = &rest[end..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        total += amount
            * match &rest[..end] {
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
        rest = &rest[end..];
    }
    of_seconds(total)
}

/// Meaning of a header about a limit.
enum LimitHeader {
    /// Time of the reset.
    Reset,
    /// Remainder.
    Left,
}

/// Returns the limit that a header describes: `x-ratelimit-reset-tokens`, `anthropic-ratelimit-tokens-reset` and the
/// like.
fn limit(header: &str) -> Option<(LimitHeader, String)> {
    let at = header.find("ratelimit-").or_else(|| header.find("rate-limit-"))?;
    let words =
        header[at..].split('-').filter(|word| !matches!(*word, "ratelimit" | "rate" | "limit"));
    let words: Vec<&str> = words.collect();
    let (said, verb) = if words.contains(&"reset") {
        (LimitHeader::Reset, "reset")
    } else if words.contains(&"remaining") {
        (LimitHeader::Left, "remaining")
    } else {
        return None;
    };
    let limit: Vec<&str> = words.into_iter().filter(|word| *word != verb).collect();
    Some((said, limit.join("-")))
}

/// Parses a wait from now: seconds, units, or a time.
fn from_now(value: &str, now: Timestamp) -> Option<Duration> {
    if let Some(number) = number(value) {
        return match number {
            n if n >= EPOCH_MILLISECONDS => of_seconds((n / 1e3 - seconds_of(now)).max(0.0)),
            n if n >= EPOCH_SECONDS => of_seconds((n - seconds_of(now)).max(0.0)),
            n => of_seconds(n),
        };
    }
    units(value).or_else(|| {
        let at = time(value)?;
        of_seconds((seconds_of(at) - seconds_of(now)).max(0.0))
    })
}

/// Parses a time in the current or an old form of HTTP, or in RFC 3339.
fn time(value: &str) -> Option<Timestamp> {
    const OLD: &[&str] = &["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    if let Ok(at) = value.parse::<Timestamp>() {
        return Some(at);
    }
    if let Ok(at) = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(value) {
        return Some(at);
    }
    let at = OLD.iter().find_map(|form| DateTime::strptime(form, value).ok())?;
    at.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

fn seconds_of(time: Timestamp) -> f64 {
    time.as_millisecond() as f64 / 1e3
}

fn of_seconds(seconds: f64) -> Option<Duration> {
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    let wait = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST);
    // Fractions of a millisecond are noise from the arithmetic.
    Some(Duration::from_millis(u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fixed time of these tests: Friday, 6 November 2026, 08:49:37.
    fn now() -> Timestamp {
        Timestamp::from_second(1_793_954_977).unwrap()
    }

    fn check_wait(headers: &[(&str, &str)], expected: Option<u64>) {
        let found = retry_after(&mut headers.iter().copied(), now());
        assert_eq!(found, expected.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn a_wait_is_read_in_every_form() {
        check_wait(&[], None);
        check_wait(&[("Retry-After", "7")], Some(7_000));
        check_wait(&[("retry-after", " 1.5 ")], Some(1_500));
        check_wait(&[("retry-after", "0")], Some(0));
        check_wait(&[("retry-after", "20s")], Some(20_000));
        check_wait(&[("retry-after", "Fri, 06 Nov 2026 08:50:07 GMT")], Some(30_000));
        check_wait(&[("retry-after", "Friday, 06-Nov-26 08:50:07 GMT")], Some(30_000));
        check_wait(&[("retry-after", "Fri Nov  6 08:50:07 2026")], Some(30_000));
        check_wait(&[("retry-after", "2026-11-06T08:49:47Z")], Some(10_000));
        check_wait(&[("retry-after", "Fri, 06 Nov 2026 08:00:00 GMT")], Some(0));
        check_wait(&[("retry-after-ms", "250"), ("retry-after", "1")], Some(250));
        check_wait(&[("retry-after", "1"), ("retry-after-ms", "250")], Some(250));
    }

    #[test]
    fn nonsense_is_no_wait_and_absurd_waits_are_bounded() {
        for value in ["", "soon", "-1", "NaN", "inf", "1e", "5 apples", "5x", "\u{661}"] {
            check_wait(&[("retry-after", value)], None);
        }
        check_wait(&[("retry-after", "999999999")], Some(31_536_000_000));
        check_wait(&[("retry-after", "1e300")], Some(31_536_000_000));
        check_wait(&[("retry-after", "9999999999999h")], Some(31_536_000_000));
        check_wait(&[("retry-after", "nonsense"), ("retry-after", "2")], Some(2_000));
    }

    #[test]
    fn the_reset_of_a_limit_that_is_used_up_counts() {
        check_wait(&[("x-ratelimit-reset-requests", "1m30s")], Some(90_000));
        check_wait(&[("x-ratelimit-reset-tokens", "20ms")], Some(20));
        check_wait(
            &[("x-ratelimit-reset-tokens", "6m0s"), ("x-ratelimit-remaining-tokens", "9")],
            None,
        );
        check_wait(
            &[
                ("x-ratelimit-remaining-tokens", "1000"),
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "8.64s"),
            ],
            Some(8_640),
        );
        check_wait(&[("X-RateLimit-Reset", "1793954987")], Some(10_000));
        check_wait(
            &[("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1793954987000")],
            Some(10_000),
        );
        check_wait(&[("x-ratelimit-reset", "1793954000")], Some(0));
        check_wait(&[("ratelimit-reset", "12")], Some(12_000));
        check_wait(&[("anthropic-ratelimit-tokens-reset", "2026-11-06T08:49:39Z")], Some(2_000));
        check_wait(&[("x-ratelimit-reset-tokens", "6m"), ("retry-after", "3")], Some(3_000));
        check_wait(&[("x-ratelimit-limit-tokens", "1000")], None);
    }

    #[test]
    fn a_wait_is_found_in_words() {
        let wait = |text| in_words(text).map(|wait| wait.as_millis());
        assert_eq!(wait("Rate limit reached. Please try again in 7m12.345s. Visit"), Some(432_345));
        assert_eq!(wait("Please try again in 20ms."), Some(20));
        assert_eq!(wait("Please retry in 34.074824224s."), Some(34_075));
        assert_eq!(wait("please wait 5 seconds before trying again"), Some(5_000));
        assert_eq!(wait("Please try again in 6 hours"), None);
        assert_eq!(wait("Please try again later"), None);
        assert_eq!(wait("concurrency: 3, please try again after 1 seconds"), Some(1_000));
    }

    #[test]
    fn backoff_doubles_its_bound_up_to_half_a_minute() {
        let longest = |attempt| (0..100_000).map(|dice| backoff(attempt, dice)).max().unwrap();
        assert_eq!(longest(1), Duration::from_millis(500));
        assert_eq!(longest(2), Duration::from_secs(1));
        assert_eq!(longest(7), Duration::from_secs(30));
        assert_eq!(longest(u32::MAX), Duration::from_secs(30));
        assert_eq!(longest(0), Duration::from_millis(500));
        assert_eq!(backoff(3, 0), Duration::ZERO);
    }
}
