//! Measurements. Each is a question as in a run; a refused one is asked in another way.

use crewagent_core::event::{Finish, Reply};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::payload::Payload;
use crewagent_dialect::fault::FaultKind;
use crewagent_dialect::profile::{
    IdForm, NameForm, NoWords, OutputLimit, Profile, ReasoningEcho, Systems,
};
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;
use crewagent_engine::store::MEASURED;
use serde_json::{Map, Value as Json};

use super::{Measurement, Probe};
use crate::chat::client::Client;
use crate::chat::connection_test::ask::{self, AskOutcome, TOOL, TestQuestion, ask, system, user};
use crate::chat::connection_test::models;
use crate::chat::failure::Failure;

/// Token limit of the reply that shows if the limit is respected.
const LITTLE_ROOM: u64 = 16;

pub(super) struct Measurements<'l> {
    endpoint: Endpoint,
    client: &'l Client,
    findings: Vec<Measurement>,
    tell: &'l mut dyn FnMut(&Measurement),
}

/// Change of the profile that may help after a refusal.
type ProfileChange = fn(&mut Profile);

type MeasureResult = Result<(), ModelError>;

impl<'l> Measurements<'l> {
    pub(super) fn new(
        endpoint: Endpoint,
        client: &'l Client,
        tell: &'l mut dyn FnMut(&Measurement),
    ) -> Self {
        Self { endpoint, client, findings: Vec::new(), tell }
    }

    /// Returns the measurements, compared with the original profile.
    pub(super) fn done(self, before: &Profile) -> Probe {
        let fields = |profile: &Profile| match serde_json::to_value(profile) {
            Ok(Json::Object(fields)) => fields,
            Ok(_) | Err(_) => Map::new(),
        };
        let (before, after) = (fields(before), fields(&self.endpoint.profile));
        let mut changes = Map::new();
        for name in MEASURED {
            if let Some(value) = after.get(name)
                && before.get(name) != Some(value)
            {
                changes.insert(name.to_owned(), value.clone());
            }
        }
        Probe { findings: self.findings, changes }
    }

    /// Measures streaming and token counts with a few words.
    pub(super) fn words(&mut self) -> MeasureResult {
        let asked = self.ask(TestQuestion::words())?;
        let reply = match asked.reply {
            Ok(reply) => reply,
            Err(failure) => return Err(failure.into_error(&self.endpoint, 1, String::new())),
        };
        let streams = ask::streams(&self.endpoint, self.client)?;
        let words = match (streams, asked.request_options.streams) {
            (true, _) => "replies come in pieces",
            (false, true) => "replies come as a whole though pieces are asked for",
            (false, false) => "there is none: replies come as a whole",
        };
        self.found("streaming", Some(streams), words);
        for lesson in &asked.lessons {
            self.found("lesson", None, lesson);
        }
        let mut counts = reply.usage.tokens() > 0;
        if !counts && streams && !self.endpoint.profile.stream_usage {
            let wanted = |profile: &mut Profile| profile.stream_usage = true;
            counts =
                self.adopt_if(wanted, TestQuestion::words(), &|reply| reply.usage.tokens() > 0)?;
        }
        let words = if counts { "tokens are counted" } else { "none is told: it is estimated" };
        self.found("usage", Some(counts), words);
        Ok(())
    }

    /// Measures if the limit of the reply is respected, and under which name.
    pub(super) fn room(&mut self) -> MeasureResult {
        let question = || TestQuestion {
            messages: vec![user(
                "Count from 1 to 200 in digits, with a blank between two numbers.",
            )],
            tools: Vec::new(),
            room: LITTLE_ROOM,
        };
        let is_kept = |reply: &Reply| {
            let tokens = reply.usage.output_tokens;
            reply.finish == Finish::Length || (1..=LITTLE_ROOM).contains(&tokens)
        };
        let Some(reply) = self.ask(question())?.reply.ok() else {
            self.found("reply limit", None, "could not be measured");
            return Ok(());
        };
        // A refusal may have taught another name by now.
        let field = self.endpoint.profile.output_limit;
        if is_kept(&reply) && field != OutputLimit::None {
            self.found("reply limit", Some(true), &format!("{} is kept", limit_name(field)));
            return Ok(());
        }
        let others: [(OutputLimit, ProfileChange); 2] = [
            (OutputLimit::MaxTokens, |profile| profile.output_limit = OutputLimit::MaxTokens),
            (OutputLimit::MaxCompletionTokens, |profile| {
                profile.output_limit = OutputLimit::MaxCompletionTokens;
            }),
        ];
        for (other, change) in others {
            if other != field && self.adopt_if(change, question(), &is_kept)? {
                self.found("reply limit", Some(true), &format!("{} is kept", limit_name(other)));
                return Ok(());
            }
        }
        self.found("reply limit", Some(false), "no limit of the reply is kept");
        Ok(())
    }

