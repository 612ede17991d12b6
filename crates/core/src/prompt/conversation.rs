//! `CONVERSATION`: what was said in earlier nodes and is addressed to or by the user.

use std::sync::Arc;

use super::line::head;
use crate::message::Message;

/// Maximum size of the section, in bytes.
const SECTION_BYTES: usize = 8 * 1024;
/// Size to which the model's words are cut first, in bytes.
const CUT_ASKED_BYTES: usize = 256;

/// Words of the user, with those of the model that they answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidExchange {
    /// Words or question of the model.
    pub asked: Option<Arc<str>>,
    /// Words of the user, in their shell.
    pub said: Arc<str>,
}

impl SaidExchange {
    /// Returns the exchange as messages.
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        let asked = self.asked.clone().map(Message::assistant);
        asked.into_iter().chain([Message::user(self.said.clone())])
    }

    /// Reads exchanges from messages; those of tools and of the runtime are left out.
    pub fn read(messages: &[Message]) -> Vec<Self> {
        let mut exchanges = Vec::new();
        let mut asked = None;
        for message in messages {
            match message {
                Message::Assistant { content: Some(words), .. } => asked = Some(words.clone()),
                Message::User { content } => {
                    exchanges.push(Self { asked: asked.take(), said: content.clone() });
                }
                Message::Assistant { content: None, .. }
                | Message::System { .. }
                | Message::Tool { .. } => {}
            }
        }
        exchanges
    }
}

/// Renders what was said, the oldest first; none if nothing was. Where it is too long, the model's words are cut first,
/// then the oldest exchanges are dropped.
pub fn conversation(exchanges: &[SaidExchange]) -> Option<String> {
    let whole = |asked_bytes: usize| {
        let texts = exchanges.iter().map(|exchange| rendered(exchange, asked_bytes));
        texts.collect::<Vec<String>>()
    };
    let size = |texts: &[String]| texts.iter().map(|text| text.len() + 1).sum::<usize>();
    let mut texts = whole(usize::MAX);
    if size(&texts) > SECTION_BYTES {
        texts = whole(CUT_ASKED_BYTES);
    }
    let count = texts.len();
    while size(&texts) > SECTION_BYTES && texts.len() > 1 {
        texts.remove(0);
    }
    if let [only] = texts.as_mut_slice()
        && only.len() > SECTION_BYTES
    {
        *only = format!("{}…", head(only, SECTION_BYTES));
    }
    let note = if texts.len() < count { "\n(earlier words are left out)" } else { "" };
    (!texts.is_empty()).then(|| format!("CONVERSATION{note}\n{}", texts.join("\n")))
}

fn rendered(exchange: &SaidExchange, asked_bytes: usize) -> String {
    let SaidExchange { asked, said } = exchange;
    match asked.as_deref().map(str::trim).filter(|asked| !asked.is_empty()) {
        None => said.to_string(),
        Some(asked) if said.is_empty() => format!("You said: {}", head(asked, asked_bytes)),
        Some(asked) => {
            let cut = head(asked, asked_bytes);
            let mark = if cut.len() < asked.len() { "…" } else { "" };
            format!("You asked: {cut}{mark}\n{said}")
        }
    }
}
