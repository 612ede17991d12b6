//! Packing is reproducible, and other programs can read the result.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crewagent_format::diagnostic::Code;
use crewagent_format::package::Files;
use crewagent_format::version::Minor;
use crewagent_source::PackageLimits;
use crewagent_source::inspect::inspect;
use crewagent_source::pack::{PackError, PackOutput, PackResult, pack, pack_as};

use crate::support::{describe, package, scratch, snapshot, write, write_all};

/// Returns the package with files that compress well, not at all, and to nothing.
fn files() -> Vec<(String, String)> {
    let mut files = package();
    files.push(("assets/größe.md".to_owned(), "Text. ".repeat(1_000)));
    files.push(("assets/tiny".to_owned(), "x".to_owned()));
    files.push(("assets/empty".to_owned(), String::new()));
    files.push(("Zebra.md".to_owned(), "before bmad.json in the order of bytes".to_owned()));
    files
}

fn packed(folder: &Path, out: &Path) -> PackResult {
    pack(folder, PackOutput::File(out), &PackageLimits::default())
        .unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    let scratch = scratch();
    let (one, other) = (scratch.path().join("one"), scratch.path().join("other"));
    write_all(&one, files());
    write_all(&other, files().into_iter().rev());
    write(&other, ".DS_Store", "litter");
    for (path, _, _) in snapshot(&other) {
        if path.is_file() {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
            let mut permissions = file.metadata().unwrap().permissions();
            permissions.set_readonly(true);
            file.set_permissions(permissions).unwrap();
        }
    }
    let first = packed(&one, &scratch.path().join("one.bmad"));
    let second = packed(&other, &scratch.path().join("other.bmad"));
    assert_eq!(fs::read(&first.path).unwrap(), fs::read(&second.path).unwrap());
    assert_eq!(first.digest, second.digest);
    assert_eq!(first.files, files().len());
    assert_eq!(first.packed_bytes, fs::metadata(&first.path).unwrap().len());
}

#[test]
fn packing_what_was_packed_gives_the_same_bytes() {
    let scratch = scratch();
    write_all(&scratch.path().join("folder"), files());
    let first = packed(&scratch.path().join("folder"), &scratch.path().join("first.bmad"));
    let second = packed(&first.path, &scratch.path().join("second.bmad"));
    assert_eq!(fs::read(&first.path).unwrap(), fs::read(&second.path).unwrap());
}

#[test]
fn the_manifest_comes_first_and_has_the_digest() {
    let scratch = scratch();
    write_all(&scratch.path().join("folder"), files());
    let out = packed(&scratch.path().join("folder"), &scratch.path().join("x.bmad"));
    assert_eq!(&fs::read(&out.path).unwrap()[30..39], b"bmad.json");
    let inspected = inspect(&out.path, &PackageLimits::default()).unwrap();
    assert_eq!(describe(Some(&inspected.findings)), [""; 0]);
    let manifest = inspected.package.unwrap().manifest().integrity.clone().unwrap();
    assert_eq!(manifest.sha256, Some(out.digest));
}

#[test]
fn an_old_digest_is_replaced() {
    let scratch = scratch();
    let folder = scratch.path().join("folder");
    write_all(&folder, files());
    let manifest = fs::read_to_string(folder.join("bmad.json")).unwrap();
    let old = manifest.replacen(
        '{',
        &format!("{{ \"integrity\": {{ \"sha256\": \"{}\" }},", "0".repeat(64)),
        1,
    );
    let fresh = packed(&folder, &scratch.path().join("fresh.bmad"));
    fs::write(folder.join("bmad.json"), old).unwrap();
    assert!(inspect(&folder, &PackageLimits::default()).unwrap().package.is_none());
    let replaced = packed(&folder, &scratch.path().join("replaced.bmad"));
    assert_eq!(replaced.digest, fresh.digest);
    assert!(inspect(&replaced.path, &PackageLimits::default()).unwrap().package.is_some());
}

#[test]
fn a_package_with_errors_is_not_packed() {
    let scratch = scratch();
    let folder = scratch.path().join("folder");
    write_all(&folder, files());
    fs::remove_file(folder.join("agents.json")).unwrap();
    let out = scratch.path().join("x.bmad");
    let Err(PackError::Rejected(rejection)) =
        pack(&folder, PackOutput::File(&out), &PackageLimits::default())
    else {
        panic!("packed")
    };
    assert!(rejection.findings.has_errors());
    assert!(!out.exists());
    // The gate's findings too.
    write(&folder, "assets/aux.md", "x");
    let Err(PackError::Rejected(rejection)) =
        pack(&folder, PackOutput::File(&out), &PackageLimits::default())
    else {
        panic!("packed")
    };
    assert_eq!(describe(Some(&rejection.findings)), ["BM104 assets/aux.md"]);
}

