//! Access to the server: links that work once, and the cookies they are exchanged for.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crewagent_engine::private;
use crewagent_format::integrity::Digest;

use crate::ServerError;
use crate::instance::failed;
use crate::secret::Secret;

/// Unused links that stay valid.
const MAX_LINKS: usize = 16;
/// Lifetime of a link. After it the user gets a fresh one with `crewagent`.
const LINK_LIFETIME: Duration = Duration::from_secs(30 * 60);
/// Cookies that are valid at the same time; a new one replaces the oldest.
const MAX_COOKIES: usize = 32;
/// The file of the cookies, one a line: the digest and the second at which it expires. A cookie survives a crash of
/// the server.
const COOKIES: &str = "cookies";
/// Lifetime of a cookie, in the browser and here.
const MAX_AGE_SECONDS: u64 = 30 * 24 * 60 * 60;
/// Remaining lifetime of a cookie that is replaced: requests of other tabs may still carry it.
const HANDOVER_SECONDS: u64 = 10;

/// The links and cookies that give access.
#[derive(Debug)]
pub(crate) struct Access {
    /// Authenticates a second start on the same store.
    secret: Secret,
    cookie_name: String,
    known: Mutex<AccessState>,
    /// The file of the cookies; the lock serializes writes.
    file: Mutex<PathBuf>,
}

#[derive(Debug)]
struct AccessState {
    /// With the time at which they were issued.
    links: VecDeque<(Digest, Instant)>,
    cookies: VecDeque<Cookie>,
}

/// A cookie as the server stores it.
#[derive(Clone, Copy, Debug)]
struct Cookie {
    digest: Digest,
    /// Expiry, in seconds since 1970.
    ends: u64,
}

impl Cookie {
    /// Parses a line as [`Access::save`] writes it. Earlier versions wrote no expiry.
    fn parse(line: &str, end_if_none: u64) -> Option<Self> {
        let (digest, ends) = match line.split_once(' ') {
            Some((digest, ends)) => (digest, ends.parse().ok()?),
            None => (line, end_if_none),
        };
        Some(Self { digest: Digest::parse(digest)?, ends })
    }
}

