//! The API: every endpoint, and the router that is made of them.

mod conversations;
mod files;
mod mcp;
mod models;
mod packages;
mod projects;
mod runs;
mod settings;
mod system;
mod tools;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use schemars::SchemaGenerator;
use serde::Deserialize;

use crate::app::App;
use crate::endpoint::{ApiEndpoint, BodyContent};
use crate::instance::LINK_PATH;
use crate::problem::Problem;
use crate::wire::{Code, FreshLink, Nothing, Watch};
use crate::{assets, gate, openapi, stream};

/// The id in a path.
#[derive(Deserialize)]
struct Id {
    id: String,
}

/// The id and the digest in a path.
#[derive(Deserialize)]
struct Blob {
    id: String,
    sha256: String,
}

/// The run and the turn in a path.
#[derive(Deserialize)]
struct TurnPath {
    id: String,
    turn: u64,
}

/// Returns every endpoint.
pub(crate) fn endpoints() -> Vec<ApiEndpoint> {
    let mut all = system::endpoints();
    all.extend(projects::endpoints());
    all.extend(files::endpoints());
    all.extend(packages::endpoints());
    all.extend(conversations::endpoints());
    all.extend(runs::endpoints());
    all.extend(models::endpoints());
    all.extend(mcp::endpoints());
    all.extend(tools::endpoints());
    all.extend(settings::endpoints());
    all.extend([
        ApiEndpoint {
            method: Method::GET,
            path: "/api/events",
            summary: "The stream of events of one tab; resumable by `Last-Event-ID`",
            query: Some(SchemaGenerator::subschema_for::<Watch>),
            body: BodyContent::Nothing,
            answer: BodyContent::Bytes("text/event-stream"),
            route: get(stream::open),
        },
        ApiEndpoint {
            method: Method::POST,
            path: "/api/leave",
            summary: "Takes the cookie of this browser away",
            query: None,
            body: BodyContent::Nothing,
            answer: BodyContent::Json(SchemaGenerator::subschema_for::<Nothing>),
            route: post(assets::leave),
        },
    ]);
    all
}

/// Returns the router of the whole server.
pub(crate) fn router(app: Arc<App>) -> Router {
    let endpoints = endpoints();
    let document = Arc::new(openapi::document(&endpoints));
    let described = get(move || async move { Json(Arc::clone(&document)) });
    let mut router = Router::new()
        // `HEAD` must not use up a link.
        .route("/enter", get(assets::enter).head(wrong_method))
        .route(LINK_PATH, post(link))
        .route("/api/openapi.json", described);
    for ApiEndpoint { path, route, .. } in endpoints {
        router = router.route(path, route);
    }
    router
        .route("/api/{*rest}", axum::routing::any(unknown))
        .fallback(get(assets::serve))
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), gate::check))
        .with_state(app)
}

/// Returns a link for a second start on the same store. The gate has checked its secret.
async fn link(State(app): State<Arc<App>>) -> Json<FreshLink> {
    Json(FreshLink { url: app.fresh_url() })
}

async fn unknown() -> Problem {
    Problem::missing("there is no such request").hint("/api/openapi.json lists what there is.")
}

async fn wrong_method() -> Problem {
    Problem::new(Code::WrongMethod, "this address does not take this method")
}
