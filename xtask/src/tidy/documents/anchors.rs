//! Anchors of Markdown documents, as GitHub makes them of headings.

use std::collections::BTreeMap;

/// Returns true if the text has a heading, or an element with an id, of this name.
pub(super) fn has_anchor(text: &str, anchor: &str) -> bool {
    let element = format!("id=\"{anchor}\"");
    text.contains(&element) || headings(text).any(|heading| heading == anchor)
}

/// Returns the anchor of every heading; equal ones are numbered.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_code = false;
    text.lines().filter_map(move |line| {
        is_code ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        if is_code || title.len() == line.len() || !title.starts_with(' ') {
            return None;
        }
        let anchor = anchor_of(title.trim());
        let count = seen.entry(anchor.clone()).or_default();
        *count += 1;
        Some(if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) })
    })
}

/// Returns the anchor of a heading: small letters, no punctuation, dashes for blanks; of a link only its label.
fn anchor_of(title: &str) -> String {
    let mut label = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        label.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    label.push_str(rest);
    let kept = label.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_the_anchor_that_the_page_gives_it() {
        let text = "# The `run` command\n## Answers\n```\n# no heading\n```\n## Answers\n### 第一次运行，无需密钥\n## See [a](b.md)";
        let found: Vec<String> = headings(text).collect();
        let expected = ["the-run-command", "answers", "answers-1", "第一次运行无需密钥", "see-a"];
        assert_eq!(found, expected);
        assert!(has_anchor("<a id=\"x\"></a>", "x") && !has_anchor("#x", "x"));
    }
}
