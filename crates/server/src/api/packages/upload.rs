//! Packages that the browser sends as a file.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Uri};
use axum::routing::post;
use crewagent_engine::store::Store;
use futures_util::StreamExt as _;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use super::{imported, looked};
use crate::app::App;
use crate::endpoint::{ApiEndpoint, BODY_TIMEOUT, BodyContent, blocking, query_of, too_slow};
use crate::problem::Problem;
use crate::wire::{Code, ImportedPackage, Report, UploadQuery};

/// Largest file that is accepted. Its content has limits of its own.
pub(in crate::api) const MAX_UPLOAD: u32 = 64 << 20;
/// The media type of an upload.
const KIND: &str = "application/octet-stream";

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        endpoint::<Report>(
            "/api/packages/inspect-file",
            "Checks a `.bmad` file, or a `.zip` of foreign content; nothing is kept",
            looked,
        ),
        endpoint::<ImportedPackage>(
            "/api/packages/import-file",
            "Imports a `.bmad` file, or a `.zip` of foreign content, if it has no errors",
            imported,
        ),
    ]
}

fn endpoint<R: Serialize + JsonSchema + Send + 'static>(
    path: &'static str,
    summary: &'static str,
    work: fn(&Store, &Path, Option<&str>) -> Result<R, Problem>,
) -> ApiEndpoint {
    let route =
        async move |State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap, body: Body| {
            let UploadQuery { name } = query_of(&uri)?;
            let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            if kind != Some(KIND) {
                return Err(Problem::new(Code::WrongType, format!("the body must be `{KIND}`")));
            }
            // A body that declares too great a length is refused at once.
            let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
            if length
                .and_then(|length| length.parse().ok())
                .is_some_and(|length: u64| length > MAX_UPLOAD.into())
            {
                return Err(too_long());
            }
            let file = receive(body).await?;
            blocking(move || work(&app.store()?, file.path(), name.as_deref()).map(Json)).await
        };
    ApiEndpoint {
        method: Method::POST,
        path,
        summary,
        query: Some(SchemaGenerator::subschema_for::<UploadQuery>),
        body: BodyContent::Bytes(KIND),
        answer: BodyContent::Json(SchemaGenerator::subschema_for::<R>),
        route: post(route),
    }
}

fn too_long() -> Problem {
    let limit = MAX_UPLOAD >> 20;
    Problem::new(Code::TooLarge, format!("the file is larger than {limit} MiB"))
        .hint("Import it by its path on this computer, or leave bulk data out of the package.")
}

fn cut_off() -> Problem {
    Problem::new(Code::Invalid, "the file did not come whole").hint("Send it again.")
}

/// Writes a body to a temporary file.
async fn receive(body: Body) -> Result<NamedTempFile, Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(Code::Disk, format!("the file cannot be kept for the check: {error}"))
    };
    let file = tempfile::Builder::new().suffix(".bmad").tempfile().map_err(failed)?;
    let mut target = tokio::fs::File::from_std(file.reopen().map_err(failed)?);
    let received = async {
        let (mut stream, mut size) = (body.into_data_stream(), 0_u64);
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|_| cut_off())?;
            size += piece.len() as u64;
            if size > MAX_UPLOAD.into() {
                return Err(too_long());
            }
            target.write_all(&piece).await.map_err(failed)?;
        }
        target.flush().await.map_err(failed)
    };
    tokio::time::timeout(BODY_TIMEOUT, received).await.map_err(|_| too_slow())??;
    Ok(file)
}
