//! Endpoints of the API: method, path, types and handler. The router and the OpenAPI document are both made from these,
//! so they cannot disagree.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts as _, Path, Query, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use crewagent_format::syntax::json::{MAX_VALUES, ValueCounter};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::problem::Problem;
use crate::wire::Code;

/// The body of a request must arrive within this time.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest JSON body: a file that may be written, with room for escapes.
const MAX_JSON_BYTES: usize = 8 << 20;

/// One endpoint of the API.
pub(crate) struct ApiEndpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: BodyContent,
    pub(crate) answer: BodyContent,
    pub(crate) route: MethodRouter<Arc<App>>,
}

/// Returns the schema of a type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The content of a body.
#[derive(Clone, Copy)]
pub(crate) enum BodyContent {
    Nothing,
    Json(SchemaOf),
    /// Bytes of this media type.
    Bytes(&'static str),
}

/// A parsed request. Parts that an endpoint does not use are `()`.
pub(crate) struct ParsedRequest<P = (), Q = (), B = ()> {
    pub(crate) app: Arc<App>,
    pub(crate) path: P,
    pub(crate) query: Q,
    pub(crate) body: B,
}

/// Makes a `GET` endpoint.
pub(crate) fn get<P, Q, R>(
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, Q>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    without_body(Method::GET, path, summary, answer)
}

/// Makes a `DELETE` endpoint.
pub(crate) fn delete<P, Q, R>(
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, Q>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    without_body(Method::DELETE, path, summary, answer)
}

/// Makes a `POST` endpoint.
pub(crate) fn post<P, B, R>(
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, (), B>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    B: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    with_body(Method::POST, path, summary, answer)
}

/// Makes a `PUT` endpoint.
pub(crate) fn put<P, B, R>(
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, (), B>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    B: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    with_body(Method::PUT, path, summary, answer)
}

/// Makes a `PATCH` endpoint.
pub(crate) fn patch<P, B, R>(
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, (), B>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    B: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    with_body(Method::PATCH, path, summary, answer)
}

fn without_body<P, Q, R>(
    method: Method,
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, Q>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    Q: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    let route = on(filter(&method), async move |State(app): State<Arc<App>>, request: Request| {
        let (mut parts, _) = request.into_parts();
        let (path, query) = (path_of(&mut parts).await?, query_of(&parts.uri)?);
        reply(move || answer(ParsedRequest { app, path, query, body: () })).await
    });
    ApiEndpoint {
        method,
        path,
        summary,
        query: Some(SchemaGenerator::subschema_for::<Q>),
        body: BodyContent::Nothing,
        answer: BodyContent::Json(SchemaGenerator::subschema_for::<R>),
        route,
    }
}

fn with_body<P, B, R>(
    method: Method,
    path: &'static str,
    summary: &'static str,
    answer: fn(ParsedRequest<P, (), B>) -> Result<R, Problem>,
) -> ApiEndpoint
where
    P: DeserializeOwned + Send + 'static,
    B: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    let route = on(filter(&method), async move |State(app): State<Arc<App>>, request: Request| {
        let (mut parts, body) = request.into_parts();
        let (path, body) = (path_of(&mut parts).await?, json_of(&parts.headers, body).await?);
        reply(move || answer(ParsedRequest { app, path, query: (), body })).await
    });
    ApiEndpoint {
        method,
        path,
        summary,
        query: None,
        body: BodyContent::Json(SchemaGenerator::subschema_for::<B>),
        answer: BodyContent::Json(SchemaGenerator::subschema_for::<R>),
        route,
    }
}

/// Returns the filter of a method.
fn filter(method: &Method) -> MethodFilter {
    match *method {
        Method::DELETE => MethodFilter::DELETE,
        Method::POST => MethodFilter::POST,
        Method::PUT => MethodFilter::PUT,
        Method::PATCH => MethodFilter::PATCH,
        _ => MethodFilter::GET,
    }
}

/// Runs work on a thread that may wait for the disk.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Problem> + Send + 'static,
) -> Result<R, Problem> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(Problem::new(Code::Internal, "the request failed inside the program, which is a bug")
            .hint("Nothing was lost. Please report it."))
    })
}

async fn reply<R: Serialize + Send + 'static>(
    work: impl FnOnce() -> Result<R, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    Ok(Json(blocking(work).await?).into_response())
}

pub(crate) async fn path_of<P: DeserializeOwned + Send>(parts: &mut Parts) -> Result<P, Problem> {
    let path = Path::<P>::from_request_parts(parts, &()).await;
    path.map(|Path(path)| path).map_err(|rejection| Problem::invalid(rejection.body_text()))
}

pub(crate) fn query_of<Q: DeserializeOwned>(uri: &Uri) -> Result<Q, Problem> {
    let query = Query::<Q>::try_from_uri(uri);
    query.map(|Query(query)| query).map_err(|rejection| Problem::invalid(rejection.body_text()))
}

async fn json_of<B: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<B, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(Code::WrongType, "the body must be `application/json`"));
    }
    let bytes = whole(body, MAX_JSON_BYTES).await?;
    // A tree takes many times the bytes of its text.
    let mut values = ValueCounter::default();
    values.read(&bytes);
    if values.is_over() {
        let message = format!("the body has more than {MAX_VALUES} values");
        return Err(Problem::new(Code::TooLarge, message));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::invalid(format!("the body does not fit: {error}")))
}

/// Reads a whole body, within the limits of size and time.
async fn whole(body: Body, limit: usize) -> Result<Bytes, Problem> {
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(too_large(limit as u64)),
        Err(_) => Err(too_slow()),
    }
}

fn too_large(limit: u64) -> Problem {
    Problem::new(Code::TooLarge, format!("the body is cut off, or longer than {limit} bytes"))
}

pub(crate) fn too_slow() -> Problem {
    Problem::new(Code::TooSlow, "the body did not come in time")
}
