//! The store: one package for one content, whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_engine::store::{
    FindError, FoundPackage, Harm, ImportError, ImportOutcome, Imported, Installed, Store,
    StoreError,
};
use crewagent_format::package::{Files, check};
use crewagent_source::PackageLimits;
use crewagent_source::pack::{PackOutput, pack};
use crewagent_source::runtime_version;
use crewagent_testkit::archive::{ZipArchive, ZipEntry};
use crewagent_testkit::package::generated;
use tempfile::TempDir;

use crate::support::{describe, package, scratch, snapshot, with, write, write_all};

struct Fixture {
    scratch: TempDir,
    store: Store,
}

impl Fixture {
    fn new() -> Self {
        let scratch = scratch();
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        Self { scratch, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    fn packages(&self) -> PathBuf {
        self.path("home/packages")
    }

    fn folder(&self, name: &str, files: Vec<(String, String)>) -> PathBuf {
        let folder = self.path(name);
        write_all(&folder, files);
        folder
    }

    fn import(&self, path: &Path) -> (Installed, ImportOutcome) {
        let imported = self.try_import(path).unwrap_or_else(|error| panic!("{error}: {error:?}"));
        (imported.installed, imported.outcome)
    }

    fn try_import(&self, path: &Path) -> Result<Imported, ImportError> {
        self.store.packages().import(path, &mut || ())
    }

    fn remove(&self, found: &FoundPackage) -> Result<(), StoreError> {
        self.store.packages().remove(found, &mut || ())
    }

    fn find_any(&self, reference: &str) -> FoundPackage {
        self.store.packages().find_any(reference).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns everything in the folder of the packages.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.packages()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn count(&self) -> usize {
        self.store.packages().list().unwrap().installed.len()
    }
}

fn renamed(name: &str, version: &str) -> Vec<(String, String)> {
    let mut files = package();
    let manifest = files.iter_mut().find(|(name, _)| name == "bmad.json").unwrap();
    manifest.1 =
        manifest.1.replace("\"generated\"", &format!("\"{name}\"")).replace("1.0.0", version);
    files
}

#[test]
fn one_tree_is_one_package_wherever_it_comes_from() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let bmad = f.path("source.bmad");
    pack(&folder, PackOutput::File(&bmad), &PackageLimits::default()).unwrap();
    let zip = write(f.scratch.path(), "source.zip", ZipArchive::of_files(package()).bytes());
    let (first, outcome) = f.import(&folder);
    assert_eq!(outcome, ImportOutcome::New);
    let before = snapshot(&f.home());
    for again in [&folder, &bmad, &zip] {
        let (installed, outcome) = f.import(again);
        assert_eq!(
            (installed, outcome),
            (first.clone(), ImportOutcome::AlreadyThere),
            "{}",
            again.display()
        );
    }
    assert_eq!(snapshot(&f.home()), before);
    assert_eq!(f.count(), 1);
    let name = first.folder.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, format!("generated-1.0.0-{}", first.digest.short()));
}

#[test]
fn an_imported_package_is_whole_and_can_be_read_again() {
    let f = Fixture::new();
    let mut files = generated(120, 300);
    files.push((
        "assets/large.txt".to_owned(),
        (0..200_000).map(|n| format!("Line {n} of a large file.\n")).collect(),
    ));
    files.push(("assets/deep/er/file".to_owned(), String::new()));
    let (installed, _) =
        f.import(&write(f.scratch.path(), "x.zip", ZipArchive::of_files(files.clone()).bytes()));
    for (name, content) in &files {
        assert_eq!(
            fs::read_to_string(installed.folder.join("package").join(name)).unwrap(),
            *content
        );
    }
    assert_eq!(installed.files, files.len() as u64);
    assert_eq!(installed.bytes, files.iter().map(|(_, content)| content.len() as u64).sum::<u64>());
    let source = f.store.packages().open(&installed).unwrap();
    assert_eq!(source.sizes().len(), files.len());
    assert!(check(&source, &runtime_version()).package.is_some());
}

#[cfg(unix)]
#[test]
fn the_files_of_an_imported_package_are_read_only() {
    let f = Fixture::new();
    let archive = with(ZipEntry::stored("assets/tool.sh", "x").mode(0o104_777)).bytes();
    let (installed, _) = f.import(&write(f.scratch.path(), "x.zip", archive));
    let all = snapshot(&installed.folder);
    assert!(all.len() > package().len());
    for (path, mode, _) in all {
        // The owner of a folder can remove what is in it.
        let (mode, expected) = if path.is_dir() { (mode & 0o7700, 0o700) } else { (mode, 0o444) };
        assert_eq!(mode, expected, "{}", path.display());
    }
    fs::remove_dir_all(f.home()).unwrap();
}

/// Imports a package that must be refused, and checks that the store is unchanged.
fn check_refused(f: &Fixture, path: &Path, expected: &[&str]) {
    let before = snapshot(f.scratch.path());
    match f.try_import(path) {
        Err(ImportError::Rejected(rejection)) => {
            assert_eq!(describe(Some(&rejection.findings)), expected)
        }
        Err(error) => assert!(expected.is_empty(), "{error}"),
        Ok(imported) => panic!("imported {imported:?}"),
    }
    assert_eq!(snapshot(f.scratch.path()), before);
}

#[test]
fn a_refusal_leaves_the_store_as_it_was() {
    let f = Fixture::new();
    let bad = [
        write(f.scratch.path(), "empty.bmad", ""),
        write(f.scratch.path(), "text.bmad", "not a zip"),
        write(f.scratch.path(), "climbs.zip", with(ZipEntry::stored("../x", "x")).bytes()),
        write(
            f.scratch.path(),
            "corrupt.zip",
            with(ZipEntry::stored("assets/x", "x").crc(3)).bytes(),
        ),
    ];
    let nothing = f.path("nothing.bmad");
    let check_all = || {
        check_refused(&f, &bad[0], &["BM101 "]);
        check_refused(&f, &bad[1], &["BM101 "]);
        check_refused(&f, &bad[2], &["BM103 ../x"]);
        check_refused(&f, &bad[3], &["BM114 assets/x"]);
        check_refused(&f, &nothing, &[]);
        check_refused(&f, &f.folder("no-manifest", Vec::new()).join("missing"), &[]);
    };
    check_all();
    assert!(!f.home().exists(), "a refusal does not even create the store");
    f.import(&f.folder("good", package()));
    check_all();
}

#[test]
fn a_package_with_warnings_is_imported_with_them() {
    let f = Fixture::new();
    let mut files = package();
    for (_, content) in &mut files {
        *content = content.replace("## Goal", "## Aim");
    }
    let imported = f.try_import(&f.folder("source", files)).unwrap();
    assert!(!imported.findings.is_empty() && !imported.findings.has_errors());
}

#[test]
fn a_prepared_package_is_not_in_the_store_yet() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let packages = f.store.packages();
    let prepared = packages.prepare(&folder).unwrap();
    assert_eq!(prepared.package().manifest().name, "generated");
    assert!(prepared.findings().is_empty());
    assert!(!f.home().exists());
    assert_eq!(prepared.commit(&mut || ()).unwrap().outcome, ImportOutcome::New);
    assert_eq!(f.count(), 1);
}

