//! `fs.search`: matches, their order, and limits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crewagent_core::refusal::RefusalCode;
use crewagent_core::vpath::VPath;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::mounts::{MountResult, Mounts, Roots};
use crewagent_engine::tools::search::{
    Case, DEFAULT_PATH, Match, Search, SearchResult, Syntax, search,
};
use crewagent_engine::tools::to_json;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{scratch, write};

/// A project with some files.
struct Project {
    scratch: TempDir,
    mounts: Mounts,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let scratch = scratch();
        let project = scratch.path().join("project");
        fs::create_dir(&project).unwrap();
        for (name, content) in files {
            write(&project, name, content);
        }
        let other = scratch.path().to_owned();
        let roots = Roots { project, package: other.clone(), state: other };
        Self { mounts: Mounts::open(&roots).unwrap(), scratch }
    }

    fn root(&self) -> std::path::PathBuf {
        self.scratch.path().join("project")
    }

    fn answer(&self, request: &Search) -> MountResult<SearchResult> {
        search(&self.mounts, request, &Deadline::default())
    }

    fn found(&self, request: &Search) -> SearchResult {
        self.answer(request).unwrap().unwrap()
    }

    #[track_caller]
    fn check_code(&self, request: &Search, code: RefusalCode, message: &str) {
        let refusal = self.answer(request).unwrap().unwrap_err();
        assert_eq!(refusal.code, code, "{refusal:?}");
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }

    #[track_caller]
    fn check(&self, request: &Search, expected: &[&str]) {
        assert_eq!(places(&self.found(request).matches), expected, "{request:?}");
    }
}

const LEFT_OUT: &str = "One file or folder cannot be read, or has a line of many megabytes.";

fn request(query: &str) -> Search {
    Search::new(query, VPath::parse(DEFAULT_PATH).unwrap())
}

fn below(query: &str, path: &str) -> Search {
    Search { path: VPath::parse(path).unwrap(), ..request(query) }
}

fn globs(query: &str, globs: &[&str]) -> Search {
    Search { globs: globs.iter().map(|glob| (*glob).to_owned()).collect(), ..request(query) }
}

/// Formats matches such as `a/b.md:3:7`.
fn places(matches: &[Match]) -> Vec<String> {
    matches
        .iter()
        .map(|found| format!("{}:{}:{}", found.path.relative(), found.line, found.column))
        .collect()
}

#[test]
fn the_answer_has_the_documented_shape() {
    let project = Project::new(&[("docs/a.md", "one\ntwo Needle\nthree\n"), ("b.md", "needle")]);
    let answer = to_json(&project.answer(&request("needle")).unwrap()).unwrap().to_string();
    let expected = concat!(
        r#"{"ok":true,"matches":[{"path":"@project/b.md","line":1,"column":1,"text":"needle","before":[],"after":[]},"#,
        r#"{"path":"@project/docs/a.md","line":2,"column":5,"text":"two Needle","before":["one"],"after":["three"]}],"#,
        r#""truncated":false,"stats":{"filesScanned":2,"matchesFound":2}}"#
    );
    assert_eq!(answer, expected);
}

#[test]
fn a_query_is_text_unless_it_is_said_to_be_an_expression() {
    let project = Project::new(&[("a", "a.b\naxb\nA.B\n")]);
    project.check(&request("a.b"), &["a:1:1", "a:3:1"]);
    project.check(&Search { case: Case::Respected, ..request("a.b") }, &["a:1:1"]);
    project
        .check(&Search { syntax: Syntax::Regex, ..request("a.b") }, &["a:1:1", "a:2:1", "a:3:1"]);
    let exact = Search { syntax: Syntax::Regex, case: Case::Respected, ..request("^a.b$") };
    project.check(&exact, &["a:1:1", "a:2:1"]);
    project.check(&request("(["), &[]);
    let accents = Project::new(&[("a", "ÉTÉ\nété\n")]);
    accents.check(&request("été"), &["a:1:1", "a:2:1"]);
}

