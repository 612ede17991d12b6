//! Rules that folders and archives share: which names a package may have, and how many.

use std::collections::HashMap;

use crewagent_format::diagnostic::{Code, Diagnostic, Findings, Location};
use crewagent_format::path::{PackagePath, PathError};
use crewagent_format::text::is_invisible_char;

use super::limits::{PackageLimits, bytes};

/// Characters of a hostile name that are shown.
const SHOWN_CHARS: usize = 200;
/// Bytes that an archive may need beyond its contents: headers, the directory, ignored entries.
const CONTAINER_OVERHEAD: u64 = 64 * 1024 * 1024;

/// Declared type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredKind {
    File,
    Folder,
}

/// Collector of the names of a package and of the findings about them.
pub(crate) struct EntryGate<'a> {
    limits: &'a PackageLimits,
    pub(crate) findings: Findings,
    /// Files and folders so far. The index is the id; the root has none.
    nodes: Vec<NameNode>,
    /// Nodes by parent and folded name.
    twins: HashMap<(Option<u32>, Box<str>), Vec<u32>>,
    unpacked: u64,
    /// True if a limit of the whole package is exceeded, so nothing may be unpacked.
    overflowed: bool,
}

struct NameNode {
    /// Last name of its path, as written.
    name: Box<str>,
    kind: DeclaredKind,
    /// True if the package lists it, and not only a longer path through it.
    listed: bool,
}

impl<'a> EntryGate<'a> {
    pub(crate) fn new(limits: &'a PackageLimits) -> Self {
        Self {
            limits,
            findings: Findings::default(),
            nodes: Vec::new(),
            twins: HashMap::new(),
            unpacked: 0,
            overflowed: false,
        }
    }

    /// Returns true if the package is too large to be checked further.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns the number of findings so far.
    pub(crate) fn count(&self) -> usize {
        self.findings.counts().values().sum()
    }

    /// Parses a name. `shown` is the name of the entry in findings.
    pub(crate) fn name(&mut self, shown: &str, name: &str) -> Option<PackagePath> {
        match PackagePath::new(name) {
            Ok(path) => Some(path),
            Err(error) => {
                self.findings.push(bad_name(shown, &error));
                None
            }
        }
    }

    /// Adds a path to the package; returns false if it conflicts with another one.
    pub(crate) fn place(&mut self, path: &PackagePath, kind: DeclaredKind) -> bool {
        let folded = path.folded();
        let mut parent = None;
        let mut end = 0;
        let mut pairs = path.as_str().split('/').zip(folded.split('/')).peekable();
        while let Some((name, folded)) = pairs.next() {
            end += name.len();
            let last = pairs.peek().is_none();
            let wanted = if last { kind } else { DeclaredKind::Folder };
            let shown = &path.as_str()[..end];
            match self.step(parent, name, folded, wanted, last, shown) {
                Some(node) => parent = Some(node),
                None => return false,
            }
            end += 1;
        }
        true
    }

    /// Finds or creates the node of one path component.
    fn step(
        &mut self,
        parent: Option<u32>,
        name: &str,
        folded: &str,
        kind: DeclaredKind,
        listed: bool,
        shown: &str,
    ) -> Option<u32> {
        let twins = self.twins.entry((parent, folded.into())).or_default();
        let exact = twins.iter().copied().find(|id| *self.nodes[*id as usize].name == *name);
        if let Some(id) = exact {
            let node = &mut self.nodes[id as usize];
            if node.kind != kind {
                self.findings.push(both_kinds(shown));
                return None;
            }
            if listed && node.listed {
                self.findings.push(duplicate(shown));
                return None;
            }
            node.listed |= listed;
            return Some(id);
        }
        if self.nodes.len() as u64 >= self.limits.max_entries {
            self.too_many();
            return None;
        }
        let id = self.nodes.len() as u32;
        if let Some(twin) = twins.first() {
            let twin = &self.nodes[*twin as usize].name;
            let folder = shown.strip_suffix(name).unwrap_or_default();
            self.findings.push(case_twins(shown, &format!("{folder}{twin}")));
        }
        twins.push(id);
        self.nodes.push(NameNode { name: name.into(), kind, listed });
        Some(id)
    }

