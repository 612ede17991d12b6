//! Who may use the server: links that work once, and the cookies they are exchanged for.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crewagent_core::integrity::Digest;

use crate::ServerError;
use crate::instance::{failed, write_private};
use crate::secret::Secret;

/// Links that were given out and not used.
const MAX_LINKS: usize = 16;
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
    file: PathBuf,
}

#[derive(Debug)]
struct Known {
    links: VecDeque<Digest>,
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
            file,
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
        known.links.push_back(link.digest());
        if known.links.len() > MAX_LINKS {
            known.links.pop_front();
        }
        link.reveal().to_owned()
    }

    /// The `Set-Cookie` for a word that lets in.
    pub(crate) fn enter(&self, word: &str) -> Option<String> {
        let digest = Digest::of(word.as_bytes());
        let mut known = self.known();
        let at = known.links.iter().position(|link| *link == digest)?;
        known.links.remove(at);
        let cookie = Secret::fresh();
        known.cookies.push_back(cookie.digest());
        if known.cookies.len() > MAX_COOKIES {
            known.cookies.pop_front();
        }
        self.keep(&known);
        let (name, value) = (&self.cookie_name, cookie.reveal());
        Some(format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={MAX_AGE}"))
    }

    /// The `Set-Cookie` that takes a cookie away, which is worth nothing from here on.
    pub(crate) fn leave(&self, cookies: &str) -> String {
        if let Some(value) = self.value(cookies) {
            let digest = Digest::of(value.as_bytes());
            let mut known = self.known();
            known.cookies.retain(|cookie| *cookie != digest);
            self.keep(&known);
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

    /// If they cannot be kept, browsers need a new link after the next start; nothing else is lost.
    fn keep(&self, known: &Known) {
        let text: String = known.cookies.iter().map(|cookie| format!("{cookie}\n")).collect();
        let _ = write_private(&self.file, text.as_bytes());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
