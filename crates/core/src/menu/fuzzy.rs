//! Similarity of a user's line to a text of the menu. An unwanted action is worse than an answer, so a question, an
//! answer such as "yes", and a sentence with other words match nothing.

use crewagent_format::package::agents::words::folded;

use super::Confidence;

/// Maximum length of a command.
const MAX_CHARS: usize = 200;
/// Minimum weight of a line that may match a word of the menu.
const MIN_IN_WORD: usize = 3;
/// Minimum weight of a line that may match a description, which contains common words.
const MIN_IN_DESCRIPTION: usize = 4;

/// Phrases around a command that don't change it.
const FILLERS: &str = "please, pls, can you, could you, would you, i want to, i would like to, i'd like to, let's, \
    lets, run, start, begin, launch, open, execute, do, go, now, for me, \
    请, 帮我, 我想, 我要, 开始, 启动, 运行, 执行, 现在, 吧, 一下";
/// Common answers in a conversation. A line of nothing else is no command.
const ANSWERS: &str = "a, an, the, and, or, of, to, in, on, at, for, with, is, it, this, that, i, you, we, me, my, \
    your, yes, no, not, ok, okay, sure, thanks, thank, hi, hello, hey, next, continue, more, again, back, stop, done, \
    good, great, right, wait, cancel, what, how, why, \
    好, 好的, 是, 是的, 不, 不是, 不要, 可以, 继续, 谢谢, 你好, 下一步, 没有, 对";
const ARTICLES: &[&str] = &["a", "an", "the"];

/// Minimum weight of a line that may be the beginning of several words of the menu.
const MIN_BEGINNING: usize = 2;
/// Minimum weight of a line that may be a word of the menu with two letters swapped. Shorter ones are words themselves.
const MIN_SWAPPED: usize = 5;

/// Similarity of a line to a text, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    /// The line is the text with two neighbouring letters swapped.
    Swapped,
    /// The line is part of the text, but ends inside a word.
    Part,
    /// The line consists of some of the text's words.
    WholeWords,
    /// The line is the text, apart from filler phrases.
    Request,
    /// The line has the same words.
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pool {
    Description,
    /// Trigger, cmd, alias, or match of a handler.
    Word,
}

/// Quality of a match: whole words before parts of words, then triggers before descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(Closeness, Pool);

impl Rank {
    pub(super) fn confidence(self) -> Confidence {
        match self {
            Self(Closeness::Swapped, _) | Self(Closeness::Part, Pool::Description) => {
                Confidence::Low
            }
            Self(Closeness::Part, Pool::Word) | Self(_, Pool::Description) => Confidence::Medium,
            Self(Closeness::WholeWords | Closeness::Request | Closeness::Same, Pool::Word) => {
                Confidence::High
            }
        }
    }

    /// Describes the match, for the reason of a command.
    pub(super) fn says(self, word: &str) -> String {
        let found = match self.0 {
            Closeness::Swapped => "with two letters swapped it is",
            Closeness::Part => "the letters are part of",
            Closeness::WholeWords | Closeness::Request | Closeness::Same => "the words match",
        };
        match self.1 {
            Pool::Description => format!("{found} the description"),
            Pool::Word => format!("{found} `{word}`"),
        }
    }

    pub(super) fn pool(self) -> Pool {
        self.1
    }

    /// Returns true if the line is the text, with nothing missing.
    pub(super) fn is_whole(self) -> bool {
        self.0 >= Closeness::Request
    }
}

/// Line of the user that may refer to the menu.
pub(super) struct Query {
    words: Tokens,
    /// Words without filler phrases.
    request: Tokens,
    weight: usize,
}

impl Query {
    /// Parses a line; `None` if it is for the agent: a question, an answer, or a long text.
    pub(super) fn new(line: &str) -> Option<Self> {
        let folded = folded(line);
        if folded.ends_with('?') || folded.chars().count() > MAX_CHARS {
            return None;
        }
        let words = Tokens::of(&folded);
        if words.clone().without_leading(&format!("{FILLERS}, {ANSWERS}")).is_empty() {
            return None;
        }
        let request = words.request();
        Some(Self { weight: words.weight(), words, request })
    }

    /// Ranks the match with a text of the menu.
    pub(super) fn rank(&self, text: &str, pool: Pool) -> Option<Rank> {
        let text = Tokens::of(&folded(text));
        let least = match pool {
            Pool::Description => MIN_IN_DESCRIPTION,
            Pool::Word => MIN_IN_WORD,
        };
        let heavy = self.weight >= least;
        let closeness = if text == self.words && (heavy || pool == Pool::Word) {
            Closeness::Same
        } else if pool == Pool::Word && !self.request.is_empty() && text.request() == self.request {
            Closeness::Request
        } else if heavy && text.has_words(&self.words) {
            Closeness::WholeWords
        } else if heavy && text.has_letters(&self.words) {
            Closeness::Part
        } else if pool == Pool::Word
            && self.request.weight() >= MIN_SWAPPED
            && text.request().is_swapped(&self.request)
        {
            Closeness::Swapped
        } else {
            return None;
        };
        Some(Rank(closeness, pool))
    }