    /// Measures calls of a tool, and returns the reply with the call.
    pub(super) fn one_call(&mut self) -> Result<Option<Reply>, ModelError> {
        let asked = self.ask(TestQuestion::one_call())?;
        let reply = match &asked.reply {
            Ok(reply) => reply,
            Err(failure) => {
                let words = failure.words(&self.endpoint);
                self.found("tools", Some(false), &words);
                return Ok(None);
            }
        };
        let called = reply.tool_calls.iter().any(|call| asked.is_known(&call.name));
        let words = match (called, reply.text_calls) {
            (true, 0) => "it calls them",
            (true, _) => "it writes calls into its text, from where they are taken",
            (false, _) => "it was asked to call one and did not",
        };
        self.found("tools", Some(called), words);
        match ask::thoughts(reply) {
            Some(field) => self.found("thoughts", Some(true), &format!("told in `{field}`")),
            None => self.found("thoughts", Some(false), "none are told"),
        }
        Ok(Some(reply.clone()).filter(|_| called))
    }

    /// Measures if names with dots are accepted and come back.
    pub(super) fn dotted_names(&mut self) -> MeasureResult {
        const NAME: &str = "dotted names";
        if self.endpoint.profile.names == NameForm::Dotted {
            self.found(NAME, Some(true), "tools keep their names");
            return Ok(());
        }
        let comes_back = |reply: &Reply| reply.tool_calls.iter().any(|call| call.name == TOOL);
        let dotted = |profile: &mut Profile| profile.names = NameForm::Dotted;
        let taken = self.adopt_if(dotted, TestQuestion::one_call(), &comes_back)?;
        let words = if taken { "tools can keep their names" } else { "dots become underscores" };
        self.found(NAME, Some(taken), words);
        Ok(())
    }

    /// Measures two calls at once.
    pub(super) fn two_calls(&mut self) -> MeasureResult {
        const NAME: &str = "parallel calls";
        let words = "Call the tool for notes two times in one reply: once with the text red and once with the text green. Do not answer in words.";
        let asked = self.ask(TestQuestion::calls(words))?;
        match asked.reply {
            Ok(reply) if reply.tool_calls.len() > 1 => {
                self.found(NAME, Some(true), "several in one reply");
            }
            Ok(reply) if reply.tool_calls.len() == 1 => {
                self.found(NAME, Some(false), "one in each reply");
            }
            Ok(_) | Err(_) => self.found(NAME, None, "could not be measured"),
        }
        Ok(())
    }

    /// Measures if a conversation with calls is accepted as we send it.
    pub(super) fn history(&mut self, called: Option<Reply>) -> MeasureResult {
        const NAME: &str = "history";
        let question = self.conversation(called);
        let refused = match self.ask(question.clone())?.reply {
            Ok(_) => {
                let words =
                    "calls without words, their ids and the thoughts are taken as they are sent";
                self.found(NAME, Some(true), words);
                return Ok(());
            }
            Err(failure) if is_refusal(&failure) => failure,
            Err(failure) => {
                let words = failure.words(&self.endpoint);
                self.found(NAME, None, &words);
                return Ok(());
            }
        };
        let ways: [(ProfileChange, &str); 7] = [
            (|p| p.no_words = NoWords::Empty, "missing words must be an empty text"),
            (|p| p.no_words = NoWords::Null, "missing words must be null"),
            (|p| p.ids = IdForm::Nine, "ids must have nine letters and digits"),
            (|p| p.speaks_after_tools = true, "the model must speak between a tool and the user"),
            (|p| p.reasoning = ReasoningEcho::Never, "thoughts must not be sent back"),
            (|p| p.reasoning = ReasoningEcho::WhenPresent, "thoughts must be sent back"),
            (|p| p.reasoning = ReasoningEcho::Always, "thoughts must be sent back with every call"),
        ];
        for (change, words) in ways {
            if self.adopt_if(change, question.clone(), &|_| true)? {
                self.found(NAME, Some(true), words);
                return Ok(());
            }
        }
        let words = refused.words(&self.endpoint);
        self.found(NAME, Some(false), &words);
        Ok(())
    }

    fn conversation(&self, called: Option<Reply>) -> TestQuestion {
        let made = || ToolCall {
            id: "call_probe_0001".to_owned(),
            name: TOOL.to_owned(),
            arguments: Payload::Inline("{\"text\":\"blue\"}".into()),
            extra: Map::new(),
        };
        let (call, extra) = match called {
            Some(reply) => (reply.tool_calls.into_iter().next().unwrap_or_else(made), reply.extra),
            None => (made(), Map::new()),
        };
        let source = format!("{}/{}", self.endpoint.profile_name, self.endpoint.model);
        let mut question = TestQuestion::one_call();
        let id = call.id.clone();
        question.messages.extend([
            Message::Assistant {
                content: None,
                tool_calls: vec![call],
                from: Some(source.as_str().into()),
                extra,
            },
            Message::Tool { tool_call_id: id, content: Payload::Inline("{\"ok\":true}".into()) },
            user("Now answer with the word DONE."),
        ]);
        question
    }

