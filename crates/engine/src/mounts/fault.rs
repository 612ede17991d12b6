//! What the system means by an error, on each platform.

use std::io;

/// What an error says about the path, as far as a model must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A link leads out of the mount.
    Escape,
    /// A link cannot be followed: it goes in circles, or it is one of the kernel's own.
    Loop,
    /// A socket, or a device.
    Special,
    /// Nothing is there.
    Missing,
    /// A folder is there.
    Folder,
    /// Something else, which is no fault of the path.
    World,
}

pub(super) fn fault(error: &io::Error) -> Fault {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if kind == Kind::PermissionDenied && error.raw_os_error().is_none() {
        // The system did not say it: cap-std did, about a path that climbs out.
        Fault::Escape
    } else if is_loop(error) {
        Fault::Loop
    } else if is_special(error) {
        Fault::Special
    } else if matches!(kind, Kind::NotFound | Kind::NotADirectory | Kind::InvalidFilename) {
        Fault::Missing
    } else if kind == Kind::IsADirectory {
        Fault::Folder
    } else {
        Fault::World
    }
}

#[cfg(unix)]
fn is(error: &io::Error, wanted: &[rustix::io::Errno]) -> bool {
    rustix::io::Errno::from_io_error(error).is_some_and(|errno| wanted.contains(&errno))
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    is(error, &[rustix::io::Errno::LOOP])
}

/// What opening a socket or a device without a driver gives.
#[cfg(unix)]
fn is_special(error: &io::Error) -> bool {
    use rustix::io::Errno;
    is(error, &[Errno::NXIO, Errno::NODEV, Errno::OPNOTSUPP])
}

/// What a file system answers that cannot flush a folder, or rename without replacing.
#[cfg(unix)]
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    is(error, &[Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP])
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}

#[cfg(not(unix))]
fn is_special(_: &io::Error) -> bool {
    false
}