#[test]
fn lines_may_end_in_any_way() {
    let project =
        Project::new(&[("crlf", "one\r\ntwo x\r\nthree"), ("mixed", "x\ny\r\nx"), ("none", "x")]);
    let regex = Search { syntax: Syntax::Regex, ..request("x$") };
    let found = project.found(&regex);
    assert_eq!(places(&found.matches), ["crlf:2:5", "mixed:1:1", "mixed:3:1", "none:1:1"]);
    assert_eq!(found.matches[0].before, ["one"]);
    assert_eq!(found.matches[0].text, "two x");
    assert_eq!(found.matches[0].after, ["three"]);
    assert_eq!(found.matches[2].before, ["y"]);
}

#[test]
fn columns_count_characters() {
    let project = Project::new(&[("a", "\tx\n文字x\n𝒳x x\n")]);
    project.check(&request("x"), &["a:1:2", "a:2:3", "a:3:2"]);
    fs::write(project.root().join("b"), b"\xff\xfex\n").unwrap();
    assert_eq!(
        project.found(&below("x", "@project/b")).matches.len(),
        0,
        "half a UTF-16 character"
    );
    fs::write(project.root().join("b"), b"a\xffbx\n").unwrap();
    let found = project.found(&below("x", "@project/b"));
    assert_eq!((found.matches[0].column, found.matches[0].text.as_str()), (4, "a\u{fffd}bx"));
}

#[test]
fn matches_have_the_lines_around_them_even_if_these_match_too() {
    let project = Project::new(&[("a", "x1\nx2\n3\n4\nx5\n6\nx7\n")]);
    let around = |before, after| {
        let found = project.found(&Search { before, after, ..request("x") });
        let join = |lines: &[String]| lines.join(",");
        let shown = found
            .matches
            .iter()
            .map(|line| format!("{}|{}|{}", join(&line.before), line.text, join(&line.after)));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(around(0, 0), ["|x1|", "|x2|", "|x5|", "|x7|"]);
    assert_eq!(around(1, 1), ["|x1|x2", "x1|x2|3", "4|x5|6", "6|x7|"]);
    assert_eq!(around(2, 0), ["|x1|", "x1|x2|", "3,4|x5|", "x5,6|x7|"]);
    assert_eq!(around(0, 2), ["|x1|x2,3", "|x2|3,4", "|x5|6,x7", "|x7|"]);
    assert_eq!(
        around(9, 9),
        ["|x1|x2,3,4,x5,6,x7", "x1|x2|3,4,x5,6,x7", "x1,x2,3,4|x5|6,x7", "x1,x2,3,4,x5,6|x7|"]
    );
}

#[test]
fn no_more_matches_than_asked_for() {
    let project = Project::new(&[("a", "x\nx\nx\n"), ("b", "x\nx\n"), ("c", "x\n"), ("d", "y\n")]);
    let limited = |max_matches| project.found(&Search { max_matches, ..request("x") });
    let all = limited(6);
    assert_eq!((all.matches.len(), all.truncated, all.hint), (6, false, None));
    assert_eq!((all.stats.files_scanned, all.stats.matches_found), (4, 6));
    let some = limited(5);
    assert_eq!((some.matches.len(), some.truncated), (5, true));
    assert_eq!((some.stats.files_scanned, some.stats.matches_found), (3, 6));
    assert!(some.hint.unwrap().contains("narrow the search"));
    let few = limited(2);
    assert_eq!(places(&few.matches), ["a:1:1", "a:2:1"]);
    assert_eq!(few.matches[1].after, ["x"], "the last match has its lines too");
    assert_eq!((few.stats.files_scanned, few.stats.matches_found), (1, 3));
    assert_eq!(limited(0).matches.len(), 1);
    let default = Project::new(&[("a", &"x\n".repeat(200))]).found(&request("x"));
    assert_eq!(
        (default.matches.len(), default.truncated, default.stats.matches_found),
        (50, true, 51)
    );
}

#[test]
fn one_line_cannot_flood_the_answer() {
    let line = format!("{}needle{}\n", "a".repeat(3_000_000), "b".repeat(3_000_000));
    let project = Project::new(&[("a", &format!("{line}needle\n{line}"))]);
    let found = project.found(&request("needle"));
    assert_eq!(places(&found.matches), ["a:1:3000001", "a:2:1", "a:3:3000001"]);
    let first = &found.matches[0];
    assert!(
        first.text.contains("aneedleb") && first.text.starts_with('…') && first.text.ends_with('…')
    );
    assert_eq!(first.text.chars().count(), 502);
    assert_eq!(found.matches[1].before[0], first.text);
    assert!(to_json(&Ok(found)).unwrap().to_string().len() < 5_000);
}

#[test]
fn a_line_that_is_too_long_to_hold_costs_its_file_alone() {
    let project = Project::new(&[("a.txt", "needle\n"), ("data.json", &"x".repeat(17 << 20))]);
    for (path, matches) in [("@project/data.json", &[][..]), ("@project", &["a.txt:1:1"])] {
        let found = project.found(&below("needle", path));
        assert_eq!(places(&found.matches), matches, "{path}");
        assert_eq!(found.hint.as_deref(), Some(LEFT_OUT), "{path}");
    }
}

#[test]
fn many_long_lines_cannot_flood_it_either() {
    let line = format!("{}needle{}\n", "字".repeat(400), "字".repeat(400));
    let project = Project::new(&[("a", &line.repeat(600))]);
    let greedy = Search {
        before: 1_000_000,
        after: 1_000_000,
        max_matches: usize::MAX,
        ..request("needle")
    };
    let found = project.found(&greedy);
    assert!(found.truncated && !found.matches.is_empty());
    let size = to_json(&Ok(found)).unwrap().to_string().len();
    assert!((100_000..300_000).contains(&size), "{size}");
}

#[test]
fn a_line_too_long_to_hold_is_told() {
    let project = Project::new(&[("a", "needle\n"), ("b", "y\n")]);
    let mut long = vec![b'a'; 40 << 20];
    long.extend_from_slice(b"needle");
    fs::write(project.root().join("long"), long).unwrap();
    let found = project.found(&request("needle"));
    assert_eq!(places(&found.matches), ["a:1:1"]);
    assert_eq!(found.stats.files_scanned, 2);
    assert_eq!(found.hint.as_deref(), Some(LEFT_OUT));
}

#[test]
fn the_result_does_not_depend_on_the_threads() {
    let names: Vec<String> =
        (0..400).map(|index| format!("d{}/e{}/f{index}", index % 7, index % 3)).collect();
    let content = |index: usize| "needle\n".repeat(index % 5) + &"hay\n".repeat(index % 400);
    let contents: Vec<String> = (0..400).map(content).collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&contents).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let project = Project::new(&files);
    for max_matches in [1, 3, 50, 500] {
        let request = Search { max_matches, ..request("needle") };
        let first = project.found(&request);
        assert_eq!(first.matches.len(), max_matches);
        for _ in 0..20 {
            assert_eq!(project.found(&request), first);
        }
    }
}

