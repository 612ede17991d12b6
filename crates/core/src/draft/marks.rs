//! The marks of drafts in the text of a reply.

use super::{DraftName, ReplyDraft};

/// Most drafts of one reply.
pub(super) const MOST_DRAFTS: usize = 16;
/// Most reasons that are told.
const MOST_REASONS: usize = 8;
/// Longest line that may be a mark, in bytes.
pub(super) const MARK_BYTES: usize = 256;
/// Beginning of the opening mark.
pub(super) const OPENING: &str = "<draft";
/// The closing mark.
pub(super) const CLOSING: &str = "</draft>";

/// A mark, alone on its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DraftMark<'t> {
    /// Opens the draft of this name, as it is written.
    Opening(&'t str),
    Closing,
}

/// Text of a reply without its marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedText {
    pub text: String,
    /// Drafts in the text, in its order.
    pub drafts: Vec<ReplyDraft>,
    /// Reasons why other blocks are no drafts.
    pub broken: Vec<String>,
}

/// Takes the marks out of the text of a reply. A reply that was cut off has no drafts, because it may have been cut in
/// one of them.
pub fn read_marks(content: &str, is_cut: bool) -> MarkedText {
    let mut read =
        MarkedText { text: String::with_capacity(content.len()), ..MarkedText::default() };
    let mut open: Option<(Result<DraftName, String>, usize)> = None;
    for line in content.split_inclusive('\n') {
        match mark_of(line) {
            None => read.text.push_str(line),
            Some(DraftMark::Opening(name)) => {
                if let Some((name, _)) = open.replace((DraftName::parse(name), read.text.len())) {
                    read.not_closed(name);
                }
            }
            Some(DraftMark::Closing) => match open.take() {
                Some((name, start)) => read.close(name, start),
                None => read.fault("a line </draft> closes nothing".to_owned()),
            },
        }
    }
    if let Some((name, _)) = open {
        read.not_closed(name);
    }
    if is_cut && !(read.drafts.is_empty() && read.broken.is_empty()) {
        read.drafts.clear();
        read.broken = vec!["your reply was cut off at the output limit".to_owned()];
    }
    read
}

impl MarkedText {
    fn close(&mut self, name: Result<DraftName, String>, start: usize) {
        let end = self.text.len();
        let body = self.text.get(start..end).unwrap_or_default();
        match name {
            Err(why) => self.fault(why),
            Ok(name) if body.trim().is_empty() => self.fault(format!("`{name}` is empty")),
            Ok(_) if self.drafts.len() >= MOST_DRAFTS => {
                self.fault(format!("one reply has at most {MOST_DRAFTS} drafts"));
            }
            Ok(name) => self.drafts.push(ReplyDraft { name: name.as_str().to_owned(), start, end }),
        }
    }

    fn not_closed(&mut self, name: Result<DraftName, String>) {
        self.fault(match name {
            Ok(name) => format!("`{name}` is not closed by a line </draft>"),
            Err(why) => why,
        });
    }

    fn fault(&mut self, why: String) {
        if self.broken.len() < MOST_REASONS && !self.broken.contains(&why) {
            self.broken.push(why);
        }
    }
}

/// Reads a line as a mark.
pub(super) fn mark_of(line: &str) -> Option<DraftMark<'_>> {
    if line.len() > MARK_BYTES || !line.contains("draft") {
        return None;
    }
    let line = line.trim();
    if line == CLOSING {
        return Some(DraftMark::Closing);
    }
    let inner = line.strip_prefix(OPENING)?.strip_suffix('>')?;
    let named = match inner.trim() {
        "" => "",
        attribute if inner.starts_with(char::is_whitespace) => {
            attribute.strip_prefix("name")?.trim_start().strip_prefix('=')?.trim()
        }
        _ => return None,
    };
    let quoted = |mark: char| named.strip_prefix(mark)?.strip_suffix(mark);
    Some(DraftMark::Opening(quoted('"').or_else(|| quoted('\'')).unwrap_or(named)))
}

