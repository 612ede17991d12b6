//! Words of a menu: their spellings and how they are compared.

use unicode_normalization::UnicodeNormalization as _;

use super::MenuItem;

/// Folds a text for comparison: lower case, trimmed. Full-width letters, digits and signs, which many Chinese and
/// Japanese keyboards type, become the plain ones: `２` is `2`.
pub fn folded(text: &str) -> String {
    let plain: String = text.nfkc().collect();
    plain.to_lowercase().trim().to_owned()
}

/// Normalises a word for comparison: folded, without one leading `*` and without one pair of brackets.
pub fn normalised(word: &str) -> String {
    let folded = folded(word);
    let bare = starless(&folded);
    let inside = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::trim);
    inside.filter(|inside| !inside.is_empty()).unwrap_or(bare).to_owned()
}

/// Strips one leading `*`, the sign of a command.
fn starless(text: &str) -> &str {
    text.strip_prefix('*').unwrap_or(text).trim()
}

/// Returns the digits of a line that is only a number.
pub fn digits(line: &str) -> Option<String> {
    let folded = folded(line);
    let bare = starless(&folded);
    let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| bare.to_owned())
}

/// Returns the word as a user types it; `None` if typing it cannot choose anything: it is empty, has several lines, or
/// is a number, which is an index in the menu.
pub fn typeable(word: &str) -> Option<&str> {
    let (word, normal) = (word.trim(), normalised(word));
    if normal.is_empty() || word.contains(['\n', '\r']) || digits(word).is_some() {
        return None;
    }
    let bare = starless(word);
    Some(if normalised(bare) == normal && digits(bare).is_none() { bare } else { word })
}

/// Text that chooses something: `SPM or fuzzy match on start party mode, party or meeting` is the word `SPM` and three
/// texts for fuzzy matching. Any other text is a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase<'a> {
    pub word: Option<&'a str>,
    pub similar: Vec<&'a str>,
}

impl<'a> Phrase<'a> {
    /// Splits a text into its word and the texts for fuzzy matching.
    pub fn new(text: &'a str) -> Self {
        const MARK: &str = " or fuzzy match ";
        let Some(at) = text.to_ascii_lowercase().find(MARK) else {
            return Self { word: some(text), similar: Vec::new() };
        };
        let (word, rest) = (text.get(..at), text.get(at + MARK.len()..).unwrap_or_default());
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("on ").unwrap_or(rest);
        let similar = rest.split([',', '，', '、']).flat_map(|part| part.split(" or "));
        Self { word: word.and_then(some), similar: similar.filter_map(some).collect() }
    }

    /// Iterates over the word and the texts for fuzzy matching.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.word.into_iter().chain(self.similar.iter().copied())
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Field in which an author writes a word of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordField {
    Trigger,
    /// Other spelling of the trigger.
    Cmd,
    Code,
    /// Alias at this index of `triggers`.
    Alias(usize),
}

/// Returns the texts that choose an item, with the fields that hold them.
pub fn phrases(item: &MenuItem) -> Vec<(WordField, Phrase<'_>)> {
    let trigger = item.trigger.as_deref().map(|text| (WordField::Trigger, text));
    let cmd = item.cmd.as_deref().map(|text| (WordField::Cmd, text));
    let code = item.code().map(|text| (WordField::Code, text));
    let aliases = item.triggers.iter().enumerate().filter(|(_, trigger)| trigger.is_alias());
    let aliases = aliases
        .filter_map(|(at, trigger)| Some((WordField::Alias(at), trigger.matches.as_deref()?)));
    let all = trigger.into_iter().chain(cmd).chain(code).chain(aliases);
    all.map(|(spot, text)| (spot, Phrase::new(text))).collect()
}

/// Returns the words that choose an item exactly, with the fields that hold them.
pub fn exact_words(item: &MenuItem) -> Vec<(WordField, &str)> {
    let phrases = phrases(item).into_iter();
    phrases.filter_map(|(spot, phrase)| Some((spot, phrase.word?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_phrase(text: &str, word: Option<&str>, similar: &[&str]) {
        assert_eq!(Phrase::new(text), Phrase { word, similar: similar.to_vec() }, "{text:?}");
    }

    #[test]
    fn a_phrase_is_a_word_and_what_is_similar() {
        check_phrase("create-story", Some("create-story"), &[]);
        check_phrase("SPM or fuzzy match start party mode", Some("SPM"), &["start party mode"]);
        check_phrase(
            "DA OR Fuzzy Match on exit, leave or dismiss agent",
            Some("DA"),
            &["exit", "leave", "dismiss agent"],
        );
        check_phrase("写故事 or fuzzy match on 故事、写作", Some("写故事"), &["故事", "写作"]);
        check_phrase("  or fuzzy match on x", None, &["x"]);
        check_phrase("x or fuzzy match on , or ", Some("x"), &[]);
        check_phrase(" ", None, &[]);
    }

    #[test]
    fn words_are_compared_without_case_star_brackets_and_width() {
        for word in ["cs", "CS", " *CS ", "[CS]", "*[cs]", "ＣＳ", "＊［ｃｓ］", "* cs"] {
            assert_eq!(normalised(word), "cs", "{word:?}");
        }
        assert_eq!(normalised("**cs"), "*cs");
        assert_eq!(normalised("[]"), "[]");
        assert_eq!(normalised("e\u{301}TÉ"), "été");
    }
}
