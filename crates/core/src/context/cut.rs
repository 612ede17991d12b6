//! Cuts of a context: the tool messages of a node that is left, and, by fixed rules, whatever no longer fits the
//! window.

use serde_json::json;

use super::Context;
use super::block::{Block, BlockMessage};
use crate::message::Message;
use crate::payload::Payload;

/// Estimated bytes per token: English has more, Chinese, digests and dense JSON about as many.
const TOKEN_BYTES: u64 = 3;

/// Estimates the number of tokens in this many bytes.
pub fn tokens_of(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// Size of a message beside its text: its role and delimiters.
const MESSAGE_BYTES: u64 = 16;
/// Part of the window that stays free for the answer and the tools: a quarter, but at most this many tokens.
const MOST_FREE_TOKENS: u64 = 16 * 1024;
/// Size below which no answer is shortened, in bytes.
const LEAST_ANSWER_BYTES: u64 = 512;
/// Size from which an answer is shortened to a note, because in a later process it may be a blob that is not loaded.
const LONGEST_HEAD: u64 = 32 * 1024;

/// Summary of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Messages that are no longer sent, or no longer in full.
    pub messages: usize,
    pub bytes: u64,
}

impl Cut {
    fn reported(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

impl Context {
    /// Drops all messages of the node that is left.
    pub fn leave_node(&mut self) {
        self.blocks.clear();
        self.recount();
    }

    /// Cuts until the context fits the window: first the oldest calls with their answers, stale anchors and reminders,
    /// then the oldest text, then the answers of the last calls are shortened, then their arguments. System messages,
    /// the first and the latest anchor of the node, the user's latest input and the last calls always stay.
    pub fn fit(&mut self) -> Option<Cut> {
        if self.fits() {
            return None;
        }
        let mut cut = Cut::default();
        self.cut_traffic(&mut cut);
        self.cut_words(&mut cut);
        self.shorten_answers(&mut cut);
        self.reweigh();
        self.shorten_arguments(&mut cut);
        self.recount();
        cut.reported()
    }

    /// Returns true if the context fits the window, by an estimate. After [`Context::fit`] it does, unless the part
    /// that always stays is larger.
    pub fn fits(&self) -> bool {
        self.weight() <= self.room()
    }

    /// Reduces the window below the size of the next request, because the model's window is smaller than declared.
    pub fn narrow(&mut self) {
        self.window_tokens = self.window_tokens.min(self.weight() / TOKEN_BYTES);
    }

    /// Returns the bytes that may be sent.
    fn room(&self) -> u64 {
        let free = (self.window_tokens / 4).min(MOST_FREE_TOKENS);
        (self.window_tokens - free).saturating_mul(TOKEN_BYTES)
    }

    /// Returns the size to cut down to: below the limit, so that the next requests need no cut and keep the beginning
    /// that providers have cached.
    fn enough(&self) -> u64 {
        let room = self.room();
        room - room / 4
    }

    fn weight(&self) -> u64 {
        self.size.bytes + self.size.messages as u64 * MESSAGE_BYTES
    }

    fn last_group(&self) -> Option<usize> {
        self.blocks.iter().rposition(|block| matches!(block, Block::Group(_)))
    }

    /// Drops whole groups but keeps their text.
    fn cut_traffic(&mut self, cut: &mut Cut) {
        let last = self.last_group();
        let is_anchor = |block: &Block| matches!(block, Block::Anchor(_));
        let first_anchor = self.blocks.iter().position(is_anchor);
        let latest_anchor = self.blocks.iter().rposition(is_anchor);
        let end = self.blocks.len();
        let enough = self.enough();
        let mut blocks = Vec::with_capacity(end);
        let mut weight = self.weight();
        for (at, block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            let place = Some(at);
            let goes = weight > enough
                && match &block {
                    Block::Anchor(_) => place != first_anchor && place != latest_anchor,
                    Block::Nudge(_) => at + 1 != end,
                    Block::Group(_) => place != last,
                    Block::Input(_) | Block::Text(_) => false,
                };
            if !goes {
                blocks.push(block);
                continue;
            }
            weight -= block_weight(&block);
            cut.add(&block);
            if let Block::Group(group) = block {
                let words = group.into_words();
                for word in &words {
                    weight += block_weight(word);
                    cut.bytes = cut.bytes.saturating_sub(word.bytes());
                }
                blocks.extend(words);
            }
        }
        self.blocks = blocks;
        self.reweigh();
    }

    fn cut_words(&mut self, cut: &mut Cut) {
        let latest = self.blocks.iter().rposition(|block| matches!(block, Block::Input(_)));
        if self.fits() {
            return;
        }
        let (mut weight, enough) = (self.weight(), self.enough());
        let mut at = 0;
        self.blocks.retain(|block| {
            let goes = weight > enough && is_words(block) && Some(at) != latest;
            at += 1;
            if goes {
                weight -= block_weight(block);
                cut.add(block);
            }
            !goes
        });
        self.reweigh();
    }

    /// Shortens the answers of the last calls, which share the remaining room; an answer larger than its share keeps
    /// its beginning.
    fn shorten_answers(&mut self, cut: &mut Cut) {
        let (weight, room) = (self.weight(), self.room());
        if weight <= room {
            return;
        }
        let Some(at) = self.last_group() else { return };
        let Some(Block::Group(group)) = self.blocks.get_mut(at) else { return };
        let answers: u64 = group.results.iter().map(|entry| entry.bytes).sum();
        let share = room
            .saturating_sub(weight.saturating_sub(answers))
            .checked_div(group.results.len() as u64)
            .unwrap_or(0)
            .max(LEAST_ANSWER_BYTES);
        for entry in &mut group.results {
            shorten(entry, share, cut);
        }
    }
}

impl Context {
    /// Replaces long arguments of the last calls by a note, if no other cut makes room.
    fn shorten_arguments(&mut self, cut: &mut Cut) {
        if self.fits() {
            return;
        }
        let Some(at) = self.last_group() else { return };
        let Some(Block::Group(group)) = self.blocks.get_mut(at) else { return };
        let mut message = (*group.call.message).clone();
        if let Message::Assistant { tool_calls, .. } = &mut message {
            for call in tool_calls {
                let bytes = call.arguments.bytes();
                if bytes > LEAST_ANSWER_BYTES {
                    let note = "cut by the runtime: the arguments do not fit the context";
                    call.arguments = json!({ "bytes": bytes, "note": note }).to_string().into();
                }
            }
        }
        let shorter = BlockMessage::new(message);
        if shorter.bytes < group.call.bytes {
            cut.messages += 1;
            cut.bytes += group.call.bytes - shorter.bytes;
            group.call = shorter;
        }
    }
}

impl Cut {
    fn add(&mut self, block: &Block) {
        self.messages += block.len();
        self.bytes += block.bytes();
    }
}

fn block_weight(block: &Block) -> u64 {
    block.bytes() + block.len() as u64 * MESSAGE_BYTES
}

fn is_words(block: &Block) -> bool {
    match block {
        Block::Input(_) | Block::Text(_) => true,
        Block::Anchor(_) | Block::Nudge(_) | Block::Group(_) => false,
    }
}

fn shorten(entry: &mut BlockMessage, share: u64, cut: &mut Cut) {
    let Message::Tool { tool_call_id, content } = &*entry.message else { return };
    if entry.bytes <= share {
        return;
    }
    let room = share.saturating_sub(tool_call_id.len() as u64);
    let shorter = BlockMessage::new(Message::Tool {
        tool_call_id: tool_call_id.clone(),
        content: shortened(content, room),
    });
    if shorter.bytes < entry.bytes {
        cut.messages += 1;
        cut.bytes += entry.bytes - shorter.bytes;
        *entry = shorter;
    }
}

/// Returns a shortened answer that says so, with its beginning if it is small enough to be always loaded.
fn shortened(content: &Payload, room: u64) -> Payload {
    let note = "… cut by the runtime: the answer does not fit the context. Ask for less: search first, then read a window of lines.";
    let bytes = content.bytes();
    let empty = json!({ "truncated": true, "bytes": bytes, "note": note }).to_string();
    let Some(text) = content.inline().filter(|_| bytes <= LONGEST_HEAD) else {
        return empty.into();
    };
    let free = room.saturating_sub(empty.len() as u64 + r#","head":"""#.len() as u64) as usize;
    let head = json_head(text, free);
    json!({ "truncated": true, "bytes": bytes, "head": head, "note": note }).to_string().into()
}

/// Returns the beginning of a text that has at most this many bytes as a JSON string.
fn json_head(text: &str, free: usize) -> &str {
    let mut written = 0;
    for (at, c) in text.char_indices() {
        written += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\u{0}'..='\u{1f}' => 6,
            c => c.len_utf8(),
        };
        if written > free {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}
