//! Model servers on this computer: the addresses that they usually have are asked for their models, all at once.

use std::time::Duration;

use crewagent_dialect::profile::{Profile, endpoint as address};
use crewagent_engine::store::Environment;
use reqwest::StatusCode;
use reqwest::header::ACCEPT;
use tokio::task::JoinSet;

use super::client::{Client, connections, is_local};
use super::connection_test::models::{body_of, read};

/// Variable with the addresses to ask instead: `profile=url`, separated by commas. None if it is `off`.
const VARIABLE: &str = "CREWAGENT_LOCAL_SERVERS";
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Time limit of an answer. A server that is busy with its models may miss it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of models of one server.
const MAX_MODELS: usize = 200;
/// Part of the names of models that give vectors, not replies.
const EMBEDDING: &str = "embed";

/// A model server on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    /// Name of its profile.
    pub profile: String,
    pub base_url: String,
    /// Models that can reply, as the server calls them.
    pub models: Vec<String>,
    /// True if it lists them only with a key.
    pub needs_key: bool,
}

/// Finds the model servers on this computer. Addresses elsewhere are never asked.
pub fn local_servers(client: &Client, environment: &Environment<'_>) -> Vec<FoundServer> {
    client.block_on(async {
        let mut asked = JoinSet::new();
        for (at, (profile, base_url)) in candidates(environment).into_iter().enumerate() {
            asked.spawn(async move { (at, ask(profile, base_url).await) });
        }
        let mut found: Vec<(usize, Option<FoundServer>)> = asked.join_all().await;
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().filter_map(|(_, server)| server).collect()
    })
}

/// Returns profiles with the addresses to ask.
fn candidates(environment: &Environment<'_>) -> Vec<(String, String)> {
    let all: Vec<(String, String)> = match environment.get(VARIABLE) {
        Some(list) => list
            .split(',')
            .filter_map(|one| one.split_once('='))
            .map(|(profile, url)| (profile.trim().to_owned(), url.trim().to_owned()))
            .collect(),
        None => Profile::names()
            .filter_map(|name| Some((name.to_owned(), Profile::built_in(name)?.base_url.clone()?)))
            .collect(),
    };
    all.into_iter().filter(|(_, url)| is_local(url)).collect()
}

async fn ask(profile: String, base_url: String) -> Option<FoundServer> {
    let url = address(&base_url, "models").ok()?;
    let request = connections(&base_url, CONNECT_TIMEOUT).ok()?.get(url);
    let answered = tokio::time::timeout(ANSWER_TIMEOUT, async {
        let response = request.header(ACCEPT, "application/json").send().await.ok()?;
        let needs_key =
            matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if needs_key {
            return Some((Vec::new(), true));
        }
        let list = read(&body_of(response).await.ok()??);
        list.is_list().then(|| (names(list.names()), false))
    });
    let (models, needs_key) = answered.await.ok()??;
    Some(FoundServer { profile, base_url, models, needs_key })
}

fn names(all: Vec<&str>) -> Vec<String> {
    let can_reply = all.into_iter().filter(|name| !name.to_lowercase().contains(EMBEDDING));
    can_reply.take(MAX_MODELS).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Answers one request, and returns the address.
    fn serve(status: &'static str, body: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        });
        url
    }

    fn find(list: &str) -> Vec<FoundServer> {
        let list = Some(list.to_owned());
        let environment = Environment::new(move |name| list.clone().filter(|_| name == VARIABLE));
        local_servers(&Client::new().unwrap(), &environment)
    }

    #[test]
    fn servers_are_found_with_the_models_that_can_reply() {
        let ollama = serve(
            "200 OK",
            r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"nomic-embed-text"},{"id":"llama3.2"}]}"#,
        );
        let locked = serve("401 Unauthorized", "{}");
        let found = find(&format!("ollama={ollama}, llama-cpp = {locked}"));
        let server = |profile: &str, base_url, models: &[&str], needs_key| FoundServer {
            profile: profile.to_owned(),
            base_url,
            models: models.iter().map(|name| (*name).to_owned()).collect(),
            needs_key,
        };
        assert_eq!(
            found,
            [
                server("ollama", ollama, &["qwen3:8b", "llama3.2"], false),
                server("llama-cpp", locked, &[], true),
            ]
        );
    }

    #[test]
    fn a_server_that_is_silent_or_something_else_is_not_found() {
        let page = serve("200 OK", "<html>");
        let missing = serve("404 Not Found", "{}");
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = format!("http://{}/v1", silent.local_addr().unwrap());
        assert_eq!(find(&format!("vllm={page},ollama={missing},lm-studio={silent}")), []);
        assert_eq!(find("off"), []);
    }

    #[test]
    fn only_this_computer_is_asked() {
        let list = "ollama=http://192.0.2.1:11434/v1,vllm=https://example.com/v1,lm-studio=http://localhost:1/v1";
        let environment = Environment::new(|_| Some(list.to_owned()));
        assert_eq!(
            candidates(&environment),
            [("lm-studio".to_owned(), "http://localhost:1/v1".to_owned())]
        );
        let usual: Vec<String> =
            candidates(&Environment::new(|_| None)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(usual, ["ollama", "lm-studio", "llama-cpp", "vllm"]);
    }
}