#[test]
fn a_file_that_changes_during_an_import_stops_it() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let large = write(&folder, "assets/large", vec![b'x'; 3 << 20]);
    let packages = f.store.packages();
    let prepared = packages.prepare(&folder).unwrap();
    fs::write(large, "shorter").unwrap();
    let error = prepared.commit(&mut || ()).unwrap_err();
    assert!(
        error.to_string().contains("`assets/large` of the package cannot be read: it changed"),
        "{error}"
    );
    assert_eq!(f.count(), 0);
}

#[test]
fn what_a_crash_has_left_is_cleared_away_by_the_next_import() {
    let f = Fixture::new();
    // Crashes before the first import, in its middle, right before its rename, and in the middle of a removal.
    for (number, name) in
        ["", "package/steps/x.md", "import.json", "package/bmad.json"].iter().enumerate()
    {
        let staging = f.packages().join(format!(".staging-999999-{number}"));
        fs::create_dir_all(&staging).unwrap();
        if !name.is_empty() {
            let file = write(&staging, name, "half");
            let folder = file.parent().unwrap();
            for path in [&file, folder] {
                let mut permissions = fs::metadata(path).unwrap().permissions();
                permissions.set_readonly(true);
                fs::set_permissions(path, permissions).unwrap();
            }
        }
    }
    assert_eq!(f.count(), 0);
    f.import(&f.folder("source", package()));
    assert_eq!(f.left().len(), 2, "the package and the lock: {:?}", f.left());
}

