//! What every request can reach.

use std::path::PathBuf;
use std::time::Instant;

use crewagent_engine::store::Store;
use tokio::sync::watch;

use crate::access::Access;
use crate::bookmarks::Bookmarks;
use crate::link;
use crate::problem::Problem;
use crate::searches::Searches;
use crate::stage::Stage;
use crate::trials::Trials;

/// What every request can reach.
#[derive(Debug)]
pub(crate) struct App {
    home: PathBuf,
    pub(crate) port: u16,
    pub(crate) access: Access,
    pub(crate) stage: Stage,
    pub(crate) trials: Trials,
    /// Becomes true when the server ends.
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) began: Instant,
    pub(crate) bookmarks: Bookmarks,
    pub(crate) searches: Searches,
}

impl App {
    pub(crate) fn new(
        home: PathBuf,
        port: u16,
        access: Access,
        stage: Stage,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            home,
            port,
            access,
            stage,
            trials: Trials::default(),
            closing,
            began: Instant::now(),
            bookmarks: Bookmarks::default(),
            searches: Searches::default(),
        }
    }

    /// The store, with its settings as they are now.
    pub(crate) fn store(&self) -> Result<Store, Problem> {
        Ok(Store::open(Some(self.home.clone()))?)
    }

    /// The folder of the store.
    pub(crate) fn home(&self) -> &PathBuf {
        &self.home
    }

    /// An address that opens the page, once.
    pub(crate) fn fresh_url(&self) -> String {
        link::address(self.port, &self.access.fresh_link())
    }
}
