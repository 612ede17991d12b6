//! Parts of a context that are added and removed together.

use std::sync::Arc;

use crewagent_format::integrity::Digest;
use serde_json::{Map, Value as Json};

use super::fingerprint::message_digest;
use crate::message::Message;
use crate::payload::Payload;

/// Message with its cached size and digest, so that it is read once.
#[derive(Clone, Debug)]
pub(super) struct BlockMessage {
    pub(super) message: Arc<Message>,
    pub(super) digest: Digest,
    pub(super) bytes: u64,
}

impl BlockMessage {
    pub(super) fn new(message: Message) -> Self {
        let digest = message_digest(&message);
        let bytes = message.bytes() + extra_bytes(&message);
        Self { message: Arc::new(message), digest, bytes }
    }

    /// Returns true if every text of the message is loaded, and none is a blob.
    pub(super) fn is_at_hand(&self) -> bool {
        match &*self.message {
            Message::System { .. } | Message::User { .. } => true,
            Message::Assistant { tool_calls, .. } => {
                tool_calls.iter().all(|call| call.arguments.inline().is_some())
            }
            Message::Tool { content, .. } => content.inline().is_some(),
        }
    }

    pub(super) fn is_system(&self, text: &str) -> bool {
        matches!(&*self.message, Message::System { content } if **content == *text)
    }
}

/// Returns the size of the provider's extra data, which takes part of the window although it is no text of ours.
fn extra_bytes(message: &Message) -> u64 {
    let size = |extra: &Map<String, Json>| {
        if extra.is_empty() {
            0
        } else {
            serde_json::to_vec(extra).map_or(0, |json| json.len() as u64)
        }
    };
    match message {
        Message::Assistant { tool_calls, extra, .. } => {
            size(extra) + tool_calls.iter().map(|call| size(&call.extra)).sum::<u64>()
        }
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
    }
}

/// Group of messages that belong together.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Position of the run.
    Anchor(Vec<BlockMessage>),
    Input(BlockMessage),
    /// Text of the model, or a question and its answer that were kept as text.
    Text(BlockMessage),
    /// Reminder of the runtime after an empty reply.
    Nudge(BlockMessage),
    Group(Group),
}

impl Block {
    pub(super) fn entries(&self) -> impl Iterator<Item = &BlockMessage> {
        let (many, results): (&[BlockMessage], &[BlockMessage]) = match self {
            Self::Anchor(entries) => (entries, &[]),
            Self::Input(entry) | Self::Text(entry) | Self::Nudge(entry) => {
                (std::slice::from_ref(entry), &[])
            }
            Self::Group(group) => (std::slice::from_ref(&group.call), &group.results),
        };
        many.iter().chain(results)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.entries().map(|entry| entry.bytes).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.entries().count()
    }
}

/// Reply with calls, and the answers that can already be sent: in the order of the calls, without a gap.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) call: BlockMessage,
    pub(super) results: Vec<BlockMessage>,
    pub(super) exchanges: Vec<QuestionExchange>,
    /// Answers to calls after the first open one, by the index of the call.
    early: Vec<(usize, Payload)>,
}

impl Group {
    pub(super) fn new(call: BlockMessage) -> Self {
        Self { call, results: Vec::new(), exchanges: Vec::new(), early: Vec::new() }
    }

    fn call_ids(&self) -> Vec<String> {
        match &*self.call.message {
            Message::Assistant { tool_calls, .. } => {
                tool_calls.iter().map(|call| call.id.clone()).collect()
            }
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Vec::new(),
        }
    }

    fn is_open(&self, place: usize) -> bool {
        place >= self.results.len() && self.early.iter().all(|(taken, _)| *taken != place)
    }

    /// Adds the answer to the first open call with this id.
    pub(super) fn answer(&mut self, call_id: &str, result: Payload) {
        let ids = self.call_ids();
        let place = (0..ids.len())
            .find(|at| ids.get(*at).is_some_and(|id| id == call_id) && self.is_open(*at));
        if let Some(place) = place {
            self.early.push((place, result));
        }
    }

    /// Returns the answers that can be sent now.
    pub(super) fn take_ready(&mut self) -> Vec<BlockMessage> {
        let ids = self.call_ids();
        let mut ready = Vec::new();
        loop {
            let place = self.results.len() + ready.len();
            let Some(at) = self.early.iter().position(|(early, _)| *early == place) else { break };
            let (_, content) = self.early.swap_remove(at);
            let Some(id) = ids.get(place) else { break };
            ready.push(BlockMessage::new(Message::Tool { tool_call_id: id.clone(), content }));
        }
        ready
    }

    /// Answers the open calls with a text, and returns them.
    pub(super) fn settle(&mut self, text: &str) -> Vec<(String, Payload)> {
        let ids = self.call_ids();
        let mut written = Vec::new();
        for (place, id) in ids.into_iter().enumerate() {
            if self.is_open(place) {
                self.early.push((place, Payload::from(text)));
                written.push((id, Payload::from(text)));
            }
        }
        written
    }

    /// Returns the blocks that stay when tool messages are dropped: the model's text, and questions with the user's
    /// answers. The provider's extra data goes with the calls.
    pub(super) fn into_words(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if let Message::Assistant { content: Some(words), .. } = &*self.call.message {
            blocks.push(Block::Text(BlockMessage::new(Message::assistant(words.clone()))));
        }
        blocks.extend(self.exchanges.into_iter().flat_map(QuestionExchange::into_blocks));
        blocks
    }
}

/// Question of the model with the user's answer.
#[derive(Clone, Debug)]
pub(super) struct QuestionExchange {
    pub(super) question: Arc<str>,
    pub(super) answer: Arc<str>,
}

impl QuestionExchange {
    pub(super) fn into_blocks(self) -> [Block; 2] {
        [
            Block::Text(BlockMessage::new(Message::assistant(self.question))),
            Block::Input(BlockMessage::new(Message::user(self.answer))),
        ]
    }
}
