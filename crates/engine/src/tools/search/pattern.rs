//! Compiles a query into a matcher, within limits.

use crewagent_core::refusal::Refusal;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use super::{Case, Search, Syntax, invalid};

/// Limit of a query in bytes.
const MAX_QUERY: usize = 4096;
/// Limit in bytes of a compiled expression, and of its cache while it runs.
const MAX_COMPILED: usize = 4 << 20;
/// Limit of nested groups in an expression.
const MAX_NESTING: u32 = 64;
/// Bytes of a file held at a time; a line must fit.
const MAX_HEAP: usize = 16 << 20;

/// A compiled query.
pub(super) struct QueryPattern {
    pub(super) matcher: RegexMatcher,
    searcher: SearcherBuilder,
}

impl QueryPattern {
    /// Compiles the query, or returns why it cannot.
    pub(super) fn new(request: &Search) -> Result<Self, Box<Refusal>> {
        let query = request.query.as_str();
        if query.is_empty() {
            return Err(invalid("The query is empty.".to_owned()));
        }
        if query.len() > MAX_QUERY {
            return Err(invalid(format!("The query is longer than {MAX_QUERY} bytes.")));
        }
        let is_literal = request.syntax == Syntax::Literal;
        if is_literal && query.contains(['\n', '\r']) {
            return Err(invalid(
                "The query has a line break, but lines are searched one by one.".to_owned(),
            ));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(is_literal)
            .case_insensitive(request.case == Case::Ignored)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .nest_limit(MAX_NESTING);
        let matcher = builder.build(query).map_err(|error| {
            let mut refusal = invalid(format!("The query is not a usable expression: {error}"));
            refusal.hint =
                Some("Leave out `regex` to search for the text as it stands.".to_owned());
            refusal
        })?;
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_terminator(LineTerminator::crlf())
            .line_number(true)
            .before_context(request.before)
            .after_context(request.after)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_HEAP))
            .max_matches(Some(request.max_matches as u64 + 1));
        Ok(Self { matcher, searcher })
    }

    /// Returns a searcher for one thread.
    pub(super) fn searcher(&self) -> Searcher {
        self.searcher.build()
    }
}
