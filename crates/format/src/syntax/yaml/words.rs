//! Explains the YAML parser's errors to authors who wrote the frontmatter by hand.

use granit_parser::ErrorKind;

const QUOTE: &str = "put the value in double quotes";

/// Returns a message and a remedy.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser knows a hundred kinds; the rest keep its words"
)]
pub(super) fn explain(kind: &ErrorKind, said: &str) -> (String, &'static str) {
    let (message, help) = match kind {
        ErrorKind::UnknownAnchor => (
            "this alias names an anchor that is not there",
            "write the value out, or quote the text if the `*` belongs to it",
        ),
        ErrorKind::UnexpectedCharacter { .. } => {
            ("a value may not begin with this character", QUOTE)
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "a second `key: value` stands where a value is expected",
            "check the indentation of this line, or put the value in double quotes",
        ),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quoted text is not closed", "add the missing quote")
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator => (
            "a list in `[ ]` or a map in `{ }` is not closed",
            "add the missing comma or bracket, or quote the text if the bracket belongs to it",
        ),
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => (
            "this bracket closes nothing that was opened",
            "remove it, or quote the text it belongs to",
        ),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => {
            ("a tab stands where YAML wants spaces", "indent with spaces, never with tabs")
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::ExpectedDocumentStart
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey => (
            "this line does not fit the lines around it",
            "check its indentation, and that every key has a colon and a blank behind it",
        ),
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => (
            "this is not an escape that YAML knows",
            "a backslash in double quotes is written as \\\\; in single quotes it stands for itself",
        ),
        ErrorKind::BlockSequenceEntryNotAllowed | ErrorKind::BlockEntryInFlowCollection => {
            ("a list item may not begin here", "put `- ` on a line of its own, below its key")
        }
        _ => {
            return (
                said.to_owned(),
                "see `crewagent package explain BM210`; quoting the value often helps",
            );
        }
    };
    (message.to_owned(), help)
}
