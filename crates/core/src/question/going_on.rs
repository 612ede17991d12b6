//! Questions in a model's words: if its last line asks the user something, and if that is only about going on.

/// Openings of an English question about going on.
const OPENINGS: [&[&str]; 5] = [
    &["shall", "i"],
    &["should", "i"],
    &["may", "i"],
    &["do", "you", "want", "me", "to"],
    &["would", "you", "like", "me", "to"],
];
/// Verbs of going on.
const VERBS: [&[&str]; 6] =
    [&["continue"], &["proceed"], &["go", "on"], &["start"], &["begin"], &["move", "on"]];
/// Maximum number of words behind the verb.
const WORDS_BEHIND: usize = 3;

/// Openings of a Chinese question, each with true if it makes a question without 吗.
const CHINESE_OPENINGS: [(&str, bool); 5] =
    [("是否", true), ("要不要", true), ("可不可以", true), ("要", false), ("可以", false)];
const CHINESE_VERBS: [&str; 3] = ["继续", "开始", "进入下一步"];
/// Maximum number of characters before the opening, and between opening and verb.
const CHARS_BETWEEN: usize = 4;
/// Maximum number of characters behind the verb.
const CHARS_BEHIND: usize = 6;

/// Returns true if the last line of a text outside of code asks something.
pub fn ends_in_question(text: &str) -> bool {
    last_line(text).is_some_and(is_question)
}

/// Returns true if the last line of a text outside of code asks if the model may go on, and nothing else.
pub fn asks_to_go_on(text: &str) -> bool {
    let line = last_line(text).filter(|line| is_question(line));
    line.is_some_and(|line| is_english(line) || is_chinese(line))
}

/// Returns the last line that is not blank and not in a fenced block, without marks of emphasis around it.
fn last_line(text: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    let mut last = None;
    for line in text.lines().map(str::trim) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !line.is_empty() => last = Some(line),
            (None | Some(_), _) => {}
        }
    }
    last.map(|line| line.trim_matches(['*', '_', '~', ' ']))
}

fn is_question(line: &str) -> bool {
    line.ends_with(['?', '？'])
}

fn is_english(line: &str) -> bool {
    let line = line.to_lowercase();
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let behind = |words: &[&str], parts: &[&[&str]]| {
        let part = parts.iter().find(|part| words.starts_with(part))?;
        Some(part.len())
    };
    let Some(opening) = behind(&words, &OPENINGS) else { return false };
    let Some(verb) = behind(&words[opening..], &VERBS) else { return false };
    words.len() - opening - verb <= WORDS_BEHIND
}

fn is_chinese(line: &str) -> bool {
    let line: String = line.chars().filter(|c| c.is_alphanumeric()).collect();
    let fits = |(opening, asks): (&str, bool)| {
        line.match_indices(opening).any(|(at, _)| {
            let (before, rest) = (&line[..at], &line[at + opening.len()..]);
            let verb = CHINESE_VERBS.iter().find_map(|verb| rest.split_once(verb));
            let Some((between, behind)) = verb else { return false };
            let behind = match behind.strip_suffix('吗') {
                None if !asks => return false,
                end => end.unwrap_or(behind),
            };
            is_short(before, CHARS_BETWEEN)
                && is_short(between, CHARS_BETWEEN)
                && is_short(behind, CHARS_BEHIND)
        })
    };
    CHINESE_OPENINGS.into_iter().any(fits)
}

fn is_short(text: &str, most: usize) -> bool {
    text.chars().nth(most).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_outside_of_code_may_be_a_question() {
        for text in [
            "Which story?",
            "I found two.\nWhich one do you mean?  \n\n",
            "哪一个故事？",
            "**Which one?**",
            "Which of these?\n```\n1-1-setup\n1-2-login\n```\n",
        ] {
            assert!(ends_in_question(text), "{text}");
        }
        for text in ["", "Done.", "Why? Because.", "```\nWhy?\n```", "Which?\nI take the first."] {
            assert!(!ends_in_question(text), "{text}");
        }
    }

    #[test]
    fn a_question_about_going_on_is_told_from_others() {
        for text in [
            "Shall I continue?",
            "The file is there.\nShould I proceed?",
            "May I go on now?",
            "Do you want me to start?",
            "Would you like me to move on, then?",
            "**Should I begin writing the story?**",
            "SHALL I CONTINUE?",
            "要继续吗？",
            "是否继续？",
            "是否继续下一步?",
            "可以开始了吗？",
            "我可以进入下一步了吗？",
            "需要我继续吗？",
            "要不要继续？",
        ] {
            assert!(asks_to_go_on(text), "{text}");
        }
        for text in [
            "Which story shall I take?",
            "Shall I delete it?",
            "Shall I continue with the other story instead?",
            "SQLite or Postgres, and shall I start?",
            "Shall I continue.",
            "Shall I continue?\nThat depends on the file.",
            "要从哪个文件开始？",
            "可以用另一个数据库来开始吗？",
            "要哪一个？",
            "继续",
        ] {
            assert!(!asks_to_go_on(text), "{text}");
        }
    }
}
