//! What every request can reach.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crewagent_engine::store::Store;
use crewagent_engine::workers::Workers;
use tokio::sync::watch;

use crate::access::Access;
use crate::connector::Adapters;
use crate::link;
use crate::mcp_tests::McpTests;
use crate::page_offsets::PageOffsets;
use crate::problem::Problem;
use crate::searches::Searches;

/// What every request can reach.
#[derive(Debug)]
pub(crate) struct App {
    store: Arc<Store>,
    pub(crate) port: u16,
    pub(crate) access: Access,
    pub(crate) adapters: Arc<Adapters>,
    pub(crate) workers: Workers,
    pub(crate) mcp_tests: McpTests,
    /// Becomes true when the server ends.
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) began: Instant,
    pub(crate) page_offsets: PageOffsets,
    pub(crate) searches: Searches,
}

impl App {
    pub(crate) fn new(
        store: Arc<Store>,
        port: u16,
        access: Access,
        adapters: Arc<Adapters>,
        workers: Workers,
        closing: watch::Receiver<bool>,
    ) -> Self {
        Self {
            store,
            port,
            access,
            adapters,
            workers,
            mcp_tests: McpTests::default(),
            closing,
            began: Instant::now(),
            page_offsets: PageOffsets::default(),
            searches: Searches::default(),
        }
    }

    /// The store, with its settings as they are now.
    pub(crate) fn store(&self) -> Result<Store, Problem> {
        Ok(self.store.reopen()?)
    }

    /// The folder of the store.
    pub(crate) fn home(&self) -> &Path {
        self.store.home()
    }

    /// An address that opens the page, once.
    pub(crate) fn fresh_url(&self) -> String {
        link::address(self.port, &self.access.fresh_link())
    }
}
