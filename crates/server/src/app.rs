//! The state that all requests share.

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
use crate::turns::Turns;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct App {
    store: Arc<Store>,
    pub(crate) port: u16,
    pub(crate) access: Access,
    pub(crate) adapters: Arc<Adapters>,
    pub(crate) workers: Workers,
    pub(crate) mcp_tests: McpTests,
    /// Becomes true when the server shuts down.
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) began: Instant,
    pub(crate) page_offsets: PageOffsets,
    pub(crate) searches: Searches,
    /// Requests that draw a workflow.
    pub(crate) drawings: Turns,
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
            drawings: Turns::default(),
        }
    }

    /// Opens the store with its current settings.
    pub(crate) fn store(&self) -> Result<Store, Problem> {
        Ok(self.store.reopen()?)
    }

    /// Returns the folder of the store.
    pub(crate) fn home(&self) -> &Path {
        self.store.home()
    }

    /// Issues an address that opens the page, once.
    pub(crate) fn fresh_url(&self) -> String {
        link::address(self.port, &self.access.fresh_link())
    }
}
