//! Paths in the user's project: the outputs of a run belong under `artifacts/`, or where the package says.

use super::config::BoundNames;
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::check::{GraphRead, TemplateDraft};
use crate::package::manifest::ManifestDraft;
use crate::wording::{quoted, ticked_up_to};

/// Prefixes of paths below the project's root.
const PROJECT: &[&str] = &["@project/", "{project-root}/"];
/// Prefixes of paths below the project's artifacts.
const ARTIFACTS: &[&str] =
    &["@project/artifacts/", "{artifacts-root}/", "{project-root}/artifacts/"];
/// Prefixes of paths that are not plain paths of the project.
const MOUNTS: &[&str] =
    &["@", "{project-root}", "{artifacts-root}", "{package-root}", "{state-root}"];

/// Returns the normalised components of a path of the project; `None` if it leaves the project.
fn components(text: &str) -> Option<Vec<&str>> {
    let below_artifacts = ARTIFACTS.iter().find_map(|prefix| text.strip_prefix(prefix));
    let below_project = PROJECT.iter().find_map(|prefix| text.strip_prefix(prefix));
    let (mut parts, rest) = match (below_artifacts, below_project) {
        (Some(rest), _) => (vec!["artifacts"], rest),
        (None, Some(rest)) => (Vec::new(), rest),
        (None, None) if is_absolute(text) => return None,
        (None, None) => (Vec::new(), text),
    };
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts)
}

fn is_absolute(text: &str) -> bool {
    let has_drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    text.starts_with(['/', '\\', '~']) || has_drive
}

/// Folders in which a run makes files.
pub(super) struct ArtifactRoots<'m> {
    bound: &'m BoundNames<'m>,
    roots: Vec<String>,
    /// True if the package names them.
    are_named: bool,
}

impl<'m> ArtifactRoots<'m> {
    /// Returns the folders; `None` if they or their names are unknown.
    pub(super) fn of(manifest: &ManifestDraft, bound: Option<&'m BoundNames<'m>>) -> Option<Self> {
        let named = manifest.artifact_roots.as_ref()?;
        let are_named = !named.is_empty();
        let roots = if are_named { named.clone() } else { vec!["artifacts".to_owned()] };
        Some(Self { bound: bound?, roots, are_named })
    }

    /// Returns true if a path is one of a file in these folders, or of a folder of them.
    fn hold(&self, path: &str) -> bool {
        let is_folder = path.ends_with('/');
        let forms = |path: &str| [path.to_owned(), self.bound.filled(path)];
        let paths = forms(path);
        let roots: Vec<String> = self.roots.iter().flat_map(|root| forms(root)).collect();
        paths.iter().filter_map(|path| components(path)).any(|parts| {
            roots
                .iter()
                .filter_map(|root| components(root))
                .any(|root| parts.starts_with(&root) && (parts.len() > root.len() || is_folder))
        })
    }

    /// Describes the folders, and what to do about a file outside of them.
    fn wording(&self) -> (String, &'static str) {
        if self.are_named {
            let says = format!("lies outside of {}", ticked_up_to(&self.roots, 5));
            return (
                says,
                "put what a run makes where users look for it, or add its folder to `artifactRoots`",
            );
        }
        let help = "put what a run makes under `artifacts/`, where users look for it";
        ("lies outside `artifacts/`".to_owned(), help)
    }
}

/// Checks that outputs are in the folders for them.
pub(super) fn outputs(read: &GraphRead, roots: &ArtifactRoots<'_>, findings: &mut Findings) {
    for (index, node) in read.draft.nodes.iter().enumerate() {
        for (at, output) in node.outputs.iter().flatten().enumerate() {
            if roots.hold(output) {
                continue;
            }
            let owner = node.id.as_ref().map(|id| format!(" of `{id}`")).unwrap_or_default();
            let is_name = !output.contains(['/', '.', '*', '?']) && output != "artifacts";
            let (says, help) = if is_name {
                (
                    "is a file of that name in the root of the project, which the run has to write"
                        .to_owned(),
                    "outputs are paths of files, such as `artifacts/result.json`; name a value in `setsVariables` instead",
                )
            } else if components(output).is_some() {
                roots.wording()
            } else {
                (
                    "leaves the project, where nothing can be written".to_owned(),
                    "write a path under `artifacts/`, relative to the project, without `..`",
                )
            };
            let message = format!("the output {}{owner} {says}", quoted(output));
            let keys = ["nodes".into(), index.into(), "outputs".into(), at.into()];
            let place = read.document.place(&keys);
            findings.push(Diagnostic::new(Code::OutputOutsideArtifacts, place, message).help(help));
        }
    }
}

