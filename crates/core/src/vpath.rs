//! Paths that a model may name: a mount and a clean relative path. The type cannot express an escape.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::frame_id::FrameId;
use crate::refusal::{Refusal, RefusalCode};

const DOCUMENT: &str = "workflow.md";
/// Folder of the state documents of frames.
pub const CALLS: &str = "calls";

const MAX_COMPONENT: usize = 255;
const MAX_PATH: usize = 4096;

/// Templates for a mount, or for a folder in one, in menus, steps and paths.
const TEMPLATES: [(&str, Mount, &str); 4] = [
    ("{project-root}", Mount::Project, ""),
    ("{artifacts-root}", Mount::Project, "artifacts"),
    ("{package-root}", Mount::Package, ""),
    ("{state-root}", Mount::State, ""),
];

/// Root that a model may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mount {
    /// The user's project; read and write.
    Project,
    /// The package; read only.
    Package,
    /// The run's state; private to the run.
    State,
}

impl Mount {
    pub const ALL: [Self; 3] = [Self::Project, Self::Package, Self::State];

    /// Returns the name that models use, such as `@project`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "@project",
            Self::Package => "@pkg",
            Self::State => "@state",
        }
    }
}

/// Path in one of the mounts. The relative path is clean: no `..`, no `.`, no empty part, no root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VPath {
    mount: Mount,
    relative: String,
}

impl VPath {
    /// Parses a model's path: a mount path, a template such as `{project-root}/x`, or a bare path, which belongs to
    /// the mount that its first part suggests.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text.len() > MAX_PATH {
            return Err(violation("The path", &format!("is longer than {MAX_PATH} bytes")));
        }
        let shown = crewagent_format::wording::quoted(text);
        let refuse = |why: &str| violation(&format!("The path {shown}"), why);
        if text.trim().is_empty() {
            return Err(refuse("is empty"));
        }
        let bytes = text.as_bytes();
        let drive =
            bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
        if text.starts_with(['/', '\\', '~']) || drive {
            let refusal = refuse("is absolute");
            return Err(match below_a_mount(text) {
                Some(path) => refusal.hint(format!("Use {path}.")),
                None => refusal,
            });
        }
        let (mount, rest) =
            split_mount(text).ok_or_else(|| refuse("begins with an unknown mount"))?;
        let rest = rest.strip_prefix("./").unwrap_or(&rest);
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let rest = if rest == "." { "" } else { rest };
        if !rest.is_empty() {
            rest.split('/').try_for_each(check_component).map_err(|why| refuse(&why))?;
        }
        Ok(Self { mount, relative: rest.to_owned() })
    }

    /// Makes a path that the runtime itself names; `None` if it is not clean.
    pub fn new(mount: Mount, relative: &str) -> Option<Self> {
        let clean =
            relative.is_empty() || relative.split('/').all(|part| check_component(part).is_ok());
        (clean && relative.len() <= MAX_PATH).then(|| Self { mount, relative: relative.to_owned() })
    }

    /// Returns the path of a frame's state document, or of the run's own.
    pub fn state_document(frame: Option<FrameId>) -> Self {
        let relative = match frame {
            Some(frame) => format!("{CALLS}/{frame}/{DOCUMENT}"),
            None => DOCUMENT.to_owned(),
        };
        Self { mount: Mount::State, relative }
    }

    /// Returns true for the path by which models name the active state document.
    pub fn is_state_document(&self) -> bool {
        self.mount == Mount::State && self.relative == DOCUMENT
    }

    /// Returns the mount.
    pub fn mount(&self) -> Mount {
        self.mount
    }

    /// Returns the path below the mount; empty for the mount itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// Appends a name; `None` if it is not valid.
    pub fn join(&self, name: &str) -> Option<Self> {
        check_component(name).ok()?;
        let relative = if self.relative.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.relative)
        };
        Some(Self { mount: self.mount, relative })
    }
}

impl fmt::Display for VPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mount.name())?;
        if self.relative.is_empty() { Ok(()) } else { write!(f, "/{}", self.relative) }
    }
}

impl Serialize for VPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Path that a tool may write. It excludes `@pkg`, the run's log, and the mounts themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct WritablePath(VPath);

