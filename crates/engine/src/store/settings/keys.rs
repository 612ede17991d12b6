//! The name of every setting, for commands that get and set one.

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name with its table, as `run.max-turns`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
}

macro_rules! keys {
    ($($name:literal: $about:literal,)*) => {
        /// Every setting, in the order of the documentation.
        pub(super) const KEYS: &[Key] = &[$(Key { name: $name, about: $about }),*];
    };
}

keys! {
    "run.model": "the model that runs use, as --model takes it",
    "run.user-name": "what steps call you; your login name when not set",
    "run.mode": "autopilot, or guided: asks before each move",
    "run.max-turns": "requests to the model for one input",
    "run.timeout": "time for one input, such as 10m",
    "run.max-tokens": "tokens for one input",
    "run.max-cost": "money for one input",
    "run.missing-outputs": "enforce, warn or off: when a node is left without what it declares",
    "run.inline-step-bytes": "steps up to this size stand in the prompt",
    "run.window-tokens": "the size of the model's window",
    "policy.call-seconds": "time for one tool call",
    "policy.fs.enabled": "whether there are file tools",
    "policy.fs.max-read-bytes": "the largest read",
    "policy.fs.max-write-bytes": "the largest write",
    "policy.mcp.enabled": "whether there are tools of MCP servers",
    "policy.mcp.allowed-servers": "the MCP servers that may be used; all when not set",
    "import.max-entries": "files and folders of one package",
    "import.max-unpacked-bytes": "size of one package",
    "import.max-file-bytes": "size of one file of a package",
    "import.max-ratio": "unpacked to packed size of one entry above 1 MiB",
}