    /// Reports once that there are too many entries, and ends the check.
    pub(crate) fn too_many(&mut self) {
        if !self.overflowed {
            let limit = self.limits.max_entries;
            let message = format!("the package has more than {limit} files and folders");
            self.findings.push(Diagnostic::new(Code::TooManyEntries, Location::file(""), message).help(
                "remove what is not needed, or raise `max-entries` under `[import]` in `config.toml`",
            ));
        }
        self.overflowed = true;
    }

    /// Adds the size of a file to the total and returns false if the file is too large.
    pub(crate) fn size(&mut self, shown: &str, size: u64) -> bool {
        self.unpacked = self.unpacked.saturating_add(size);
        let limit = self.limits.max_file_bytes;
        if size <= limit {
            return true;
        }
        let message =
            format!("the file has {}, more than the limit of {}", bytes(size), bytes(limit));
        self.findings
            .push(Diagnostic::new(Code::FileTooLarge, Location::file(shown), message).help(
            "make the file smaller, or raise `max-file-bytes` under `[import]` in `config.toml`",
        ));
        false
    }

    /// Returns false if an archive is far larger than what may be unpacked from it.
    pub(crate) fn container(&mut self, size: u64) -> bool {
        let limit = self.limits.max_unpacked_bytes;
        if size <= limit.saturating_mul(2).saturating_add(CONTAINER_OVERHEAD) {
            return true;
        }
        self.too_large(format!(
            "the archive has {}, and may unpack to no more than {}",
            bytes(size),
            bytes(limit)
        ));
        false
    }

    /// Checks the total size, after all files were added.
    pub(crate) fn total(&mut self) {
        let limit = self.limits.max_unpacked_bytes;
        if self.unpacked <= limit {
            return;
        }
        self.too_large(format!(
            "the package unpacks to {}, more than the limit of {}",
            bytes(self.unpacked),
            bytes(limit)
        ));
    }

    fn too_large(&mut self, message: String) {
        self.overflowed = true;
        self.findings.push(Diagnostic::new(Code::PackageTooLarge, Location::file(""), message).help(
            "remove what is not needed, or raise `max-unpacked-bytes` under `[import]` in `config.toml`",
        ));
    }
}

/// Formats a hostile name for display: control characters escaped, and truncated.
pub(crate) fn printable(raw: &[u8]) -> String {
    // A character has at most four bytes.
    let text = String::from_utf8_lossy(&raw[..raw.len().min(4 * SHOWN_CHARS + 4)]);
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == SHOWN_CHARS {
            shown.push('…');
            break;
        }
        if is_invisible_char(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Builds the finding for a name that is not a valid package path.
pub(crate) fn bad_name(shown: &str, error: &PathError) -> Diagnostic {
    let (code, help) = match error {
        PathError::Absolute => (
            Code::AbsoluteEntry,
            "name entries relative to the root of the package, such as `steps/step-01.md`",
        ),
        PathError::Parent => {
            (Code::ParentEntry, "name entries relative to the root of the package, without `..`")
        }
        PathError::Name(_) => (Code::BadEntryName, ""),
    };
    let help = error.remedy(shown).unwrap_or_else(|| help.to_owned());
    Diagnostic::new(code, Location::file(shown), format!("this name cannot be used: {error}"))
        .help(help)
}

/// Builds the finding for a link or a device.
pub(crate) fn special(shown: &str, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::LinkEntry,
        Location::file(shown),
        format!("this is {what}, not a file or a folder"),
    )
    .help("put a copy of the file in its place")
}

fn both_kinds(shown: &str) -> Diagnostic {
    Diagnostic::new(
        Code::FileAndFolder,
        Location::file(shown),
        "this path is both a file and a folder",
    )
    .help("rename one of them")
}

fn duplicate(shown: &str) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateEntry,
        Location::file(shown),
        "this path stands in the archive more than once",
    )
    .help("pack the archive again, with each file once")
}

fn case_twins(shown: &str, earlier: &str) -> Diagnostic {
    let message = format!("`{shown}` and `{earlier}` are the same name on Windows and macOS");
    Diagnostic::new(Code::CaseCollision, Location::file(shown), message)
        .related(Location::file(earlier), "the other one")
        .help("rename one of them so that they differ in more than upper and lower case")
}
