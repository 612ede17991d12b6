//! Refused clients: other pages, other users, other names, odd paths, floods.

use std::cell::OnceCell;
use std::fs;
use std::io::{Read as _, Write as _};
use std::rc::Rc;

use serde_json::json;

use super::client::{Browser, read_answer};
use super::{UiServer, tiny};
use crate::support::CliFixture;

/// Returns the server of this thread of tests, which no refused request changes. It ends with the thread, as a static
/// would not.
fn server() -> Rc<(UiServer, CliFixture)> {
    thread_local! {
        static SERVER: OnceCell<Rc<(UiServer, CliFixture)>> = const { OnceCell::new() };
    }
    let start = || {
        let world = tiny();
        Rc::new((UiServer::start(&world, 0), world))
    };
    SERVER.with(|server| Rc::clone(server.get_or_init(start)))
}

/// Returns its logged-in browser.
fn let_in() -> Browser {
    thread_local! {
        static FIRST: OnceCell<Browser> = const { OnceCell::new() };
    }
    FIRST.with(|first| first.get_or_init(|| server().0.browser()).clone())
}

fn check_refused(headers: &[(&str, &str)], status: u16, code: &str) {
    for (method, path) in [("GET", "/api/app"), ("GET", "/api/events"), ("POST", "/api/runs")] {
        let mut headers = headers.to_vec();
        headers.push(("content-type", "application/json"));
        let answer = let_in().send(method, path, &headers, b"{}");
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {path}");
    }
}

#[test]
fn a_name_that_was_bent_to_this_address_is_refused() {
    let port = server().0.port;
    check_refused(&[("host", "evil.test")], 403, "forbidden");
    check_refused(&[("host", &format!("evil.test:{port}"))], 403, "forbidden");
    check_refused(&[("host", &format!("127.0.0.1.evil.test:{port}"))], 403, "forbidden");
    check_refused(&[("host", "127.0.0.1")], 403, "forbidden");
    check_refused(&[("host", "127.0.0.1:1")], 403, "forbidden");
    check_refused(&[("host", &format!("user@127.0.0.1:{port}"))], 403, "forbidden");
    let own = format!("localhost:{port}");
    assert_eq!(let_in().send("GET", "/api/app", &[("host", &own)], b"").status, 200);
}

#[test]
fn a_page_by_another_name_gets_not_even_the_page() {
    let answer = let_in().send("GET", "/", &[("host", "evil.test")], b"");
    assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"));
}

#[test]
fn a_request_without_a_host_or_with_two_is_refused() {
    let browser = let_in();
    for head in [
        "GET /api/app HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(),
        browser.head("GET", "/api/app", &[], 0).replace("\r\n\r\n", "\r\nhost: evil.test\r\n\r\n"),
        browser.head("GET", "http://evil.test/api/app", &[], 0),
    ] {
        let mut socket = browser.connect();
        socket.write_all(head.as_bytes()).unwrap();
        let answer = read_answer(&mut std::io::BufReader::new(socket));
        assert!(matches!(answer.status, 400 | 403), "{head}{}", answer.text());
    }
}

#[test]
fn another_page_is_refused_whatever_it_sends() {
    check_refused(&[("origin", "https://evil.test")], 403, "forbidden");
    check_refused(&[("origin", "null")], 403, "forbidden");
    check_refused(&[("origin", "http://127.0.0.1:1")], 403, "forbidden");
    check_refused(&[("origin", "https://127.0.0.1")], 403, "forbidden");
    check_refused(&[("sec-fetch-site", "cross-site")], 403, "forbidden");
    check_refused(&[("sec-fetch-site", "same-site")], 403, "forbidden");
}

#[test]
fn another_page_gets_no_leave_to_ask_and_no_way_in_by_a_form() {
    let browser = let_in();
    let foreign = [("origin", "https://evil.test"), ("access-control-request-method", "POST")];
    let answer = browser.send("OPTIONS", "/api/runs", &foreign, b"");
    assert_eq!(answer.status, 403);
    assert!(answer.header("access-control-allow-origin").is_none());
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let answer = browser.send("POST", "/api/runs", &[("content-type", kind)], b"{}");
        assert_eq!((answer.status, answer.code().as_str()), (415, "wrong-type"), "{kind}");
    }
}

