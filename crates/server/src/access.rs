//! Who may use the server: links that work once, and the cookies they are exchanged for.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crewagent_core::integrity::Digest;

use crate::ServerError;
use crate::instance::{failed, write_private};
use crate::secret::Secret;

/// Links that were given out and not used.
const MAX_LINKS: usize = 16;
/// How long a link can be used: whoever comes back to the terminal later gets a fresh one with `crewagent`.
const LINK_TIME: Duration = Duration::from_secs(30 * 60);
/// Browsers that are known; the oldest is forgotten.
const MAX_COOKIES: usize = 32;
/// What is kept of the cookies, one a line: the digest and the second at which it ends. A cookie outlives a crash of the
/// server.
const COOKIES: &str = "cookies";
/// A cookie lasts so many seconds, in the browser and here.
const MAX_AGE: u64 = 30 * 24 * 60 * 60;
/// A cookie that is replaced lasts so many seconds more: requests of other tabs may be on their way with it.
const HANDOVER: u64 = 10;

/// Who may use the server.
#[derive(Debug)]
pub(crate) struct Access {
    /// For a second start on the same store.
    secret: Secret,
    cookie_name: String,
    known: Mutex<Known>,
    /// The file of the cookies, which one at a time writes.
    file: Mutex<PathBuf>,
}

#[derive(Debug)]
struct Known {
    /// With the time when they were given out.
    links: VecDeque<(Digest, Instant)>,
    cookies: VecDeque<Cookie>,
}

/// What is known of a cookie.
#[derive(Clone, Copy, Debug)]
struct Cookie {
    digest: Digest,
    /// Since 1970, in seconds.
    ends: u64,
}

impl Cookie {
    /// A line as [`Access::keep`] writes it. Earlier versions wrote no end.
    fn parse(line: &str, end_if_none: u64) -> Option<Self> {
        let (digest, ends) = match line.split_once(' ') {
            Some((digest, ends)) => (digest, ends.parse().ok()?),
            None => (line, end_if_none),
        };
        Some(Self { digest: Digest::parse(digest)?, ends })
    }
}

impl Access {
    /// With the cookies that were given out before.
    pub(crate) fn open(folder: &Path, port: u16) -> Result<Self, ServerError> {
        let file = folder.join(COOKIES);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed("read", &file)(error)),
        };
        let written = fs::metadata(&file).and_then(|found| found.modified());
        let end_if_none = seconds(written.unwrap_or_else(|_| SystemTime::now())) + MAX_AGE;
        // What cannot be read lets nobody in.
        let cookies = text.lines().filter_map(|line| Cookie::parse(line, end_if_none));
        let cookies = cookies.take(MAX_COOKIES).collect();
        Ok(Self {
            secret: Secret::fresh(),
            // Cookies do not know ports, and two stores may be served at the same time.
            cookie_name: format!("crewagent-{port}"),
            known: Mutex::new(Known { links: VecDeque::new(), cookies }),
            file: Mutex::new(file),
        })
    }

    /// What a second start on the same store shows.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    /// A word that lets a browser in, once.
    pub(crate) fn fresh_link(&self) -> String {
        let link = Secret::fresh();
        let mut known = self.known();
        known.links.push_back((link.digest(), Instant::now()));
        if known.links.len() > MAX_LINKS {
            known.links.pop_front();
        }
        link.reveal().to_owned()
    }

    /// The `Set-Cookie` for a word that lets in; it replaces the cookies that the request showed. Waits for the disk.
    pub(crate) fn enter(&self, word: &str, cookies: &str) -> Option<String> {
        self.enter_at(word, cookies, Instant::now(), seconds(SystemTime::now()))
    }

    fn enter_at(&self, word: &str, cookies: &str, moment: Instant, now: u64) -> Option<String> {
        let digest = Digest::of(word.as_bytes());
        let replaced = self.shown(cookies);
        let cookie = Secret::fresh();
        let mut known = self.known();
        known.links.retain(|(_, given)| moment.saturating_duration_since(*given) < LINK_TIME);
        let at = known.links.iter().position(|(link, _)| *link == digest)?;
        known.links.remove(at);
        known.cookies.retain(|cookie| now < cookie.ends);
        for cookie in known.cookies.iter_mut().filter(|one| replaced.contains(&one.digest)) {
            cookie.ends = cookie.ends.min(now + HANDOVER);
        }
        known.cookies.push_back(Cookie { digest: cookie.digest(), ends: now + MAX_AGE });
        if known.cookies.len() > MAX_COOKIES {
            known.cookies.pop_front();
        }
        drop(known);
        self.keep();
        let (name, value) = (&self.cookie_name, cookie.reveal());
        Some(format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={MAX_AGE}"))
    }

    /// The `Set-Cookie` that takes a cookie away, which is worth nothing from here on. Waits for the disk.
    pub(crate) fn leave(&self, cookies: &str) -> String {
        let left = self.shown(cookies);
        self.known().cookies.retain(|cookie| !left.contains(&cookie.digest));
        self.keep();
        format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", self.cookie_name)
    }

    /// Whether one of the cookies of a request is ours.
    pub(crate) fn admits(&self, cookies: &str) -> bool {
        self.admits_at(cookies, seconds(SystemTime::now()))
    }

    fn admits_at(&self, cookies: &str, now: u64) -> bool {
        let shown = self.shown(cookies);
        let known = self.known();
        known.cookies.iter().any(|cookie| now < cookie.ends && shown.contains(&cookie.digest))
    }

    /// The digests of all cookies of our name: a page at another port can set one that stands before ours.
    fn shown(&self, cookies: &str) -> Vec<Digest> {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let ours = pairs.filter(|(name, _)| *name == self.cookie_name);
        ours.map(|(_, value)| Digest::of(value.as_bytes())).collect()
    }

    /// If they cannot be kept, browsers need a new link after the next start; nothing else is lost. Requests that ask
    /// whether they may pass do not wait for the disk.
    fn keep(&self) {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |cookie: &Cookie| format!("{} {}\n", cookie.digest, cookie.ends);
        let text: String = self.known().cookies.iter().map(line).collect();
        let _ = write_private(&file, text.as_bytes());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a browser shows of a `Set-Cookie`.
    fn pair(cookie: &str) -> &str {
        cookie.split(';').next().unwrap_or_default()
    }

    #[test]
    fn a_link_that_nobody_used_in_time_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let (early, late) = (access.fresh_link(), access.fresh_link());
        let (soon, now) = (Instant::now() + LINK_TIME / 2, seconds(SystemTime::now()));
        let cookie = access.enter_at(&early, "", soon, now).unwrap();
        assert!(access.admits(pair(&cookie)));
        assert_eq!(access.enter_at(&early, "", soon, now), None);
        assert_eq!(access.enter_at(&late, "", Instant::now() + LINK_TIME, now), None);
        // What is kept knows the cookie after the next start.
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
            assert!(access.admits_at(pair(&cookie), now + MAX_AGE - 1));
            assert!(!access.admits_at(pair(&cookie), now + MAX_AGE));
        }
        // What is over is not kept for ever.
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
        // Another tab may have asked with it a moment ago.
        assert!(access.admits_at(pair(&one), now + HANDOVER - 1));
        assert!(!access.admits_at(pair(&one), now + HANDOVER));
        assert!(access.admits_at(pair(&other), now + HANDOVER));
        assert!(access.admits_at(pair(&new), now + HANDOVER));
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
        assert!(!access.admits_at("crewagent-1=old", now + MAX_AGE + 1));
        assert_eq!(access.known().cookies.len(), 1);
    }
}
