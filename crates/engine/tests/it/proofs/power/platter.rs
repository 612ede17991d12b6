//! A simulated disk: what is flushed, what is only written, and every state that a power cut may leave.
//!
//! The model is harsh. Bytes that are not flushed may be there or not, cut at any offset, full of NULs, or torn at 512
//! bytes. Names in a folder that is not flushed may each be there or not, in any combination. Flushing a file says
//! nothing about its name.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::tape::DiskOperation;

const SECTOR: usize = 512;
/// Number of offsets at which an unflushed end is cut off.
const CUTS: usize = 400;

pub(crate) type Id = usize;

/// Possible contents of a file.
pub(crate) type Contents = Vec<Rc<[u8]>>;

/// The names in a folder.
pub(crate) type Names = BTreeMap<String, Id>;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    File {
        flushed: Rc<[u8]>,
        /// Content after each unflushed change.
        pending: Vec<Rc<[u8]>>,
    },
    Folder {
        flushed: Names,
        pending: Vec<Change>,
    },
}

/// A change of names.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Link(String, Id),
    Unlink(String),
    Rename(String, String, Id),
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Link(name, id) => {
                names.insert(name.clone(), *id);
            }
            Self::Unlink(name) => {
                names.remove(name);
            }
            Self::Rename(from, to, id) => {
                if names.get(from) == Some(id) {
                    names.remove(from);
                }
                names.insert(to.clone(), *id);
            }
        }
    }
}

pub(crate) struct Platter {
    nodes: Vec<Node>,
    /// Cache of the possible contents of a file until it changes.
    known: RefCell<HashMap<Id, Rc<Contents>>>,
}

pub(crate) const ROOT: Id = 0;

impl Platter {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![folder()], known: RefCell::default() }
    }

    /// Adds a file that was flushed long before, and its folders.
    pub(crate) fn settle(&mut self, path: &str, content: &[u8]) {
        let (above, name) = split(path);
        let mut at = ROOT;
        for part in above.split('/').filter(|part| !part.is_empty()) {
            at = match self.names(at).get(part) {
                Some(id) => *id,
                None => self.link_flushed(at, part, folder()),
            };
        }
        if !name.is_empty() {
            self.link_flushed(at, name, file(content.into()));
        }
    }

    fn link_flushed(&mut self, at: Id, name: &str, node: Node) -> Id {
        let id = self.add(node);
        match &mut self.nodes[at] {
            Node::Folder { flushed, .. } => flushed.insert(name.to_owned(), id),
            Node::File { .. } => panic!("{name} is in a file"),
        };
        id
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns the names as a process sees them.
    pub(crate) fn names(&self, id: Id) -> Names {
        match &self.nodes[id] {
            Node::Folder { flushed, pending } => {
                let mut names = flushed.clone();
                pending.iter().for_each(|change| change.apply(&mut names));
                names
            }
            Node::File { .. } => panic!("it is a file"),
        }
    }

    pub(crate) fn find(&self, path: &str) -> Option<Id> {
        let mut at = ROOT;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at = *self.names(at).get(part)?;
        }
        Some(at)
    }

    fn change(&mut self, at: Id, change: Change) {
        match &mut self.nodes[at] {
            Node::Folder { pending, .. } => pending.push(change),
            Node::File { .. } => panic!("it is a file"),
        }
    }

    fn rewrite(&mut self, id: Id, change: impl FnOnce(&mut Vec<u8>)) {
        self.known.get_mut().remove(&id);
        match &mut self.nodes[id] {
            Node::File { flushed, pending } => {
                let mut content = pending.last().unwrap_or(flushed).to_vec();
                change(&mut content);
                pending.push(content.into());
            }
            Node::Folder { .. } => panic!("it is a folder"),
        }
    }

    /// Applies an operation of the process.
    pub(crate) fn action(&mut self, path: &str, action: &DiskOperation) {
        let (above, name) = split(path);
        let found = self.find(path);
        let here = || found.unwrap_or_else(|| panic!("{path} is not there"));
        match action {
            DiskOperation::CreateFolder | DiskOperation::Create => {
                let at = self.find(above).unwrap_or_else(|| panic!("{above} is not there"));
                match (found, action) {
                    (Some(id), DiskOperation::Create) => self.rewrite(id, Vec::clear),
                    (Some(_), _) => {}
                    (None, _) => {
                        let new = if matches!(action, DiskOperation::Create) {
                            file([].into())
                        } else {
                            folder()
                        };
                        let id = self.add(new);
                        self.change(at, Change::Link(name.to_owned(), id));
                    }
                }
            }
            DiskOperation::Write(bytes) => {
                self.rewrite(here(), |content| content.extend_from_slice(bytes))
            }
            DiskOperation::Truncate(length) => {
                self.rewrite(here(), |content| content.truncate(usize::try_from(*length).unwrap()));
            }
            DiskOperation::Sync => self.flush(here()),
            DiskOperation::SyncFolder => {
                let id = here();
                let names = self.names(id);
                self.nodes[id] = Node::Folder { flushed: names, pending: Vec::new() };
            }
            DiskOperation::Rename(to) => {
                let (beside, new) = split(to);
                assert_eq!(above, beside, "a rename into another folder");
                let at = self.find(above).unwrap();
                self.change(at, Change::Rename(name.to_owned(), new.to_owned(), here()));
            }
            DiskOperation::Remove => {
                // Removing a missing file changes nothing.
                if found.is_some() {
                    let at = self.find(above).unwrap();
                    self.change(at, Change::Unlink(name.to_owned()));
                }
            }
        }
    }

    fn flush(&mut self, id: Id) {
        self.known.get_mut().remove(&id);
        match &mut self.nodes[id] {
            Node::File { flushed, pending } => {
                if let Some(last) = pending.pop() {
                    *flushed = last;
                }
                pending.clear();
            }
            Node::Folder { .. } => panic!("it is a folder"),
        }
    }

    /// Returns every file and folder whose state after a power cut is unsure.
    pub(crate) fn unsure(&self) -> Vec<Id> {
        let is_unsure = |id: &Id| match &self.nodes[*id] {
            Node::File { pending, .. } => !pending.is_empty(),
            Node::Folder { pending, .. } => !pending.is_empty(),
        };
        (0..self.nodes.len()).filter(is_unsure).collect()
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// Returns the content of a path that is certainly there.
    pub(crate) fn surely(&self, path: &str) -> Option<&Rc<[u8]>> {
        let mut at = ROOT;
        for part in path.split('/') {
            match &self.nodes[at] {
                Node::Folder { flushed, .. } => at = *flushed.get(part)?,
                Node::File { .. } => return None,
            }
        }
        match &self.nodes[at] {
            Node::File { flushed, .. } => Some(flushed),
            Node::Folder { .. } => None,
        }
    }

    /// Returns the possible contents of a file after a power cut, at most `most`.
    pub(crate) fn contents(&self, id: Id, most: usize) -> Rc<Contents> {
        if let Some(known) = self.known.borrow().get(&id) {
            return known.clone();
        }
        let Node::File { flushed, pending } = &self.nodes[id] else { return Rc::default() };
        let mut all = vec![flushed.clone()];
        if let Some(last) = pending.last() {
            let pairs = flushed.iter().zip(last.iter());
            let same = pairs.take_while(|(one, other)| one == other).count();
            // The complete content is always among them.
            all.extend(pending.iter().rev().take(most.div_ceil(4)).cloned());
            let harms = harms(same, last.len());
            let step = harms.len().div_ceil(most).max(1);
            all.extend(harms.iter().step_by(step).map(|harm| harm.on(last)));
        }
        let mut seen = HashSet::new();
        all.retain(|content| seen.insert(content.clone()));
        let all = Rc::new(all);
        self.known.borrow_mut().insert(id, all.clone());
        all
    }

    /// Returns every set of names that a folder may have after a power cut.
    pub(crate) fn listings(&self, id: Id) -> Vec<Names> {
        let Node::Folder { flushed, pending } = &self.nodes[id] else { return Vec::new() };
        let count = pending.len().min(12);
        let mut all: Vec<Names> = Vec::new();
        for set in 0..1_usize << count {
            let mut names = flushed.clone();
            for (at, change) in pending.iter().enumerate() {
                // Changes beyond the counted ones go with the last of those.
                if set & 1 << at.min(count - 1) != 0 {
                    change.apply(&mut names);
                }
            }
            if !all.contains(&names) {
                all.push(names);
            }
        }
        all
    }
}

