//! Keys of a later version of the format in a document that states an earlier one.

use super::ShapeReader;
use crate::diagnostic::Code;
use crate::syntax::Entry;
use crate::text::Span;
use crate::version::Minor;
use crate::wording::ticked;

/// Keys of one object that the document's version does not know.
pub(super) struct NewerKeys {
    since: Minor,
    /// Name of the object, as findings write it.
    owner: String,
    /// First key.
    span: Span,
    keys: Vec<String>,
}

impl ShapeReader<'_> {
    /// Notes a key that exists since a later version.
    pub(super) fn note_newer(&mut self, since: Minor, owner: String, entry: &Entry) {
        let known = self.newer.iter_mut().rfind(|keys| keys.since == since && keys.owner == owner);
        match known {
            Some(known) => known.keys.push(entry.key.clone()),
            None => {
                let (span, keys) = (entry.key_span, vec![entry.key.clone()]);
                self.newer.push(NewerKeys { since, owner, span, keys });
            }
        }
    }

    /// Reports the keys of later versions, once for each version: one mistake is behind them.
    pub(crate) fn refuse_newer_keys(&mut self) {
        let newer = std::mem::take(&mut self.newer);
        for (since, brings) in [(Minor::V1_2, "sub-workflows"), (Minor::V1_3, "these keys")] {
            let mut uses = newer.iter().filter(|keys| keys.since == since);
            let Some(first) = uses.next() else { continue };
            let place = if since == Minor::V1_2 { "node" } else { "place" };
            let more = match uses.count() {
                0 => String::new(),
                1 => format!(", and so has another {place}"),
                more => format!(", and so have {more} other {place}s"),
            };
            let message = format!(
                "{} has {}, which format {} does not know{more}",
                first.owner,
                ticked(first.keys.iter()),
                self.minor.as_str()
            );
            let document = match (self.file, since) {
                ("bmad.json", _) => "`bmad.json`",
                (_, Minor::V1_2) => "this graph and of `bmad.json`",
                _ => "this document and of `bmad.json`",
            };
            let version = since.as_str();
            let help =
                format!("set `schemaVersion` of {document} to \"{version}\", which has {brings}");
            self.report(Code::UnknownKey, first.span, message, help);
        }
    }
}
