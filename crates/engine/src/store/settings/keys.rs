//! Names of all settings, for commands that get and set one.

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// Name with its table, as `run.max-turns`. `*` stands for a name that the user chooses.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
}

impl SettingKey {
    /// Returns true if there can be many of it, under names that the user chooses.
    pub fn is_family(&self) -> bool {
        self.name.contains('*')
    }

    /// Returns true if these parts of a name match it.
    pub(super) fn is(&self, parts: &[&str]) -> bool {
        let own = self.name.split('.');
        own.clone().count() == parts.len()
            && own.zip(parts).all(|(own, part)| own == "*" || own == *part)
    }
}

macro_rules! keys {
    ($($name:literal: $about:literal,)*) => {
        /// All settings, in the order of the documentation.
        pub(super) const KEYS: &[SettingKey] = &[$(SettingKey { name: $name, about: $about }),*];
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
    "run.outputs": "changed or exist: which files count as outputs of a node",
    "run.inline-step-bytes": "steps up to this size stand in the prompt",
    "run.inline-input-bytes": "inputs of a node up to this size stand in the prompt",
    "run.inline-inputs-bytes": "the size of all inputs of a node in the prompt",
    "run.state-tools": "auto, tool or document: how a model is told to change the state",
    "run.window-tokens": "the size of the model's window; what is known of the model when not set",
    "tiers.fast": "the model for steps that are simple work",
    "tiers.strong": "the model for steps that are hard work",
    "tiers.review": "the model for steps that judge the work of another model",
    "policy.call-seconds": "time for one tool call",
    "policy.strict": "whether the state of a run changes through tools of its own alone",
    "policy.allow": "tools that may be called, as exceptions from policy.ask and policy.deny",
    "policy.ask": "tools that ask you first, a list such as [\"fs.write\"] or [\"fs.*(@project/src)\"]",
    "policy.deny": "tools that may not be called, a list such as [\"fs.search\", \"mcp.*\"]",
    "policy.runs-later": "ask, allow or deny: changes of files that other programs run later, such as Makefile",
    "policy.secrets": "ask, allow or deny: files that usually hold secrets, such as .env, read or changed",
    "policy.fs.enabled": "whether there are file tools",
    "policy.fs.max-read-bytes": "the largest read",
    "policy.fs.max-write-bytes": "the largest write",
    "policy.mcp.enabled": "whether there are tools of MCP servers",
    "policy.mcp.allowed-servers": "the MCP servers that may be used; all when not set",
    "import.max-entries": "files and folders of one package",
    "import.max-unpacked-bytes": "size of one package",
    "import.max-file-bytes": "size of one file of a package",
    "import.max-ratio": "unpacked to packed size of one entry above 1 MiB",
    "models.*.model": "what the provider calls the model",
    "models.*.profile": "how the provider wants to be spoken to",
    "models.*.base-url": "where the model is",
    "models.*.key": "where its key is: env:VARIABLE, file, keyring or none",
    "models.*.window": "the size of its window in tokens",
    "models.*.max-output": "the longest reply in tokens",
    "models.*.temperature": "how freely it chooses its words, from 0 to 2",
    "models.*.retries": "further tries after a failure that may pass",
    "models.*.connect-timeout": "time for a connection",
    "models.*.first-byte-timeout": "time until an answer begins",
    "models.*.idle-timeout": "time between two pieces of an answer",
    "models.*.call-timeout": "time for a whole answer",
    "models.*.price.input": "dollars for a million tokens that are sent",
    "models.*.price.output": "dollars for a million tokens that come back",
    "models.*.price.cached": "dollars for a million tokens that were sent before",
    "models.*.headers.*": "a header of every request; env:VARIABLE stands for what the variable holds",
    "models.*.fields.*": "a field of every request",
    "models.*.changes.*": "a field of the profile that is different for this model",
    "profiles.*.base": "the built-in profile that this one begins with",
    "profiles.*.*": "a field of the profile",
    "mcp.max-result-bytes": "the longest result of an MCP server that a model gets in full",
    "mcp.servers.*.enabled": "whether runs may use this MCP server",
    "mcp.servers.*.command": "the program that is the server",
    "mcp.servers.*.args": "its arguments; ${NAME} stands for what a variable holds",
    "mcp.servers.*.env.*": "a variable for it; ${NAME} stands for what a variable or a stored key holds",
    "mcp.servers.*.cwd": "the folder it is started in; your home folder when not set",
    "mcp.servers.*.url": "where a server over HTTP is",
    "mcp.servers.*.headers.*": "a header of every request; ${NAME} stands for what a variable or a stored key holds",
    "mcp.servers.*.startup-timeout": "time until it has said which tools it has",
    "mcp.servers.*.call-timeout": "time for one call, within policy.call-seconds",
    "prices.*.input": "dollars for a million tokens that are sent",
    "prices.*.output": "dollars for a million tokens that come back",
    "prices.*.cached": "dollars for a million tokens that were sent before",
}