impl Access {
    /// Reads the cookies that were issued before.
    pub(crate) fn open(folder: &Path, port: u16) -> Result<Self, ServerError> {
        let file = folder.join(COOKIES);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed("read", &file)(error)),
        };
        let written = fs::metadata(&file).and_then(|found| found.modified());
        let end_if_none = seconds(written.unwrap_or_else(|_| SystemTime::now())) + MAX_AGE_SECONDS;
        // A line that cannot be read gives no access.
        let cookies = text.lines().filter_map(|line| Cookie::parse(line, end_if_none));
        let cookies = cookies.take(MAX_COOKIES).collect();
        Ok(Self {
            secret: Secret::fresh(),
            // Browsers share cookies between ports, and two stores may be served at the same time.
            cookie_name: format!("crewagent-{port}"),
            known: Mutex::new(AccessState { links: VecDeque::new(), cookies }),
            file: Mutex::new(file),
        })
    }

    /// Returns the secret that a second start on the same store must show.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Issues a token that lets a browser in, once.
    pub(crate) fn fresh_link(&self) -> String {
        let link = Secret::fresh();
        let mut known = self.known();
        known.links.push_back((link.digest(), Instant::now()));
        if known.links.len() > MAX_LINKS {
            known.links.pop_front();
        }
        link.reveal().to_owned()
    }

    /// Returns the `Set-Cookie` for a valid token; it replaces the cookies of the request. Waits for the disk.
    pub(crate) fn enter(&self, token: &str, cookies: &str) -> Option<String> {
        self.enter_at(token, cookies, Instant::now(), seconds(SystemTime::now()))
    }

    fn enter_at(&self, token: &str, cookies: &str, moment: Instant, now: u64) -> Option<String> {
        let digest = Digest::of(token.as_bytes());
        let replaced = self.digests_of(cookies);
        let cookie = Secret::fresh();
        let mut known = self.known();
        known.links.retain(|(_, given)| moment.saturating_duration_since(*given) < LINK_LIFETIME);
        let at = known.links.iter().position(|(link, _)| *link == digest)?;
        known.links.remove(at);
        known.cookies.retain(|cookie| now < cookie.ends);
        for cookie in known.cookies.iter_mut().filter(|one| replaced.contains(&one.digest)) {
            cookie.ends = cookie.ends.min(now + HANDOVER_SECONDS);
        }
        known.cookies.push_back(Cookie { digest: cookie.digest(), ends: now + MAX_AGE_SECONDS });
        if known.cookies.len() > MAX_COOKIES {
            known.cookies.pop_front();
        }
        drop(known);
        self.save();
        let (name, value) = (&self.cookie_name, cookie.reveal());
        Some(format!(
            "{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={MAX_AGE_SECONDS}"
        ))
    }

    /// Revokes the cookies of a request, and returns the `Set-Cookie` that removes them. Waits for the disk.
    pub(crate) fn leave(&self, cookies: &str) -> String {
        let left = self.digests_of(cookies);
        self.known().cookies.retain(|cookie| !left.contains(&cookie.digest));
        self.save();
        format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", self.cookie_name)
    }

    /// Returns true if one of the cookies of a request is valid.
    pub(crate) fn admits(&self, cookies: &str) -> bool {
        self.admits_at(cookies, seconds(SystemTime::now()))
    }

    fn admits_at(&self, cookies: &str, now: u64) -> bool {
        let shown = self.digests_of(cookies);
        let known = self.known();
        known.cookies.iter().any(|cookie| now < cookie.ends && shown.contains(&cookie.digest))
    }

    /// Returns the digests of all cookies of our name: a page at another port can set one that comes before ours.
    fn digests_of(&self, cookies: &str) -> Vec<Digest> {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let ours = pairs.filter(|(name, _)| *name == self.cookie_name);
        ours.map(|(_, value)| Digest::of(value.as_bytes())).collect()
    }

    /// Saves the cookies. If that fails, browsers need a new link after the next start; nothing else is lost. Requests
    /// are authenticated without waiting for the disk.
    fn save(&self) {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |cookie: &Cookie| format!("{} {}\n", cookie.digest, cookie.ends);
        let text: String = self.known().cookies.iter().map(line).collect();
        let _ = private::replace(&file, text.as_bytes());
    }

    fn known(&self) -> MutexGuard<'_, AccessState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the seconds since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a browser sends back of a `Set-Cookie`.
    fn pair(cookie: &str) -> &str {
        cookie.split(';').next().unwrap_or_default()
    }

    #[test]
    fn an_expired_link_gives_no_access() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let (early, late) = (access.fresh_link(), access.fresh_link());
        let (soon, now) = (Instant::now() + LINK_LIFETIME / 2, seconds(SystemTime::now()));
        let cookie = access.enter_at(&early, "", soon, now).unwrap();
        assert!(access.admits(pair(&cookie)));
        assert_eq!(access.enter_at(&early, "", soon, now), None);
        assert_eq!(access.enter_at(&late, "", Instant::now() + LINK_LIFETIME, now), None);
        // The cookie is valid after the next start.
        let again = Access::open(folder.path(), 1).unwrap();
        assert!(again.admits(pair(&cookie)));
        again.leave(pair(&cookie));
        assert!(!Access::open(folder.path(), 1).unwrap().admits(pair(&cookie)));
    }

    #[test]
    fn a_cookie_that_another_page_sets_does_not_hide_ours() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let cookie = access.enter(&access.fresh_link(), "").unwrap();
        let both = format!("crewagent-1=x; {}; crewagent-1=y", pair(&cookie));
        assert!(access.admits(&both));
        access.leave(&both);
        assert!(!access.admits(&both));
    }

    #[test]
    fn a_cookie_ends_here_when_it_ends_in_the_browser() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let now = 1_000_000;
        let cookie = access.enter_at(&access.fresh_link(), "", Instant::now(), now).unwrap();
        let again = Access::open(folder.path(), 1).unwrap();
        for access in [&access, &again] {
            assert!(access.admits_at(pair(&cookie), now + MAX_AGE_SECONDS - 1));
            assert!(!access.admits_at(pair(&cookie), now + MAX_AGE_SECONDS));
        }
        // An expired cookie is deleted.
        access.enter(&access.fresh_link(), "").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(COOKIES)).unwrap().lines().count(), 1);
    }

    #[test]
    fn a_new_link_replaces_the_cookie_that_was_shown_and_lets_others_be() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let now = 1_000_000;
        let enter = |cookies: &str| {
            access.enter_at(&access.fresh_link(), cookies, Instant::now(), now).unwrap()
        };
        let (one, other) = (enter(""), enter(""));
        let new = enter(pair(&one));
        // Another tab may have sent a request with it just before.
        assert!(access.admits_at(pair(&one), now + HANDOVER_SECONDS - 1));
        assert!(!access.admits_at(pair(&one), now + HANDOVER_SECONDS));
        assert!(access.admits_at(pair(&other), now + HANDOVER_SECONDS));
        assert!(access.admits_at(pair(&new), now + HANDOVER_SECONDS));
    }

    #[test]
    fn cookies_of_earlier_versions_end_with_the_age_of_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let digest = Digest::of(b"old");
        fs::write(folder.path().join(COOKIES), format!("{digest}\nnonsense\n{digest} soon\n"))
            .unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let now = seconds(SystemTime::now());
        assert!(access.admits_at("crewagent-1=old", now));
        assert!(!access.admits_at("crewagent-1=old", now + MAX_AGE_SECONDS + 1));
        assert_eq!(access.known().cookies.len(), 1);
    }
}