impl WritablePath {
    /// Checks that tools may write to a path.
    pub fn new(path: VPath) -> Result<Self, Refusal> {
        let shown = format!("`{path}`");
        let (why, hint) = match path.mount {
            _ if path.relative.is_empty() => ("is a mount, not a file", "Name a file below it."),
            Mount::Package => {
                ("is in the package, which is read-only", "Results go below artifacts/.")
            }
            Mount::State if is_own(&path.relative) => (
                "is kept by the runtime",
                "Only @state/workflow.md and files beside it may be changed.",
            ),
            Mount::Project | Mount::State => return Ok(Self(path)),
        };
        Err(violation(&shown, why).hint(hint))
    }

    /// Returns the path of a frame's state document, or of the run's own. No model can name that of a frame.
    pub fn state_document(frame: Option<FrameId>) -> Self {
        Self(VPath::state_document(frame))
    }

    /// Returns the path.
    pub fn path(&self) -> &VPath {
        &self.0
    }
}

/// Returns true for files that the runtime writes: the journal, the run's description, its blobs, and the state
/// documents of frames.
fn is_own(relative: &str) -> bool {
    let first = relative.split('/').next().unwrap_or_default();
    // Folded like file systems that ignore case.
    matches!(crewagent_format::text::folded(first).as_str(), "logs" | "run.json" | "blobs" | CALLS)
}

impl fmt::Display for WritablePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Replaces every template by its mount: `{package-root}/assets` becomes `@pkg/assets`. Other braces stay.
pub fn with_mounts(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (template, mount, folder) in TEMPLATES {
        if text.contains(template) {
            let place = VPath { mount, relative: folder.to_owned() };
            text = Cow::Owned(text.replace(template, &place.to_string()));
        }
    }
    text
}

/// Splits a path into its mount and the rest; `None` for an unknown mount.
fn split_mount(text: &str) -> Option<(Mount, Cow<'_, str>)> {
    let mounts = Mount::ALL.map(|mount| (mount.name(), mount, ""));
    for (prefix, mount, folder) in mounts.into_iter().chain(TEMPLATES) {
        let Some(rest) = text.strip_prefix(prefix) else { continue };
        if rest.is_empty() || rest.starts_with('/') {
            let below = rest.strip_prefix('/').unwrap_or(rest);
            let whole =
                if folder.is_empty() { below.into() } else { format!("{folder}/{below}").into() };
            return Some((mount, whole));
        }
    }
    if text.starts_with('@') || text.starts_with('{') {
        return None;
    }
    let bare = text.strip_prefix("./").unwrap_or(text);
    let mount = match bare.split('/').next().unwrap_or_default() {
        "steps" | "assets" | "workflows" => Mount::Package,
        "workflow.md" if bare == "workflow.md" => Mount::State,
        _ => Mount::Project,
    };
    Some((mount, text.into()))
}

fn check_component(part: &str) -> Result<(), String> {
    let why = match part {
        "" => "has an empty part between two slashes",
        "." => "has a `.` part",
        ".." => "climbs up with `..`",
        _ if part.len() > MAX_COMPONENT => {
            return Err(format!("has a name longer than {MAX_COMPONENT} bytes"));
        }
        _ if part.contains(['\\', ':']) => "has a backslash or a colon; use `/` between folders",
        _ if part.chars().any(crewagent_format::text::is_invisible_char) => {
            "has a control character or one that cannot be seen"
        }
        _ if part.ends_with(['.', ' ']) => "has a name that ends in a dot or a blank",
        _ if crewagent_format::path::is_device(part) => "has a name that is a device on Windows",
        _ => return Ok(()),
    };
    Err(why.to_owned())
}

/// Returns the path that a model means whose absolute path begins like a mount: `/project/x` is `@project/x`.
fn below_a_mount(text: &str) -> Option<VPath> {
    let rest = text.strip_prefix('/')?;
    let first = rest.split('/').next()?;
    let mount = Mount::ALL.into_iter().find(|mount| mount.name().strip_prefix('@') == Some(first));
    match mount {
        Some(_) => VPath::parse(&format!("@{rest}")).ok(),
        None if first == "artifacts" => VPath::parse(rest).ok(),
        None => None,
    }
}

