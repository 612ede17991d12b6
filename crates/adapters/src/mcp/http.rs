//! HTTP client of the SDK's transport, which reads no more of an answer than a message may have.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream_of_rmcp::{Sse, SseStream};

use super::reader::{MessageSize, Separator};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Maximum bytes of an answer that is quoted.
const QUOTED: usize = 256;

type HttpFailure = StreamableHttpError<reqwest::Error>;
type HeaderValues = HashMap<HeaderName, HeaderValue>;

/// Client with limits.
#[derive(Clone, Debug)]
pub(super) struct BoundedClient(pub(super) Client);

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HeaderValues,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let has_session = session.is_some();
        let body = serde_json::to_vec(&message)?;
        let request = self.0.post(uri.as_ref()).header(CONTENT_TYPE, JSON).body(body);
        let response = completed(request, session, token, headers).send().await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        check_access(&response)?;
        let kind = text_of(&response, &CONTENT_TYPE);
        let session = text_of(&response, &SESSION);
        let is_json = kind.as_deref().is_some_and(|kind| kind.starts_with(JSON));
        if status.is_success() && kind.as_deref().is_some_and(|kind| kind.starts_with(EVENTS)) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        let body = whole(response).await?;
        let answer = is_json.then(|| serde_json::from_slice::<ServerJsonRpcMessage>(&body));
        let awaits_answer = matches!(message, JsonRpcMessage::Request(_));
        match answer {
            Some(Ok(answer @ JsonRpcMessage::Error(_))) => {
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            Some(Ok(answer)) if status.is_success() => {
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            // What follows a notification does not matter, and some servers send an empty page.
            Some(Err(_)) | None if status.is_success() && !awaits_answer => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            None if status.is_success() => Err(StreamableHttpError::UnexpectedContentType(kind)),
            Some(_) | None => Err(unexpected(status, &body)),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HeaderValues,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpFailure> {
        let mut request = completed(self.0.get(uri.as_ref()), session, token, headers);
        if let Some(last) = last_event {
            request = request.header(LAST_EVENT, last);
        }
        let response = request.send().await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        check_access(&response)?;
        let response = response.error_for_status()?;
        match text_of(&response, &CONTENT_TYPE) {
            Some(kind) if kind.starts_with(EVENTS) => Ok(events(response)),
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HeaderValues,
    ) -> Result<(), HttpFailure> {
        let request = completed(self.0.delete(uri.as_ref()), Some(session), token, headers);
        let response = request.send().await?;
        if response.status() != StatusCode::METHOD_NOT_ALLOWED {
            response.error_for_status()?;
        }
        Ok(())
    }
}

/// Adds the headers that every request has.
fn completed(
    mut request: RequestBuilder,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: HeaderValues,
) -> RequestBuilder {
    request = request.header(ACCEPT, format!("{EVENTS}, {JSON}"));
    if let Some(session) = session {
        request = request.header(SESSION, session.as_ref());
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

fn text_of(response: &Response, name: &HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn check_access(response: &Response) -> Result<(), HttpFailure> {
    match text_of(response, &WWW_AUTHENTICATE) {
        Some(challenge) if response.status() == StatusCode::UNAUTHORIZED => {
            Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        Some(_) | None => Ok(()),
    }
}

fn unexpected(status: StatusCode, body: &[u8]) -> HttpFailure {
    let text = String::from_utf8_lossy(&body[..body.len().min(QUOTED)]).into_owned();
    StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}: {text}").into())
}

/// Reads a whole body, which is one message.
async fn whole(response: Response) -> Result<Bytes, HttpFailure> {
    let mut bytes = response.bytes_stream();
    let (mut size, mut body) = (MessageSize::new(Separator::None), BytesMut::new());
    while let Some(more) = bytes.try_next().await? {
        if let Some(why) = size.read(&more) {
            return Err(StreamableHttpError::UnexpectedServerResponse(why.into()));
        }
        body.extend_from_slice(&more);
    }
    Ok(body.freeze())
}

/// Reads events, each of which is one message.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut size = MessageSize::new(Separator::BlankLine);
    let bytes = response.bytes_stream().map(move |more| {
        let more = more.map_err(io::Error::other)?;
        match size.read(&more) {
            Some(why) => Err(io::Error::other(why)),
            None => Ok(more),
        }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}
