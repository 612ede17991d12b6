//! A run exported as one file: complete, and without private data.

use std::fs;
use std::io::Read as _;

use crewagent_engine::disk::Disk;
use crewagent_engine::export::export;
use crewagent_engine::store::{KeySource, RunId, Store, key_of};

use crate::golden_fixture::GoldenFixture;

const KEY: &str = "sk-very-secret-1234";

type Archive = zip::ZipArchive<std::io::Cursor<Vec<u8>>>;

/// Returns the text of an entry. The library that we use for names does not inflate.
fn content(archive: &mut Archive, name: &str) -> String {
    let at = archive.index_for_name(name).unwrap();
    let mut entry = archive.by_index_raw(at).unwrap();
    let (mut packed, mut text) = (Vec::new(), String::new());
    entry.read_to_end(&mut packed).unwrap();
    match entry.compressed_size() == entry.size() {
        true => text = String::from_utf8(packed).unwrap(),
        false => {
            flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        }
    }
    text
}

#[test]
fn an_exported_run_is_whole_and_has_no_secret() {
    let golden_fixture = GoldenFixture::set("012-nested-review");
    let played = golden_fixture.play();
    let home = golden_fixture.store(Disk::real()).home().to_owned();
    fs::write(
        home.join("config.toml"),
        "[models.a]\nmodel = \"m\"\nbase-url = \"http://127.0.0.1:9/v1\"\nkey = \"file\"\n",
    )
    .unwrap();
    let store = Store::open(Some(home.clone())).unwrap();
    store.secrets().put(&KeySource::File, "a", &key_of(KEY).unwrap()).unwrap();
    // A key that got into a long text of the run.
    let view = store.runs().look(&played.id).unwrap();
    view.blobs.put(format!("the key is {KEY}, in {}", home.display()).as_bytes()).unwrap();

    let bytes = export(&store, &played.id).unwrap();
    let mut archive: Archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    for name in [
        "about.json",
        "run.json",
        "settings.json",
        "state/workflow.md",
        "state/calls/1/workflow.md",
    ] {
        assert!(names.iter().any(|known| known == name), "{name} is missing: {names:?}");
    }
    let mut journal = String::new();
    for name in &names {
        let text = content(&mut archive, name);
        assert!(!text.contains(KEY), "{name}");
        assert!(!text.contains(home.to_str().unwrap()), "{name}");
        if name.ends_with("execution.jsonl") {
            journal = text;
        }
    }
    assert_eq!(journal.lines().count(), view.recovered.events.len());
    assert!(export(&store, &RunId::parse("20260101-000000-aaaaa").unwrap()).is_err());
}
