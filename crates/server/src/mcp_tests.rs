//! Connection tests of MCP servers: one at a time for each server, and the result of the last.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crewagent_adapters::mcp::{ConnectionTest, test_connection};
use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::store::{Secrets, ServerSettings};
use jiff::Timestamp;

/// A test ends within this time, whatever the settings of the server say, because a client waits for it.
const MAX_TEST_TIME: Duration = Duration::from_secs(120);

/// The tests of MCP servers since the process started.
#[derive(Debug, Default)]
pub(crate) struct McpTests(Mutex<TestState>);

#[derive(Debug, Default)]
struct TestState {
    running: BTreeSet<ServerName>,
    last: BTreeMap<ServerName, Arc<McpTest>>,
}

/// The result of a test.
#[derive(Debug)]
pub(crate) struct McpTest {
    settings: ServerSettings,
    pub(crate) found: ConnectionTest,
    pub(crate) at: Timestamp,
}

impl McpTests {
    /// Tests a server and waits for the result. Returns none while another test of the same server runs.
    pub(crate) fn run(
        &self,
        name: &ServerName,
        settings: &ServerSettings,
        secrets: Secrets,
        cancel: &Cancel,
    ) -> Option<Arc<McpTest>> {
        let _lock = TestLock::acquire(self, name)?;
        let deadline = Deadline::after(MAX_TEST_TIME, cancel);
        let found = test_connection(name.clone(), settings.clone(), secrets, &deadline);
        let test =
            McpTest { settings: settings.clone(), found, at: crewagent_engine::clock::now() };
        let test = Arc::new(test);
        self.known().last.insert(name.clone(), Arc::clone(&test));
        Some(test)
    }

    /// Returns the result of the last test of a server, unless its transport has changed since.
    pub(crate) fn last(
        &self,
        name: &ServerName,
        settings: &ServerSettings,
    ) -> Option<Arc<McpTest>> {
        let known = self.known();
        known.last.get(name).filter(|test| test.settings.way == settings.way).cloned()
    }

    /// Forgets the result for a server whose secrets changed, or that was removed.
    pub(crate) fn forget(&self, name: &ServerName) {
        self.known().last.remove(name);
    }

    fn known(&self) -> MutexGuard<'_, TestState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lock on the test of one server.
struct TestLock<'t> {
    tests: &'t McpTests,
    name: &'t ServerName,
}

impl<'t> TestLock<'t> {
    fn acquire(tests: &'t McpTests, name: &'t ServerName) -> Option<Self> {
        let is_free = tests.known().running.insert(name.clone());
        is_free.then(|| Self { tests, name })
    }
}

impl Drop for TestLock<'_> {
    fn drop(&mut self) {
        self.tests.known().running.remove(self.name);
    }
}
