//! Examples at the end of every help page, and what the first page says about the rest.

use clap::Command;
use clap::builder::StyledStr;

use crate::language::text;

/// The commands with their examples.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["crewagent demo", "crewagent run my-workflow --project my-app"]),
    ("ui", &["crewagent ui", "crewagent ui --port 0 --no-open"]),
    ("demo", &["crewagent demo", "crewagent demo --ui"]),
    ("run", &["crewagent run my-workflow --project my-app", "crewagent run my-workflow@0.1.0 --model ollama/qwen3 --max-cost 0.50"]),
    ("resume", &["crewagent resume", "crewagent resume latest --input \"yes\" --json"]),
    ("agent", &["crewagent agent .", "crewagent agent my-workflow analyst --input \"help\""]),
    ("chat", &["crewagent chat --project my-app", "crewagent chat latest --input \"and now the tests\""]),
    ("chats", &["crewagent chats", "crewagent chats search \"login\""]),
    ("chats list", &["crewagent chats list --all", "crewagent chats list --project my-app --json"]),
    ("chats show", &["crewagent chats show latest", "crewagent chats show k3f9w --json"]),
    ("chats search", &["crewagent chats search \"login\"", "crewagent chats search budget --json"]),
    ("chats rename", &["crewagent chats rename latest \"Release plan\"", "crewagent chats rename k3f9w Login"]),
    ("chats rm", &["crewagent chats rm latest", "crewagent chats rm k3f9w --keep-runs --yes"]),
    ("runs", &["crewagent runs", "crewagent runs show latest"]),
    ("runs list", &["crewagent runs list --all", "crewagent runs list --project my-app --json"]),
    ("runs show", &["crewagent runs show", "crewagent runs show k3f9w --json"]),
    ("runs logs", &["crewagent runs logs latest", "crewagent runs logs k3f9w --json"]),
    ("runs fork", &["crewagent runs fork latest --at step-02-write", "crewagent runs fork k3f9w --at review#2 --files --yes"]),
    ("runs revert", &["crewagent runs revert latest --dry-run", "crewagent runs revert k3f9w --at step-02-write --onward"]),
    ("runs rename", &["crewagent runs rename latest \"Release plan\"", "crewagent runs rename k3f9w Login --json"]),
    ("runs rm", &["crewagent runs rm latest", "crewagent runs rm k3f9w m7d2x --yes"]),
    ("projects", &["crewagent projects", "crewagent projects relink my-app ../moved/my-app"]),
    ("projects list", &["crewagent projects list", "crewagent projects list --json"]),
    ("projects relink", &["crewagent projects relink my-app ../moved/my-app", "crewagent projects relink my-app-k3f9w ."]),
    ("projects forget", &["crewagent projects forget my-app", "crewagent projects forget my-app-k3f9w --yes"]),
    ("package", &["crewagent package", "crewagent package validate my-workflow"]),
    ("package validate", &["crewagent package validate", "crewagent package validate my-workflow --format sarif --deny-warnings"]),
    ("package pack", &["crewagent package pack", "crewagent package pack my-workflow -o release.bmad --format 1.2"]),
    ("package import", &["crewagent package import my-workflow-0.1.0.bmad", "crewagent package import my-app --dry-run"]),
    ("package convert", &["crewagent package convert my-app -o my-app-bmad.bmad", "crewagent package convert my-app -o my-package --module bmm --force"]),
    ("package list", &["crewagent package list", "crewagent package list --json"]),
    ("package show", &["crewagent package show my-workflow", "crewagent package show my-workflow@0.1.0 --json"]),
    ("package rm", &["crewagent package rm my-workflow@0.1.0", "crewagent package rm 1a2b3c4d --yes"]),
    ("package prune", &["crewagent package prune", "crewagent package prune --yes --json"]),
    ("package new", &["crewagent package new my-workflow", "crewagent package new review --template loop --yes"]),
    ("package graph", &["crewagent package graph my-workflow", "crewagent package graph my-workflow -o graph.svg --theme dark"]),
    ("package explain", &["crewagent package explain BM503", "crewagent package explain duplicate-node-id"]),
    ("package walk", &["crewagent package walk my-workflow", "crewagent package walk my-app --workflow create-brief --json"]),
    ("models", &["crewagent models", "crewagent models add"]),
    ("models list", &["crewagent models list", "crewagent models list --json"]),
    ("models add", &["crewagent models add", "crewagent models add local --profile ollama --model qwen3:8b --use"]),
    ("models use", &["crewagent models use local", "crewagent models use openai/gpt-5"]),
    ("models test", &["crewagent models test", "crewagent models test local --json"]),
    ("models probe", &["crewagent models probe local --dry-run", "crewagent models probe --yes"]),
    ("models rm", &["crewagent models rm local", "crewagent models rm local big --yes"]),
    ("mcp", &["crewagent mcp", "crewagent mcp test notes"]),
    ("mcp list", &["crewagent mcp list", "crewagent mcp list --json"]),
    ("mcp add", &["crewagent mcp add notes -- npx -y notes-server", "crewagent mcp add search --url https://example.com/mcp --enable"]),
    ("mcp test", &["crewagent mcp test notes", "crewagent mcp test notes --json"]),
    ("mcp enable", &["crewagent mcp enable notes", "crewagent mcp enable notes search"]),
    ("mcp disable", &["crewagent mcp disable notes", "crewagent mcp disable notes search"]),
    ("mcp rm", &["crewagent mcp rm notes", "crewagent mcp rm notes search --yes"]),
    ("tools", &["crewagent tools", "crewagent tools list my-workflow --agent analyst"]),
    ("tools list", &["crewagent tools list", "crewagent tools list my-workflow --agent analyst --json"]),
    ("config", &["crewagent config", "crewagent config set run.max-turns 100"]),
    ("config get", &["crewagent config get", "crewagent config get run.model"]),
    ("config set", &["crewagent config set run.max-turns 100", "crewagent config set 'prices.\"gpt-4.1\".input' 2"]),
    ("config path", &["crewagent config path", "crewagent --home ./store config path"]),
    ("config edit", &["crewagent config edit", "crewagent --home ./store config edit"]),
    ("doctor", &["crewagent doctor", "crewagent doctor --json"]),
    ("completions", &["crewagent completions bash", "crewagent completions fish"]),
];

