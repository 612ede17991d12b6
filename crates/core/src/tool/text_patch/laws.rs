//! Laws of patches: a diff leads from one text to the other, arbitrary input does no harm, untouched lines stay.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::tests::{apply_diff, envelope};
use super::{FilePatch, PatchHunks, Replacement, TextPatch, apply};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: count,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates lines that repeat and that look like parts of a diff.
fn line() -> impl Strategy<Value = String> {
    let tricky = vec![
        "",
        " ",
        "  a",
        "a",
        "a ",
        "b",
        "c",
        "d",
        "- x",
        "-- x",
        "++ y",
        "--- a/f",
        "+++ b/f",
        "@@ -1 +1 @@",
        "@@",
        "diff --git a/f b/f",
        "*** Begin Patch",
        "*** End Patch",
        "*** End of File",
        "```",
        "EOF",
        "\\ No newline at end of file",
        "“q”",
        "\"q\"",
        "é",
        "Index: f",
        "\\ x",
    ];
    prop_oneof![4 => prop::sample::select(tricky).prop_map(str::to_owned), 1 => "[a-c +@-]{0,4}"]
}

/// Generates a text of some lines, with or without a final newline.
fn text() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..14), any::<bool>()).prop_map(|(lines, closed)| {
        let text = lines.join("\n");
        if closed && !lines.is_empty() { text + "\n" } else { text }
    })
}

