//! A run as one file that the browser saves.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use crewagent_engine::export::{ExportError, export};
use crewagent_engine::store::RunId;

use crate::api::Id;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, BodyContent, blocking, path_of};
use crate::problem::Problem;
use crate::wire::Code;

/// The media type of the file.
const KIND: &str = "application/zip";

pub(super) fn endpoint() -> ApiEndpoint {
    ApiEndpoint {
        method: Method::GET,
        path: "/api/runs/{id}/export",
        summary: "A run as one file, without keys and without folders of the user",
        query: None,
        body: BodyContent::Nothing,
        answer: BodyContent::Bytes(KIND),
        route: get(save),
    }
}

async fn save(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let Id { id } = path_of(&mut request.into_parts().0).await?;
    let id = RunId::parse(&id)?;
    let name = format!("attachment; filename=\"crewagent-{id}.zip\"");
    let bytes = blocking(move || {
        export(&app.store()?, &id).map_err(|error| match error {
            ExportError::Run(error) => error.into(),
            ExportError::TooLarge => Problem::new(Code::TooLarge, error.to_string()),
            ExportError::Keys(_) => Problem::new(Code::Refused, error.to_string()),
            ExportError::Journal(_) | ExportError::Write(_) => {
                Problem::new(Code::Disk, error.to_string())
            }
        })
    })
    .await?;
    Ok(([(CONTENT_TYPE, KIND.to_owned()), (CONTENT_DISPOSITION, name)], bytes).into_response())
}