    /// Measures system messages in the middle.
    pub(super) fn system_in_the_middle(&mut self) -> MeasureResult {
        const NAME: &str = "system messages";
        let mut question = TestQuestion::words();
        question.messages.extend([
            Message::Assistant {
                content: Some("OK".into()),
                tool_calls: Vec::new(),
                from: None,
                extra: Map::new(),
            },
            system("From now on, answer in capital letters."),
            user("Answer with the word done."),
        ]);
        let asked = self.try_with(|profile| profile.systems = Systems::AsTheyStand, question)?;
        let profile = &mut self.endpoint.profile;
        match (asked.reply, profile.systems) {
            (Ok(_), Systems::OneInFront) => {
                let words = "taken in the middle; one in front is sent, which every model reads";
                self.found(NAME, Some(true), words);
            }
            (Ok(_), Systems::InUser) => {
                let words = "taken in the middle; none is sent, which every model reads";
                self.found(NAME, Some(true), words);
            }
            (Ok(_), Systems::AsTheyStand) => self.found(NAME, Some(true), "taken in the middle"),
            (Err(failure), Systems::InUser) if is_refusal(&failure) => {
                self.found(NAME, Some(false), "none is sent");
            }
            (Err(failure), _) if is_refusal(&failure) => {
                profile.systems = Systems::OneInFront;
                self.found(NAME, Some(false), "only one, in front");
            }
            (Err(_), _) => self.found(NAME, None, "could not be measured"),
        }
        Ok(())
    }

    /// Measures the window, if the server reports it.
    pub(super) fn window(&mut self) -> MeasureResult {
        const NAME: &str = "window";
        match models::list(&self.endpoint, self.client)?.window(&self.endpoint.model) {
            Some(size) => {
                self.endpoint.profile.window = Some(size);
                self.found(NAME, Some(true), &format!("{size} tokens, says the server"));
            }
            None => self.found(NAME, None, "the server does not say"),
        }
        Ok(())
    }

    fn found(&mut self, name: &'static str, found: Option<bool>, message: &str) {
        let finding = Measurement { name, found, message: message.to_owned() };
        (self.tell)(&finding);
        self.findings.push(finding);
    }

    /// Asks, and keeps the learned options if there is an answer.
    fn ask(&mut self, question: TestQuestion) -> Result<AskOutcome, ModelError> {
        let asked = ask(&self.endpoint, self.client, question)?;
        if asked.reply.is_ok() {
            self.endpoint.profile = ask::learned(&asked);
        }
        Ok(asked)
    }

    fn try_with(
        &self,
        change: ProfileChange,
        question: TestQuestion,
    ) -> Result<AskOutcome, ModelError> {
        let mut endpoint = self.endpoint.clone();
        change(&mut endpoint.profile);
        ask(&endpoint, self.client, question)
    }

    /// Keeps a change if its answer is good.
    fn adopt_if(
        &mut self,
        change: ProfileChange,
        question: TestQuestion,
        is_good: &dyn Fn(&Reply) -> bool,
    ) -> Result<bool, ModelError> {
        let asked = self.try_with(change, question)?;
        let good = asked.reply.as_ref().is_ok_and(is_good);
        if good {
            self.endpoint.profile = ask::learned(&asked);
        }
        Ok(good)
    }
}

/// Returns true if the server refused the request itself, as opposed to a temporary or network failure.
fn is_refusal(failure: &Failure) -> bool {
    match failure {
        Failure::Fault(fault) => match fault.kind {
            FaultKind::Rejected | FaultKind::Malformed | FaultKind::ModelOutput => true,
            FaultKind::Server => fault.status.is_some_and(|status| status == 500),
            FaultKind::Auth
            | FaultKind::Credit
            | FaultKind::Rate
            | FaultKind::Window
            | FaultKind::NoModel
            | FaultKind::NoEndpoint
            | FaultKind::NoTools
            | FaultKind::NoStreaming
            | FaultKind::Filter
            | FaultKind::CutOff
            | FaultKind::TooLong => false,
        },
        Failure::Unreachable { .. } | Failure::Silent(_) | Failure::Cancelled => false,
    }
}

fn limit_name(field: OutputLimit) -> &'static str {
    match field {
        OutputLimit::MaxTokens => "`max_tokens`",
        OutputLimit::MaxCompletionTokens => "`max_completion_tokens`",
        OutputLimit::None => "no field",
    }
}
