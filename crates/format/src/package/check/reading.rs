//! Reads files of a package as texts and trees within limits, and reports those that exceed them.

use std::sync::Arc;

use super::Check;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::frontmatter::Frontmatter;
use crate::package::document::Document;
use crate::path::PackagePath;
use crate::syntax::{SyntaxError, Tree, json};
use crate::text::Span;

const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of values in a package's text documents, because their trees stay in memory while the rules run.
const MAX_TOTAL_VALUES: usize = 1_000_000;

impl Check<'_> {
    pub(super) fn frontmatter(
        &mut self,
        path: &PackagePath,
        reference: Location,
    ) -> Option<Frontmatter> {
        let text = self.text(path, reference)?;
        match Frontmatter::parse(text) {
            Ok(frontmatter) => self.fits(path, frontmatter.tree()).then_some(frontmatter),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.syntax(path, error));
                None
            }
        }
    }

    pub(super) fn json(&mut self, path: &PackagePath, reference: Location) -> Option<Document> {
        let text = self.text(path, reference)?;
        match json::parse(&text) {
            Ok(tree) => self.fits(path, &tree).then(|| Document { path: path.clone(), text, tree }),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.syntax(path, error));
                None
            }
        }
    }

    /// Counts a document's values. The first document over the limit is reported; later ones are skipped.
    fn fits(&mut self, path: &PackagePath, tree: &Tree) -> bool {
        let before = self.values;
        self.values = before.saturating_add(tree.count());
        if self.values > MAX_TOTAL_VALUES && before <= MAX_TOTAL_VALUES {
            let message = format!(
                "the documents of this package have more than {MAX_TOTAL_VALUES} values together"
            );
            self.too_large(path, message);
        }
        self.values <= MAX_TOTAL_VALUES
    }

    fn too_large(&mut self, path: &PackagePath, message: String) {
        self.failed.insert(path.clone());
        let finding =
            Diagnostic::new(Code::DocumentTooLarge, Location::file(path.as_str()), message);
        self.findings.push(finding.help("move bulk content into files under `assets/`"));
    }

    fn syntax(&mut self, path: &PackagePath, error: SyntaxError) {
        let mut finding =
            Diagnostic::new(error.code, Location::at(path.as_str(), error.span), error.message);
        finding.help = error.help;
        self.findings.push(finding);
    }

    /// Reads the text of a file that is referred to at `reference`.
    fn text(&mut self, path: &PackagePath, reference: Location) -> Option<Arc<str>> {
        // `sources` may hold such a file, but only to show it to users.
        if self.failed.contains(path) {
            return None;
        }
        if let Some(text) = self.sources.get(path.as_str()) {
            return Some(text.clone());
        }
        let Some(size) = self.files.sizes().get(path).copied() else {
            self.missing(path, reference);
            return None;
        };
        if size > MAX_DOCUMENT_BYTES as u64 {
            self.too_large(
                path,
                format!("`{path}` has {size} bytes; a text document may have {MAX_DOCUMENT_BYTES}"),
            );
            return None;
        }
        let before = self.bytes;
        self.bytes = before.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
        if self.bytes > MAX_TOTAL_BYTES {
            if before <= MAX_TOTAL_BYTES {
                self.too_large(path, format!("the documents of this package have more than {MAX_TOTAL_BYTES} bytes together"));
            }
            return None;
        }
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.unreadable(path, &reason);
                return None;
            }
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let text: Arc<str> = text.into();
                self.sources.insert(path.as_str(), text.clone());
                Some(text)
            }
            Err(error) => {
                self.not_utf8(path, &bytes, error.valid_up_to());
                None
            }
        }
    }

    pub(super) fn unreadable(&mut self, path: &PackagePath, reason: &str) {
        if self.failed.insert(path.clone()) {
            let message = format!("`{path}` cannot be read: {reason}");
            let finding =
                Diagnostic::new(Code::UnreadableFile, Location::file(path.as_str()), message);
            self.findings.push(finding.help("check its permissions and that it is a regular file"));
        }
    }

    fn not_utf8(&mut self, path: &PackagePath, bytes: &[u8], at: usize) {
        self.failed.insert(path.clone());
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let message = if utf16 {
            format!("`{path}` is UTF-16; it must be UTF-8")
        } else {
            let byte = bytes.get(at).copied().unwrap_or_default();
            format!("`{path}` is not UTF-8: byte 0x{byte:02X} at offset {at} begins no character")
        };
        // Kept as lossy text, so that users can find the line.
        let readable: Arc<str> =
            String::from_utf8_lossy(bytes.get(..bytes.len().min(64 * 1024)).unwrap_or_default())
                .into();
        let place = if utf16 || at >= readable.len() {
            Location::file(path.as_str())
        } else {
            self.sources.insert(path.as_str(), readable);
            Location::at(path.as_str(), Span::new(at, at + '\u{fffd}'.len_utf8()))
        };
        self.findings.push(
            Diagnostic::new(Code::NotUtf8, place, message)
                .help("save the file as UTF-8 in your editor"),
        );
    }

    fn missing(&mut self, path: &PackagePath, reference: Location) {
        let folder = format!("{path}/");
        let is_folder = self
            .files
            .sizes()
            .range(PackagePath::lower_bound(&folder)..)
            .next()
            .is_some_and(|(next, _)| next.as_str().starts_with(&folder));
        if is_folder {
            let message = format!("`{path}` is a folder; a file is expected here");
            self.findings.push(
                Diagnostic::new(Code::NotAFile, reference, message)
                    .help("name the file inside it, or rename the folder"),
            );
            return;
        }
        let help = match self.similar(path) {
            Some(help) => help,
            None => format!("add the file `{path}`, or correct this path"),
        };
        let message = format!("the file `{path}` is not in the package");
        self.findings.push(Diagnostic::new(Code::MissingFile, reference, message).help(help));
    }

    /// Returns the advice to name a file that this path probably means.
    fn similar(&mut self, path: &PackagePath) -> Option<String> {
        self.searches = self.searches.checked_sub(1)?;
        let folded = path.folded();
        let name = path.as_str().rsplit('/').next()?;
        let files = self.files;
        let paths = || files.sizes().keys().take(20_000);
        if paths().any(|other| other.looks_like(path)) {
            return Some("there is a file whose name looks the same, but encodes its accents in another way, as macOS does: copy the file's name into this path, or rename the file".to_owned());
        }
        paths()
            .find(|other| other.folded() == folded)
            .or_else(|| paths().find(|other| other.as_str().rsplit('/').next() == Some(name)))
            .map(PackagePath::as_str)
            .or_else(|| self.findings.nearest(path.as_str(), paths().map(PackagePath::as_str)))
            .map(|similar| format!("did you mean `{similar}`?"))
    }
}