#[test]
fn the_output_does_not_become_part_of_the_package() {
    let scratch = scratch();
    let folder = scratch.path().join("folder");
    write_all(&folder, files());
    for inside in ["out.zip", "assets/out.bmad", "steps/x"] {
        let error =
            pack(&folder, PackOutput::File(&folder.join(inside)), &PackageLimits::default())
                .unwrap_err();
        assert!(matches!(error, PackError::Inside { .. }), "{inside}: {error}");
    }
    let first = packed(&folder, &folder.join("mine.bmad"));
    let bytes = fs::read(&first.path).unwrap();
    packed(&folder, &folder.join("mine.bmad"));
    assert_eq!(fs::read(&first.path).unwrap(), bytes);
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let scratch = scratch();
    let folder = scratch.path().join("folder");
    write_all(&folder, files());
    let missing = scratch.path().join("missing/x.bmad");
    let error = pack(&folder, PackOutput::File(&missing), &PackageLimits::default()).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    let is_folder = scratch.path().join("is-folder");
    fs::create_dir(&is_folder).unwrap();
    let error = pack(&folder, PackOutput::File(&is_folder), &PackageLimits::default()).unwrap_err();
    assert!(matches!(error, PackError::NotAFile { what: "a folder", .. }), "{error}");
    let nothing = scratch.path().join("nothing");
    let error = pack(&nothing, PackOutput::File(&missing), &PackageLimits::default()).unwrap_err();
    assert!(matches!(error, PackError::Source(_)), "{error}");
    let mut left: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["folder", "is-folder"]);
}

#[test]
fn a_file_of_nothing_but_repetition_can_be_imported_again() {
    let scratch = scratch();
    let folder = scratch.path().join("folder");
    write_all(&folder, files());
    write(&folder, "assets/blank.dat", vec![0; 3 << 20]);
    let out = packed(&folder, &scratch.path().join("x.bmad"));
    assert!(inspect(&out.path, &PackageLimits::default()).unwrap().package.is_some());
}

/// Unpacks with a tool of the system, if it is installed, and compares.
fn check_unpacked_by(tool: &mut Command, folder: &Path) {
    let Ok(output) = tool.output() else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (name, content) in files() {
        if name != "bmad.json" {
            assert_eq!(fs::read_to_string(folder.join(&name)).unwrap(), content, "{name}");
        }
    }
}

#[test]
fn other_tools_unpack_what_we_pack() {
    let scratch = scratch();
    write_all(&scratch.path().join("folder"), files());
    let out = packed(&scratch.path().join("folder"), &scratch.path().join("x.bmad"));
    let to = |name: &str| -> PathBuf { scratch.path().join(name) };
    let folder = to("unzip");
    check_unpacked_by(
        Command::new("unzip").arg("-q").arg(&out.path).arg("-d").arg(&folder),
        &folder,
    );
    let folder = to("python");
    let program = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])";
    check_unpacked_by(
        Command::new("python3").args(["-c", program]).arg(&out.path).arg(&folder),
        &folder,
    );
}

#[test]
fn packing_follows_the_limits_of_import() {
    let scratch = scratch();
    write_all(&scratch.path().join("folder"), files());
    let limits = PackageLimits { max_entries: 3, ..PackageLimits::default() };
    let out = scratch.path().join("x.bmad");
    let error = pack(&scratch.path().join("folder"), PackOutput::File(&out), &limits).unwrap_err();
    let PackError::Rejected(rejection) = error else { panic!("{error}") };
    assert_eq!(describe(Some(&rejection.findings)), ["BM109 "]);
}

#[test]
fn a_packed_package_has_the_same_files() {
    let scratch = scratch();
    write_all(&scratch.path().join("folder"), files());
    let out = packed(&scratch.path().join("folder"), &scratch.path().join("x.bmad"));
    let source = inspect(&out.path, &PackageLimits::default()).unwrap().source.unwrap();
    let mut names: Vec<_> = files().into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(source.sizes().keys().map(|path| path.as_str()).collect::<Vec<_>>(), names);
}

