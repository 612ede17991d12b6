//! Errors of both servers.

use crewagent_core::message::Message;
use crewagent_engine::model::{ModelErrorKind, Request};

use crate::ask::{ask, conversation, endpoint, forced, plain, whole, with_tools};
use crate::servers::{SHORT_WINDOW, free_port, litellm, llama};

fn long() -> Request {
    conversation(vec![Message::user("word ".repeat(SHORT_WINDOW as usize))])
}

#[test]
fn a_request_that_does_not_fit_is_about_the_window() {
    ask(whole(endpoint(llama(), "short")), &long()).check_error(ModelErrorKind::Window);
    ask(whole(endpoint(litellm(), "llama/short")), &long()).check_error(ModelErrorKind::Window);
    for model in [endpoint(litellm(), "window"), whole(endpoint(litellm(), "window"))] {
        ask(model, &plain()).check_error(ModelErrorKind::Window);
    }
}

/// llama.cpp fails after its header: a stream without an event, properly ended. Only a whole answer gives the reason.
#[test]
fn an_empty_stream_is_no_reply() {
    let error = ask(endpoint(llama(), "short"), &long()).error();
    assert!(matches!(error.kind, ModelErrorKind::Network | ModelErrorKind::Window), "{error:?}");
}

#[test]
fn a_wrong_key_is_about_the_key() {
    let mut model = endpoint(llama(), "talker");
    model.key = Some("wrong".into());
    ask(model.clone(), &plain()).check_error(ModelErrorKind::Auth);
    model.key = None;
    ask(model, &plain()).check_error(ModelErrorKind::Auth);
    let mut model = endpoint(litellm(), "plain");
    model.key = None;
    ask(model, &plain()).check_error(ModelErrorKind::Auth);
}

#[test]
fn a_wrong_address_is_refused() {
    for server in [llama(), litellm()] {
        let mut model = endpoint(server, "plain");
        model.base_url = model.base_url.replace("/v1", "/nowhere");
        ask(model, &plain()).check_error(ModelErrorKind::Rejected);
    }
}

#[test]
fn where_nobody_listens_the_way_is_broken() {
    let mut model = endpoint(llama(), "talker");
    model.base_url = format!("http://127.0.0.1:{}/v1", free_port());
    ask(model, &plain()).check_error(ModelErrorKind::Network);
}

#[test]
fn each_failure_of_the_proxy_has_its_kind() {
    for (name, kind) in [
        ("rate", ModelErrorKind::Rate),
        ("server", ModelErrorKind::Network),
        ("overloaded", ModelErrorKind::Network),
        ("filter", ModelErrorKind::Rejected),
        ("nowhere", ModelErrorKind::Rejected),
    ] {
        ask(endpoint(litellm(), name), &plain()).check_error(kind);
        ask(whole(endpoint(litellm(), name)), &plain()).check_error(kind);
    }
}

#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let mut model = endpoint(litellm(), "rate");
    model.timeouts.retries = 2;
    let said = ask(model, &plain());
    assert_eq!(said.tries.len(), 2, "{said:?}");
    said.check_error(ModelErrorKind::Rate);
    let mut model = endpoint(litellm(), "window");
    model.timeouts.retries = 2;
    assert_eq!(ask(model, &plain()).tries, []);
}

#[test]
fn a_tool_that_the_server_does_not_know_is_an_error() {
    let model = forced(endpoint(llama(), "caller"), "no_such_tool");
    let error = ask(whole(model), &with_tools()).error();
    assert!(error.message.contains("no_such_tool"), "{error}");
}