/// Puts the marks back around the drafts of a text.
pub fn with_marks(text: &str, drafts: &[ReplyDraft]) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut at = 0;
    for ReplyDraft { name, start, end } in drafts {
        let (Some(before), Some(body)) = (text.get(at..*start), text.get(*start..*end)) else {
            continue;
        };
        marked.push_str(&format!("{before}{OPENING} name=\"{name}\">\n{body}{CLOSING}\n"));
        at = *end;
    }
    marked.push_str(text.get(at..).unwrap_or_default());
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, text: &str, drafts: &[(&str, &str)], broken: &[&str]) {
        let read = read_marks(content, false);
        assert_eq!(read.text, text);
        let found: Vec<(&str, &str)> = read
            .drafts
            .iter()
            .map(|draft| (draft.name.as_str(), &read.text[draft.start..draft.end]))
            .collect();
        assert_eq!(found, drafts);
        assert_eq!(read.broken, broken);
    }

    #[test]
    fn a_block_is_a_draft() {
        check(
            "Here it is.\n<draft name=\"vision\">\n# Vision\n\nGood.\n</draft>\nFine?\n",
            "Here it is.\n# Vision\n\nGood.\nFine?\n",
            &[("vision", "# Vision\n\nGood.\n")],
            &[],
        );
        check(
            "<draft name='a'>\r\none\r\n</draft>\n  <draft name = b>\ntwo\n  </draft>",
            "one\r\ntwo\n",
            &[("a", "one\r\n"), ("b", "two\n")],
            &[],
        );
    }

    #[test]
    fn marks_within_a_line_are_text() {
        for text in [
            "Use <draft name=\"x\"> for it.\n",
            "<drafts>\n</drafts>\n",
            "<draft kind=\"x\">\n",
            "",
            "no marks\n",
        ] {
            check(text, text, &[], &[]);
        }
    }

    #[test]
    fn a_block_that_is_not_closed_is_no_draft() {
        check(
            "<draft name=\"x\">\ntext\n",
            "text\n",
            &[],
            &["`x` is not closed by a line </draft>"],
        );
        check(
            "<draft name=\"x\">\none\n<draft name=\"y\">\ntwo\n</draft>\n",
            "one\ntwo\n",
            &[("y", "two\n")],
            &["`x` is not closed by a line </draft>"],
        );
        check("text\n</draft>\n", "text\n", &[], &["a line </draft> closes nothing"]);
        check("<draft name=\"x\">\n \n</draft>\n", " \n", &[], &["`x` is empty"]);
        check("<draft>\nx\n</draft>\n", "x\n", &[], &["a draft needs a name"]);
        check(
            "<draft name=\"../x\">\nx\n</draft>\n",
            "x\n",
            &[],
            &["\"../x\" is no name of a file"],
        );
    }

    #[test]
    fn a_reply_that_was_cut_off_has_no_draft() {
        let read = read_marks("<draft name=\"x\">\none\n</draft>\n<draft name=\"y\">\ntw", true);
        assert!(read.drafts.is_empty());
        assert_eq!(read.broken, ["your reply was cut off at the output limit"]);
        assert_eq!(read.text, "one\ntw");
        assert!(read_marks("text", true).broken.is_empty());
    }

    #[test]
    fn many_blocks_and_long_ones_are_read_in_one_pass() {
        let many = "<draft name=\"x\">\nx\n</draft>\n".repeat(100_000);
        let read = read_marks(&many, false);
        assert_eq!(read.drafts.len(), MOST_DRAFTS);
        assert_eq!(read.broken, ["one reply has at most 16 drafts"]);
        let open = "<draft name=\"x\">\n".repeat(100_000);
        assert_eq!(read_marks(&open, false).broken.len(), 1);
        let long = format!("<draft name=\"x\">\n{}</draft>\n", "a line\n".repeat(1_500_000));
        assert_eq!(read_marks(&long, false).drafts.len(), 1);
        let endless = format!("<draft name=\"{}\">\n", "x".repeat(1_000_000));
        assert_eq!(read_marks(&endless, false).text, endless);
    }

    #[test]
    fn the_marks_are_put_back_as_they_were() {
        for content in [
            "One.\n<draft name=\"a\">\ntext\n</draft>\nTwo.\n<draft name=\"b\">\n\nmore\n</draft>\n",
            "<draft name=\"a\">\ntext\n</draft>\n",
            "plain",
        ] {
            let read = read_marks(content, false);
            assert_eq!(with_marks(&read.text, &read.drafts), content);
        }
        // Records that do not fit their text are left out.
        let bad = ReplyDraft { name: "a".into(), start: 3, end: 99 };
        assert_eq!(with_marks("text", &[bad]), "text");
    }
}
