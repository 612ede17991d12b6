//! Searches, one at a time: each reads a good part of the store. The newest is the one that somebody waits for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::problem::Problem;
use crate::wire::Code;

/// Searches, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    newest: AtomicU64,
    turn: Mutex<()>,
}

impl Searches {
    /// Searches when nobody else does. The search is told when a newer one waits, and then is worth nothing any more.
    pub(crate) fn run<R>(
        &self,
        search: impl FnOnce(&dyn Fn() -> bool) -> Result<R, Problem>,
    ) -> Result<R, Problem> {
        let own = self.newest.fetch_add(1, Ordering::SeqCst) + 1;
        let is_newest = || self.newest.load(Ordering::SeqCst) == own;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if is_newest() { Some(search(&is_newest)?) } else { None };
        found.filter(|_| is_newest()).ok_or_else(|| {
            Problem::new(Code::Busy, "another search has taken the place of this one")
                .hint("Search again if you still want to know.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_search_takes_the_place_of_an_older_one() {
        let searches = Searches::default();
        let (outer, inner) = std::thread::scope(|scope| {
            let mut inner = None;
            let outer = searches.run(|is_wanted| {
                assert!(is_wanted());
                inner = Some(scope.spawn(|| searches.run(|_| Ok(2))));
                while is_wanted() {
                    std::thread::yield_now();
                }
                Ok(1)
            });
            (outer, inner.unwrap().join().unwrap())
        });
        assert!(outer.is_err());
        assert_eq!(inner, Ok(2));
        assert_eq!(searches.run(|_| Ok(3)), Ok(3));
    }
}
