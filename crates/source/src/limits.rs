//! Limits of the gate: the `[import]` table of the settings.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// Size up to which the compression ratio of an entry is not limited.
const RATIO_FROM: u64 = MIB;

/// Limits of one package. Exceeding one is a finding, and never yields a partly read package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PackageLimits {
    /// Files and folders; in an archive ignored entries count too.
    pub max_entries: u64,
    /// All files together, unpacked.
    pub max_unpacked_bytes: u64,
    /// One file, unpacked.
    pub max_file_bytes: u64,
    /// Ratio of unpacked to packed size of an entry larger than 1 MiB.
    pub max_ratio: u64,
}

impl Default for PackageLimits {
    fn default() -> Self {
        Self {
            max_entries: 20_000,
            max_unpacked_bytes: 512 * MIB,
            max_file_bytes: 64 * MIB,
            max_ratio: 200,
        }
    }
}

impl PackageLimits {
    /// No limits, for packages that passed the gate before, perhaps under other settings.
    pub const NONE: Self = Self {
        max_entries: u64::MAX,
        max_unpacked_bytes: u64::MAX,
        max_file_bytes: u64::MAX,
        max_ratio: u64::MAX,
    };
}

/// Returns true if an entry's compression ratio suggests a zip bomb.
pub fn is_suspicious(size: u64, packed: u64, limits: &PackageLimits) -> bool {
    size > RATIO_FROM && packed.saturating_mul(limits.max_ratio) < size
}

/// Formats a number of bytes for people: `64 MiB`, `1.5 KiB`, `12 bytes`.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} byte{}", if count == 1 { "" } else { "s" });
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        for (count, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (64 * MIB, "64 MiB"),
            (2048 * MIB, "2 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn the_defaults_are_the_documented_ones() {
        let text = "max-entries = 20000\nmax-unpacked-bytes = 536870912\nmax-file-bytes = 67108864\nmax-ratio = 200\n";
        assert_eq!(toml::from_str::<PackageLimits>(text).unwrap(), PackageLimits::default());
        assert_eq!(toml::from_str::<PackageLimits>("").unwrap(), PackageLimits::default());
    }
}
