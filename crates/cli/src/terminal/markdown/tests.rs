//! Pieces in, screens out.

use crewagent_testkit::screen::TerminalScreen;

use super::*;

const ROWS: u16 = 12;
const COLUMNS: u16 = 40;

fn window() -> TerminalWindow {
    TerminalWindow { text: COLUMNS.into(), columns: COLUMNS.into(), rows: ROWS.into() }
}

/// Returns the final screen with the rows that scrolled off its top.
fn played(pieces: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut markdown = Markdown::new(window, "  ");
    let mut screen = TerminalScreen::new(ROWS, COLUMNS);
    for piece in pieces {
        screen.write_lines(&markdown.push(piece.as_ref()));
    }
    screen.write_lines(&markdown.finish());
    screen.all().trim_end().to_owned()
}

/// Checks that the output does not depend on how the text is cut into pieces.
#[track_caller]
fn check_screen(text: &str, expected: &str) {
    assert_eq!(played([text]), expected, "at once");
    assert_eq!(played(text.chars().map(String::from)), expected, "letter by letter");
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    assert_eq!(played(words), expected, "word by word");
}

#[test]
fn words_keep_their_lines_and_break_where_the_window_ends() {
    check_screen("One line.", "  One line.");
    check_screen(
        "A paragraph that is longer than the window is wide.\n\nAnother.",
        "  A paragraph that is longer than the\n  window is wide.\n\n  Another.",
    );
    check_screen("name: x\nage: y\n", "  name: x\n  age: y");
}

#[test]
fn marks_become_what_they_mean() {
    check_screen(
        "# Title\n\nSome **bold** and *soft* `code`.\n",
        "  Title\n\n  Some bold and soft code.",
    );
    check_screen("A [link](https://a.example) here.", "  A link (https://a.example) here.");
    check_screen("<https://a.example>", "  https://a.example");
    check_screen("> a quote\n> goes on\n", "  │ a quote\n  │ goes on");
    check_screen("a\n\n---\n\nb", &format!("  a\n\n  {}\n\n  b", "─".repeat(38)));
}

#[test]
fn bold_words_are_bold() {
    let mut markdown = Markdown::new(window, "  ");
    let mut screen = TerminalScreen::new(ROWS, COLUMNS);
    screen.write_lines(&markdown.push("a **b"));
    assert_eq!(screen.text().trim_end(), "  a");
    screen.write_lines(&markdown.push("** c "));
    assert_eq!(screen.text().trim_end(), "  a **b** c");
    screen.write_lines(&markdown.push("\n\n"));
    assert_eq!(screen.text().trim_end(), "  a b c");
    assert!(screen.is_bold(0, 4) && !screen.is_bold(0, 2) && !screen.is_bold(0, 6));
}

#[test]
fn items_hang_under_their_words() {
    check_screen(
        "Do:\n\n- one that is so long that it has to be broken\n  - inner\n- two\n\n3. three\n4. four\n",
        "  Do:\n\n  • one that is so long that it has to\n    be broken\n    • inner\n  • two\n\n  3. three\n  4. four",
    );
    check_screen("1. a\n\n   more of a\n\n2. b\n", "  1. a\n     more of a\n\n  2. b");
    check_screen("- [x] done\n- [ ] not\n-\n", "  • [x] done\n  • [ ] not\n  •");
}

#[test]
fn code_stays_as_it_is() {
    check_screen(
        "So:\n```rust\nfn main() {\n\tlet **x** = 1;\n}\n\n// end\n```\nDone.",
        "  So:\n    rust\n    fn main() {\n        let **x** = 1;\n    }\n\n    // end\n  Done.",
    );
    check_screen("~~~\nno end", "    no end");
    check_screen("    indented code\n", "    indented code");
}

#[test]
fn columns_of_a_table_line_up_in_every_script() {
    check_screen(
        "| 名字 | n |\n|---|--:|\n| 一二三 | 1 |\n| a 🏃 | 23 |\n",
        "  名字   │  n\n  ───────┼───\n  一二三 │  1\n  a 🏃   │ 23",
    );
    check_screen(
        "| a | b |\n|---|---|\n| short | a cell with more words than fit into the line |\n",
        "  a     │ b\n  ──────┼───────────────────────────────\n  short │ a cell with more words than\n        │ fit into the line",
    );
}

