//! The models that a server lists.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use crewagent_dialect::profile::endpoint as address;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;
use crewagent_format::wording::{distance, joined_up_to};
use reqwest::header::ACCEPT;
use secrecy::ExposeSecret as _;
use serde_json::Value as Json;

use crate::chat::client::Client;
use crate::chat::failure::{ConnectionLayer, Failure, Timer, causes};

/// Time limit of the whole list.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum size of the list, in bytes.
const MOST: usize = 8 << 20;
/// Maximum number of names that are shown.
const SHOWN: usize = 5;

/// Result of listing the models.
#[derive(Debug)]
pub(in crate::chat) enum ModelList {
    Models(Vec<Json>),
    /// The server has no list, or does not show it.
    Nothing,
    /// The server was not reached.
    Failed(Failure),
}

/// Requests the list.
pub(in crate::chat) fn list(endpoint: &Endpoint, client: &Client) -> Result<ModelList, ModelError> {
    let Ok(url) = address(&endpoint.base_url, "models") else { return Ok(ModelList::Nothing) };
    let mut request = client.pool(endpoint)?.get(url).header(ACCEPT, "application/json");
    if let Some(key) = &endpoint.key {
        request = request.bearer_auth(key.expose_secret());
    }
    for (name, value) in &endpoint.headers {
        request = request.header(name, value.expose_secret());
    }
    let fetched = client.block_on(async {
        match tokio::time::timeout(TIMEOUT, body(request)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(Failure::Silent(Timer::FirstByte)),
        }
    });
    Ok(match fetched {
        Ok(Some(body)) => read(&body),
        Ok(None) => ModelList::Nothing,
        Err(failure) => ModelList::Failed(failure),
    })
}

/// Returns the body of a successful answer.
async fn body(request: reqwest::RequestBuilder) -> Result<Option<Bytes>, Failure> {
    body_of(request.send().await.map_err(|error| Failure::of_request(&error))?).await
}

/// Returns the body, unless the answer is a refusal or too long.
pub(in crate::chat) async fn body_of(
    mut response: reqwest::Response,
) -> Result<Option<Bytes>, Failure> {
    if !response.status().is_success() {
        return Ok(None);
    }
    let lost = |error: reqwest::Error| Failure::Unreachable {
        layer: ConnectionLayer::Http,
        why: causes(&error),
    };
    let mut body = BytesMut::new();
    while let Some(more) = response.chunk().await.map_err(lost)? {
        if body.len() + more.len() > MOST {
            return Ok(None);
        }
        body.extend_from_slice(&more);
    }
    Ok(Some(body.freeze()))
}

/// Parses `{"data": […]}`, `{"models": […]}` or a bare list.
pub(in crate::chat) fn read(body: &[u8]) -> ModelList {
    let Ok(value) = serde_json::from_slice::<Json>(body) else { return ModelList::Nothing };
    let list = [value.get("data"), value.get("models"), Some(&value)];
    let list = list.into_iter().flatten().find_map(Json::as_array);
    list.map_or(ModelList::Nothing, |list| ModelList::Models(list.clone()))
}

impl ModelList {
    /// Returns advice about a missing model.
    pub(in crate::chat) fn advice(&self, wanted: &str) -> String {
        let mut names = self.names();
        if names.is_empty() {
            return "spell the model as the provider lists it; a local server must have it installed".to_owned();
        }
        names.sort_by_key(|name| distance(name, wanted));
        format!("the server has {}", joined_up_to(names, SHOWN))
    }

    /// Returns the size of a model's window, if the server reports it.
    pub(in crate::chat) fn window(&self, model: &str) -> Option<u64> {
        const FIELDS: [&str; 8] = [
            "/context_length",
            "/context_window",
            "/max_model_len",
            "/max_context_length",
            "/max_input_tokens",
            "/input_token_limit",
            "/top_provider/context_length",
            "/meta/n_ctx",
        ];
        let Self::Models(models) = self else { return None };
        let found = models.iter().find(|one| name(one) == Some(model))?;
        let mut sizes = FIELDS.iter().filter_map(|field| found.pointer(field)?.as_u64());
        sizes.find(|size| *size >= 512)
    }

    /// Returns true if the server listed its models.
    pub(in crate::chat) fn is_list(&self) -> bool {
        matches!(self, Self::Models(_))
    }

    pub(in crate::chat) fn names(&self) -> Vec<&str> {
        match self {
            Self::Models(models) => models.iter().filter_map(name).collect(),
            Self::Nothing | Self::Failed(_) => Vec::new(),
        }
    }
}

fn name(model: &Json) -> Option<&str> {
    let name = model.get("id").or_else(|| model.get("name")).and_then(Json::as_str)?;
    // Gemini writes `models/…` and accepts both.
    Some(name.strip_prefix("models/").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_models_has_many_forms() {
        for (body, window) in [
            (r#"{"data":[{"id":"m","context_length":32768}]}"#, Some(32768)),
            (r#"{"data":[{"id":"models/m","max_model_len":4096}]}"#, Some(4096)),
            (r#"[{"id":"m","top_provider":{"context_length":9000}}]"#, Some(9000)),
            (r#"{"models":[{"name":"m"}],"object":"list"}"#, None),
            (r#"{"data":[{"id":"other","context_length":32768}]}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(read(body.as_bytes()).window("m"), window, "{body}");
        }
    }

    #[test]
    fn the_nearest_names_are_shown() {
        let body = r#"{"data":[{"id":"a"},{"id":"zzzzzz"},{"id":"gpt-5-mini"},{"id":"gpt-5"},{"id":"b"},{"id":"yyyyyyy"}]}"#;
        let advice = read(body.as_bytes()).advice("gpt5");
        assert!(advice.starts_with("the server has gpt-5, "), "{advice}");
        assert!(advice.ends_with("and 1 more"), "{advice}");
    }
}
