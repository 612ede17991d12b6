//! Abilities that a text asks for and the runtime does not have.

use crate::plan::NodeNeed;

use super::page::{FenceKind, MarkdownPage};

/// Words that ask for an ability. A phrase of several words stands as it is written here, in lower case.
const WORDS: &[(&str, NodeNeed)] = &[
    ("subagent", NodeNeed::Subagent),
    ("subagents", NodeNeed::Subagent),
    ("sub-agent", NodeNeed::Subagent),
    ("sub-agents", NodeNeed::Subagent),
    ("subprocess", NodeNeed::Subagent),
    ("subprocesses", NodeNeed::Subagent),
    ("sub-process", NodeNeed::Subagent),
    ("task tool", NodeNeed::Subagent),
    ("separate agent", NodeNeed::Subagent),
    ("web search", NodeNeed::Web),
    ("web searches", NodeNeed::Web),
    ("web research", NodeNeed::Web),
    ("web_search", NodeNeed::Web),
    ("websearch", NodeNeed::Web),
    ("search the web", NodeNeed::Web),
    ("search the internet", NodeNeed::Web),
    ("web data", NodeNeed::Web),
    ("webfetch", NodeNeed::Web),
    ("git", NodeNeed::Git),
    ("commit hash", NodeNeed::Git),
    ("working tree", NodeNeed::Git),
    ("version control", NodeNeed::Git),
    ("playwright", NodeNeed::Browser),
    ("puppeteer", NodeNeed::Browser),
    ("selenium", NodeNeed::Browser),
    ("browser automation", NodeNeed::Browser),
    ("headless browser", NodeNeed::Browser),
    ("in a browser", NodeNeed::Browser),
    ("in the browser", NodeNeed::Browser),
];

/// Languages of code blocks that a shell runs.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh", "powershell", "console", "cmd", "ps1"];

/// Endings of files that are programs.
const SCRIPTS: &[&str] = &[".py", ".sh", ".mjs", ".js", ".ps1", ".bat"];

/// Programs with which a command begins.
const PROGRAMS: &[&str] = &[
    "uv", "python", "python3", "node", "npx", "npm", "bash", "sh", "pip", "cargo", "make", "docker",
];

/// Returns what a text asks for, each with the first line that does, in the order of the needs.
pub(super) fn needs(page: &MarkdownPage<'_>) -> Vec<(NodeNeed, u32)> {
    let mut found: Vec<(NodeNeed, u32)> = Vec::new();
    let mut shell = false;
    for line in page.lines.iter().filter(|line| !line.excluded) {
        let mut add = |need: NodeNeed| {
            if !found.iter().any(|(known, _)| *known == need) {
                found.push((need, line.number));
            }
        };
        if line.fence == FenceKind::Code {
            if let Some(language) = fence_language(line.raw) {
                shell = SHELLS.contains(&language);
            } else if shell {
                command_needs(line.raw.trim(), &mut add);
            }
            continue;
        }
        shell = false;
        prose_needs(line.content, &mut add);
    }
    found.sort_by_key(|(need, _)| *need);
    found
}

/// Returns the language of a line that opens or closes a fence.
fn fence_language(raw: &str) -> Option<&str> {
    let text = raw.trim_start_matches([' ', '\t', '>']);
    let rest = text.strip_prefix("```").or_else(|| text.strip_prefix("~~~"))?;
    Some(rest.trim_matches(['`', '~', ' ']).split(' ').next().unwrap_or_default())
}

fn command_needs(command: &str, add: &mut impl FnMut(NodeNeed)) {
    let word = command.split_whitespace().next().unwrap_or_default();
    if word.is_empty() || word.starts_with('#') {
        return;
    }
    match word {
        "git" | "gh" => add(NodeNeed::Git),
        _ if is_script(command) => add(NodeNeed::Script),
        _ => add(NodeNeed::Shell),
    }
}

/// Reads a line of prose: its words, in pairs and triples, and its commands in backticks.
fn prose_needs(text: &str, add: &mut impl FnMut(NodeNeed)) {
    let lower = text.to_ascii_lowercase();
    let mut words: Vec<&str> = Vec::new();
    for word in lower.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        if word.is_empty() {
            continue;
        }
        for (phrase, need) in WORDS {
            let mut parts = phrase.rsplit(' ');
            let fits = parts.next() == Some(word)
                && parts.zip(words.iter().rev()).filter(|(part, seen)| part == *seen).count()
                    == phrase.matches(' ').count();
            if fits {
                add(*need);
            }
        }
        words.push(word);
        if words.len() > 2 {
            words.remove(0);
        }
    }
    if !lower.contains('`') {
        return;
    }
    for command in text.split('`').skip(1).step_by(2).filter(|command| command.contains(' ')) {
        let word = command.split_whitespace().next().unwrap_or_default();
        if matches!(word, "git" | "gh") {
            add(NodeNeed::Git);
        } else if PROGRAMS.contains(&word) {
            add(if is_script(command) { NodeNeed::Script } else { NodeNeed::Shell });
        }
    }
}

fn is_script(command: &str) -> bool {
    command
        .split_whitespace()
        .any(|word| SCRIPTS.iter().any(|end| word.trim_matches(['"', '\'']).ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let seen: Vec<&str> =
            needs(&MarkdownPage::read(text, 1)).iter().map(|(need, _)| need.word()).collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn words_ask_for_what_is_not_there() {
        check("Launch a subagent for each file.", &["subagent"]);
        check("If the Task tool is unavailable, do it here.", &["subagent"]);
        check("Search the web to verify.", &["web"]);
        check("**⛔ Web search required.**", &["web"]);
        check("Open it in a browser.", &["browser"]);
        check("Run `git rev-parse HEAD`.", &["git"]);
        check("Run: `uv run x/y.py --key a`", &["script"]);
        check("Run `npm test` first", &["shell"]);
    }

    #[test]
    fn code_blocks_ask_for_a_shell() {
        check("```bash\nls -t x\n```", &["shell"]);
        check("```bash\n# only words\n```\n", &[]);
        check("```sh\npython3 \"a/b.py\"\ngit diff\n```", &["git", "script"]);
        check("```yaml\ngit: x\n```", &[]);
    }

    #[test]
    fn other_words_ask_for_nothing() {
        check("Digital task, legitimate web. The tool of a task.", &[]);
        check("## FAILURE MODES\n- No web search", &[]);
    }
}
