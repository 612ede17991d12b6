//! The server: one thread, one poll, any number of connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use super::COMPLETIONS;
use super::connection::{Connection, ReadResult, WriteResult};
use super::frames::{Frames, last_call};
use super::plan::{AnswerOrder, AnswerPace, AnswerPlan, ExchangeRecord, Recording};

const LISTENER: Token = Token(0);
const PARENT: Token = Token(1);
/// Connections have the tokens from here on.
const FIRST: usize = 2;
/// Connections at the same time.
const MAX_CONNECTIONS: usize = 4096;

/// The answer to a request that the plan does not cover.
const OVER: &[u8] = br#"{"error":{"message":"the plan is over","type":"invalid_request_error"}}"#;

/// An answer, when its pieces are due, and the number of its note.
type TimedAnswer = (Frames, Option<(Instant, Duration)>, Option<usize>);

/// Says its port, and serves until the parent closes this process's input.
pub(super) fn serve() -> io::Result<()> {
    let (server, port, waker) = LoopbackServer::open()?;
    // Kept until the server has ended: dropping a waker drops its unread wake-up.
    let waker = Arc::new(waker);
    let ended = Arc::clone(&waker);
    thread::Builder::new().spawn(move || {
        let mut nothing = [0; 64];
        while io::stdin().read(&mut nothing).is_ok_and(|count| count > 0) {}
        ended.wake()
    })?;
    writeln!(io::stdout(), "{port}")?;
    io::stdout().flush()?;
    let serving = server.run();
    drop(waker);
    serving
}

struct LoopbackServer {
    poll: Poll,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    /// The time at which each connection has something to write.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    clock: WallClock,
    plan: AnswerPlan,
    records: Recording,
    /// Runs that have begun.
    runs: usize,
}

impl LoopbackServer {
    /// Opens a server, and returns its port and the waker that ends it.
    fn open() -> io::Result<(Self, u16, Waker)> {
        let mut listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let port = listener.local_addr()?.port();
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), PARENT)?;
        let server = Self {
            poll,
            listener,
            connections: Vec::new(),
            due: BinaryHeap::new(),
            clock: WallClock::now(),
            plan: AnswerPlan::default(),
            records: Recording::default(),
            runs: 0,
        };
        Ok((server, port, waker))
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let wait = self
                .due
                .peek()
                .map(|Reverse((at, _))| at.saturating_duration_since(Instant::now()));
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                match event.token() {
                    PARENT => return Ok(()),
                    LISTENER => self.accept()?,
                    Token(number) => self.serve(number - FIRST, event.is_readable()),
                }
            }
            self.write_due();
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            let free = self.connections.iter().position(Option::is_none);
            let at = free.unwrap_or(self.connections.len());
            if at == MAX_CONNECTIONS {
                continue;
            }
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut stream, Token(at + FIRST), both)?;
            if free.is_none() {
                self.connections.push(None);
            }
            self.connections[at] = Some(Connection::new(stream));
        }
    }

    /// Handles a ready connection.
    fn serve(&mut self, at: usize, is_readable: bool) {
        if is_readable {
            self.settle(at, Self::read);
        }
        if self.connections[at].as_ref().is_some_and(Connection::is_stuck) {
            self.settle(at, Self::write);
        }
    }

    /// Does something with a connection. A broken one is closed; its client notices.
    fn settle(&mut self, at: usize, work: fn(&mut Self, usize) -> io::Result<bool>) {
        if !work(self, at).is_ok_and(|stays| stays) {
            self.connections[at] = None;
        }
    }

    /// Returns true if the connection stays.
    fn read(&mut self, at: usize) -> io::Result<bool> {
        let Some(connection) = &mut self.connections[at] else { return Ok(true) };
        match connection.read()? {
            ReadResult::End => Ok(false),
            ReadResult::Part => Ok(true),
            ReadResult::Request => {
                self.answer(at, Instant::now())?;
                self.write(at)
            }
        }
    }

    fn write(&mut self, at: usize) -> io::Result<bool> {
        let Some(connection) = &mut self.connections[at] else { return Ok(true) };
        match connection.write(Instant::now())? {
            WriteResult::Done(Some((record, when))) => {
                let answered = self.clock.nanos(when);
                if let Some(record) = self.records.requests.get_mut(record) {
                    record.answered = answered;
                }
            }
            WriteResult::Due(when) => self.due.push(Reverse((when, at))),
            WriteResult::Done(None) | WriteResult::Stuck => {}
        }
        Ok(true)
    }

    fn write_due(&mut self) {
        while let Some(Reverse((when, at))) = self.due.peek().copied() {
            if when > Instant::now() {
                return;
            }
            self.due.pop();
            self.settle(at, Self::write);
        }
    }

    fn answer(&mut self, at: usize, arrived: Instant) -> io::Result<()> {
        let Some(mut connection) = self.connections[at].take() else { return Ok(()) };
        let Some((method, path, body)) = connection.request() else { return Ok(()) };
        match (method, path) {
            ("POST", COMPLETIONS) => {
                let (frames, pace, record) = self.complete(body, arrived)?;
                connection.answer(frames, pace, record);
            }
            ("PUT", "/plan") => {
                self.plan = serde_json::from_slice(body)?;
                self.records = Recording::default();
                self.runs = 0;
                connection.answer(Frames::plain("200 OK", b"{}")?, None, None);
            }
            ("GET", "/records") => {
                self.records.connections = self.connections.iter().flatten().count();
                let records = serde_json::to_vec(&self.records)?;
                connection.answer(Frames::plain("200 OK", &records)?, None, None);
            }
            _ => connection.answer(Frames::plain("404 Not Found", b"{}")?, None, None),
        }
        connection.next_request();
        self.connections[at] = Some(connection);
        Ok(())
    }

    /// Returns the answer of the plan, when each piece of it is due, and the number of the note.
    fn complete(&mut self, body: &[u8], arrived: Instant) -> io::Result<TimedAnswer> {
        let record = self.note(body, arrived);
        let Some(answer) = self.plan.answers.get(record.turn) else {
            self.records.refused += 1;
            return Ok((Frames::plain("400 Bad Request", OVER)?, None, None));
        };
        let frames = Frames::of(&self.plan, answer, record.run, record.turn)?;
        let begin = arrived + Duration::from_millis(answer.hold);
        let pace = match self.plan.pace {
            AnswerPace::Burst if answer.hold == 0 => None,
            AnswerPace::Burst => Some((begin, Duration::ZERO)),
            AnswerPace::EventsPerSecond(rate) => {
                Some((begin, Duration::from_secs(1) / rate.max(1)))
            }
        };
        let number = self.records.requests.len();
        self.keep(number, body)?;
        self.records.requests.push(record);
        Ok((frames, pace, Some(number)))
    }

    /// Records a request: its run and its turn.
    fn note(&mut self, body: &[u8], arrived: Instant) -> ExchangeRecord {
        let (run, turn) = match self.plan.order {
            AnswerOrder::Arrival => (0, self.records.requests.len()),
            AnswerOrder::Runs => match last_call(body) {
                Some((run, turn)) => (run, turn + 1),
                None => {
                    self.runs += 1;
                    (self.runs - 1, 0)
                }
            },
        };
        let arrived = self.clock.nanos(arrived);
        ExchangeRecord { run, turn, arrived, answered: 0, bytes: body.len() }
    }

    fn keep(&self, number: usize, body: &[u8]) -> io::Result<()> {
        match &self.plan.keep {
            Some(folder) => fs::write(folder.join(format!("{:06}.json", number + 1)), body),
            None => Ok(()),
        }
    }
}