#[test]
fn many_may_import_the_same_at_once() {
    let f = Fixture::new();
    let archive =
        write(f.scratch.path(), "x.zip", ZipArchive::of_files(generated(60, 100)).bytes());
    let results: Vec<_> = std::thread::scope(|scope| {
        let import = || {
            let store = Store::open(Some(f.home())).unwrap();
            let imported = store.packages().import(&archive, &mut || ()).unwrap();
            (imported.installed, imported.outcome)
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(import)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|(_, outcome)| *outcome == ImportOutcome::New).count(), 1);
    assert!(results.iter().all(|(installed, _)| *installed == results[0].0));
    assert_eq!(f.count(), 1);
}

#[test]
fn many_may_import_different_packages_at_once() {
    let f = Fixture::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let f = &f;
            scope.spawn(move || {
                let name = format!("package-{number}");
                f.import(&f.folder(&name, renamed(&name, "1.0.0")));
            });
        }
    });
    let listing = f.store.packages().list().unwrap();
    assert_eq!(listing.installed.len(), 8);
    assert!(listing.damaged.is_empty());
}

#[test]
fn a_list_is_sorted_and_knows_what_is_damaged_and_what_is_foreign() {
    let f = Fixture::new();
    assert_eq!(f.count(), 0);
    for (name, version) in
        [("beta", "0.9.0"), ("beta", "0.10.0"), ("Alpha", "1.0.0"), ("gamma", "1.0.0")]
    {
        f.import(&f.folder(&format!("{name}{version}"), renamed(name, version)));
    }
    fs::create_dir(f.packages().join("foreign")).unwrap();
    write(&f.packages(), "foreign-file", "x");
    fs::create_dir(f.packages().join(".staging-1-1")).unwrap();
    let gamma = f.store.packages().find("gamma").unwrap();
    fs::remove_file(gamma.folder.join("import.json")).unwrap();
    let listing = f.store.packages().list().unwrap();
    let names: Vec<_> = listing.installed.iter().map(Installed::reference).collect();
    assert_eq!(names, ["Alpha@1.0.0", "beta@0.9.0", "beta@0.10.0"]);
    assert_eq!(listing.damaged.len(), 1);
    assert_eq!(listing.damaged[0].folder, gamma.folder);
    assert!(listing.damaged[0].reason.contains("import.json"), "{}", listing.damaged[0].reason);
    f.remove(&FoundPackage::Damaged(listing.damaged[0].clone())).unwrap();
    assert!(!gamma.folder.exists());
}

fn make_writable(path: &Path) -> std::io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    #[allow(clippy::permissions_set_readonly_false, reason = "a scratch folder of this test")]
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}

#[test]
fn a_damaged_package_is_repaired_by_the_next_import() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let (installed, _) = f.import(&folder);
    let whole = snapshot(&installed.folder.join("package"));
    let file = installed.folder.join("package/workflow.md");
    make_writable(&file).unwrap();
    fs::write(&file, "damaged").unwrap();
    assert_eq!(f.import(&folder).1, ImportOutcome::Repaired);
    assert_eq!(snapshot(&installed.folder.join("package")), whole);
    let record = installed.folder.join("import.json");
    make_writable(&record).unwrap();
    fs::write(&record, "{ damaged").unwrap();
    assert_eq!(f.count(), 0);
    assert_eq!(f.import(&folder).1, ImportOutcome::Repaired);
    assert_eq!(f.import(&folder).1, ImportOutcome::AlreadyThere);
    assert_eq!(f.count(), 1);
}

/// Overwrites a file of the store.
fn edit(path: &Path, text: &str) {
    make_writable(path).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_package_that_was_edited_is_not_used() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let (installed, _) = f.import(&folder);
    let file = installed.folder.join("package/workflow.md");
    let text = fs::read_to_string(&file).unwrap();
    let check_damaged = || {
        let error = f.store.packages().open(&installed).unwrap_err();
        let StoreError::Damaged(damaged) = &error else { panic!("{error:?}") };
        assert_eq!((&damaged.folder, damaged.harm), (&installed.folder, Harm::Broken));
        for part in
            ["was changed after it was imported", "import the package again", "rm generated"]
        {
            assert!(error.to_string().contains(part), "{error} has no {part}");
        }
        assert_eq!(f.import(&folder).1, ImportOutcome::Repaired);
        f.store.packages().open(&installed).unwrap();
        assert_eq!(f.left().len(), 2, "{:?}", f.left());
    };
    // The length is the same, so only the content shows the change.
    edit(&file, &text.replacen('e', "E", 1));
    assert_eq!(f.count(), 1);
    check_damaged();
    edit(&file, "shorter");
    assert_eq!(f.count(), 0);
    check_damaged();
    write(&installed.folder, "package/assets/new.md", "new");
    assert_eq!(f.count(), 0);
    check_damaged();
    fs::remove_file(&file).unwrap();
    let listing = f.store.packages().list().unwrap();
    assert!(listing.damaged[0].reason.contains("number of files"), "{:?}", listing.damaged);
    check_damaged();
}

