//! What the model is saying, on its way to the screen.

use crewagent_core::event::Channel;

use super::super::flow::{Flow, Width};
use crate::paint::{self, QUIET};
use crate::terminal::markdown::Markdown;

/// Whether the model's Markdown is put into form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Markdown,
}

/// Words that are coming in.
#[derive(Debug)]
pub(super) struct Speech {
    channel: Channel,
    words: Words,
}

#[derive(Debug)]
enum Words {
    /// As they are.
    Plain(Flow),
    /// As they are meant, on a screen whose lines can be replaced.
    Formed(Box<Markdown>),
}

impl Speech {
    pub(super) fn new(channel: Channel, form: Form, width: Width) -> Self {
        let words = match (channel, form) {
            (Channel::Thinking, _) => Words::Plain(Flow::new(width, "  ┊ ")),
            (Channel::Text, Form::Plain) => Words::Plain(Flow::new(width, "  ")),
            (Channel::Text, Form::Markdown) => {
                Words::Formed(Box::new(Markdown::new(paint::window, "  ")))
            }
        };
        Self { channel, words }
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel
    }

    /// What can be shown with one more piece.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let text = match &mut self.words {
            Words::Plain(flow) => flow.push(piece),
            Words::Formed(markdown) => markdown.push(piece),
        };
        self.styled(text)
    }

    /// The rest.
    pub(super) fn finish(&mut self) -> String {
        let text = match &mut self.words {
            Words::Plain(flow) => flow.finish(),
            Words::Formed(markdown) => markdown.finish(),
        };
        self.styled(text)
    }

    /// Something else was printed in between.
    pub(super) fn leave(&mut self) -> String {
        match &mut self.words {
            Words::Plain(_) => String::new(),
            Words::Formed(markdown) => markdown.leave(),
        }
    }

    fn styled(&self, text: String) -> String {
        match self.channel {
            Channel::Thinking if !text.is_empty() => paint::styled(QUIET, text),
            Channel::Text | Channel::Thinking => text,
        }
    }
}
