//! Agreement in the user's own words: a plain yes, a plain no, or anything else.
//!
//! One list serves moves, confirmations and gates. A text counts only if all of it is on the list, so that "ok but
//! shorter" reaches the model instead of being taken for a yes.

/// Meaning of a text that was asked to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Yes,
    No,
    /// Neither of the two, or more than that: a text for the model.
    Other,
}

const YES: [&str; 43] = [
    "yes",
    "y",
    "yeah",
    "yep",
    "sure",
    "ok",
    "okay",
    "k",
    "fine",
    "agreed",
    "agree",
    "right",
    "correct",
    "true",
    "go",
    "go on",
    "go ahead",
    "continue",
    "proceed",
    "next",
    "move on",
    "do it",
    "sounds good",
    "looks good",
    "lgtm",
    "👍",
    "是",
    "是的",
    "对",
    "对的",
    "好",
    "好的",
    "好吧",
    "行",
    "可以",
    "没问题",
    "同意",
    "确认",
    "继续",
    "下一步",
    "嗯",
    "当然",
    "要",
];

const NO: [&str; 20] = [
    "no",
    "n",
    "nope",
    "not yet",
    "wait",
    "stop",
    "don't",
    "cancel",
    "false",
    "否",
    "不",
    "不是",
    "不行",
    "不要",
    "别",
    "先不",
    "等等",
    "等一下",
    "停",
    "取消",
];

/// Words that change nothing.
const COURTESY: [&str; 4] = ["please", "thanks", "请", "谢谢"];
/// Marks that change nothing at the end.
const END_MARKS: [char; 6] = ['.', '!', '~', '。', '！', '，'];
const SEPARATORS: [char; 3] = [' ', ',', '，'];

/// Reads a text as agreement.
pub fn read(text: &str) -> Agreement {
    let plain = text.to_lowercase().replace('’', "'");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = without_ending(&plain);
    let mut seen = None;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(SEPARATORS) {
            rest = after;
            continue;
        }
        let Some((word, meaning)) = longest(rest) else { return Agreement::Other };
        match (seen, meaning) {
            (Some(before), Some(meaning)) if before != meaning => return Agreement::Other,
            (_, Some(meaning)) => seen = Some(meaning),
            (_, None) => {}
        }
        rest = rest.strip_prefix(word).unwrap_or_default();
    }
    seen.unwrap_or(Agreement::Other)
}

/// Removes marks and courtesies at the end, in any order.
fn without_ending(text: &str) -> &str {
    let mut rest = text;
    loop {
        let marks = |c: char| END_MARKS.contains(&c) || SEPARATORS.contains(&c);
        let shorter = rest.trim_end_matches(marks);
        let shorter =
            COURTESY.iter().find_map(|word| shorter.strip_suffix(word)).unwrap_or(shorter);
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// Returns the longest known word that a text begins with; a courtesy has no meaning.
fn longest(text: &str) -> Option<(&'static str, Option<Agreement>)> {
    let yes = YES.into_iter().map(|word| (word, Some(Agreement::Yes)));
    let no = NO.into_iter().map(|word| (word, Some(Agreement::No)));
    let courtesies = COURTESY.into_iter().map(|word| (word, None));
    let begins = |(word, _): &(&'static str, Option<Agreement>)| text.starts_with(word);
    yes.chain(no).chain(courtesies).filter(begins).max_by_key(|(word, _)| word.len())
}

/// Reads a yes or no.
pub fn yes_or_no(text: &str) -> Option<bool> {
    match read(text) {
        Agreement::Yes => Some(true),
        Agreement::No => Some(false),
        Agreement::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config as ProptestConfig, RngSeed};

    use super::*;

    #[track_caller]
    fn check(expected: Agreement, texts: &[&str]) {
        for text in texts {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn every_word_of_the_lists_means_what_its_list_says() {
        check(Agreement::Yes, &YES);
        check(Agreement::No, &NO);
    }

    #[test]
    fn case_blanks_marks_and_courtesy_do_not_matter() {
        check(
            Agreement::Yes,
            &[
                "OK",
                " Yes! ",
                "yes please",
                "Yes, please.",
                "ok!!!",
                "ok~",
                "好的。",
                "好的！",
                "嗯，",
            ],
        );
        check(
            Agreement::Yes,
            &["请继续", "please continue", "继续，谢谢", "ok. thanks", "yes!! please!!"],
        );
        check(Agreement::Yes, &["go  ahead", "go\nahead", "Looks Good\t"]);
        check(Agreement::No, &["No.", "no thanks", "Don't", "don’t", "不，谢谢", "不要。"]);
    }

    #[test]
    fn words_may_be_combined_with_or_without_something_between_them() {
        check(
            Agreement::Yes,
            &["ok, go on", "yes yes", "好的，继续", "好的继续", "是的 没问题", "okay👍"],
        );
        check(Agreement::Yes, &["yes,sure,go ahead", "yesyes", "对对对", "嗯嗯，可以", "，ok"]);
        check(Agreement::No, &["no no", "no, wait", "不不", "不行，等一下", "not yet, stop"]);
    }

    #[test]
    fn the_longest_word_counts() {
        check(Agreement::No, &["不是", "不要", "不行", "not yet", "nope"]);
        check(Agreement::Yes, &["okay", "go on", "是的", "agreed"]);
    }

    #[test]
    fn anything_more_is_for_the_model() {
        check(
            Agreement::Other,
            &["ok but shorter", "yes but later", "yes. but later", "maybe", "1", "yesterday"],
        );
        check(
            Agreement::Other,
            &["no, use tabs", "go away", "note", "know", "好的，但是短一点", "是否"],
        );
        check(Agreement::Other, &["ok?", "yes?", "(yes)", "\"yes\"", "yes;", "是吗"]);
    }

    #[test]
    fn yes_and_no_together_are_neither() {
        check(
            Agreement::Other,
            &["yes no", "no, go on", "不好", "不对", "不可以", "要不要", "行不行", "yn"],
        );
    }

    #[test]
    fn nothing_is_neither() {
        check(
            Agreement::Other,
            &["", " ", ".", ",", "，", "please", "thanks!", "请", "谢谢", "please, thanks"],
        );
    }

    #[test]
    fn a_long_text_is_read_once() {
        assert_eq!(read(&"yes ".repeat(200_000)), Agreement::Yes);
        assert_eq!(read(&format!("{}x", "是".repeat(200_000))), Agreement::Other);
        assert_eq!(read(&"please ".repeat(200_000)), Agreement::Other);
        assert_eq!(read(&".".repeat(1_000_000)), Agreement::Other);
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn words_of_one_list_agree_and_an_unknown_word_never_does(
            words in prop::collection::vec(prop::sample::select(YES.to_vec()), 1..6),
            at in 0_usize..6,
        ) {
            prop_assert_eq!(read(&words.join(" ")), Agreement::Yes);
            prop_assert_eq!(read(&words.join(", ")), Agreement::Yes);
            let mut words = words;
            words.insert(at.min(words.len()), "shorter");
            prop_assert_eq!(read(&words.join(" ")), Agreement::Other);
        }
    }
}
