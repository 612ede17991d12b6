//! Events of tool servers, one line each.

use crewagent_core::event::{ServerLogged, ToolsListed};

use crate::language::say;
use crate::paint::{self, QUIET, WARNING};

/// Formats the list of tools, or why there is none.
pub(super) fn listed(event: &ToolsListed) -> String {
    let server = paint::printable(&event.server);
    let mut lines = match &event.error {
        Some(error) => {
            let why = paint::printable(error);
            let sign = paint::styled(WARNING, "!");
            say!(
                "  {sign} the MCP server {server} has no tools: {why}\n",
                "  {sign} MCP 服务器 {server} 没有工具：{why}\n"
            )
        }
        None => {
            let count = paint::counted(event.names.len(), ("tool", "个工具"));
            let line = say!(
                "  · {count} of the MCP server {server}\n",
                "  · MCP 服务器 {server} 的 {count}\n"
            );
            paint::styled(QUIET, line)
        }
    };
    for what in &event.left_out {
        let what = say!("    left out {}\n", "    略去 {}\n", paint::printable(what));
        lines.push_str(&paint::styled(QUIET, what));
    }
    lines
}

/// Formats a log message of a server.
pub(super) fn logged(event: &ServerLogged) -> String {
    let line = format!(
        "  · {} {}: {}\n",
        paint::printable(&event.server),
        paint::printable(&event.level),
        paint::printable(&event.text)
    );
    paint::styled(QUIET, line)
}
