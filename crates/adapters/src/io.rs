//! The thread that serves sockets and child processes for the whole program.

use std::future::Future;
use std::io;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// Returns the async runtime of this process, started on first use.
pub(crate) fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let fresh = Builder::new_multi_thread()
        // Answers come slowly, so one thread reads those of hundreds of runs, and none waits for another thread.
        .worker_threads(1)
        .thread_name("io")
        .enable_io()
        .enable_time()
        .build()?;
    // Another thread may have been faster; then its runtime counts.
    Ok(RUNTIME.get_or_init(|| fresh))
}

/// Runs work and waits for it. Must not be called from the thread of the runtime.
pub(crate) fn block_on<R>(work: impl Future<Output = R>) -> io::Result<R> {
    Ok(runtime()?.block_on(work))
}