/// Adds the examples to the help of every command.
pub(crate) fn added(command: Command) -> Command {
    let command = below(command, "");
    let more = text!(
        "Without a command, crewagent opens the app in your browser. `crewagent COMMAND --help` says more about a command.\n\nThe documentation is in the folder `docs` of the source: guide.md for the app, cli.md for the command line, and spec/README.md for packages.",
        "不带命令时，crewagent 在浏览器中打开应用。`crewagent COMMAND --help` 详细说明一个命令。\n\n文档在源代码的 `docs` 文件夹中：guide.zh.md 讲应用，cli.md 讲命令行，spec/README.md 讲包的格式。",
    );
    let rest = command.get_after_help().map(StyledStr::to_string).unwrap_or_default();
    command.after_help(format!("{more}\n\n{rest}"))
}

fn below(mut command: Command, path: &str) -> Command {
    let inner = |inner: Command| {
        let path = format!("{path} {}", inner.get_name());
        below(inner, path.trim())
    };
    command = command.mut_subcommands(inner);
    let Some((_, examples)) = EXAMPLES.iter().find(|(known, _)| *known == path) else {
        return command;
    };
    let mut help = text!("Examples:", "示例：").to_owned();
    for example in *examples {
        help.push_str(&format!("\n  {example}"));
    }
    if let Some(rest) = command.get_after_help() {
        help.push_str(&format!("\n\n{rest}"));
    }
    command.after_help(help)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::Args;

    /// Splits a line into words as a shell does, with quotes of both kinds.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, ' ') => words.push(std::mem::take(&mut word)),
                (_, c) => word.push(c),
            }
        }
        words.push(word);
        words
    }

    fn check(command: &Command, path: &str) {
        let found = EXAMPLES.iter().find(|(known, _)| *known == path);
        let (_, examples) = found.unwrap_or_else(|| panic!("`{path}` has no examples"));
        assert!(examples.len() >= 2, "{path}");
        for example in *examples {
            assert!(Args::try_parse_from(words(example)).is_ok(), "{example}");
            assert!(example.contains(path), "{example}");
        }
        for inner in command.get_subcommands() {
            check(inner, format!("{path} {}", inner.get_name()).trim());
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        check(&Args::command(), "");
        let page = added(Args::command()).render_help().to_string();
        assert!(page.contains("opens the app in your browser") && page.contains("docs"), "{page}");
        assert!(page.contains("Exit codes:"), "{page}");
    }
}
