//! Document of a package: its text, its tree, and locations in it.

use std::sync::Arc;

use crate::diagnostic::Location;
use crate::path::PackagePath;
use crate::syntax::Tree;

/// Segment of a path to a value inside a document.
#[derive(Clone, Copy)]
pub(super) enum PathKey<'k> {
    Name(&'k str),
    Index(usize),
}

impl<'k> From<&'k str> for PathKey<'k> {
    fn from(name: &'k str) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for PathKey<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

#[derive(Clone)]
pub(super) struct Document {
    pub(super) path: PackagePath,
    pub(super) text: Arc<str>,
    pub(super) tree: Tree,
}

impl Document {
    /// Locates a value; if it is absent, its nearest parent.
    pub(super) fn place(&self, keys: &[PathKey<'_>]) -> Location {
        let mut tree = &self.tree;
        let mut span = tree.span.head(&self.text);
        for key in keys {
            let (next, next_span) = match key {
                PathKey::Name(name) => match tree.get(name) {
                    Some(entry) if is_short(&entry.tree) => (&entry.tree, entry.tree.span),
                    Some(entry) => (&entry.tree, entry.key_span),
                    None => break,
                },
                PathKey::Index(index) => match tree.item(*index) {
                    Some(item) if is_short(item) => (item, item.span),
                    Some(item) => (item, item.span.head(&self.text)),
                    None => break,
                },
            };
            (tree, span) = (next, next_span);
        }
        Location::at(self.path.as_str(), span)
    }
}

/// Returns true for a scalar, which is underlined whole; for a collection only its start is marked.
fn is_short(tree: &Tree) -> bool {
    tree.as_list().is_none() && tree.as_map().is_none()
}
