//! The demo: offline and quick, and every artifact it names exists.

use std::path::PathBuf;

use crate::support::{CliFixture, FILTERS, example};

#[test]
fn the_demo_plays_the_golden_path_and_says_where_everything_is() {
    let world = CliFixture::new();
    let ran = world.run(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    insta::with_settings!({ filters => FILTERS.to_vec(), omit_expression => true }, {
        insta::assert_snapshot!("demo", ran.out);
    });
}

#[test]
fn every_artifact_that_the_demo_names_is_there() {
    let world = CliFixture::new();
    let ran = world.run(&["demo"]);
    let named = ran.out.lines().filter_map(|line| line.trim().strip_prefix("[WORLD]/"));
    let paths: Vec<PathBuf> = named.map(|path| world.path(path)).collect();
    assert_eq!(paths.len(), 6, "{}", ran.out);
    assert!(paths.iter().all(|path| path.is_file()), "{paths:?}");
}

#[test]
fn the_run_of_the_demo_can_be_looked_at_afterwards() {
    let world = CliFixture::new();
    let ran = world.run(&["demo"]);
    let commands = ran.out.lines().filter_map(|line| line.trim().strip_prefix("crewagent --home "));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 2, "{}", ran.out);
    for command in commands {
        let command = command.replace("[WORLD]", world.folder.path().to_str().unwrap());
        let args: Vec<&str> = ["--home"].into_iter().chain(command.split(' ')).collect();
        let shown = world.run(&args);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.out.contains("Completed"), "{}", shown.out);
    }
}

#[test]
fn the_demo_carries_the_published_example() {
    let world = CliFixture::new();
    world.run(&["demo"]);
    let made = std::fs::read_dir(world.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("crewagent-demo-"))
        .unwrap();
    let differs = std::process::Command::new("diff")
        .arg("-r")
        .arg(made.join("create-story-micro"))
        .arg(example("create-story-micro"))
        .output()
        .unwrap();
    assert!(differs.status.success(), "{}", String::from_utf8_lossy(&differs.stdout));
}
