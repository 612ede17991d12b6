//! Base URLs as users write them.

use super::{GENERIC, Profile};

/// Parsed base URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'u> {
    /// `http` or `https`.
    scheme: &'static str,
    /// Host in lower case, without the port. An IPv6 address is in brackets.
    host: String,
    port: Option<u16>,
    /// Path without slashes around it.
    path: &'u str,
}

impl<'u> Address<'u> {
    pub(super) fn parse(base_url: &'u str) -> Result<Self, String> {
        let text = base_url.trim();
        let (scheme, rest) =
            text.split_once("://").ok_or("a base URL begins with https:// or http://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => "https",
            "http" => "http",
            other => {
                return Err(format!("a base URL begins with https:// or http://, not {other}://"));
            }
        };
        if rest.contains(['?', '#']) {
            return Err("a base URL has no `?` and no `#`".to_owned());
        }
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        if place.contains('@') {
            return Err("a base URL holds no user name and no password".to_owned());
        }
        let (host, port) = split_port(place)?;
        if path.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err("the path of the base URL holds a character that no URL has".to_owned());
        }
        Ok(Self { scheme, host, port, path: path.trim_matches('/') })
    }

    /// Returns true if the host is this one or below it; with a port, also at this port.
    pub(super) fn is_at(&self, place: &str) -> bool {
        let Ok((host, port)) = split_port(place) else { return false };
        let below = self.host.strip_suffix(host.as_str());
        below.is_some_and(|front| front.is_empty() || front.ends_with('.'))
            && (port.is_none() || port == self.port)
    }

    /// Returns true if this is its port, written `:1234`.
    pub(super) fn has_port(&self, port: &str) -> bool {
        let port = port.strip_prefix(':').and_then(|port| port.parse().ok());
        port.is_some() && port == self.port
    }
}

fn split_port(place: &str) -> Result<(String, Option<u16>), String> {
    let wrong = || format!("`{place}` is not the name of a host");
    let end = if place.starts_with('[') {
        place.find(']').map_or(0, |at| at + 1)
    } else {
        place.find(':').unwrap_or(place.len())
    };
    let (host, port) = place.split_at_checked(end).ok_or_else(wrong)?;
    let port = match port.strip_prefix(':') {
        Some(port) => Some(port.parse().map_err(|_| wrong())?),
        None if port.is_empty() => None,
        None => return Err(wrong()),
    };
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_legal = match inside {
        Some(inside) => {
            inside.contains(':')
                && inside.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'))
        }
        None => {
            !host.is_empty()
                && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        }
    };
    if is_legal { Ok((host.to_ascii_lowercase(), port)) } else { Err(wrong()) }
}

/// Returns the address of an endpoint, such as `chat/completions` or `models`, for any spelling of a base URL: with and
/// without `/v1`, with and without a slash at the end, or with the whole endpoint. The error describes the mistake.
pub fn endpoint(base_url: &str, path: &str) -> Result<String, String> {
    let address = Address::parse(base_url)?;
    let base = base_path(base_url, address.path);
    let Address { scheme, host, port, .. } = address;
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let base = if base.is_empty() { String::new() } else { format!("/{base}") };
    Ok(format!("{scheme}://{host}{port}{base}/{}", path.trim_matches('/')))
}

/// Returns the path that all endpoints begin with.
fn base_path(base_url: &str, path: &str) -> String {
    const ENDPOINTS: [&str; 3] = ["chat/completions", "completions", "models"];
    for endpoint in ENDPOINTS {
        let front =
            path.strip_suffix(endpoint).filter(|front| front.is_empty() || front.ends_with('/'));
        if let Some(front) = front {
            return front.trim_end_matches('/').to_owned();
        }
    }
    let name = Profile::recognise(base_url);
    let known = Profile::built_in(name).filter(|_| name != GENERIC);
    let whole = known
        .and_then(|profile| profile.base_url.as_deref())
        .and_then(|url| Address::parse(url).ok());
    if let Some(whole) = whole
        && whole
            .path
            .strip_prefix(path)
            .is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'))
    {
        return whole.path.to_owned();
    }
    if path.is_empty() { "v1".to_owned() } else { path.to_owned() }
}
