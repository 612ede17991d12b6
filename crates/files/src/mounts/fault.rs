//! Meaning of system errors, on each platform.

use std::io;

/// Statement of a system error about the path, as far as a model must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathFault {
    Escape,
    /// A link cannot be followed: it forms a loop, or is a magic link of the kernel.
    Loop,
    /// Socket or device.
    Special,
    Missing,
    Folder,
    /// Anything else, not caused by the path.
    World,
}

pub(super) fn fault(error: &io::Error) -> PathFault {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if kind == Kind::PermissionDenied && error.raw_os_error().is_none() {
        // An error without an OS code comes from cap-std, about a path that leads out.
        PathFault::Escape
    } else if is_loop(error) {
        PathFault::Loop
    } else if is_special(error) {
        PathFault::Special
    } else if matches!(kind, Kind::NotFound | Kind::NotADirectory | Kind::InvalidFilename) {
        PathFault::Missing
    } else if kind == Kind::IsADirectory {
        PathFault::Folder
    } else {
        PathFault::World
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

/// Returns true for the errors of opening a socket, or a device without a driver.
#[cfg(unix)]
fn is_special(error: &io::Error) -> bool {
    use rustix::io::Errno;
    is(error, &[Errno::NXIO, Errno::NODEV, Errno::OPNOTSUPP])
}

/// Returns true for the errors of a file system that cannot flush a folder, or rename without replacing.
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
