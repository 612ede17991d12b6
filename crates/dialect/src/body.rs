//! Body of a request, which grows with its conversation.
//!
//! Rendered messages are reused. A request that begins with the messages of the previous one keeps its bytes, drops the
//! closing part and appends the new messages; for that, `messages` come last in the body.

mod head;
#[cfg(test)]
mod laws;
mod object;
mod speech;
#[cfg(test)]
mod tests;
mod thread;

use std::sync::Arc;

use crewagent_core::message::Message;
use crewagent_core::tool::ToolSpec;

use self::head::RenderedTools;
use self::speech::MessageWriter;
use self::thread::Thread;
use super::names::ToolNames;
use super::profile::Profile;

/// Options of a request, besides its messages and tools.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Model name of the provider.
    pub model: &'o str,
    /// Our name of the model, `profile/model`, as in the messages that it sent.
    pub source: &'o str,
    /// Profile for this model.
    pub profile: &'o Profile,
    /// Maximum number of tokens of the reply.
    pub max_output: Option<u64>,
    /// Temperature, if the profile sends one.
    pub temperature: Option<f64>,
    pub stream: bool,
    pub tools: bool,
}

/// Request body that grows with its conversation: rendered messages are reused.
#[derive(Debug, Default)]
pub struct Body {
    /// Everything up to the first message, the messages, the end.
    bytes: Vec<u8>,
    /// Number of bytes before the first message.
    head: usize,
    messages: Vec<Arc<Message>>,
    thread: Thread,
    form: Option<MessageForm>,
    tools: RenderedTools,
    is_lent: bool,
}

/// Values that determine the form of messages and tools.
#[derive(Debug, PartialEq)]
struct MessageForm {
    source: String,
    profile: Profile,
    names: ToolNames,
}

impl MessageForm {
    fn is(&self, options: &Options<'_>, names: &ToolNames) -> bool {
        self.source == options.source && self.profile == *options.profile && self.names == *names
    }
}

impl Body {
    /// Renders the JSON of the request, reusing the messages of the last one.
    ///
    /// Any list of messages gives a valid request: parts that cannot be sent are left out, and required ones are added.
    pub fn render(
        &mut self,
        options: &Options<'_>,
        names: &ToolNames,
        messages: &[Arc<Message>],
        tools: &Arc<[ToolSpec]>,
    ) -> &[u8] {
        let is_same = self.form.as_ref().is_some_and(|form| form.is(options, names));
        if self.is_lent || !is_same {
            *self = Self::default();
            self.form = Some(MessageForm {
                source: options.source.to_owned(),
                profile: options.profile.clone(),
                names: names.clone(),
            });
        }
        self.render_messages(&MessageWriter::new(options, names), messages);
        let called = self.thread.called();
        let head = head::render(options, names, tools, called, &mut self.tools);
        if self.bytes.get(..self.head) != Some(&head) {
            self.bytes.splice(..self.head, head.iter().copied());
            self.head = head.len();
        }
        &self.bytes
    }

    /// Returns the size of the last rendered body, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Lends the last rendered body, to be sent without a copy.
    pub fn lend(&mut self) -> Vec<u8> {
        self.is_lent = true;
        std::mem::take(&mut self.bytes)
    }

    /// Takes back the lent bytes, unchanged. Without them the next request is rendered from its beginning.
    pub fn give_back(&mut self, bytes: Vec<u8>) {
        self.is_lent = false;
        self.bytes = bytes;
    }

    fn render_messages(&mut self, speech: &MessageWriter<'_>, messages: &[Arc<Message>]) {
        let same = self.messages.iter().zip(messages);
        let same = same.take_while(|(old, new)| Arc::ptr_eq(old, new) || old == new).count();
        let next = self.thread.rewind(same, self.head, &mut self.bytes);
        self.messages.truncate(same);
        self.messages.extend(messages.iter().skip(same).cloned());
        for (place, message) in messages.iter().enumerate().skip(next) {
            self.thread.push(speech, place, message, &mut self.bytes);
        }
        self.thread.finish(speech, &mut self.bytes);
        self.bytes.extend_from_slice(b"]}");
    }
}