#[test]
fn a_package_is_checked_once_and_verified_for_every_run() {
    let f = Fixture::new();
    let (installed, _) = f.import(&f.folder("source", package()));
    let packages = f.store.packages();
    let first = packages.load(&installed).unwrap();
    assert!(Arc::ptr_eq(&first, &packages.load_verified(&installed).unwrap()));
    let reopened = f.store.reopen().unwrap();
    assert!(Arc::ptr_eq(&first, &reopened.packages().load(&installed).unwrap()));
    edit(&installed.folder.join("package/workflow.md"), "damaged");
    assert!(Arc::ptr_eq(&first, &packages.load(&installed).unwrap()));
    let error = packages.load_verified(&installed).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
    // Another process has an empty cache.
    let other = Store::open(Some(f.store.home().to_owned())).unwrap();
    let error = other.packages().load(&installed).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}

#[test]
fn the_package_that_was_not_used_for_longest_leaves_the_cache() {
    let f = Fixture::new();
    let numbered = |number: u64| {
        let version = format!("1.0.{number}");
        f.import(&f.folder(&version, renamed("flow", &version))).0
    };
    let installed: Vec<Installed> = (0..16).map(numbered).collect();
    let load = |at: usize| Arc::downgrade(&f.store.packages().load(&installed[at]).unwrap());
    let (first, second) = (load(0), load(1));
    (2..16).for_each(|at| drop(load(at)));
    load(0);
    numbered(16);
    assert!(second.upgrade().is_none());
    assert!(first.upgrade().is_some());
}

#[test]
fn a_damaged_package_is_found_to_be_removed() {
    let f = Fixture::new();
    let (flow, _) = f.import(&f.folder("flow", renamed("My Flow", "1.0.0")));
    let (lost, _) = f.import(&f.folder("lost", renamed("Lost One", "2.0.0-rc.1")));
    f.import(&f.folder("good", renamed("good", "1.0.0")));
    edit(&flow.folder.join("package/workflow.md"), "short");
    edit(&lost.folder.join("import.json"), "{ damaged");
    let name = |of: &Installed| of.folder.file_name().unwrap().to_str().unwrap().to_owned();
    for (of, references) in [
        (&flow, ["My Flow", "my-flow", "my-flow@1.0.0", &flow.digest.short(), &name(&flow)]),
        (
            &lost,
            ["Lost One", "lost-one", "lost-one@2.0.0-rc.1", &lost.digest.short(), &name(&lost)],
        ),
    ] {
        for reference in references {
            let found = f.find_any(reference);
            assert!(matches!(found, FoundPackage::Damaged(_)), "{reference}: {found:?}");
            assert_eq!(found.folder(), of.folder, "{reference}");
            let error = f.store.packages().find(reference).unwrap_err();
            assert!(matches!(error, FindError::Damaged(_)), "{error}");
        }
    }
    let error = f.store.packages().find_any("nothing-like-it").unwrap_err().to_string();
    assert!(error.contains(&name(&flow)) && error.contains("are damaged"), "{error}");
    assert!(f.store.packages().find_any("lost").is_err());
    for reference in ["my-flow", "lost-one"] {
        f.remove(&f.find_any(reference)).unwrap();
    }
    assert_eq!(f.left().len(), 2, "{:?}", f.left());
    let whole = f.store.packages().find("good").unwrap();
    assert_eq!(f.find_any(&name(&whole)), FoundPackage::Installed(whole));
}

#[test]
fn what_a_newer_version_has_imported_is_never_replaced() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let (installed, _) = f.import(&folder);
    edit(&installed.folder.join("import.json"), "{ \"format\": 2, \"unknown\": [] }");
    let before = snapshot(&f.home());
    let error = f.try_import(&folder).unwrap_err();
    assert!(error.to_string().contains("imported by a newer version of this program"), "{error}");
    assert_eq!(snapshot(&f.home()), before);
    let listing = f.store.packages().list().unwrap();
    assert_eq!((listing.installed.len(), listing.damaged[0].harm), (0, Harm::Newer));
    f.remove(&f.find_any("generated")).unwrap();
    assert_eq!(f.import(&folder).1, ImportOutcome::New);
}