#[test]
fn nothing_is_lost_that_markdown_would_drop() {
    check_screen("[a]: https://a.example\n", "  [a]: https://a.example");
    check_screen("| a |\n|---|\n| b | lost |\n", "  | a |\n  |---|\n  | b | lost |");
    check_screen("<b>bold</b> <!-- note -->", "  <b>bold</b> <!-- note -->");
}

#[test]
fn a_text_cannot_steer_the_terminal() {
    // The test screen drops U+FFFD, which replaces an escape character.
    check_screen("a\u{1b}[2Jb `\u{9b}31m`\r\n", "  a[2Jb 31m");
    check_screen("```\n\u{1b}[2J\n```\n", "    [2J");
}

#[test]
fn what_is_taller_than_the_window_stays_whole() {
    let lines: Vec<String> = (1..=40).map(|n| format!("- item **{n}**")).collect();
    let expected: Vec<String> = (1..=40).map(|n| format!("  • item {n}")).collect();
    check_screen(&lines.join("\n"), &expected.join("\n"));
    let words: Vec<String> = (1..=200).map(|n| format!("word{n}")).collect();
    let all = played(words.iter().map(|word| format!("{word} ")));
    let seen: Vec<&str> = all.split_whitespace().collect();
    assert_eq!(seen, words);
}

#[test]
fn a_long_table_says_its_head_again() {
    let rows: String = (1..=30).map(|n| format!("| {n} | x |\n")).collect();
    let all = played(format!("| n | what |\n|---|---|\n{rows}").split_inclusive('\n'));
    for n in 1..=30 {
        assert!(
            all.contains(&format!("  {n:<2} │ x")) || all.contains(&format!("  {n} │ x")),
            "{all}"
        );
    }
    assert!(all.matches("what").count() > 1 && !all.contains('|'), "{all}");
}

#[test]
fn what_others_print_in_between_stays() {
    let mut markdown = Markdown::new(window, "  ");
    let mut screen = TerminalScreen::new(ROWS, COLUMNS);
    screen.write_lines(&markdown.push("One **two** three"));
    screen.write_lines("\nPausing.\n");
    screen.write_lines(&markdown.leave());
    screen.write_lines(&markdown.push(" four.\n\nFive."));
    screen.write_lines(&markdown.finish());
    let all = screen.all();
    for word in ["One **two**", "Pausing.", "three", "four.", "Five."] {
        assert!(all.contains(word), "{all}");
    }
}

/// A deterministic pseudo-random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Builds a text of random blocks with this many numbered words.
fn any_text(dice: &mut Dice) -> (String, usize) {
    // The last three make tables.
    const BEFORE: [&str; 16] = [
        " ",
        " ",
        " ",
        " ",
        "\n",
        "\n\n",
        "\n- ",
        "\n  - ",
        "\n1. ",
        "\n# ",
        "\n```\n",
        "\n> ",
        "\n\n    ",
        "\n| ",
        " | ",
        "\n|---|---|\n",
    ];
    const AROUND: [&str; 6] = ["", "", "**", "*", "`", "一🏃"];
    let (mut text, words) = (String::new(), 20 + dice.roll(120));
    let kinds = BEFORE.len() - 3 * dice.roll(2);
    for number in 0..words {
        let around = AROUND[dice.roll(AROUND.len())];
        text.push_str(BEFORE[dice.roll(kinds)]);
        text.push_str(&format!("{around}w{number}w{around}"));
    }
    (text, words)
}

#[test]
fn whatever_is_written_every_word_is_shown_once() {
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let (text, words) = any_text(&mut dice);
        let mut pieces = vec![String::new()];
        for c in text.chars() {
            pieces.last_mut().unwrap().push(c);
            if dice.roll(6) == 0 {
                pieces.push(String::new());
            }
        }
        let all = played(&pieces);
        // A word may be broken at the edge of the window, and the head of a long table is repeated.
        let joined: String = all.split_whitespace().collect();
        let most = if text.contains("|---") { usize::MAX } else { 1 };
        for number in 0..words {
            let shown = joined.matches(&format!("w{number}w")).count();
            assert!(
                (1..=most).contains(&shown),
                "seed {seed}: w{number}w {shown} times:\n{text}\n---\n{all}"
            );
        }
    }
}
