//! Tests that no event of a stream is lost: not when the connection breaks, and not when the server is killed in
//! mid-reply.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::client::{Browser, Frame};
use super::model::{Speaker, WORDS};
use super::{UiServer, tiny};
use crate::support::CliFixture;

/// Content of a page: the events of each journal, and the deltas of the current reply.
#[derive(Debug, Default, PartialEq)]
struct View {
    events: BTreeMap<String, Vec<Json>>,
    pieces: BTreeMap<String, String>,
    /// Id of the last frame.
    id: String,
    rewinds: usize,
}

impl View {
    fn take(&mut self, frame: &Frame) {
        self.id.clone_from(&frame.id);
        if !matches!(frame.name.as_str(), "event" | "rewind") {
            return;
        }
        let journal = frame.data["journal"].to_string();
        let events = self.events.entry(journal.clone()).or_default();
        let pieces = self.pieces.entry(journal).or_default();
        match frame.name.as_str() {
            "event" => {
                let event = &frame.data["event"];
                let seq = event["seq"].as_u64().unwrap();
                assert_eq!(seq, events.len() as u64 + 1, "no gap and no repeat: {event}");
                if event["part"].is_u64() {
                    pieces.push_str(event["text"].as_str().unwrap());
                } else {
                    pieces.clear();
                    events.push(event.clone());
                }
            }
            "rewind" => {
                self.rewinds += 1;
                pieces.clear();
                events.truncate(usize::try_from(frame.data["seq"].as_u64().unwrap()).unwrap());
            }
            _ => {}
        }
    }

    /// Follows a stream until a condition holds.
    fn until(&mut self, frames: &mut impl Iterator<Item = Frame>, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            let frame = frames.next().unwrap_or_else(|| panic!("the stream ends: {self:?}"));
            self.take(&frame);
        }
    }

    fn piece(&self) -> String {
        self.pieces.values().cloned().collect()
    }

    fn has(&self, kind: &str) -> bool {
        self.events.values().flatten().any(|event| event["type"] == kind)
    }

    /// Returns true if the reply is complete, and the conversation waits for input.
    fn rests(&self) -> bool {
        let last = self.events.values().flatten().last();
        self.has("assistant.message") && last.is_some_and(|event| event["phase"] == "WaitingUser")
    }

    /// Follows a stream from the beginning, until it has as much as this one.
    fn again(&self, browser: &Browser, journal: &str) -> Self {
        let count = |view: &Self| view.events.values().map(Vec::len).sum::<usize>();
        let (mut other, goal) = (Self::default(), count(self));
        other.until(&mut browser.stream(journal, None), |view| count(view) == goal);
        other
    }
}

/// Conversation in which the user has asked the model for a story.
struct ResumeFixture {
    world: CliFixture,
    speaker: Speaker,
    conversation: String,
}

impl ResumeFixture {
    fn open(speaker: Speaker, browser: &Browser, world: CliFixture) -> Self {
        let body = json!({ "path": world.path("project").to_str().unwrap() });
        let project = browser.post("/api/projects", &body).good();
        let body = json!({ "project": project["id"] });
        let conversation = browser.post("/api/conversations", &body).good();
        let conversation = conversation["id"].as_str().unwrap().to_owned();
        Self { world, speaker, conversation }
    }

    fn say(&self, browser: &Browser, text: &str) {
        let came = browser.post(&self.at("say"), &json!({ "text": text })).good();
        assert_eq!(came["kind"], "work");
    }

    fn at(&self, what: &str) -> String {
        format!("/api/conversations/{}/{what}", self.conversation)
    }

    fn journal(&self) -> String {
        format!("conversation/{}", self.conversation)
    }
}

/// Starts a server with this model.
pub(super) fn serve(world: &CliFixture, speaker: &Speaker, port: u16) -> UiServer {
    let mut command = world.command();
    command.env("CREWAGENT_BASE_URL", speaker.url()).env("CREWAGENT_MODEL", "story");
    UiServer::of(command, port)
}

#[test]
fn a_connection_that_is_cut_in_mid_reply_loses_no_token() {
    let (world, speaker) = (tiny(), Speaker::new(0));
    let server = serve(&world, &speaker, 0);
    let browser = server.browser();
    let fixture = ResumeFixture::open(speaker, &browser, world);
    let mut cut = View::default();
    let mut stream = browser.stream(&fixture.journal(), None);
    fixture.say(&browser, "Tell me a story.");
    cut.until(&mut stream, |view| view.piece() == WORDS[0]);
    // The page is reloaded, or the computer slept.
    drop(stream);
    fixture.speaker.go_on();
    let mut stream = browser.stream(&fixture.journal(), Some(&cut.id));
    cut.until(&mut stream, View::rests);
    assert_eq!(cut.rewinds, 0);
    assert_eq!(cut.events, cut.again(&browser, &fixture.journal()).events);
    let said = cut.events.values().flatten().find(|event| event["type"] == "assistant.message");
    assert_eq!(said.unwrap()["content"], WORDS.concat());
}

