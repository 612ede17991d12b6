//! `import.json`: the record of a package in the store. Written once, never changed.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crewagent_format::integrity::Digest;
use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Damaged, FILES, Harm, Installed, record_path};
use crate::durable::Flush;

/// File name of the record.
pub(super) const RECORD: &str = "import.json";

/// Version of the record format that this runtime writes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackageRecord {
    format: u32,
    name: String,
    version: Version,
    sha256: String,
    imported: Timestamp,
    origin: String,
    files: u64,
    bytes: u64,
}

impl PackageRecord {
    pub(super) fn new(installed: &Installed) -> Self {
        Self {
            format: FORMAT,
            name: installed.name.clone(),
            version: installed.version.clone(),
            sha256: installed.digest.to_string(),
            imported: installed.imported,
            origin: installed.origin.clone(),
            files: installed.files,
            bytes: installed.bytes,
        }
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        text.push(b'\n');
        let mut file = fs::File::create_new(record_path(folder))?;
        file.write_all(&text)?;
        if Flush::EACH_FILE {
            file.sync_all()?;
        }
        Ok(())
    }

    /// Reads the record of a folder. Returns `None` if the folder is not ours.
    pub(super) fn read(folder: &Path) -> Result<Option<Installed>, Box<Damaged>> {
        let broken = |reason: String| Box::new(Damaged::new(folder, reason, Harm::Broken));
        let has_files = folder.join(FILES).is_dir();
        let text = match fs::read(record_path(folder)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !has_files => return Ok(None),
            Err(error) => return Err(broken(format!("`{RECORD}` cannot be read: {error}"))),
        };
        let unclear = |error| broken(format!("`{RECORD}` cannot be understood: {error}"));
        // Only this field is certain to exist in a newer record.
        let PackageRecordHead { format } = serde_json::from_slice(&text).map_err(unclear)?;
        if format > FORMAT {
            let reason =
                format!("it was imported by a newer version of this program (format {format})");
            return Err(Box::new(Damaged::new(folder, reason, Harm::Newer)));
        }
        let record: Self = serde_json::from_slice(&text).map_err(unclear)?;
        let digest = Digest::parse(&record.sha256)
            .ok_or_else(|| broken(format!("`sha256` in `{RECORD}` is not a digest")))?;
        let installed = Installed {
            name: record.name,
            version: record.version,
            digest,
            folder: folder.to_owned(),
            imported: record.imported,
            origin: record.origin,
            files: record.files,
            bytes: record.bytes,
        };
        if !has_files {
            let reason = format!("its files are gone: there is no folder `{FILES}`");
            let damaged = Damaged::new(folder, reason, Harm::Broken);
            return Err(Box::new(damaged.of(Some(&installed))));
        }
        Ok(Some(installed))
    }
}

/// Field that every version of the record has.
#[derive(Deserialize)]
struct PackageRecordHead {
    format: u32,
}
