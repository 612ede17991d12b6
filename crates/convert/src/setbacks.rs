//! Files that a package cannot have: several versions, links that lead out, names and sizes that no package may have.

use std::collections::BTreeMap;

use crewagent_format::code::Code;
use crewagent_format::path::PackagePath;
use crewagent_format::wording::quoted;

use crate::paths::{is_below, join};
use crate::recorder::ImportRecorder;
use crate::source_tree::SourceTree;

/// Largest file that is copied; the gate of packages has the same limit.
const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
/// Names that a finding lists.
const LISTED_NAMES: usize = 5;

/// Reports what the layout could not use, and leaves it out.
pub(crate) fn report(tree: &mut SourceTree<'_>, recorder: &mut ImportRecorder) {
    for link in tree.files().links_outside() {
        let message = "it is a link that does not end inside of the source";
        let help = "copy the file, or import the folder that holds both";
        recorder.file(Code::LinkOutside, link, message, help);
    }
    let mut folded: BTreeMap<String, String> = BTreeMap::new();
    let mut bad: Vec<(String, String)> = Vec::new();
    for (place, path) in tree.copies() {
        let large = tree.bytes(path).is_some_and(|bytes| bytes.len() > MAX_FILE_BYTES);
        let reason = match PackagePath::new(place) {
            Err(error) => Some(format!("its name cannot be in a package: {error}")),
            Ok(_) if large => Some(format!("it has more than {MAX_FILE_BYTES} bytes")),
            Ok(name) => folded
                .insert(name.folded(), place.to_owned())
                .map(|other| format!("its name differs from {} only in case", quoted(&other))),
        };
        bad.extend(reason.map(|reason| (path.to_owned(), reason)));
    }
    for (path, reason) in bad {
        tree.leave_out(&path);
        let message = format!("it is left out: {reason}");
        recorder.file(Code::CarriedAsText, &path, message, "rename or split the file");
    }
    for root in &tree.shape().old_installations {
        let sequences = join(root, "workflows");
        if let Some(first) = tree.files().below(&sequences).next() {
            let message = "sequences of a whole project are carried as text";
            let help = "begin with an agent, whose menu has the tasks";
            recorder.file(Code::CarriedAsText, first, message, help);
        }
    }
    report_versions(tree, recorder);
}

fn report_versions(tree: &SourceTree<'_>, recorder: &mut ImportRecorder) {
    let shape = tree.shape();
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in tree.hidden() {
        let roots = shape.installations.iter().chain(&shape.skill_folders).chain(&shape.modules);
        let root = roots.into_iter().find(|root| is_below(path, root));
        groups.entry(root.map_or("", |root| root.as_str())).or_default().push(path);
    }
    for (root, paths) in groups {
        let first: Vec<String> = paths.iter().take(LISTED_NAMES).map(|path| quoted(path)).collect();
        let message = format!(
            "{} files of {} differ from those of the same name in a newer part of the source, which were taken: {}{}",
            paths.len(),
            quoted(root),
            first.join(", "),
            if paths.len() > LISTED_NAMES { ", …" } else { "" },
        );
        let file = paths.first().copied().unwrap_or_default();
        let help = "remove the older part, or import it by itself";
        recorder.file(Code::SeveralVersions, file, message, help);
    }
}