#[test]
fn another_package_under_the_same_short_digest_keeps_its_place() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let (installed, _) = f.import(&folder);
    // The same eight digits, another digest.
    let record = installed.folder.join("import.json");
    let text = fs::read_to_string(&record).unwrap();
    let digest = installed.digest.to_string();
    let other = format!("{}{}", &digest[..8], "0".repeat(56));
    make_writable(&record).unwrap();
    fs::write(&record, text.replace(&digest, &other)).unwrap();
    let (second, outcome) = f.import(&folder);
    assert_eq!(outcome, ImportOutcome::New);
    assert!(
        second.folder.to_str().unwrap().ends_with(&digest[..12]),
        "{}",
        second.folder.display()
    );
    assert_eq!(f.import(&folder), (second, ImportOutcome::AlreadyThere));
    assert_eq!(f.count(), 2);
}

#[test]
fn a_package_is_found_by_name_version_and_digest() {
    let f = Fixture::new();
    let empty = f.store.packages().find("x").unwrap_err();
    assert!(matches!(empty, FindError::Empty { .. }), "{empty}");
    let (old, _) = f.import(&f.folder("old", renamed("My Flow", "0.9.0")));
    let (new, _) = f.import(&f.folder("new", renamed("My Flow", "0.10.0")));
    let found = |reference: &str| f.store.packages().find(reference).unwrap();
    assert_eq!(found("My Flow"), new);
    assert_eq!(found("my-flow@0.9.0"), old);
    assert_eq!(found(&old.digest.short()), old);
    let error = f.store.packages().find("My Flew").unwrap_err();
    assert!(error.to_string().contains("did you mean `My Flow`?"), "{error}");
}

#[test]
fn a_removed_package_is_gone_and_can_come_back() {
    let f = Fixture::new();
    let folder = f.folder("source", package());
    let (installed, _) = f.import(&folder);
    let found = f.find_any("generated");
    assert_eq!(found, FoundPackage::Installed(installed.clone()));
    f.remove(&found).unwrap();
    assert_eq!(f.count(), 0);
    assert_eq!(f.left(), [".lock"]);
    let error = f.remove(&found).unwrap_err();
    assert!(error.to_string().contains("cannot remove"), "{error}");
    assert!(f.store.packages().open(&installed).is_err());
    assert_eq!(f.import(&folder).1, ImportOutcome::New);
}

#[test]
fn settings_decide_the_limits() {
    let f = Fixture::new();
    write(&f.home(), "config.toml", "[import]\nmax-entries = 3\n");
    let store = Store::open(Some(f.home())).unwrap();
    assert_eq!(store.settings().import.max_entries, 3);
    let Err(ImportError::Rejected(rejection)) =
        store.packages().import(&f.folder("source", package()), &mut || ())
    else {
        panic!("imported");
    };
    assert_eq!(describe(Some(&rejection.findings)), ["BM109 "]);
}

#[test]
fn limits_do_not_matter_for_what_is_in_the_store() {
    let f = Fixture::new();
    let (installed, _) = f.import(&f.folder("source", package()));
    write(&f.home(), "config.toml", "[import]\nmax-entries = 3\n");
    let store = Store::open(Some(f.home())).unwrap();
    assert!(store.packages().open(&installed).is_ok());
}

#[test]
fn wrong_settings_are_an_error_with_their_place() {
    let f = Fixture::new();
    write(&f.home(), "config.toml", "# mine\n[import]\nmax-size = 3\n");
    let error = Store::open(Some(f.home())).unwrap_err();
    let text = error.to_string();
    for part in ["config.toml", "line 3", "`max-size = 3`", "max-entries"] {
        assert!(text.contains(part), "{text:?} has no {part:?}");
    }
}

#[test]
fn a_store_that_cannot_be_written_is_an_error_with_its_path() {
    let f = Fixture::new();
    let source = f.folder("source", package());
    write(f.scratch.path(), "home/packages", "a file where the folder should be");
    let error = f.try_import(&source).unwrap_err();
    assert!(matches!(error, ImportError::Store(StoreError::Io { .. })), "{error}");
    assert!(error.to_string().contains("packages"), "{error}");
}

#[test]
fn the_default_home_is_a_folder_of_this_program() {
    assert!(Store::default_home().unwrap().ends_with("crewagent"));
}
