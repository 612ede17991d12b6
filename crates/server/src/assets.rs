//! The files of the web app, embedded in the binary.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use crewagent_format::integrity::Digest;
use serde::Deserialize;

use crate::app::App;
use crate::endpoint::{blocking, query_of};
use crate::gate;
use crate::problem::Problem;
use crate::wire::Code;

/// A file of the web app.
#[derive(Clone, Copy, Debug)]
struct Asset {
    path: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/web.rs"));

/// Returns true if the web app is in this build.
pub(crate) fn is_built() -> bool {
    !WEB.is_empty()
}

/// Placeholder pages: for a build without the web app, and for links that no longer work.
const STAND_IN: &[Asset] = &[
    Asset { path: "index.html", bytes: include_bytes!("assets/missing.html") },
    Asset { path: "stand-in.css", bytes: include_bytes!("assets/stand-in.css") },
];
const USED: &[u8] = include_bytes!("assets/used.html");

/// Returns a file, or the page itself for every address that looks like a route of the app.
pub(crate) async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let found = find(path).or_else(|| if path.contains('.') { None } else { find("index.html") });
    match found {
        Some(asset) => file(asset, &headers),
        None => Problem::new(Code::NotFound, "there is no such file").into_response(),
    }
}

/// Returns every file by its path, with its entity tag.
static ALL: LazyLock<HashMap<&'static str, (Asset, String)>> = LazyLock::new(|| {
    // The web app comes last, so that it replaces the placeholders.
    let all = STAND_IN.iter().chain(WEB);
    all.map(|asset| (asset.path, (*asset, format!("\"{}\"", Digest::of(asset.bytes))))).collect()
});

fn find(path: &str) -> Option<&'static (Asset, String)> {
    ALL.get(path)
}

fn file((asset, tag): &'static (Asset, String), headers: &HeaderMap) -> Response {
    let tag = tag.as_str();
    // The name of such a file changes with its content.
    let is_hashed = asset.path.starts_with("assets/");
    let cache = if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag), (CACHE_CONTROL, cache)]).into_response();
    }
    let head = [(CONTENT_TYPE, kind(asset.path)), (CACHE_CONTROL, cache)];
    (head, [(ETAG, tag)], asset.bytes).into_response()
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The token in a link.
#[derive(Deserialize)]
pub(crate) struct Token {
    #[serde(default)]
    token: String,
}

/// Exchanges the token of a link for a cookie, once, and redirects to the page.
pub(crate) async fn enter(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    let to_page = (LOCATION, "/".to_owned());
    let shown = query_of(&uri).map(|Token { token }| token).unwrap_or_default();
    let (keeper, cookies) = (Arc::clone(&app), gate::cookies(&headers));
    let cookie = blocking(move || Ok(keeper.access.enter(&shown, &cookies))).await;
    match cookie.ok().flatten() {
        Some(cookie) => (StatusCode::SEE_OTHER, [to_page, (SET_COOKIE, cookie)]).into_response(),
        // A browser with a valid cookie has used this link before.
        None if gate::has_cookie(&app, &headers) => {
            (StatusCode::SEE_OTHER, [to_page]).into_response()
        }
        None => (StatusCode::FORBIDDEN, [(CONTENT_TYPE, kind("used.html"))], USED).into_response(),
    }
}

/// Revokes the cookie of this browser.
pub(crate) async fn leave(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let cookies = gate::cookies(&headers);
    let gone = blocking(move || Ok(app.access.leave(&cookies))).await?;
    Ok(([(SET_COOKIE, gone)], axum::Json(crate::wire::Nothing {})).into_response())
}