#[test]
fn globs_choose_the_files() {
    let project = Project::new(&[
        ("a.md", "x"),
        ("a.txt", "x"),
        ("docs/b.md", "x"),
        ("docs/deep/c.md", "x"),
        ("src/d.rs", "x"),
        ("package-lock.json", "x"),
    ]);
    project.check(&globs("x", &["*.md"]), &["a.md:1:1", "docs/b.md:1:1", "docs/deep/c.md:1:1"]);
    project.check(&globs("x", &["@project/*.md"]), &["a.md:1:1"]);
    project.check(
        &globs("x", &["@project/**/*.md", "*.rs"]),
        &["a.md:1:1", "docs/b.md:1:1", "docs/deep/c.md:1:1", "src/d.rs:1:1"],
    );
    project.check(&globs("x", &["@project/docs/b.md"]), &["docs/b.md:1:1"]);
    project.check(&globs("x", &["docs/**", "!deep"]), &["docs/b.md:1:1"]);
    project.check(&globs("x", &["!*.md", "!*.json"]), &["a.txt:1:1", "src/d.rs:1:1"]);
    project.check(&globs("x", &["../**", "/etc/**"]), &[]);
    let sub = Search { path: VPath::parse("@project/docs").unwrap(), ..globs("x", &["deep/*.md"]) };
    project.check(&sub, &["docs/deep/c.md:1:1"]);
    project.check_code(
        &globs("x", &["*.{md"]),
        RefusalCode::InvalidArguments,
        "unclosed alternate",
    );
    project.check_code(&globs("x", &["@pkg/*"]), RefusalCode::InvalidArguments, "another mount");
}

