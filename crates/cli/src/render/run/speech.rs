//! The model's streaming text on its way to the screen.

use crewagent_core::event::Channel;

use super::super::flow::{Flow, Width};
use crate::paint::{self, QUIET};
use crate::terminal::markdown::Markdown;

/// The treatment of the model's Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Markdown,
}

/// A streaming text.
#[derive(Debug)]
pub(super) struct Speech {
    channel: Channel,
    words: Words,
}

#[derive(Debug)]
enum Words {
    Plain(Flow),
    /// Formatted, on a screen whose lines can be replaced.
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

    /// Adds a piece and returns what to print.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let text = match &mut self.words {
            Words::Plain(flow) => flow.push(piece),
            Words::Formed(markdown) => markdown.push(piece),
        };
        self.styled(text)
    }

    /// Ends the text and returns the rest to print.
    pub(super) fn finish(&mut self) -> String {
        let text = match &mut self.words {
            Words::Plain(flow) => flow.finish(),
            Words::Formed(markdown) => markdown.finish(),
        };
        self.styled(text)
    }

    /// Ends the preview, because something else was printed.
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