/// Moments as nanoseconds since 1970, which other processes understand.
#[derive(Clone, Copy, Debug)]
struct WallClock {
    began: Instant,
    nanos: u64,
}

impl WallClock {
    fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), nanos: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX) }
    }

    fn nanos(&self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.began);
        self.nanos + u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::LoopbackClient;
    use super::super::plan::ModelAnswer;
    use super::*;

    fn check_play(plan: &AnswerPlan, bodies: &[&[u8]], check: fn(&Recording)) {
        let (server, port, waker) = LoopbackServer::open().unwrap();
        let thread = thread::spawn(move || server.run());
        let mut client = LoopbackClient::connect(port).unwrap();
        client.send("PUT", "/plan", &serde_json::to_vec(plan).unwrap()).unwrap();
        for body in bodies {
            let answer = client.send("POST", COMPLETIONS, body);
            assert!(answer.is_ok_and(|answer| answer.ends_with(b"[DONE]\n\n\r\n0\r\n\r\n")));
        }
        assert!(client.send("GET", "/elsewhere", b"").is_err());
        let records = client.send("GET", "/records", b"").unwrap();
        check(&serde_json::from_slice(records).unwrap());
        waker.wake().unwrap();
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn a_plan_is_played_by_arrival() {
        let answers = vec![ModelAnswer::call("fs.read", "{}"), ModelAnswer::words("Done.")];
        check_play(&AnswerPlan::burst(answers), &[b"{}", &[b' '; 100_000]], |records| {
            let [first, second] = records.requests[..] else { panic!("{records:?}") };
            assert_eq!((first.turn, second.turn, second.bytes), (0, 1, 100_000));
            assert!(first.arrived <= first.answered && first.answered <= second.arrived);
            assert_eq!(records.overheads(), [[second.arrived - first.answered]]);
        });
    }

    #[test]
    fn runs_are_told_apart_by_their_calls() {
        let answers = vec![ModelAnswer::call("fs.read", "{}"), ModelAnswer::words("Done.")];
        let bodies: [&[u8]; 3] = [b"{}", b"{}", br#"{"tool_call_id":"call_r0_0_0"}"#];
        check_play(&AnswerPlan::crowd(answers, 1_000_000), &bodies, |records| {
            let places: Vec<_> = records.requests.iter().map(|one| (one.run, one.turn)).collect();
            assert_eq!(places, [(0, 0), (1, 0), (0, 1)]);
        });
    }
}