#[test]
fn ignore_files_are_honoured() {
    let project = Project::new(&[
        (".gitignore", "target/\n*.log\n/only-here.txt\n!keep.log\n"),
        (".git/info/exclude", "private.txt\n"),
        ("target/out.txt", "x"),
        ("a.log", "x"),
        ("keep.log", "x"),
        ("only-here.txt", "x"),
        ("sub/only-here.txt", "x"),
        ("sub/.gitignore", "*.txt\n!only-here.txt\n"),
        ("sub/gone.txt", "x"),
        ("private.txt", "x"),
        (".hidden/h.txt", "x"),
        (".env", "x"),
        ("seen/.ignore", "!*.log\nnot.md\n"),
        ("seen/b.log", "x"),
        ("seen/not.md", "x"),
        ("vendor/.git/HEAD", "x"),
        ("vendor/c.log", "x"),
        ("vendor/private.txt", "x"),
    ]);
    project.check(
        &request("x"),
        &[
            ".env:1:1",
            ".gitignore:3:13",
            "keep.log:1:1",
            "seen/b.log:1:1",
            "sub/.gitignore:1:4",
            "sub/.gitignore:2:13",
            "sub/only-here.txt:1:1",
            "vendor/c.log:1:1",
            "vendor/private.txt:1:1",
        ],
    );
    // The rules of parent folders apply when a folder is searched, but not to the folder that was asked for.
    project.check(
        &below("x", "@project/sub"),
        &["sub/.gitignore:1:4", "sub/.gitignore:2:13", "sub/only-here.txt:1:1"],
    );
    project.check(&below("x", "@project/target"), &["target/out.txt:1:1"]);
    project.check(&below("x", "@project/.hidden"), &[".hidden/h.txt:1:1"]);
    project.check(&below("x", "@project/.env"), &[".env:1:1"]);
    project.check(&below("x", "@project/seen"), &["seen/b.log:1:1"]);
    // A path without a wildcard is always searched.
    project.check(&globs("x", &["@project/target/out.txt"]), &["target/out.txt:1:1"]);
    project.check(
        &globs("x", &["@project/.env", "@project/.hidden/"]),
        &[".env:1:1", ".hidden/h.txt:1:1"],
    );
    project.check(&globs("x", &["target/*.txt"]), &[]);
}

#[test]
fn binary_files_are_skipped() {
    let project = Project::new(&[
        ("early", "a\0b\nneedle\n"),
        ("late", "needle\nmore\n\0\n"),
        ("text", "needle\n"),
    ]);
    let far = |size: usize| format!("needle\n{}\n\0\nneedle\n", "hay\n".repeat(size / 4));
    write(&project.root(), "far", far(200_000));
    write(&project.root(), "large", far(5_000_000));
    let found = project.found(&request("needle"));
    assert_eq!(places(&found.matches), ["text:1:1"]);
    assert_eq!(found.stats.files_scanned, 5);
}

#[test]
fn text_in_utf_16_is_found() {
    let project = Project::new(&[]);
    let text: Vec<u8> =
        "\u{feff}one\nneedle two\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(project.root().join("a"), text).unwrap();
    let found = project.found(&request("needle"));
    assert_eq!(places(&found.matches), ["a:2:1"]);
    assert_eq!(found.matches[0].text, "needle two");
}

#[test]
fn a_large_file_is_searched_in_pieces() {
    let mut text = "hay in the stack\n".repeat(300_000);
    text.push_str("needle\nlast\n");
    let project = Project::new(&[("large", &text)]);
    let found = project.found(&request("needle"));
    assert_eq!(places(&found.matches), ["large:300001:1"]);
    assert_eq!(
        (&found.matches[0].before[0][..], &found.matches[0].after[0][..]),
        ("hay in the stack", "last")
    );
}

