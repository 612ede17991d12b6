//! Configuration that a source declares.
