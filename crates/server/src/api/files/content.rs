//! A file of a project as its bytes, for pictures on the page and for downloads.
//!
//! A project's file is hostile: it is sent as a download of no type that a browser runs. Pictures have their type, because
//! nothing in an `img` runs. A PDF may be shown by the viewer of the browser, in a frame of our own page.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use schemars::SchemaGenerator;

use super::{granted, mounts, place};
use crate::api::Id;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, BodyContent, blocking, path_of, query_of};
use crate::problem::Problem;
use crate::wire::{Code, ContentQuery};

/// Longest file in bytes that is sent, because it is read whole.
const MAX_CONTENT: usize = 64 << 20;
/// The media type of a file that is only saved.
const BYTES: &str = "application/octet-stream";
const PDF: &str = "application/pdf";
/// Policy of a file that is opened by itself: nothing in it runs or loads, and no page but ours frames it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; form-action 'none'";

pub(super) fn endpoint() -> ApiEndpoint {
    ApiEndpoint {
        method: Method::GET,
        path: "/api/projects/{id}/content",
        summary: "A file of a project as its bytes, to be saved or shown as a picture",
        query: Some(SchemaGenerator::subschema_for::<ContentQuery>),
        body: BodyContent::Nothing,
        answer: BodyContent::Bytes(BYTES),
        route: get(send),
    }
}

async fn send(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let (Id { id }, query): (Id, ContentQuery) =
        (path_of(&mut parts).await?, query_of(&parts.uri)?);
    let headers = headers(&query);
    let bytes = blocking(move || {
        let content = granted(mounts(&app, &id)?.read(&place(&query.path)?, MAX_CONTENT))?;
        if content.is_whole() {
            return Ok(content.bytes);
        }
        Err(Problem::new(Code::TooLarge, format!("`{}` is larger than 64 MiB", query.path))
            .hint("Open it in the folder of the project."))
    })
    .await?;
    Ok((headers, bytes).into_response())
}

fn headers(query: &ContentQuery) -> HeaderMap {
    let kind = kind_of(&query.path);
    let is_shown = query.inline && kind == PDF;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if is_shown {
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    }
    let how = if is_shown { "inline" } else { "attachment" };
    if let Ok(value) = format!("{how}; filename*=UTF-8''{}", escaped(&query.path)).parse() {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    headers
}

/// Returns the media type of a picture or a PDF by its name; no other type is ever told to a browser.
fn kind_of(path: &str) -> &'static str {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "bmp" => "image/bmp",
        "ico" => "image/x-icon",
        "svg" => "image/svg+xml",
        "pdf" => PDF,
        _ => BYTES,
    }
}

/// Returns the name of a file as a header holds it.
fn escaped(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, inline: bool, kind: &str, disposition: &str) {
        let headers = headers(&ContentQuery { path: path.to_owned(), inline, version: None });
        assert_eq!(headers[CONTENT_TYPE], kind, "{path}");
        assert_eq!(headers[CONTENT_DISPOSITION], disposition, "{path}");
        assert_eq!(headers.contains_key(X_FRAME_OPTIONS), disposition.starts_with("inline"));
    }

    #[test]
    fn nothing_but_a_pdf_is_shown_by_itself() {
        check("a/page.html", true, BYTES, "attachment; filename*=UTF-8''page.html");
        check("run.js", true, BYTES, "attachment; filename*=UTF-8''run.js");
        check("x.svg", true, "image/svg+xml", "attachment; filename*=UTF-8''x.svg");
        check("a.PDF", true, PDF, "inline; filename*=UTF-8''a.PDF");
        check("a.pdf", false, PDF, "attachment; filename*=UTF-8''a.pdf");
        check("none", true, BYTES, "attachment; filename*=UTF-8''none");
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        check(
            "a\r\nx: \"y\";z",
            false,
            BYTES,
            "attachment; filename*=UTF-8''a%0D%0Ax%3A%20%22y%22%3Bz",
        );
        check("图.png", false, "image/png", "attachment; filename*=UTF-8''%E5%9B%BE.png");
    }
}
