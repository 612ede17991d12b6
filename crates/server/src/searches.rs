//! Searches, one at a time, because each reads a good part of the store. A newer search replaces an older one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::problem::Problem;
use crate::wire::Code;

/// The queue of searches: one runs, and the newest waits.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    newest: AtomicU64,
    running: Mutex<()>,
}

impl Searches {
    /// Runs a search when no other runs. The search can ask whether it is still the newest; if not, its result is
    /// dropped.
    pub(crate) fn run<R>(
        &self,
        search: impl FnOnce(&dyn Fn() -> bool) -> Result<R, Problem>,
    ) -> Result<R, Problem> {
        let own = self.newest.fetch_add(1, Ordering::SeqCst) + 1;
        let is_newest = || self.newest.load(Ordering::SeqCst) == own;
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if is_newest() { Some(search(&is_newest)?) } else { None };
        found.filter(|_| is_newest()).ok_or_else(|| {
            Problem::new(Code::Busy, "another search has taken the place of this one")
                .hint("Search again if you still want to know.")
        })
    }
}

#[cfg(test)]
mod tests {
    use crewagent_testkit::eventually;

    use super::*;

    #[test]
    fn a_newer_search_takes_the_place_of_an_older_one() {
        let searches = Searches::default();
        let (outer, inner) = std::thread::scope(|scope| {
            let mut inner = None;
            let outer = searches.run(|is_wanted| {
                assert!(is_wanted());
                inner = Some(scope.spawn(|| searches.run(|_| Ok(2))));
                eventually(|| !is_wanted());
                Ok(1)
            });
            (outer, inner.unwrap().join().unwrap())
        });
        assert!(outer.is_err());
        assert_eq!(inner, Ok(2));
        assert_eq!(searches.run(|_| Ok(3)), Ok(3));
    }
}