/// Damage to bytes after the flushed ones.
enum Harm {
    /// The file ends here.
    Cut(usize),
    /// This range has NULs, because it was never written.
    Nulls(Range<usize>),
    /// This range has what was on the disk before the file.
    Stale(Range<usize>),
}

impl Harm {
    fn on(&self, content: &[u8]) -> Rc<[u8]> {
        let mut bytes = content.to_vec();
        match self {
            Self::Cut(at) => bytes.truncate(*at),
            Self::Nulls(range) => bytes[range.clone()].fill(0),
            Self::Stale(range) => {
                let old = b"{\"seq\":7,\"type\":\"old\"}\n".iter().cycle();
                bytes[range.clone()].iter_mut().zip(old).for_each(|(byte, old)| *byte = *old);
            }
        }
        bytes.into()
    }
}

/// Returns every possible damage to the unflushed bytes of a file.
fn harms(sure: usize, end: usize) -> Vec<Harm> {
    let mut all = Vec::new();
    if sure >= end {
        return all;
    }
    for sector in sure / SECTOR..end.div_ceil(SECTOR) {
        let start = (sector * SECTOR).max(sure);
        let stop = ((sector + 1) * SECTOR).min(end);
        // Cut before the sector; only NULs from it on; it alone is missing; it alone has the bytes from before.
        all.extend([
            Harm::Cut(start),
            Harm::Nulls(start..end),
            Harm::Nulls(start..stop),
            Harm::Stale(start..stop),
        ]);
    }
    // Sizes at which no sector ends.
    all.extend((sure + 1..end).step_by((end - sure).div_ceil(CUTS)).map(Harm::Cut));
    all
}

fn folder() -> Node {
    Node::Folder { flushed: Names::new(), pending: Vec::new() }
}

fn file(content: Rc<[u8]>) -> Node {
    Node::File { flushed: content, pending: Vec::new() }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
