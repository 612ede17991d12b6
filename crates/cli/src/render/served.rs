//! Events of tool servers, one line each.

use crewagent_core::event::{EventKind, ServerLogged, ToolEvent, ToolsListed};

use super::run::View;
use crate::paint::{self, QUIET, WARNING};

/// Formats an event of a tool server. Logs are shown only from the record.
pub(super) fn lines(kind: &EventKind, view: View) -> String {
    if let EventKind::Tool(ToolEvent::Listed(ToolsListed {
        server, names, left_out, error, ..
    })) = kind
    {
        listed(server, names.len(), left_out, error.as_deref())
    } else if let EventKind::Tool(ToolEvent::Logged(ServerLogged { server, level, text })) = kind
        && view == View::Record
    {
        logged(server, level, text)
    } else {
        String::new()
    }
}

/// Formats the list of tools, or why there is none.
fn listed(server: &str, tools: usize, left_out: &[String], error: Option<&str>) -> String {
    let server = paint::printable(server);
    let mut lines = match error {
        Some(error) => {
            let why = paint::printable(error);
            let sign = paint::styled(WARNING, "!");
            format!("  {sign} the MCP server {server} has no tools: {why}\n")
        }
        None => {
            let count = paint::counted(tools, "tool");
            paint::styled(QUIET, format!("  · {count} of the MCP server {server}\n"))
        }
    };
    for what in left_out {
        let what = format!("    left out {}\n", paint::printable(what));
        lines.push_str(&paint::styled(QUIET, what));
    }
    lines
}

/// Formats a log message of a server.
fn logged(server: &str, level: &str, text: &str) -> String {
    let line = format!(
        "  · {} {}: {}\n",
        paint::printable(server),
        paint::printable(level),
        paint::printable(text)
    );
    paint::styled(QUIET, line)
}