#[test]
fn without_the_cookie_nothing_is_told() {
    let port = server().0.port;
    let stranger = Browser::new(port);
    for path in ["/api/app", "/api/events", "/api/openapi.json", "/api/nothing", "/api"] {
        assert_eq!(stranger.get(path).code(), "unauthorized", "{path}");
    }
    let wrong = format!("crewagent-{port}={}", "0".repeat(64));
    let answer = stranger.send("GET", "/api/app", &[("cookie", &wrong)], b"");
    assert_eq!(answer.code(), "unauthorized");
    let by_link = stranger.send("GET", "/api/app?token=x", &[("authorization", "Bearer x")], b"");
    assert_eq!(by_link.code(), "unauthorized");
}

#[test]
fn a_link_works_once_and_the_cookie_is_strict() {
    let world = CliFixture::new();
    let server = UiServer::start(&world, 0);
    let path = server.url.split_once(&server.port.to_string()).unwrap().1;
    let mut browser = Browser::new(server.port);
    // A HEAD request does not use the link up.
    assert_eq!(browser.send("HEAD", path, &[], b"").status, 405);
    let entered = browser.get(path);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/")));
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(browser.get(path).status, 403);
    assert_eq!(browser.get("/enter?token=").status, 403);
    assert_eq!(browser.get("/enter?token=a&token=b").status, 403);
    browser.keep_cookie(&entered);
    // A logged-in browser is sent to the page again.
    assert_eq!(browser.get(path).status, 303);
    assert_eq!(browser.send("POST", "/api/leave", &[], b"").status, 200);
    assert_eq!(browser.get("/api/app").code(), "unauthorized");
}

#[test]
fn the_streams_of_a_browser_end_when_it_leaves() {
    let world = CliFixture::new();
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    let mut stream = browser.stream("", None);
    assert_eq!(stream.next().unwrap().name, "hello");
    assert_eq!(browser.send("POST", "/api/leave", &[], b"").status, 200);
    assert!(stream.next().is_none());
    assert_eq!(browser.get("/api/events").code(), "unauthorized");
}

#[test]
fn every_answer_tells_the_browser_to_be_strict() {
    for path in ["/", "/api/app", "/nothing.js"] {
        let answer = let_in().get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
    assert_eq!(let_in().get("/api/app").header("cache-control"), Some("no-store"));
}

#[test]
fn the_page_is_served_for_places_and_not_for_missing_files() {
    let browser = let_in();
    for path in ["/", "/runs/x", "/settings"] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        let tag = answer.header("etag").unwrap();
        assert_eq!(browser.send("GET", path, &[("if-none-match", tag)], b"").status, 304);
    }
    for path in ["/assets/x.js", "/../../etc/passwd.txt", "/%2e%2e/%2e%2e/etc/passwd.", "/x.map"] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
    assert_eq!(browser.send("POST", "/", &[], b"").status, 405);
}

#[test]
fn a_file_of_a_project_is_saved_and_never_run() {
    let server = server();
    let (_, world) = &*server;
    let folder = world.path("hostile");
    fs::create_dir_all(&folder).unwrap();
    for name in ["page.html", "page.svg", "page.pdf"] {
        fs::write(folder.join(name), "<script>alert(1)</script>").unwrap();
    }
    let body = json!({ "path": folder.to_str().unwrap() });
    let project = let_in().post("/api/projects", &body).good();
    let at = format!("/api/projects/{}/content", project["id"].as_str().unwrap());
    for (name, kind, how, framed) in [
        ("page.html", "application/octet-stream", "attachment", "DENY"),
        ("page.svg", "image/svg+xml", "attachment", "DENY"),
        ("page.pdf", "application/pdf", "inline", "SAMEORIGIN"),
    ] {
        let answer = let_in().get(&format!("{at}?path={name}&inline=true&version=1"));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{name}");
        assert!(answer.header("content-disposition").unwrap().starts_with(how), "{name}");
        assert_eq!(answer.header("x-frame-options"), Some(framed), "{name}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{name}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{name}");
    }
    let other = let_in().send(
        "GET",
        &format!("{at}?path=page.svg"),
        &[("sec-fetch-site", "cross-site")],
        b"",
    );
    assert_eq!(other.code(), "forbidden");
}

