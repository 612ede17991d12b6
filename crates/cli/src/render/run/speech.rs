//! The model's streaming text on its way to the screen.

use crewagent_core::event::Channel;

use super::super::flow::{Flow, Width};
use crate::paint::{self, QUIET};
use crate::terminal::markdown::Markdown;

/// The treatment of the model's Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    Plain,
    Markdown,
}

/// A streaming text.
#[derive(Debug)]
pub(super) struct SpeechText {
    channel: Channel,
    renderer: Renderer,
}

#[derive(Debug)]
enum Renderer {
    Plain(Flow),
    /// Formatted, on a screen whose lines can be replaced.
    Markdown(Box<Markdown>),
}

impl SpeechText {
    pub(super) fn new(channel: Channel, form: TextFormat, width: Width) -> Self {
        let renderer = match (channel, form) {
            (Channel::Thinking, _) => Renderer::Plain(Flow::new(width, "  ┊ ")),
            (Channel::Text, TextFormat::Plain) => Renderer::Plain(Flow::new(width, "  ")),
            (Channel::Text, TextFormat::Markdown) => {
                Renderer::Markdown(Box::new(Markdown::new(paint::window, "  ")))
            }
        };
        Self { channel, renderer }
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel
    }

    /// Adds a piece and returns what to print.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let text = match &mut self.renderer {
            Renderer::Plain(flow) => flow.push(piece),
            Renderer::Markdown(markdown) => markdown.push(piece),
        };
        self.styled(text)
    }

    /// Ends the text and returns the rest to print.
    pub(super) fn finish(&mut self) -> String {
        let text = match &mut self.renderer {
            Renderer::Plain(flow) => flow.finish(),
            Renderer::Markdown(markdown) => markdown.finish(),
        };
        self.styled(text)
    }

    /// Ends the preview, because something else was printed.
    pub(super) fn leave(&mut self) -> String {
        match &mut self.renderer {
            Renderer::Plain(_) => String::new(),
            Renderer::Markdown(markdown) => markdown.leave(),
        }
    }

    fn styled(&self, text: String) -> String {
        match self.channel {
            Channel::Thinking if !text.is_empty() => paint::styled(QUIET, text),
            Channel::Text | Channel::Thinking => text,
        }
    }
}
