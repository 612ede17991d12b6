//! The example packages are clean; every broken package shows its code.

use crate::support::{MemoryFiles, checked, lines, repository};

#[test]
fn the_examples_are_clean() {
    for name in ["create-story-micro", "hello-branch", "multi-workflows", "nested-review"] {
        let checked = checked(&MemoryFiles::from_folder(&repository().join("spec/examples").join(name)));
        assert_eq!(lines(&checked), Vec::<String>::new(), "{name}");
        assert!(checked.package.is_some());
    }
}

#[test]
fn x_bad() {
    let mut dirs: Vec<_> = std::fs::read_dir(repository().join("tests/packages/bad")).unwrap().map(|e| e.unwrap().path()).collect();
    dirs.sort();
    for dir in dirs {
        if !dir.join("package").is_dir() { continue; }
        let c = checked(&MemoryFiles::from_folder(&dir.join("package")));
        let l = lines(&c);
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let code = &name[..5];
        let mark = if l.len() == 1 && l[0].starts_with(code) { "ok " } else { "BAD" };
        println!("{mark} {name}\n     {}", l.join("\n     "));
    }
}
