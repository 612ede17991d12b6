//! Checks of every request before it is handled, and the headers of every answer.
//!
//! Any program on this computer can send requests here, and any page in the browser can make the browser do so. A page
//! that is not ours is kept out by `Host` (against DNS rebinding), by `Origin` and `Sec-Fetch-Site`, and by a cookie
//! that the browser sends for our own pages alone. Another user of the computer does not have the cookie.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::instance::LINK_PATH;
use crate::listen::ClientConnection;
use crate::problem::Problem;
use crate::wire::Code;

/// Scripts, styles, connections and frames from here alone; nothing may put the page into a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Passes a request on, or refuses it.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_known = has_cookie(&app, request.headers());
    let client = request.extensions().get::<Arc<ClientConnection>>();
    let has_place = !is_known || client.is_none_or(|client| client.admit());
    let mut response = match authorize(&app, &request) {
        Ok(()) if !has_place => {
            Problem::new(Code::Busy, "this browser has too many connections open")
                .hint("Close some tabs, and try again.")
                .into_response()
        }
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    if !is_known || !has_place {
        // Only those that have shown the cookie may keep a place.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Files of the page set their own cache lifetime, and those of a project have a stricter policy.
    for (name, value) in
        [(CACHE_CONTROL, "no-store"), (CONTENT_SECURITY_POLICY, POLICY), (X_FRAME_OPTIONS, "DENY")]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn authorize(app: &App, request: &Request) -> Result<(), Problem> {
    let (headers, path) = (request.headers(), request.uri().path());
    let own = is_own_host(request, app.port);
    if !own {
        return Err(Problem::new(Code::Forbidden, "the Host of the request is not this server")
            .hint(format!("Open http://127.0.0.1:{}/ itself.", app.port)));
    }
    if path == LINK_PATH {
        return authorize_secret(app, headers);
    }
    let is_api = path == "/api" || path.starts_with("/api/");
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    if (is_api || !is_safe) && !is_own_page(headers, app.port) {
        return Err(Problem::new(Code::Forbidden, "the request comes from another page"));
    }
    if is_api && !has_cookie(app, headers) {
        return Err(Problem::new(Code::Unauthorized, "this browser was not let in")
            .hint("Run `crewagent` in a terminal; it opens a link that lets this browser in."));
    }
    Ok(())
}

/// Checks the secret of the store, which a second start on it shows and a browser never does.
fn authorize_secret(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let secret = shown.and_then(|value| value.strip_prefix("Bearer "));
    let is_browser = headers.contains_key(ORIGIN) || headers.contains_key(FETCH_SITE);
    match secret {
        Some(secret) if !is_browser && app.access.secret().is(secret) => Ok(()),
        _ => Err(Problem::new(Code::Forbidden, "the secret of the store is missing or wrong")),
    }
}

/// Returns the names of this server. A browser leaves out port 80.
fn own_names(port: u16) -> impl Iterator<Item = String> {
    ["127.0.0.1", "localhost"].into_iter().flat_map(move |name| {
        let bare = (port == 80).then(|| name.to_owned());
        bare.into_iter().chain([format!("{name}:{port}")])
    })
}

/// Returns true if the request names this server and no other, in its header and in its request line.
fn is_own_host(request: &Request, port: u16) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let is_own = |host: &str| own_names(port).any(|name| name == host);
    let named = request.uri().authority();
    host.to_str().is_ok_and(is_own) && named.is_none_or(|named| is_own(named.as_str()))
}

/// Returns true if a request comes from our own page, or from no page at all.
fn is_own_page(headers: &HeaderMap, port: u16) -> bool {
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    if !matches!(site, None | Some(b"same-origin" | b"none")) {
        return false;
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next();
    let is_own = |origin: &str| {
        origin.strip_prefix("http://").is_some_and(|host| own_names(port).any(|name| name == host))
    };
    origins.next().is_none() && origin.is_none_or(|origin| origin.to_str().is_ok_and(is_own))
}

pub(crate) fn has_cookie(app: &App, headers: &HeaderMap) -> bool {
    app.access.admits(&cookies(headers))
}

/// Returns all cookies of a request.
pub(crate) fn cookies(headers: &HeaderMap) -> String {
    let shown = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    shown.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(port: u16, host: &str, is_own: bool) {
        let request = Request::get("/").header(HOST, host).body(axum::body::Body::empty()).unwrap();
        assert_eq!(is_own_host(&request, port), is_own, "{host} at {port}");
        let origin = HeaderValue::from_str(&format!("http://{host}")).unwrap();
        let headers = HeaderMap::from_iter([(ORIGIN, origin)]);
        assert_eq!(is_own_page(&headers, port), is_own, "http://{host} at {port}");
    }

    #[test]
    fn a_server_knows_its_own_names() {
        for name in ["127.0.0.1", "localhost"] {
            check_host(4747, &format!("{name}:4747"), true);
            check_host(4747, name, false);
            check_host(4747, &format!("{name}:80"), false);
            check_host(80, name, true);
            check_host(80, &format!("{name}:80"), true);
            check_host(80, &format!("{name}:"), false);
        }
        // Nothing listens there.
        check_host(4747, "[::1]:4747", false);
        check_host(80, "example.org", false);
    }
}
