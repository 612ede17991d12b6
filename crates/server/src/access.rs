//! Who may use the server: links that work once, and the cookies they are exchanged for.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
/// What is kept of the cookies: their digests, one a line. A cookie outlives a crash of the server.
const COOKIES: &str = "cookies";
/// A browser keeps its cookie this long.
const MAX_AGE: u32 = 30 * 24 * 60 * 60;

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
    cookies: VecDeque<Digest>,
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
        // What cannot be read lets nobody in.
        let cookies = text.lines().filter_map(Digest::parse).take(MAX_COOKIES).collect();
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

    /// The `Set-Cookie` for a word that lets in. Waits for the disk.
    pub(crate) fn enter(&self, word: &str) -> Option<String> {
        self.enter_at(word, Instant::now())
    }

    fn enter_at(&self, word: &str, now: Instant) -> Option<String> {
        let digest = Digest::of(word.as_bytes());
        let cookie = Secret::fresh();
        let mut known = self.known();
        known.links.retain(|(_, given)| now.saturating_duration_since(*given) < LINK_TIME);
        let at = known.links.iter().position(|(link, _)| *link == digest)?;
        known.links.remove(at);
        known.cookies.push_back(cookie.digest());
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
        if let Some(value) = self.value(cookies) {
            let digest = Digest::of(value.as_bytes());
            self.known().cookies.retain(|cookie| *cookie != digest);
            self.keep();
        }
        format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", self.cookie_name)
    }

    /// Whether one of the cookies of a request is ours.
    pub(crate) fn admits(&self, cookies: &str) -> bool {
        let Some(value) = self.value(cookies) else { return false };
        let digest = Digest::of(value.as_bytes());
        self.known().cookies.contains(&digest)
    }

    fn value<'c>(&self, cookies: &'c str) -> Option<&'c str> {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.cookie_name).map(|(_, value)| value)
    }

    /// If they cannot be kept, browsers need a new link after the next start; nothing else is lost. Requests that ask
    /// whether they may pass do not wait for the disk.
    fn keep(&self) {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let text: String =
            self.known().cookies.iter().map(|cookie| format!("{cookie}\n")).collect();
        let _ = write_private(&file, text.as_bytes());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_nobody_used_in_time_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), 1).unwrap();
        let (early, late) = (access.fresh_link(), access.fresh_link());
        let soon = Instant::now() + LINK_TIME / 2;
        let cookie = access.enter_at(&early, soon).unwrap();
        assert!(access.admits(cookie.split(';').next().unwrap()));
        assert_eq!(access.enter_at(&early, soon), None);
        assert_eq!(access.enter_at(&late, Instant::now() + LINK_TIME), None);
        // What is kept knows the cookie after the next start.
        let again = Access::open(folder.path(), 1).unwrap();
        assert!(again.admits(cookie.split(';').next().unwrap()));
        again.leave(cookie.split(';').next().unwrap());
        assert!(!Access::open(folder.path(), 1).unwrap().admits(cookie.split(';').next().unwrap()));
    }
}
