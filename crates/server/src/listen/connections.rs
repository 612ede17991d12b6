//! Connections by whether they have shown the cookie. A place is kept for those that have; the others wait in a small
//! room, from which the oldest has to go when a new one comes. So other users of the computer cannot keep the owner out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Connections that have shown the cookie. A browser opens six.
const MAX_OWN: usize = 192;
/// Connections that have not.
const MAX_STRANGERS: usize = 64;
/// A connection must show the cookie within this time, and one request without it is answered.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(5);

/// The connections of a server.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    /// Those that have not shown the cookie, the oldest first.
    strangers: Mutex<VecDeque<Arc<ClientConnection>>>,
    own: Arc<Semaphore>,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    table: Arc<ConnectionTable>,
    admission: watch::Sender<Admission>,
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    Unknown,
    Admitted,
    Evicted,
}

impl ConnectionTable {
    pub(super) fn new() -> Arc<Self> {
        let own = Arc::new(Semaphore::new(MAX_OWN));
        Arc::new(Self { strangers: Mutex::default(), own })
    }

    /// Takes a new connection in, and sends the oldest one away that has not shown the cookie if there are too many.
    pub(super) fn enter(self: &Arc<Self>) -> Arc<ClientConnection> {
        let admission = watch::Sender::new(Admission::Unknown);
        let connection =
            ClientConnection { table: Arc::clone(self), admission, place: Mutex::default() };
        let connection = Arc::new(connection);
        let mut strangers = self.strangers();
        strangers.push_back(Arc::clone(&connection));
        let oldest = if strangers.len() > MAX_STRANGERS { strangers.pop_front() } else { None };
        drop(strangers);
        if let Some(oldest) = oldest {
            oldest.admission.send_replace(Admission::Evicted);
        }
        connection
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<ClientConnection>>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientConnection {
    /// Notes that the connection has shown the cookie. Returns true unless too many have.
    pub(crate) fn admit(&self) -> bool {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Arc::clone(&self.table.own).try_acquire_owned().ok();
            if place.is_some() {
                self.leave();
                self.admission.send_replace(Admission::Admitted);
            }
        }
        place.is_some()
    }

    /// Removes it from those that have not shown the cookie.
    pub(super) fn leave(&self) {
        self.table.strangers().retain(|connection| !std::ptr::eq(&**connection, self));
    }

    /// Completes when the connection has to end: another one needs its place, or the cookie did not come in time.
    pub(super) async fn ends(&self) {
        let mut admission = self.admission.subscribe();
        let decided = admission.wait_for(|admission| *admission != Admission::Unknown);
        let is_own = match tokio::time::timeout(STRANGER_TIMEOUT, decided).await {
            Ok(Ok(admission)) => *admission == Admission::Admitted,
            Ok(Err(_)) | Err(_) => false,
        };
        if is_own {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_of(table: &[Arc<ClientConnection>], wanted: Admission) -> usize {
        table.iter().filter(|connection| *connection.admission.borrow() == wanted).count()
    }

    #[test]
    fn the_oldest_without_a_cookie_goes_and_those_with_one_stay() {
        let table = ConnectionTable::new();
        let first = table.enter();
        assert!(first.admit() && first.admit());
        let strangers: Vec<_> = (0..1000).map(|_| table.enter()).collect();
        assert_eq!(*first.admission.borrow(), Admission::Admitted);
        assert_eq!(count_of(&strangers, Admission::Evicted), 1000 - MAX_STRANGERS);
        assert_eq!(count_of(&strangers[1000 - MAX_STRANGERS..], Admission::Unknown), MAX_STRANGERS);
        // The owner gets in among them, in whatever number they are.
        assert!(table.enter().admit());
        assert_eq!(table.own.available_permits(), MAX_OWN - 1);
    }

    #[test]
    fn those_with_a_cookie_are_bounded_as_well() {
        let table = ConnectionTable::new();
        let own: Vec<_> = (0..MAX_OWN).map(|_| table.enter()).collect();
        assert!(own.iter().all(|connection| connection.admit()));
        assert!(!table.enter().admit());
        drop(own);
        assert!(table.enter().admit());
    }
}
