//! The connection to a host, below HTTP.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Maximum number of addresses of a host that are tried.
const TRIED: usize = 4;

/// Returns the variable that holds a proxy for this URL.
pub(super) fn proxy(url: &reqwest::Url) -> Option<&'static str> {
    const SECURE: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    const PLAIN: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    if is_local(url) {
        return None;
    }
    let names = if url.scheme() == "https" { SECURE } else { PLAIN };
    names.into_iter().find(|name| std::env::var(name).is_ok_and(|value| !value.trim().is_empty()))
}

/// Returns true if the host is this machine.
pub(super) fn is_local(url: &reqwest::Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|address| address.is_loopback())
}

/// Returns true if the host is an IP address and not a name.
pub(super) fn is_address(url: &reqwest::Url) -> bool {
    address(url).is_some()
}

fn address(url: &reqwest::Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// Looks up the addresses of the host.
pub(super) fn look_up(url: &reqwest::Url, timeouts: Duration) -> Result<Vec<SocketAddr>, String> {
    let port = url.port_or_known_default().unwrap_or(443);
    if let Some(address) = address(url) {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    // The system offers no timeout. A thread that is left behind ends by itself.
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs();
        let _ = sender.send(found.map(Iterator::collect).map_err(|error| error.to_string()));
    });
    match answer.recv_timeout(timeouts) {
        Ok(Ok(addresses)) => {
            let addresses: Vec<SocketAddr> = addresses;
            if addresses.is_empty() { Err("none was found".to_owned()) } else { Ok(addresses) }
        }
        Ok(Err(why)) => Err(why),
        Err(_) => Err(format!("no answer within {} seconds", timeouts.as_secs())),
    }
}

/// Describes a host and its addresses.
pub(super) fn named(host: &str, addresses: &[SocketAddr]) -> String {
    let first = addresses.first().map(|address| address.ip().to_string()).unwrap_or_default();
    match addresses.len() {
        0 | 1 => format!("{host} is {first}"),
        many => format!("{host} is {first} and {} more", many - 1),
    }
}

/// Returns the first address that accepts a connection, with its latency.
pub(super) fn connect(
    addresses: &[SocketAddr],
    timeouts: Duration,
) -> Result<(SocketAddr, Duration), String> {
    let mut why = "there is no address".to_owned();
    for address in addresses.iter().take(TRIED) {
        let begun = Instant::now();
        match TcpStream::connect_timeout(address, timeouts) {
            Ok(_) => return Ok((*address, begun.elapsed())),
            Err(error) => why = format!("{address} takes no connection: {error}"),
        }
    }
    Err(why)
}