    /// Returns true if a word of the menu begins with the line and is longer.
    pub(super) fn begins(&self, text: &str) -> bool {
        let text = Tokens::of(&folded(text));
        self.weight >= MIN_BEGINNING && text != self.words && text.0.starts_with(&self.words.0)
    }
}

/// Words of a text, each with a blank before it; punctuation is ignored. A character of a script without blanks is a
/// word of its own, so that any part of a Chinese text is whole words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tokens(String);

impl Tokens {
    fn of(folded: &str) -> Self {
        let mut words = String::with_capacity(folded.len() + 1);
        let mut inside = false;
        for c in folded.chars() {
            let alone = is_unspaced(c);
            if alone || (c.is_alphanumeric() && !inside) {
                words.push(' ');
            }
            if alone || c.is_alphanumeric() {
                words.push(c);
            }
            inside = c.is_alphanumeric() && !alone;
        }
        Self(words)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts letters and digits; a character of a script without blanks counts as two.
    fn weight(&self) -> usize {
        self.0.chars().filter(|c| *c != ' ').map(|c| 1 + usize::from(is_unspaced(c))).sum()
    }

    fn has_words(&self, other: &Self) -> bool {
        !other.is_empty() && format!("{} ", self.0).contains(&format!("{} ", other.0))
    }

    fn has_letters(&self, other: &Self) -> bool {
        !other.is_empty() && self.0.contains(other.0.trim_start())
    }

    /// Returns true if the other text is this one with two neighbouring letters swapped.
    fn is_swapped(&self, other: &Self) -> bool {
        let pairs = self.0.chars().zip(other.0.chars());
        let differ: Vec<_> = pairs.enumerate().filter(|(_, (one, other))| one != other).collect();
        let [(at, (a, b)), (next, (c, d))] = differ.as_slice() else { return false };
        self.0.len() == other.0.len() && at + 1 == *next && a == d && b == c
    }

    fn without_leading(mut self, phrases: &str) -> Self {
        let rest = |text: &str, phrase: &str| {
            let rest = text.strip_prefix(&Self::of(phrase).0)?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| rest.to_owned())
        };
        while let Some(rest) = phrases.split(", ").find_map(|phrase| rest(&self.0, phrase)) {
            self.0 = rest;
        }
        self
    }

    fn without_trailing(mut self, phrases: &str) -> Self {
        let rest =
            |text: &str, phrase: &str| text.strip_suffix(&Self::of(phrase).0).map(str::to_owned);
        while let Some(rest) = phrases.split(", ").find_map(|phrase| rest(&self.0, phrase)) {
            self.0 = rest;
        }
        self
    }

    /// Removes the filler phrases.
    fn request(&self) -> Self {
        self.clone().without_leading(FILLERS).without_trailing(FILLERS).without_articles()
    }

    fn without_articles(&self) -> Self {
        let words = self.0.split(' ').filter(|word| !word.is_empty() && !ARTICLES.contains(word));
        Self(words.flat_map(|word| [" ", word]).collect())
    }
}

/// Returns true for scripts without blanks between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_words(text: &str, expected: &str) {
        assert_eq!(Tokens::of(&folded(text)).0.trim_start(), expected);
    }

    #[test]
    fn words_are_what_stands_between_signs_and_every_chinese_character() {
        check_words("Create-Story_now!", "create story now");
        check_words("创建story 2章", "创 建 story 2 章");
        check_words("🚀 launch", "launch");
        check_words("…", "");
        check_words("サーバー", "サ ー バ ー");
    }

    #[test]
    fn whole_words_beat_parts_and_triggers_beat_descriptions() {
        let rank = |pool, text| Query::new("story").unwrap().rank(text, pool);
        let ranks = [
            rank(Pool::Word, "stroy"),
            rank(Pool::Description, "Tell storyboards"),
            rank(Pool::Word, "storyboard"),
            rank(Pool::Description, "Tell a story"),
            rank(Pool::Word, "tell-story"),
            rank(Pool::Word, "Story"),
        ];
        assert!(ranks.is_sorted() && ranks.iter().all(Option::is_some), "{ranks:?}");
        assert_eq!(rank(Pool::Word, "stories"), None);
    }

    #[test]
    fn two_neighbouring_letters_may_be_swapped() {
        let check = |line: &str, word: &str, expected: bool| {
            let rank = Query::new(line).unwrap().rank(word, Pool::Word);
            assert_eq!(rank.is_some(), expected, "{line} {word}");
        };
        check("tirage", "triage", true);
        check("run tirage please", "triage", true);
        check("creat estory", "create-story", true);
        check("tiraeg", "triage", false);
        check("traige", "triages", false);
        check("egairt", "triage", false);
        check("from", "form", false);
    }
}
