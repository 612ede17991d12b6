//! Messages in the window of a model. They only grow at their end while a node is worked on, so that providers can
//! reuse their cache, and are cut by fixed rules when they no longer fit.
//!
//! The cost of an append depends on the new message alone: size and digest are updated incrementally. Every result
//! depends on the calls alone, never on whether a long text is loaded or in a blob, so a later process that makes the
//! same calls sends the same requests.

mod block;
mod check;
mod cut;
mod fingerprint;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use crewagent_format::integrity::Digest;
use serde_json::Map;

pub use check::{ContextProblem, check_messages};
pub use cut::{Cut, tokens_of};
pub use fingerprint::tools_digest;

use self::block::{Block, BlockMessage, Group, QuestionExchange};
use self::fingerprint::Chain;
use crate::event::Reply;
use crate::message::{Message, ToolCall};
use crate::payload::Payload;
use crate::prompt;

/// Messages for a model.
#[derive(Clone, Debug)]
pub struct Context {
    window_tokens: u64,
    systems: Vec<BlockMessage>,
    blocks: Vec<Block>,
    added: Vec<Arc<Message>>,
    size: Size,
    /// Fingerprints, computed on first use and extended from then on; replaying a long run never needs them.
    chain: OnceLock<Chain>,
    /// All messages in the order in which they are sent. Requests share them and are dropped before the next append.
    sent: Arc<Vec<Arc<Message>>>,
    /// Number of blocks from the start that were checked and have not changed since.
    checked: usize,
}

/// Size of a context.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u64,
    messages: usize,
    /// Number of messages whose text is not loaded.
    away: usize,
}

impl Size {
    fn add(&mut self, entry: &BlockMessage) {
        self.bytes += entry.bytes;
        self.messages += 1;
        self.away += usize::from(!entry.is_at_hand());
    }
}

impl Context {
    /// Creates an empty context for a model with a window of this many tokens.
    pub fn new(window_tokens: u64) -> Self {
        Self {
            window_tokens,
            systems: Vec::new(),
            blocks: Vec::new(),
            added: Vec::new(),
            size: Size::default(),
            chain: OnceLock::new(),
            sent: Arc::default(),
            checked: 0,
        }
    }

    /// Sets the window of the model from now on.
    pub fn set_window(&mut self, window_tokens: u64) {
        self.window_tokens = window_tokens;
    }

    /// Returns the window to which the context is cut, in tokens.
    pub fn window(&self) -> u64 {
        self.window_tokens
    }

    /// Sets the system messages. Equal messages change nothing; otherwise all of them count as added.
    pub fn set_system(&mut self, layers: Vec<String>) {
        let same = self.systems.len() == layers.len()
            && self.systems.iter().zip(&layers).all(|(entry, layer)| entry.is_system(layer));
        if same {
            return;
        }
        self.added.retain(|message| !matches!(**message, Message::System { .. }));
        self.systems =
            layers.into_iter().map(|layer| BlockMessage::new(Message::system(layer))).collect();
        let systems: Vec<Arc<Message>> =
            self.systems.iter().map(|entry| entry.message.clone()).collect();
        self.added.splice(0..0, systems);
        self.recount();
    }

    /// Appends the position of the run.
    pub fn anchor(&mut self, texts: Vec<String>) {
        self.settle();
        let entries: Vec<BlockMessage> =
            texts.into_iter().map(|text| self.added_user(text)).collect();
        if !entries.is_empty() {
            self.blocks.push(Block::Anchor(entries));
        }
    }

    /// Appends the user's input, in its wrapping.
    pub fn user_input(&mut self, text: String) {
        self.settle();
        let entry = self.added_user(text);
        self.blocks.push(Block::Input(entry));
    }

    /// Appends a reminder of the runtime after an empty reply.
    pub fn nudge(&mut self, text: String) {
        self.settle();
        let entry = self.added_user(text);
        self.blocks.push(Block::Nudge(entry));
    }

    /// Appends the model's reply. A call whose arguments are not a JSON object has `{}` in the history, because
    /// providers refuse anything else. A reply without text and calls leaves no message.
    pub fn reply(&mut self, reply: &Reply, arguments_valid: &dyn Fn(&ToolCall) -> bool) {
        self.settle();
        let words = reply.content.as_deref().filter(|text| !text.trim().is_empty());
        let mut calls = reply.tool_calls.clone();
        for call in &mut calls {
            if !arguments_valid(call) {
                call.arguments = Payload::from("{}");
            }
        }
        if words.is_none() && calls.is_empty() {
            return;
        }
        let has_calls = !calls.is_empty();
        let entry = BlockMessage::new(Message::Assistant {
            content: words.map(Arc::from),
            tool_calls: calls,
            from: reply.from.as_deref().map(Into::into),
            extra: reply.extra.clone(),
        });
        self.count(&entry);
        let block = if has_calls { Block::Group(Group::new(entry)) } else { Block::Text(entry) };
        self.blocks.push(block);
    }