#[cfg(unix)]
#[test]
fn only_a_file_is_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let scratch = scratch();
    let (folder, at) = (scratch.path().join("folder"), |name: &str| scratch.path().join(name));
    write_all(&folder, files());
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    symlink("pipe", at("to-pipe")).unwrap();
    symlink("/dev/null", at("to-device")).unwrap();
    symlink("nowhere", at("to-nothing")).unwrap();
    symlink("folder", at("to-folder")).unwrap();
    for (name, expected) in [
        ("pipe", "a pipe"),
        ("to-pipe", "a pipe"),
        ("to-device", "a device"),
        ("to-nothing", "a link to something that does not exist"),
        ("to-folder", "a folder"),
    ] {
        let error =
            pack(&folder, PackOutput::File(&at(name)), &PackageLimits::default()).unwrap_err();
        assert!(error.to_string().contains(&format!("{name}` is {expected};")), "{error}");
    }
    assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
    // A link to a file stays, and its target is replaced.
    write(scratch.path(), "real/old", "old");
    symlink("real/old", at("to-file")).unwrap();
    let out = packed(&folder, &at("to-file"));
    assert_eq!(out.path, at("to-file"));
    assert!(at("to-file").is_symlink());
    assert_eq!(out.packed_bytes, fs::metadata(at("real/old")).unwrap().len());
    assert_eq!(fs::read_dir(at("real")).unwrap().count(), 1);
    // A link into the package leads into the package.
    symlink("folder/assets/tiny", at("to-inside")).unwrap();
    let error =
        pack(&folder, PackOutput::File(&at("to-inside")), &PackageLimits::default()).unwrap_err();
    assert!(matches!(error, PackError::Inside { .. }), "{error}");
}

/// Returns the package under another name.
fn renamed(name: &str) -> Vec<(String, String)> {
    let mut files = files();
    let manifest = files.iter_mut().find(|(name, _)| name == "bmad.json").unwrap();
    manifest.1 = manifest.1.replace("\"generated\"", &format!("\"{name}\""));
    files
}

#[test]
fn the_output_is_named_after_the_package() {
    let scratch = scratch();
    let check = |files: Vec<(String, String)>, expected: &str| {
        let folder = tempfile::tempdir_in(scratch.path()).unwrap();
        write_all(folder.path(), files);
        let out = scratch.path().join("out");
        fs::create_dir_all(&out).unwrap();
        let packed =
            pack(folder.path(), PackOutput::Folder(&out), &PackageLimits::default()).unwrap();
        assert_eq!(packed.path, out.join(expected));
        assert!(packed.path.is_file());
    };
    check(files(), "generated-1.0.0.bmad");
    check(renamed("../../My: Flow"), "my-flow-1.0.0.bmad");
    check(renamed("日本"), "日本-1.0.0.bmad");
    check(renamed(&"x".repeat(200)), &format!("{}-1.0.0.bmad", "x".repeat(64)));
    // Also if the digest in the manifest is outdated.
    let mut stale = renamed("stale");
    let manifest = stale.iter_mut().find(|(name, _)| name == "bmad.json").unwrap();
    let old = format!("{{ \"integrity\": {{ \"sha256\": \"{}\" }},", "0".repeat(64));
    manifest.1 = manifest.1.replacen('{', &old, 1);
    check(stale, "stale-1.0.0.bmad");
}

#[test]
fn a_name_that_was_not_asked_for_replaces_only_the_same_package() {
    let scratch = scratch();
    let folder = |name: &str, files: Vec<(String, String)>| {
        write_all(&scratch.path().join(name), files);
        scratch.path().join(name)
    };
    let out = scratch.path().join("out");
    let flow = folder("flow", renamed("My Flow"));
    let try_pack = |input: &Path| pack(input, PackOutput::Folder(&out), &PackageLimits::default());
    let path = write(&out, "my-flow-1.0.0.bmad", "precious");
    let error = try_pack(&flow).unwrap_err();
    assert!(matches!(error, PackError::Occupied { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    packed(&flow, &path);
    write(&flow, "assets/tiny", "another content");
    let second = try_pack(&flow).unwrap();
    assert!(inspect(&second.path, &PackageLimits::default()).unwrap().package.is_some());
    let twin = folder("twin", renamed("my-flow"));
    let error = try_pack(&twin).unwrap_err();
    assert!(error.to_string().contains("is not a packed `my-flow`"), "{error}");
    // The folder itself is the destination.
    let within = pack(&flow, PackOutput::Folder(&flow), &PackageLimits::default()).unwrap();
    assert_eq!(within.path, flow.join("my-flow-1.0.0.bmad"));
}

#[test]
fn a_package_for_an_older_version_is_whole_without_what_that_version_does_not_know() {
    let scratch = scratch();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples/market-stall");
    let limits = PackageLimits::default();
    for version in [Minor::V1_2, Minor::V1_1] {
        let out = scratch.path().join(format!("{}.bmad", version.as_str()));
        let packed = pack_as(&folder, PackOutput::File(&out), &limits, version).unwrap();
        assert!(packed.left_out.notes.counts()[&Code::LeftOut] > 10);
        assert!(!packed.findings.has_errors());
        let inspected = inspect(&out, &limits).unwrap();
        let manifest = inspected.package.unwrap().manifest().clone();
        assert_eq!(manifest.schema_version.minor(), version);
        assert_eq!(manifest.integrity.unwrap().sha256, Some(packed.digest));
    }
    let out = scratch.path().join("new.bmad");
    let packed = pack_as(&folder, PackOutput::File(&out), &limits, Minor::V1_3).unwrap();
    assert!(packed.left_out.notes.is_empty() && packed.findings.is_empty());
}