/// Help for a file that the runtime cannot write.
pub(super) const TARGET_HELP: &str =
    "write the path of a file, relative to the project, such as `artifacts/brief.md`";

/// Returns the reason why the runtime cannot write a file; `None` if it can.
pub(super) fn target_mistake(path: &str) -> Option<&'static str> {
    folder_mistake(path).or_else(|| path.ends_with('/').then_some("is a folder"))
}

/// Returns the reason why a path is none below the project; `None` if it is one.
pub(super) fn folder_mistake(path: &str) -> Option<&'static str> {
    let is_of_project = PROJECT.iter().chain(ARTIFACTS).any(|prefix| path.starts_with(prefix));
    if !is_of_project && MOUNTS.iter().any(|mount| path.starts_with(mount)) {
        return Some("is not a place in the project");
    }
    if path.contains(char::is_control) || path.contains('\\') {
        return Some("has a character that no path has");
    }
    match components(path) {
        None => Some("leaves the project"),
        Some(parts) if parts.is_empty() => Some("is the project itself"),
        Some(_) => None,
    }
}

/// Checks that `artifacts` of a workflow document are plain paths of the project.
pub(super) fn artifacts(template: &TemplateDraft, findings: &mut Findings) {
    let Some(front) = &template.front else { return };
    for (at, path) in front.artifacts.iter().enumerate() {
        let reason = if MOUNTS.iter().any(|mount| path.starts_with(mount)) {
            "begins with a mount"
        } else if is_absolute(path) {
            "is absolute"
        } else if path.split('/').any(|part| part == "..") {
            "has a `..` in it"
        } else {
            continue;
        };
        let message = format!(
            "the artifact {} {reason}; it must be a path relative to the project",
            quoted(path)
        );
        let is_of_project = PROJECT.iter().chain(ARTIFACTS).any(|prefix| path.starts_with(prefix))
            || !MOUNTS.iter().any(|mount| path.starts_with(mount));
        let plain = components(path).filter(|parts| is_of_project && !parts.is_empty());
        let help = match plain {
            Some(parts) => format!("write {}", quoted(&parts.join("/"))),
            None => "write a path such as artifacts/story.md, or leave the list empty".to_owned(),
        };
        let place = template.document.place(&["artifacts".into(), at.into()]);
        findings.push(Diagnostic::new(Code::BadArtifactPath, place, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_components(path: &str, expected: Option<&str>) {
        assert_eq!(components(path).map(|parts| parts.join("/")).as_deref(), expected, "{path}");
    }

    #[test]
    fn detours_are_resolved_before_a_path_is_judged() {
        check_components("artifacts/x.md", Some("artifacts/x.md"));
        check_components("./artifacts//./x.md", Some("artifacts/x.md"));
        check_components("artifacts/../src/x.md", Some("src/x.md"));
        check_components("src/../artifacts/x.md", Some("artifacts/x.md"));
        check_components("@project/artifacts/x.md", Some("artifacts/x.md"));
        check_components("{artifacts-root}/x.md", Some("artifacts/x.md"));
        check_components("{artifacts-root}/../x.md", Some("x.md"));
        check_components("artifacts/<storyKey>.md", Some("artifacts/<storyKey>.md"));
        check_components("../x.md", None);
        check_components("@project/../x.md", None);
        check_components("a/../../x.md", None);
        check_components("/etc/x.md", None);
        check_components("C:\\x.md", None);
    }
}