/// Step from one text to another, with each line's own ending.
#[derive(Clone, Copy, PartialEq)]
enum Step<'t> {
    Keep(&'t str),
    Remove(&'t str),
    Add(&'t str),
}

/// Returns the steps from one text to the other, by their longest common lines.
fn steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Step<'t>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for (i, first) in old.iter().enumerate().rev() {
        for (j, second) in new.iter().enumerate().rev() {
            lengths[i][j] = if first == second {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            steps.push(Step::Keep(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && lengths[i + 1][j] >= lengths[i][j + 1] {
            steps.push(Step::Remove(old[i]));
            i += 1;
        } else {
            steps.push(Step::Add(new[j]));
            j += 1;
        }
    }
    steps
}

/// Returns the unified diff from one text to the other, as `diff -U` writes it.
fn unified(old: &str, new: &str, context: usize) -> String {
    let old: Vec<_> = old.split_inclusive('\n').collect();
    let new: Vec<_> = new.split_inclusive('\n').collect();
    let steps = steps(&old, &new);
    let near = |at: usize| {
        let range = at.saturating_sub(context)..(at + context + 1).min(steps.len());
        steps[range].iter().any(|step| !matches!(step, Step::Keep(_)))
    };
    let mut diff = String::from("--- a/f\n+++ b/f\n");
    let (mut i, mut j, mut at) = (0, 0, 0);
    while at < steps.len() {
        if !near(at) {
            (i, j, at) = (i + 1, j + 1, at + 1);
            continue;
        }
        let end = (at..steps.len()).find(|at| !near(*at)).unwrap_or(steps.len());
        let hunk = &steps[at..end];
        let olds = hunk.iter().filter(|step| !matches!(step, Step::Add(_))).count();
        let news = hunk.iter().filter(|step| !matches!(step, Step::Remove(_))).count();
        let first = |index: usize, count: usize| if count == 0 { index } else { index + 1 };
        writeln!(diff, "@@ -{},{olds} +{},{news} @@", first(i, olds), first(j, news)).unwrap();
        for step in hunk {
            let (mark, line) = match step {
                Step::Keep(line) => (' ', line),
                Step::Remove(line) => ('-', line),
                Step::Add(line) => ('+', line),
            };
            write!(diff, "{mark}{line}").unwrap();
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
        (i, j, at) = (i + olds, j + news, end);
    }
    diff
}

/// Generates pieces of diffs, to get further into the parsers than random bytes do.
fn noise() -> impl Strategy<Value = String> {
    let pieces = vec![
        "*** Begin Patch\n",
        "*** Update File: f\n",
        "*** Add File: f\n",
        "*** Delete File: f\n",
        "*** Move to: g\n",
        "*** End of File\n",
        "*** End Patch\n",
        "@@\n",
        "@@ a\n",
        "@@ -1,2 +1,2 @@\n",
        "@@ -0,0 +1 @@ a\n",
        "@@ -99999999999999999999 +1 @@\n",
        "--- a/f\n",
        "+++ b/f\n",
        "diff --git a/f b/f\n",
        "rename to g\n",
        " a\n",
        "-a\n",
        "+b\n",
        " \n",
        "\n",
        "-\n",
        "+\n",
        "\\ No newline at end of file\n",
        "```\n",
        "<<EOF\n",
        "EOF\n",
        "a",
        "\r\n",
        "é\n",
        "+é",
        "\u{feff}",
        "***\n",
        "--- /dev/null\n",
        "+++ /dev/null\n",
        "-- \n",
    ];
    let piece =
        prop_oneof![6 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_unified_diff_leads_to_exactly_the_second_text(old in text(), new in text(), context in 0_usize..4) {
        prop_assume!(old != new);
        let diff = unified(&old, &new, context);
        prop_assert_eq!(apply_diff(&old, &diff).map_err(|refusal| refusal.message), Ok(new.clone()), "{}", diff);
        let (old, new) = (old.replace('\n', "\r\n"), new.replace('\n', "\r\n"));
        let diff = unified(&old, &new, context);
        prop_assert_eq!(apply_diff(&old, &diff).map_err(|refusal| refusal.message), Ok(new), "{}", diff);
    }

    #[test]
    fn a_diff_with_lf_leaves_a_file_with_crlf_so(old in text(), new in text()) {
        prop_assume!(old != new && old.contains('\n'));
        let diff = unified(&old, &new, 3);
        let made = apply_diff(&old.replace('\n', "\r\n"), &diff).map_err(|refusal| refusal.message);
        prop_assert_eq!(made, Ok(new.replace('\n', "\r\n")), "{}", diff);
    }

    #[test]
    fn an_envelope_with_all_lines_leads_to_the_second_text(old in text(), new in text()) {
        let (old, new) = (old.trim_end().to_owned() + "\n", new.trim_end().to_owned() + "\n");
        prop_assume!(old != new);
        let all = unified(&old, &new, 99);
        let (_, hunk) = all.split_once(" @@\n").unwrap();
        prop_assert_eq!(apply_diff(&old, &envelope(&format!("@@\n{hunk}"))).unwrap(), new, "{}", hunk);
    }

    #[test]
    fn arbitrary_input_is_applied_or_refused(text in text(), diff in noise()) {
        if let Ok(made) = apply_diff(&text, &diff) {
            prop_assert_ne!(&made, &text);
        }
        for file in FilePatch::parse_all(&diff).unwrap_or_default() {
            let _ = file.hunks().map(|hunks: &PatchHunks| hunks.apply(&text));
        }
    }

    #[test]
    fn arbitrary_strings_are_replaced_or_refused(
        text in "([ab \r\né]|\r\n){0,30}",
        old in "([ab \r\né]|\r\n){0,4}",
        new in "([ab \r\né]|\r\n){0,4}",
        all: bool,
    ) {
        let patch = TextPatch::Replace(vec![Replacement { old: old.clone(), new: new.clone(), all }]);
        let made = apply(&text, &patch);
        if !text.contains('\r') && !old.contains('\r') && !new.contains('\r') {
            let expected = Some(text.replace(&old, &new)).filter(|made| !old.is_empty() && *made != text);
            match made {
                Ok(made) => prop_assert_eq!(Some(made), expected),
                Err(_) => prop_assert!(expected.is_none() || !all),
            }
        } else if let Ok(made) = made {
            prop_assert_ne!(made, text);
        }
    }

    #[test]
    fn untouched_lines_keep_their_bytes(
        lines in prop::collection::vec(("[ab “–\t]{0,3}", prop::sample::select(vec!["\n", "\r\n"])), 1..12),
        at in any::<prop::sample::Index>(), bom: bool, added in 0_usize..3,
    ) {
        let at = at.index(lines.len());
        let bom = if bom { "\u{feff}" } else { "" };
        let mut hunk = String::from("@@ -1 +1 @@\n");
        for (number, (line, _)) in lines.iter().enumerate() {
            writeln!(hunk, "{}{}", if number == at { '-' } else { ' ' }, line.trim_end()).unwrap();
            if number == at {
                hunk.push_str(&"+new\n".repeat(added));
            }
        }
        let whole = |lines: &[(String, &str)]| -> String {
            lines.iter().map(|(line, end)| format!("{line}{end}")).collect()
        };
        let text = format!("{bom}{}", whole(&lines));
        let made = apply_diff(&text, &hunk).map_err(|refusal| refusal.message).unwrap();
        let head = format!("{bom}{}", whole(&lines[..at]));
        let tail = whole(&lines[at + 1..]);
        prop_assert!(made.starts_with(&head) && made.ends_with(&tail), "{:?} {:?}", text, made);
        let middle = &made[head.len()..made.len() - tail.len()];
        prop_assert_eq!(middle.replace('\r', ""), "new\n".repeat(added));
    }
}