#[test]
fn arguments_that_cannot_be_used_are_told_with_the_reason() {
    let project = Project::new(&[("a", "x")]);
    let regex = |query: &str| Search { syntax: Syntax::Regex, ..request(query) };
    let code = RefusalCode::InvalidArguments;
    project.check_code(&request(""), code, "empty");
    project.check_code(&request("a\nb"), code, "line break");
    project.check_code(&request(&"x".repeat(5_000)), code, "longer than 4096");
    project.check_code(&regex("("), code, "unclosed group");
    project.check_code(&regex("[z-a]"), code, "range");
    project.check_code(&regex(r"a\nb"), code, "not allowed");
    project.check_code(&regex(r"(?:\pL{200}){200}"), code, "size limit");
    project.check_code(&regex(&format!("{}x{}", "(".repeat(500), ")".repeat(500))), code, "nest");
    project.check_code(&below("x", "@project/none"), RefusalCode::NotFound, "There is no");
    // An expression that would take forever elsewhere takes linear time.
    let bomb = Project::new(&[("a", &"a".repeat(100_000))]);
    bomb.check(&regex("(a|aa)*b|(a*)*c|(.*)(.*)(.*)d"), &[]);
}

#[test]
fn a_search_can_be_stopped() {
    let project = Project::new(&[("a", "x")]);
    let cancel = Cancel::default();
    let deadline = Deadline::after(Duration::from_secs(60), &cancel);
    cancel.cancel();
    let refusal = search(&project.mounts, &request("x"), &deadline).unwrap().unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Timeout);
}

#[cfg(unix)]
#[test]
fn links_are_searched_only_when_they_are_named_and_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let project = Project::new(&[("real/a.txt", "needle")]);
    write(project.scratch.path(), "outside/secret.txt", "needle");
    symlink("real", project.root().join("inner")).unwrap();
    symlink("real/a.txt", project.root().join("file")).unwrap();
    symlink("../outside", project.root().join("outer")).unwrap();
    symlink("../outside/secret.txt", project.root().join("secret")).unwrap();
    project.check(&request("needle"), &["real/a.txt:1:1"]);
    project.check(&below("needle", "@project/inner"), &["inner/a.txt:1:1"]);
    project.check(&below("needle", "@project/file"), &["file:1:1"]);
    for out in ["@project/outer", "@project/secret", "@project/outer/secret.txt"] {
        project.check_code(&below("needle", out), RefusalCode::Sandbox, "leads out of @project");
    }
}

/// Searches in a slow and simple way.
fn naive(root: &Path, files: &[(String, Vec<String>)], request: &Search) -> Vec<String> {
    let mut all = Vec::new();
    for (name, lines) in files {
        assert!(root.join(name).exists());
        for (index, line) in lines.iter().enumerate() {
            let Some(at) = line.to_lowercase().find(&request.query.to_lowercase()) else {
                continue;
            };
            let before = &lines[index.saturating_sub(request.before)..index];
            let after = &lines[index + 1..lines.len().min(index + 1 + request.after)];
            all.push(format!(
                "{name}:{}:{} {line} {before:?} {after:?}",
                index + 1,
                line[..at].chars().count() + 1
            ));
        }
    }
    all.truncate(request.max_matches);
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_search_finds_what_a_simple_loop_finds(
        contents in proptest::collection::vec(proptest::collection::vec("[abAB é文]{0,6}", 0..12), 1..8),
        query in "[aAb]{1,2}",
        before in 0_usize..4,
        after in 0_usize..4,
        max_matches in 1_usize..30,
    ) {
        let project = Project::new(&[]);
        let mut files: Vec<(String, Vec<String>)> = Vec::new();
        for (index, lines) in contents.into_iter().enumerate() {
            let name = format!("f{index}");
            write(&project.root(), &name, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            files.push((name, lines));
        }
        let request = Search { before, after, max_matches, ..request(&query) };
        let found = project.found(&request);
        let shown: Vec<String> = found
            .matches
            .iter()
            .map(|found| format!("{}:{}:{} {} {:?} {:?}", found.path.relative(), found.line, found.column, found.text, found.before, found.after))
            .collect();
        prop_assert_eq!(shown, naive(&project.root(), &files, &request));
        let total = naive(&project.root(), &files, &Search { max_matches: usize::MAX, ..request.clone() }).len();
        prop_assert_eq!(found.truncated, total > max_matches);
    }
}
