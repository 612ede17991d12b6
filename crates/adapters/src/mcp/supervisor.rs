//! The task that supervises one server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use super::connect::{self, ServerLink};
use super::{ConnectionPhase, STARTUP, ServerConnection, SharedServer};
use crewagent_engine::tool_server::{ServerFault, ServerLayer, ServerOffer};

/// Maximum wait before a failed server is started again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Running time after which earlier failures are forgotten.
const STEADY: Duration = Duration::from_secs(60);

/// Starts the server when it is needed, and again after it exited, until it is told to stop.
pub(super) async fn supervise(shared: Arc<SharedServer>, mut stop: watch::Receiver<bool>) {
    let mut strikes = 0;
    loop {
        tokio::select! {
            () = shared.wanted.notified() => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        let is_early = match &shared.state.borrow().phase {
            ConnectionPhase::Down { until, .. } => Instant::now() < *until,
            ConnectionPhase::Asleep | ConnectionPhase::Starting | ConnectionPhase::Ready(_) => {
                false
            }
        };
        if is_early {
            continue;
        }
        enter(&shared, ConnectionPhase::Starting);
        let opened = tokio::select! {
            opened = connect::open(&shared) => opened,
            // The process ends with the value that holds it.
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let (mut link, offer) = match opened {
            Ok(opened) => opened,
            Err(fault) => {
                strikes += 1;
                down(&shared, fault, strikes);
                continue;
            }
        };
        let began = Instant::now();
        let line = ServerConnection { peer: link.peer.clone(), suspect: Arc::default() };
        shared.state.send_modify(|state| {
            state.phase = ConnectionPhase::Ready(line.clone());
            state.offer = Some(Arc::new(offer));
        });
        let is_stopped = tokio::select! {
            () = attend(&mut link, &line, &shared) => false,
            _ = stop.wait_for(|stop| *stop) => true,
        };
        enter(&shared, ConnectionPhase::Starting);
        let why = link.close().await.unwrap_or_else(|| "the connection ended".to_owned());
        if is_stopped {
            return;
        }
        shared.logs.push("error", &shared.veil.over(&why));
        // The first restart is immediate.
        strikes = if began.elapsed() > STEADY { 0 } else { strikes };
        let fault =
            ServerFault::Unavailable { layer: ServerLayer::Start, message: shared.veil.over(&why) };
        down(&shared, fault, strikes);
        strikes += 1;
    }
}

/// Keeps the list of tools up to date until the connection ends.
async fn attend(link: &mut ServerLink, line: &ServerConnection, shared: &Arc<SharedServer>) {
    loop {
        tokio::select! {
            () = &mut link.ended => return,
            () = line.suspect.notified() => return,
            () = shared.changed.notified() => {
                let listed = timeout(STARTUP, connect::offer(shared, &line.peer)).await;
                if let Ok(Ok(offer)) = listed {
                    take(shared, offer);
                }
            }
        }
    }
}

/// Stores a new offer if it differs.
fn take(shared: &SharedServer, offer: ServerOffer) {
    shared.state.send_if_modified(|state| {
        let is_new = state.offer.as_deref() != Some(&offer);
        if is_new {
            state.offer = Some(Arc::new(offer));
        }
        is_new
    });
}

fn enter(shared: &SharedServer, phase: ConnectionPhase) {
    shared.state.send_modify(|state| state.phase = phase);
}

fn down(shared: &SharedServer, fault: ServerFault, strikes: u32) {
    let until = Instant::now() + wait(strikes);
    enter(shared, ConnectionPhase::Down { fault, until });
}

/// Returns the wait before a restart after this many failures in a row.
fn wait(strikes: u32) -> Duration {
    match strikes {
        0 => Duration::ZERO,
        strikes => Duration::from_secs(1 << (strikes - 1).min(10)).min(LONGEST_WAIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_is_tried_less_and_less_often() {
        let waits: Vec<u64> = (0..9).map(|strikes| wait(strikes).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(wait(u32::MAX), LONGEST_WAIT);
    }
}