    /// Adds the answer to a call of the last reply. Answers may come in any order; they are sent in the order of the
    /// calls. An answer to a call that is not open is dropped.
    pub fn answer(&mut self, call_id: &str, result: Payload) {
        self.checked = self.checked.min(self.blocks.len().saturating_sub(1));
        let Some(Block::Group(group)) = self.blocks.last_mut() else { return };
        group.answer(call_id, result);
        let new = group.take_ready();
        self.append_results(new);
    }

    /// Records the current call's question and the user's answer, in its wrapping. When the tool messages are dropped,
    /// both stay as text.
    pub fn exchange(&mut self, question: &str, answer: &str) {
        let exchange = QuestionExchange { question: question.into(), answer: answer.into() };
        if let Some(Block::Group(group)) = self.blocks.last_mut() {
            group.exchanges.push(exchange);
            return;
        }
        for block in exchange.into_blocks() {
            block.entries().for_each(|entry| self.count(entry));
            self.blocks.push(block);
        }
    }

    /// Answers every open call with the same stable text: the process died, or the user stopped it.
    pub fn settle(&mut self) {
        let Some(Block::Group(group)) = self.blocks.last_mut() else { return };
        let written = group.settle(&prompt::interrupted());
        let new = group.take_ready();
        self.append_results(new);
        self.added.extend(
            written.into_iter().map(|(call_id, content)| {
                Arc::new(Message::Tool { tool_call_id: call_id, content })
            }),
        );
    }

    /// Returns the messages in the order in which they are sent. Long payloads may be blobs.
    pub fn messages(&self) -> Arc<Vec<Arc<Message>>> {
        self.sent.clone()
    }

    /// Returns true if every text is loaded, and none is a blob.
    pub fn is_at_hand(&self) -> bool {
        self.size.away == 0
    }

    /// Returns the size of all messages: texts, arguments, and the provider's extra data.
    pub fn bytes(&self) -> u64 {
        self.size.bytes
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.size.messages
    }

    /// Returns true if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.size.messages == 0
    }

    /// Returns a digest over all messages and the tools, which are passed as their [`tools_digest`]. Equal lists of
    /// messages have equal digests, however they were built and whether or not their payloads are loaded.
    pub fn sha256(&self, tools: Digest) -> Digest {
        let chain = self.chain.get_or_init(|| {
            let mut chain = Chain::default();
            self.entries().for_each(|entry| chain.push(entry.digest));
            chain
        });
        chain.with(tools)
    }

    /// Checks that every call has exactly one answer right after it, and that there is no other answer. Messages
    /// checked before are skipped, so the cost depends on the new ones.
    pub fn check(&mut self) -> Result<(), ContextProblem> {
        let new = self.blocks.get(self.checked..).unwrap_or_default();
        check_messages(new.iter().flat_map(Block::entries).map(|entry| entry.message.as_ref()))?;
        self.checked = self.blocks.len();
        Ok(())
    }

    /// Returns the messages that the runtime wrote since the last call: system messages (all of them, if one has
    /// changed), anchors, the user's input, reminders, and answers to interrupted calls.
    pub fn take_added(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.added).into_iter().map(Arc::unwrap_or_clone).collect()
    }

    fn entries(&self) -> impl Iterator<Item = &BlockMessage> {
        self.systems.iter().chain(self.blocks.iter().flat_map(Block::entries))
    }

    fn added_user(&mut self, text: String) -> BlockMessage {
        let entry = BlockMessage::new(Message::user(text));
        self.added.push(entry.message.clone());
        self.count(&entry);
        entry
    }

    /// Updates size and digest for an appended message.
    fn count(&mut self, entry: &BlockMessage) {
        self.size.add(entry);
        if let Some(chain) = self.chain.get_mut() {
            chain.push(entry.digest);
        }
        Arc::make_mut(&mut self.sent).push(entry.message.clone());
    }

    fn append_results(&mut self, new: Vec<BlockMessage>) {
        new.iter().for_each(|entry| self.count(entry));
        if let Some(Block::Group(group)) = self.blocks.last_mut() {
            group.results.extend(new);
        }
    }

    /// Recomputes the size alone. [`Context::recount`] has to follow.
    fn reweigh(&mut self) {
        let mut size = Size::default();
        self.entries().for_each(|entry| size.add(entry));
        self.size = size;
    }

    /// Recomputes size and digest after a change other than an append. The digests of the messages are reused, so that
    /// no text is read again.
    fn recount(&mut self) {
        self.checked = 0;
        self.chain = OnceLock::new();
        self.reweigh();
        self.sent = Arc::new(self.entries().map(|entry| entry.message.clone()).collect());
    }
}

/// Returns true if the arguments of a call are a JSON object, as far as their text is loaded; a blob counts as one.
pub fn holds_object(call: &ToolCall) -> bool {
    call.arguments
        .inline()
        .is_none_or(|text| serde_json::from_str::<Map<String, serde_json::Value>>(text).is_ok())
}