#[test]
fn no_path_leads_out_of_a_project() {
    let server = server();
    let (_, world) = &*server;
    let browser = let_in();
    let folder = world.path("fenced");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("in.txt"), "in").unwrap();
    fs::write(world.path("out.txt"), "out").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(world.path("out.txt"), folder.join("link.txt")).unwrap();
    let body = json!({ "path": folder.to_str().unwrap() });
    let project = browser.post("/api/projects", &body).good();
    let at = format!("/api/projects/{}/file", project["id"].as_str().unwrap());
    let content = at.replace("/file", "/content");
    assert_eq!(browser.get(&format!("{content}?path=in.txt")).text(), "in");
    let read = browser.get(&format!("{at}?path=in.txt")).good();
    assert_eq!(read["text"], "in");
    for path in [
        "../out.txt",
        "..%2Fout.txt",
        "%2e%2e/out.txt",
        "a/../../out.txt",
        "/etc/passwd",
        "C:%5Cx",
        "..%5Cout.txt",
        "in.txt%00",
        "link.txt",
        "@pkg/bmad.json",
        "@state/workflow.md",
        ".",
    ] {
        let answer = browser.get(&format!("{at}?path={path}"));
        assert!(answer.status >= 400 && !answer.text().contains("\"text\""), "{path}");
        assert!(browser.get(&format!("{content}?path={path}")).status >= 400, "{path}");
    }
    for path in ["../out.txt", "a/../../out.txt", "/etc/x", "..\\out.txt", "link.txt", "a\0", ""] {
        let body = json!({ "path": path, "text": "x" });
        assert!(browser.json("PUT", &at, &body).status >= 400, "{path}");
    }
    assert_eq!(fs::read_to_string(world.path("out.txt")).unwrap(), "out");
    let sha256 = read["sha256"].as_str().unwrap();
    let write = json!({ "path": "in.txt", "text": "new", "ifMatchSha256": sha256 });
    assert_eq!(browser.json("PUT", &at, &write).good()["text"], "new");
    assert_eq!(browser.json("PUT", &at, &write).code(), "changed");
}

#[test]
fn an_id_in_a_path_is_no_path() {
    let browser = let_in();
    for id in ["..%2F..%2Fx", "%2e%2e", "x%00", "a%2Fb"] {
        for path in
            ["/api/runs/ID", "/api/runs/ID/state", "/api/conversations/ID", "/api/projects/ID"]
        {
            let answer = browser.get(&path.replace("ID", id));
            assert!(matches!(answer.status, 400 | 404), "{path} {id}: {}", answer.text());
        }
    }
}

#[test]
fn a_flood_is_cut_off() {
    let browser = let_in();
    let kind = ("content-type", "application/json");
    let long = vec![b' '; 9 << 20];
    let answer = browser.send("POST", "/api/runs", &[kind], &long);
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    let many = format!("[{}1]", "1,".repeat(500_000));
    let answer = browser.send("POST", "/api/runs", &[kind], many.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    let kind = ("content-type", "application/octet-stream");
    // A file with a declared length is refused before it is sent.
    let mut socket = browser.connect();
    let head = browser.head("POST", "/api/packages/inspect-file", &[kind], 65 << 20);
    socket.write_all(head.as_bytes()).unwrap();
    let answer = read_answer(&mut std::io::BufReader::new(socket));
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    let long = format!("/api/runs?project={}", "x".repeat(64 << 10));
    assert!(browser.get(&long).status >= 400);
}

#[test]
fn connections_that_say_nothing_do_not_keep_others_out() {
    let world = CliFixture::new();
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    let mut idle: Vec<_> = (0..300).map(|_| browser.connect()).collect();
    for socket in idle.iter_mut().take(100) {
        socket.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
    }
    assert_eq!(browser.get("/api/app").status, 200);
}

#[test]
fn connections_without_a_cookie_end_after_their_answer() {
    let (world, closes) = (CliFixture::new(), [("connection", "keep-alive")]);
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    let stranger = Browser::new(server.port);
    // The answer ends where the server closes the connection; a connection that is kept would not end.
    for _ in 0..300 {
        let answer = stranger.send("GET", "/", &closes, b"");
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    }
    let answer = stranger.send("GET", "/api/app", &closes, b"");
    assert_eq!((answer.status, answer.header("connection")), (401, Some("close")));
    let mut socket = browser.connect();
    for _ in 0..2 {
        let head = browser.head("GET", "/api/app", &closes, 0);
        socket.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 12];
        socket.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        let mut rest = vec![0; 1 << 16];
        let read = socket.read(&mut rest).unwrap();
        assert!(!String::from_utf8_lossy(&rest[..read]).contains("connection: close"));
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_secrets_of_the_server() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = server();
    let (_, world) = &*server;
    let_in();
    for name in ["instance.json", "cookies"] {
        let mode =
            fs::metadata(world.path("store/server").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    let mode = fs::metadata(world.path("store/server")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn what_makes_no_sense_is_refused_in_one_shape() {
    let browser = let_in();
    for path in [
        "/api/events?bogus=1",
        "/api/events?watch=x",
        "/api/runs?limit=x",
        "/api/runs/%ff/export",
        "/api/runs/%ff",
        "/api/runs/x/requests/y",
    ] {
        let answer = browser.get(path);
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid"), "{path}");
    }
}
