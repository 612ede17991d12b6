//! File names of packages, and the comparison of names as users type them.

use crewagent_format::path::is_device;
use crewagent_format::text::folded;
use semver::Version;

/// Longest part of a file name that comes from a package, in bytes.
const MAX_PART: usize = 64;

/// Returns the common prefix of a package's folder and its packed file.
pub fn stem(name: &str, version: &Version) -> String {
    let slug = slug(name).unwrap_or_else(|| "package".to_owned());
    format!("{slug}-{}", safe_version(version))
}

/// Converts to a name that every file system accepts: small letters of any script, digits and single dashes. Returns
/// none if nothing of the name is left. Different names can share one, so it never tells which package is meant.
pub fn slug(name: &str) -> Option<String> {
    let mut slug = String::new();
    for c in folded(name).chars() {
        let is_kept = c.is_alphanumeric();
        if slug.len() + c.len_utf8() > MAX_PART {
            break;
        }
        if is_kept {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    (!slug.is_empty()).then_some(slug)
}

/// Converts to the name of a folder of its own, which no system reserves.
pub fn folder(name: &str) -> String {
    match slug(name) {
        Some(slug) if is_device(&slug) => format!("package-{slug}"),
        Some(slug) => slug,
        None => "package".to_owned(),
    }
}

/// Returns true if a user who types one name can mean the other: they differ at most in case, in the spelling of
/// accents, and in the marks between their words.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || key(one).is_some_and(|key| Some(key) == self::key(other))
}

/// Returns what two spellings of a name have in common; none for a name of marks alone.
fn key(name: &str) -> Option<String> {
    let folded = folded(name);
    let words = folded.split(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    let key = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    (!key.is_empty()).then_some(key)
}

fn safe_version(version: &Version) -> String {
    version.to_string().chars().take(MAX_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_slug(name: &str, expected: Option<&str>) {
        assert_eq!(slug(name).as_deref(), expected, "{name:?}");
    }

    #[test]
    fn a_slug_works_on_every_file_system() {
        check_slug("create-story-micro", Some("create-story-micro"));
        check_slug("Create Story: Micro!", Some("create-story-micro"));
        check_slug("../../etc/passwd", Some("etc-passwd"));
        check_slug("我的流程", Some("我的流程"));
        check_slug("Ünïcode 1", Some("ünïcode-1"));
        check_slug("U\u{308}ber", Some("über"));
        check_slug("", None);
        check_slug("...", None);
        check_slug("💥", None);
        check_slug(&"x".repeat(500), Some(&"x".repeat(64)));
        check_slug(&"程".repeat(500), Some(&"程".repeat(21)));
    }

    #[test]
    fn a_folder_is_never_reserved() {
        for (name, expected) in [
            ("My Workflow!", "my-workflow"),
            ("CON", "package-con"),
            ("💥", "package"),
            ("中文", "中文"),
        ] {
            assert_eq!(folder(name), expected, "{name}");
        }
    }

    fn check_same(one: &str, other: &str, expected: bool) {
        assert_eq!(is_same(one, other), expected, "{one:?} {other:?}");
        assert_eq!(is_same(other, one), expected, "{other:?} {one:?}");
    }

    #[test]
    fn names_are_the_same_by_their_letters() {
        check_same("Big Flow", "big-flow", true);
        check_same("Über_Prüfung", "über prüfung", true);
        check_same("U\u{308}ber", "über", true);
        check_same("我的 流程", "我的-流程", true);
        check_same("我的流程", "另一个流程", false);
        check_same("我的流程", "package", false);
        check_same("Über", "ber", false);
        check_same("💥", "🎉", false);
        check_same("💥", "package", false);
        check_same("...", "---", false);
        check_same("...", "...", true);
        check_same("", "...", false);
        let long = "x".repeat(500);
        check_same(&long, &"x".repeat(499), false);
    }
}
