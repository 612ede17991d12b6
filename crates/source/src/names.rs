//! File names of packages.

use semver::Version;

/// Longest part of a file name that comes from a package.
const MAX_PART: usize = 64;

/// Returns the common prefix of a package's folder and its packed file.
pub fn stem(name: &str, version: &Version) -> String {
    format!("{}-{}", slug(name), safe_version(version))
}

/// Converts to a name that every file system accepts: lower-case letters, digits and single dashes.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(MAX_PART);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "package".to_owned() } else { slug.to_owned() }
}

fn safe_version(version: &Version) -> String {
    version.to_string().chars().take(MAX_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_slug(name: &str, expected: &str) {
        assert_eq!(slug(name), expected, "{name:?}");
    }

    #[test]
    fn a_slug_works_on_every_file_system() {
        check_slug("create-story-micro", "create-story-micro");
        check_slug("Create Story: Micro!", "create-story-micro");
        check_slug("../../etc/passwd", "etc-passwd");
        check_slug("日本", "package");
        check_slug("", "package");
        check_slug("...", "package");
        check_slug("Ünïcode 1", "n-code-1");
        check_slug(&"x".repeat(500), &"x".repeat(64));
    }
}
