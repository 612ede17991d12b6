//! One broken package for every diagnostic code; the report that the author reads is a snapshot beside it.

use std::collections::BTreeSet;
use std::path::Path;

use crewagent_format::diagnostic::Code;

use crate::support::{CliFixture, Ran, copy_folder, repository};

#[test]
fn every_code_has_a_broken_package_and_a_report_that_names_it() {
    let bad = repository().join("tests/packages/bad");
    let mut covered = BTreeSet::new();
    let mut folders: Vec<_> =
        std::fs::read_dir(&bad).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let code = Code::find(&name[..5]).unwrap_or_else(|| panic!("{name} names no code"));
        assert_eq!(name, format!("{}-{}", code.as_str(), code.name()));
        let ran = validate(&folder);
        assert!(ran.out.contains(&format!("[{}]", code.as_str())), "{name}: {ran:?}");
        let refused = code.severity() == crewagent_format::diagnostic::Severity::Error;
        assert_eq!(ran.code, if refused { 2 } else { 0 }, "{name}: {ran:?}");
        insta::with_settings!({ snapshot_path => folder.clone(), prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("report", ran.out + &ran.err);
        });
        covered.insert(code);
    }
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !covered.contains(code) && !is_of_conversions(**code))
        .map(|code| code.as_str())
        .collect();
    assert_eq!(missing, Vec::<&str>::new(), "codes without a broken package");
}

/// Returns true for findings about a source that becomes a package, or a package that becomes another one: no check of
/// a package reports them.
fn is_of_conversions(code: Code) -> bool {
    code == Code::LeftOut || code.as_str().starts_with("BM9")
}

/// Validates a copy of the case with the options of `case.toml`.
fn validate(folder: &Path) -> Ran {
    let world = CliFixture::new();
    let case = case(folder);
    let package = if folder.join("package.zip").exists() {
        std::fs::copy(folder.join("package.zip"), world.path("package.zip")).unwrap();
        "package.zip"
    } else {
        copy_folder(&folder.join("package"), &world.path("package"));
        "package"
    };
    if let Some(limits) = case.get("limits") {
        let import = toml::Table::from_iter([("import".to_owned(), limits.clone())]);
        world.write("store/config.toml", toml::to_string(&import).unwrap());
    }
    if let Some(path) = case.get("unreadable").and_then(|paths| paths[0].as_str()) {
        make_unreadable(&world.path(package).join(path));
        return world.run_without_privileges(&["package", "validate", package]);
    }
    if let Some(grow) = case.get("grow") {
        let path = world.path(package).join(grow["path"].as_str().unwrap());
        let mut content = std::fs::read(&path).unwrap();
        content.resize(usize::try_from(grow["bytes"].as_integer().unwrap()).unwrap(), b' ');
        std::fs::write(path, content).unwrap();
    }
    let portable = case.get("portable").map(|_| "--portable");
    if package == "package" {
        let mut command = world.command();
        command.args(["package", "validate"]).args(portable).current_dir(world.path(package));
        return world.ran(command.output().unwrap());
    }
    world.run(&["package", "validate", package])
}

fn case(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("case.toml"))
        .map(|text| text.parse().unwrap())
        .unwrap_or_default()
}

/// Removes every permission of a file.
#[cfg(unix)]
fn make_unreadable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
}

#[cfg(not(unix))]
fn make_unreadable(_: &Path) {}
