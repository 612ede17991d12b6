//! `crewagent mcp add`: sets up a tool server, or imports those of another program. Secrets are stored apart from the settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::store::{
    ImportedServer, ServerSettings, ServerWay, Store, VariableTemplate, import_servers,
};
use serde_json::json;

use super::{problem, remind};
use crate::args::McpAddArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, WARNING};
use crate::shell;

pub(super) fn run(
    args: McpAddArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let (enable, is_json) = (args.enable, args.json);
    let (mut servers, problems) = match &args.from {
        Some(file) => read_servers(file)?,
        None => (vec![given(args)?], Vec::new()),
    };
    for problem in &problems {
        let sign = paint::styled(WARNING, text!("left out", "略去"));
        console.error(format_args!("{sign} {}", paint::printable(problem)));
    }
    for server in &mut servers {
        server.settings.enabled |= enable;
    }
    store.tool_servers().put(&servers).map_err(problem)?;
    if is_json {
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        console.line(paint::json(&json!({ "servers": names, "leftOut": problems })));
    } else {
        for server in &servers {
            print_server(server, store, console);
        }
        next(&servers, enable, store, console);
    }
    Ok(match servers.is_empty() {
        true => Outcome::Failed,
        false => Outcome::Done,
    })
}

fn read_servers(file: &Path) -> anyhow::Result<(Vec<ImportedServer>, Vec<String>)> {
    let text = fs::read_to_string(file).map_err(|error| {
        UsageError(say!("cannot read `{}`: {error}", "无法读取 `{}`：{error}", file.display()))
    })?;
    let read = import_servers(&text).map_err(|why| {
        UsageError(say!("`{}` names no servers: {why}", "`{}` 中没有服务器：{why}", file.display()))
    })?;
    Ok((read.servers, read.problems))
}

/// Returns the server that the command line describes.
fn given(args: McpAddArgs) -> Result<ImportedServer, UsageError> {
    let name: ServerName = args.name.unwrap_or_default().parse().map_err(UsageError)?;
    let way = match (args.url, args.command.split_first()) {
        (Some(url), _) => ServerWay::Http {
            url: VariableTemplate::new(url).map_err(UsageError)?,
            headers: pairs(&args.headers, "--header")?,
        },
        (None, Some((command, words))) => ServerWay::Child {
            command: command.clone(),
            args: words
                .iter()
                .map(VariableTemplate::new)
                .collect::<Result<_, _>>()
                .map_err(UsageError)?,
            env: pairs(&args.env, "--env")?,
            cwd: args.cwd,
        },
        (None, None) => {
            return Err(UsageError(say!(
                "say how the server is reached: `crewagent mcp add {name} -- COMMAND ARGS…`, or `--url URL`",
                "请说明如何连接服务器：`crewagent mcp add {name} -- COMMAND ARGS…`，或 `--url URL`"
            )));
        }
    };
    let settings =
        ServerSettings { enabled: false, way, startup_timeout: None, call_timeout: None };
    ImportedServer::new(name, settings).map_err(UsageError)
}

/// Parses `NAME=VALUE` pairs. Headers may also be `NAME: VALUE`, as users copy them.
fn pairs(given: &[String], flag: &str) -> Result<BTreeMap<String, VariableTemplate>, UsageError> {
    let pair = |text: &String| {
        let equals = text.split_once('=');
        let colon = text.split_once(':').filter(|_| flag == "--header");
        let pair = match (equals, colon) {
            (Some((name, _)), Some(colon)) if name.contains(':') => Some(colon),
            (None, colon) => colon,
            (equals, _) => equals,
        };
        let Some((name, value)) = pair else {
            return Err(UsageError(say!(
                "{flag} takes NAME=VALUE, not `{text}`",
                "{flag} 的写法是 NAME=VALUE，而不是 `{text}`"
            )));
        };
        let value = VariableTemplate::new(value.trim()).map_err(UsageError)?;
        Ok((name.trim().to_owned(), value))
    };
    given.iter().map(pair).collect()
}

fn print_server(server: &ImportedServer, store: &Store, console: &mut Console) {
    let is_new = !store.settings().mcp.servers.contains_key(&server.name);
    let renamed = match server.called == server.name.as_str() {
        true => String::new(),
        false => say!(" (called `{}` there)", "（原名 `{}`）", paint::printable(&server.called)),
    };
    console.line(format_args!(
        "{} {}{renamed}: {}",
        paint::styled(
            GOOD,
            if is_new { text!("added", "已添加") } else { text!("changed", "已修改") }
        ),
        paint::styled(NAME, &server.name),
        paint::printable(&server.settings.way.line()),
    ));
    for (variable, _) in &server.secrets {
        console.line(say!(
            "  {} is a secret: it is kept in credentials.toml, and the settings have ${{{}}}",
            "  {} 是密钥：已存入 credentials.toml，设置中写作 ${{{}}}",
            paint::printable(variable),
            paint::printable(variable)
        ));
    }
}

/// Prints the next step.
fn next(servers: &[ImportedServer], enable: bool, store: &Store, console: &mut Console) {
    let Some(first) = servers.first() else { return };
    if enable {
        let names: Vec<ServerName> = servers.iter().map(|server| server.name.clone()).collect();
        remind(&names, store, console);
    }
    let name = shell::word(first.name.as_str());
    console.line(say!(
        "\nNext:\n  crewagent mcp test {name}",
        "\n下一步：\n  crewagent mcp test {name}"
    ));
    if !enable {
        console.line(format_args!("  crewagent mcp enable {name}"));
    }
}