#[test]
fn pieces_that_came_while_nobody_listened_are_there() {
    let (world, speaker) = (tiny(), Speaker::new(0));
    let server = serve(&world, &speaker, 0);
    let browser = server.browser();
    let fixture = ResumeFixture::open(speaker, &browser, world);
    fixture.say(&browser, "Tell me a story.");
    fixture.speaker.wait_for_words();
    let mut late = View::default();
    late.until(&mut browser.stream(&fixture.journal(), None), |view| view.piece() == WORDS[0]);
    fixture.speaker.go_on();
}

#[test]
fn a_server_that_is_killed_in_mid_reply_loses_nothing() {
    // The first request fails, so that an event is sent that is not yet durable when the server dies.
    let (world, speaker) = (tiny(), Speaker::new(1));
    let server = serve(&world, &speaker, 0);
    let (port, browser) = (server.port, server.browser());
    let fixture = ResumeFixture::open(speaker, &browser, world);
    let mut cut = View::default();
    let mut stream = browser.stream(&fixture.journal(), None);
    fixture.say(&browser, "Tell me a story.");
    cut.until(&mut stream, |view| view.piece() == WORDS[0]);
    assert!(cut.has("model.retried"));
    server.kill();
    assert!(stream.all(|frame| frame.name != "bye"), "it had no time for words");
    let server = serve(&fixture.world, &fixture.speaker, port);
    assert_eq!(server.port, port, "the same address again");
    // The same cookie and the same stream, as a browser does by itself.
    let mut stream = browser.stream(&fixture.journal(), Some(&cut.id));
    cut.until(&mut stream, |view| view.rewinds > 0);
    assert_eq!(cut.piece(), "");
    assert!(!cut.has("model.retried"), "what was told and not written is taken back");
    fixture.speaker.go_on();
    let came = browser.post(&fixture.at("resume"), &json!({})).good();
    assert_eq!(came["kind"], "work");
    cut.until(&mut stream, View::rests);
    assert_eq!(cut.events, cut.again(&browser, &fixture.journal()).events);
}

#[test]
fn stop_is_acknowledged_at_once_and_the_run_goes_on_later() {
    let (world, speaker) = (tiny(), Speaker::new(0));
    let server = serve(&world, &speaker, 0);
    let browser = server.browser();
    let fixture = ResumeFixture::open(speaker, &browser, world);
    fixture.say(&browser, "Tell me a story.");
    fixture.speaker.wait_for_words();
    let mut view = View::default();
    let mut stream = browser.stream(&fixture.journal(), None);
    // The model says no more until it is told to, so nothing but the stop can answer this.
    let halting = browser.post(&fixture.at("stop"), &json!({})).good();
    assert_eq!(halting["wasAtWork"], true);
    view.until(&mut stream, |view| {
        view.events.values().flatten().any(|event| event["phase"] == "Paused")
    });
    fixture.speaker.go_on();
    assert_eq!(browser.post(&fixture.at("resume"), &json!({})).good()["kind"], "work");
    view.until(&mut stream, |view| view.has("assistant.message"));
}

#[cfg(unix)]
#[test]
fn a_server_that_ends_stops_its_runs_where_nothing_is_lost() {
    let (world, speaker) = (tiny(), Speaker::new(0));
    let mut server = serve(&world, &speaker, 0);
    let (port, browser) = (server.port, server.browser());
    let fixture = ResumeFixture::open(speaker, &browser, world);
    let mut view = View::default();
    let mut stream = browser.stream(&fixture.journal(), None);
    fixture.say(&browser, "Tell me a story.");
    view.until(&mut stream, |view| view.piece() == WORDS[0]);
    let pid = server.pid().to_string();
    let told = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(told.success());
    assert_eq!(server.wait(), Some(0));
    let server = serve(&fixture.world, &fixture.speaker, port);
    let mut stream = browser.stream(&fixture.journal(), Some(&view.id));
    view.until(&mut stream, |view| {
        view.events.values().flatten().any(|event| event["phase"] == "Paused")
    });
    fixture.speaker.go_on();
    assert_eq!(browser.post(&fixture.at("resume"), &json!({})).good()["kind"], "work");
    view.until(&mut stream, View::rests);
    assert_eq!(view.events, view.again(&browser, &fixture.journal()).events);
    drop(server);
}
