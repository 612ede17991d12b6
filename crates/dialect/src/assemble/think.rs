//! Thoughts at the beginning of the text, between `<think>` and `</think>`.

use crewagent_core::event::Channel;

/// Tags that models put around their thoughts.
const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("[THINK]", "[/THINK]"),
];

/// Maximum length of whitespace that is held back; no thoughts follow after more.
const MOST_HELD: usize = 256;

/// Separates thoughts from text as they arrive, however they are split into pieces.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    state: ThinkState,
    /// Undecided input: whitespace, and what may become a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default)]
enum ThinkState {
    /// No text has arrived.
    #[default]
    Start,
    /// Input up to this tag is thoughts.
    Thoughts(&'static str),
    /// Thoughts are over; whitespace is dropped until the first word.
    After,
    /// The rest is text.
    Text,
}

impl Splitter {
    /// Adds a piece of the content.
    pub(super) fn push(&mut self, text: &str, tell: &mut dyn FnMut(Channel, &str)) {
        if let ThinkState::Text = self.state {
            if !text.is_empty() {
                tell(Channel::Text, text);
            }
            return;
        }
        self.held.push_str(text);
        while self.step(tell) {}
    }

    /// Returns true if no content has arrived.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.state, ThinkState::Start) && self.held.is_empty()
    }

    /// Returns the input held back when the content ended, if it is text.
    pub(super) fn rest(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        match self.state {
            ThinkState::Start | ThinkState::Text => held,
            // A beginning of the closing tag is useless.
            ThinkState::Thoughts(_) => String::new(),
            ThinkState::After => held.trim_start().to_owned(),
        }
    }

    /// Emits the decided input. Returns true if there may be more.
    fn step(&mut self, tell: &mut dyn FnMut(Channel, &str)) -> bool {
        match self.state {
            ThinkState::Text => false,
            ThinkState::Start | ThinkState::After => self.begin(tell),
            ThinkState::Thoughts(close) => self.think(close, tell),
        }
    }

    fn begin(&mut self, tell: &mut dyn FnMut(Channel, &str)) -> bool {
        let text = self.held.trim_start();
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| text.starts_with(open)) {
            self.held = text[open.len()..].to_owned();
            self.state = ThinkState::Thoughts(close);
            return true;
        }
        if TAGS.iter().any(|(open, _)| open.starts_with(text)) {
            match self.state {
                ThinkState::After => self.held = text.to_owned(),
                ThinkState::Start | ThinkState::Thoughts(_) | ThinkState::Text => {}
            }
            if self.held.len() < MOST_HELD {
                return false;
            }
        }
        let text = self.held.trim_start();
        let words = if let ThinkState::After = self.state { text } else { &self.held };
        tell(Channel::Text, words);
        self.held.clear();
        self.state = ThinkState::Text;
        false
    }

    fn think(&mut self, close: &'static str, tell: &mut dyn FnMut(Channel, &str)) -> bool {
        let (end, is_over) = match self.held.find(close) {
            Some(end) => (end, true),
            None => (self.held.len() - half_tag(&self.held, close), false),
        };
        if end > 0 {
            tell(Channel::Thinking, &self.held[..end]);
        }
        self.held.drain(..end);
        if is_over {
            self.held.drain(..close.len());
            self.state = ThinkState::After;
        }
        is_over
    }
}

/// Returns the number of bytes at the end of `text` that may be the beginning of `tag`.
fn half_tag(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

/// Splits content whose thoughts have only a closing tag, alone on a line. If a model's template opens the thoughts,
/// its server may send only the end.
pub(super) fn closed_only(content: &str) -> Option<(&str, &str)> {
    let (open, close) = TAGS[0];
    let (thoughts, words) = content.split_once(close)?;
    let is_alone = thoughts.is_empty() || thoughts.ends_with('\n');
    let is_line = words.is_empty() || words.starts_with(['\n', '\r']);
    (is_alone && is_line && !thoughts.contains(open) && !thoughts.contains("```"))
        .then(|| (thoughts.trim(), words.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the content whole, letter by letter, and in any two pieces.
    fn check_split(content: &str, thoughts: &str, words: &str) {
        let letters: Vec<String> = content.chars().map(String::from).collect();
        let mut ways: Vec<Vec<String>> = vec![vec![content.to_owned()], letters];
        ways.extend(
            content
                .char_indices()
                .map(|(at, _)| vec![content[..at].to_owned(), content[at..].to_owned()]),
        );
        for way in ways {
            let mut splitter = Splitter::default();
            let (mut thought, mut said) = (String::new(), String::new());
            for piece in &way {
                splitter.push(piece, &mut |channel, text| {
                    assert!(!text.is_empty());
                    match channel {
                        Channel::Thinking => thought.push_str(text),
                        Channel::Text => said.push_str(text),
                    }
                });
            }
            said.push_str(&splitter.rest());
            assert_eq!((&*thought, &*said), (thoughts, words), "{way:?}");
        }
    }

    #[test]
    fn thoughts_at_the_beginning_are_no_words() {
        check_split("", "", "");
        check_split("Hello", "", "Hello");
        check_split("  Hello", "", "  Hello");
        check_split("<think>hm</think>\n\nHello", "hm", "Hello");
        check_split("\n<think>\nhm</think>Hello <b>", "\nhm", "Hello <b>");
        check_split("<think></think>Hello", "", "Hello");
        check_split("<think>a</think>\n<think>b</think>\nHello", "ab", "Hello");
        check_split("<thinking>a < b </thin</thinking>x", "a < b </thin", "x");
        check_split("[THINK]é[/THINK]x", "é", "x");
        check_split("<thought>a</thought>", "a", "");
    }

    #[test]
    fn thoughts_that_never_end_are_thoughts() {
        check_split("<think>hm", "hm", "");
        check_split("<think>hm</thi", "hm", "");
        check_split("<think>hm</think>", "hm", "");
    }

    #[test]
    fn what_only_looks_like_thoughts_is_words() {
        check_split("<thin", "", "<thin");
        check_split("<thinker>", "", "<thinker>");
        check_split("So <think>a</think>", "", "So <think>a</think>");
        check_split("<think>a</think>b<think>c</think>", "a", "b<think>c</think>");
        check_split(" \n", "", " \n");
    }

    #[test]
    fn thoughts_that_are_only_closed_are_found_afterwards() {
        assert_eq!(closed_only("Let me see.\n</think>\n\nHello"), Some(("Let me see.", "Hello")));
        assert_eq!(closed_only("</think>\nHello"), Some(("", "Hello")));
        assert_eq!(closed_only("Hm\n</think>"), Some(("Hm", "")));
        assert_eq!(closed_only("The tag </think> ends it."), None);
        assert_eq!(closed_only("```\n</think>\n```"), None);
        assert_eq!(closed_only("As in <think>\nx\n</think>\n"), None);
        assert_eq!(closed_only("Hello"), None);
    }
}
