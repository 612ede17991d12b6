//! Messages and help in Chinese, chosen by option, variable and locale.

use crate::support::CliFixture;

#[test]
fn help_and_mistakes_are_chinese_where_that_is_asked_for() {
    let world = CliFixture::new();
    let help = world.run(&["run", "--help", "--lang", "zh"]);
    assert!(help.code == 0 && help.out.contains("用法：crewagent run"), "{help:?}");
    let mistake = world.run(&["--lang=zh", "rnu"]);
    assert!(mistake.code == 2 && mistake.err.contains("没有命令“rnu”"), "{mistake:?}");
    let error = world.run(&["package", "show", "nope", "--lang", "zh"]);
    assert!(error.code == 2 && error.err.starts_with("错误:"), "{error:?}");
}

#[test]
fn the_locale_chooses_and_the_option_decides() {
    let world = CliFixture::new();
    let output = |args: &[&str]| {
        let output = world.command().env("LANG", "zh_CN.UTF-8").args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(output(&["--help"]).contains("用法："));
    assert!(output(&["--help", "--lang", "en"]).contains("Usage: crewagent"));
}

#[test]
fn a_run_speaks_chinese_to_the_user_and_english_to_programs() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--lang", "zh", "--input", "x"]);
    assert!(ran.out.contains("已完成") && ran.out.contains("流程"), "{ran:?}");
    let listed = world.run(&["runs", "list", "--lang", "zh"]);
    assert!(listed.out.contains("已完成"), "{listed:?}");
    let english = world.run(&["runs", "show", "--json"]);
    let chinese = world.run(&["runs", "show", "--json", "--lang", "zh"]);
    assert_eq!(english.out, chinese.out);
    let error = world.run(&["run", "nope", "--lang", "zh", "--model", "scripted:tiny.yaml"]);
    assert!(error.err.contains("没有包 `nope`"), "{error:?}");
}