fn violation(what: &str, why: &str) -> Refusal {
    Refusal::new(RefusalCode::Sandbox, format!("{what} {why}."))
        .hint("Use a path below @project, @pkg or @state, such as @project/artifacts/notes.md.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_parsed(text: &str, expected: &str) {
        assert_eq!(VPath::parse(text).unwrap().to_string(), expected, "{text:?}");
    }

    fn check_refused(text: &str) {
        let refusal = VPath::parse(text).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Sandbox, "{text:?}");
    }

    #[test]
    fn mounts_templates_and_bare_paths_are_understood() {
        check_parsed("@project/a/b.md", "@project/a/b.md");
        check_parsed("@pkg", "@pkg");
        check_parsed("@state/", "@state");
        check_parsed("{project-root}/a", "@project/a");
        check_parsed("{package-root}/assets/t.md", "@pkg/assets/t.md");
        check_parsed("{state-root}", "@state");
        check_parsed("{artifacts-root}/x.md", "@project/artifacts/x.md");
        check_parsed("artifacts/x.md", "@project/artifacts/x.md");
        check_parsed("workflow.md", "@state/workflow.md");
        check_parsed("steps/s.md", "@pkg/steps/s.md");
        check_parsed("./src/main.rs", "@project/src/main.rs");
        check_parsed("README.md", "@project/README.md");
        check_parsed(".", "@project");
        check_parsed("中文/é.md", "@project/中文/é.md");
    }

    #[test]
    fn templates_in_a_text_become_mounts_and_other_braces_stay() {
        assert_eq!(
            with_mounts("Fill {package-root}/assets/t.md into {artifacts-root}/{storyKey}.md."),
            "Fill @pkg/assets/t.md into @project/artifacts/{storyKey}.md."
        );
        assert_eq!(with_mounts("{project-root}{state-root}/x"), "@project@state/x");
        let plain = "{Project-Root} {{x}} { project-root }";
        assert!(matches!(with_mounts(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn a_vpath_never_leaves_its_mount() {
        for text in [
            "",
            " ",
            "..",
            "../x",
            "@project/..",
            "@project/a/../../x",
            "/etc/passwd",
            "//host/share",
            "\\\\host\\share",
            "C:\\x",
            "c:x",
            "~/x",
            "@other/x",
            "@projectx/y",
            "@PROJECT/x",
            "{nowhere}/x",
            "a//b",
            "@project//x",
            "a/./b",
            "a\\b",
            "a\0b",
            "a\nb",
            "x:ads",
            "con",
            "sub/NUL.txt",
            "com1",
            "a.",
            "a ",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\u{ad}b",
            "a\u{3164}",
            "\u{2800}",
            "a\u{fe0f}",
            "a\u{e0100}",
            "@state/../run.json",
        ] {
            check_refused(text);
        }
        check_refused(&"x".repeat(256));
        check_refused(&"x/".repeat(2100));
        check_parsed("a%2f..%2fb", "@project/a%2f..%2fb");
    }

    #[test]
    fn an_absolute_path_that_begins_like_a_mount_names_the_right_one() {
        let hint = |text: &str| VPath::parse(text).unwrap_err().hint.unwrap();
        assert_eq!(hint("/project/artifacts/x.md"), "Use @project/artifacts/x.md.");
        assert_eq!(hint("/artifacts/x.md"), "Use @project/artifacts/x.md.");
        assert_eq!(hint("/pkg/steps/a.md"), "Use @pkg/steps/a.md.");
        for text in ["/etc/passwd", "/project/../x", "/projects/x", "//project/x", "~/project/x"] {
            assert!(hint(text).starts_with("Use a path below @project, @pkg or @state"), "{text}");
        }
    }

    #[test]
    fn nothing_in_the_package_or_the_log_is_writable() {
        for text in [
            "@pkg/x",
            "@pkg",
            "@project",
            "@state",
            "@state/logs/execution.jsonl",
            "@state/LOGS/x",
            "@state/run.json",
            "@state/blobs/x",
            "@state/calls/1/workflow.md",
        ] {
            assert!(WritablePath::new(VPath::parse(text).unwrap()).is_err(), "{text}");
        }
        for text in ["@project/x", "@state/workflow.md", "@state/notes/x.md"] {
            assert!(WritablePath::new(VPath::parse(text).unwrap()).is_ok(), "{text}");
        }
    }
}
