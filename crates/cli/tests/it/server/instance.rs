//! Tests of the single server of a store, and of its end.

use std::fs;
use std::process::{Command, Stdio};

use super::client::Browser;
use super::{UiServer, tiny};
use crate::support::CliFixture;

#[test]
fn a_second_start_opens_the_page_of_the_first() {
    let world = CliFixture::new();
    let server = UiServer::start(&world, 0);
    let second = world.run(&["ui", "--no-open"]);
    assert_eq!(second.code, 0, "{second:?}");
    let url = second.out.lines().next().unwrap();
    assert!(url.starts_with(&format!("http://127.0.0.1:{}/enter?token=", server.port)), "{url}");
    assert_ne!(url, server.url);
    let answer = Browser::new(server.port).get(url.split_once(&server.port.to_string()).unwrap().1);
    assert_eq!(answer.status, 303);
    // The first link is still valid.
    server.browser();
}

#[test]
fn only_the_secret_of_the_store_gives_a_link() {
    let world = CliFixture::new();
    let server = UiServer::start(&world, 0);
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(world.path("store/server/instance.json")).unwrap())
            .unwrap();
    let secret = format!("Bearer {}", record["secret"].as_str().unwrap());
    let stranger = Browser::new(server.port);
    let ask = |secret: &str, page: &str| {
        let headers = [("authorization", secret), ("origin", page), ("sec-fetch-site", page)];
        stranger.send("POST", "/instance/link", &headers, b"")
    };
    assert_eq!(ask("", "").code(), "forbidden");
    assert_eq!(ask("Bearer x", "").code(), "forbidden");
    // A browser never has it.
    assert_eq!(ask(&secret, "same-origin").code(), "forbidden");
    assert!(ask(&secret, "").good()["url"].as_str().unwrap().contains("token="));
}

#[test]
fn two_stores_are_served_side_by_side_at_the_next_free_port() {
    let (one, other) = (CliFixture::new(), CliFixture::new());
    let first = UiServer::start(&one, 0);
    let second = UiServer::start(&other, first.port);
    assert_ne!(first.port, second.port);
    first.browser();
    second.browser();
}

#[test]
fn a_store_that_a_killed_server_had_is_free() {
    let world = CliFixture::new();
    UiServer::start(&world, 0).kill();
    UiServer::start(&world, 0).browser();
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_says_goodbye_and_ends() {
    let world = tiny();
    let mut server = UiServer::start(&world, 0);
    let browser = server.browser();
    let mut events = browser.stream("", None);
    assert_eq!(events.next().unwrap().name, "hello");
    let told = Command::new("kill").args(["-INT", &server.pid().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(events.last().unwrap().name, "bye");
    assert_eq!(server.wait(), Some(0));
    assert!(!world.path("store/server/instance.json").exists());
}

#[test]
fn without_a_command_the_app_is_opened() {
    let world = CliFixture::new();
    let mut command = world.command();
    // There is no program that opens a browser.
    command.env("PATH", world.folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let server = UiServer::of_plain(command);
    assert!(server.port >= 4747);
    server.browser();
}

#[cfg(target_os = "linux")]
#[test]
fn the_link_is_in_a_private_page_and_not_in_the_arguments_of_the_opener() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;

    let world = CliFixture::new();
    let opener =
        world.write("bin/xdg-open", "#!/bin/sh\necho \"$# $1\" > \"$TMPDIR/opened\"\nexit 4\n");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = world.command();
    command.args(["ui", "--port", "0"]).env("PATH", world.path("bin"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = UiServer::of_plain(command);
    let said = BufReader::new(server.stderr()).lines().map(Result::unwrap);
    // A failing opener is reported.
    let failure = said.into_iter().find(|line| line.contains("could be opened")).unwrap();
    assert!(failure.contains("exit status: 4"), "{failure}");
    let page = world.path("store/server/open.html");
    assert_eq!(
        fs::read_to_string(world.path("opened")).unwrap(),
        format!("1 {}\n", page.display())
    );
    assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains(&format!("content=\"0; url={}\"", server.url)), "{text}");
    server.browser();
    // A second start waits for its opener, too.
    let second = world.command().arg("ui").env("PATH", world.path("bin")).output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains("exit status: 4"), "{said}");
    assert_ne!(fs::read_to_string(&page).unwrap(), text);
}

#[test]
fn a_second_start_opens_nothing_but_a_link_to_the_first() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let world = CliFixture::new();
    // Another process has the lock, and answers with its own address.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let record = serde_json::json!({ "pid": 1, "port": port, "secret": "x" });
    world.write("store/server/instance.json", record.to_string());
    let lock = fs::File::create(world.path("store/server/lock")).unwrap();
    lock.lock().unwrap();
    let answering = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let asked = BufReader::new(&socket).lines().map(Result::unwrap);
        assert!(asked.take_while(|line| !line.is_empty()).count() > 1);
        let body = serde_json::json!({ "url": "https://example.org/enter?token=00" }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        socket.write_all(format!("{head}{body}").as_bytes()).unwrap();
    });
    let second = world.run(&["ui", "--no-open"]);
    answering.join().unwrap();
    assert_ne!(second.code, 0, "{second:?}");
    assert!(second.out.is_empty(), "{second:?}");
    assert!(second.err.contains("not a link to it"), "{second:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_open_files_is_raised_as_far_as_may_be() {
    let world = CliFixture::new();
    let binary = env!("CARGO_BIN_EXE_crewagent");
    let mut command = Command::new("/bin/sh");
    command.env_clear().env("CREWAGENT_HOME", world.path("store")).stdin(Stdio::null());
    let start = format!("ulimit -Sn 128; exec '{binary}' ui --no-open --port 0");
    command.args(["-c", &start]).stdout(Stdio::piped()).stderr(Stdio::null());
    let server = UiServer::of_plain(command);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let mut numbers = files.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let (soft, hard) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert_eq!(soft, hard.min(512 + 512 * 16), "{files}");
}
