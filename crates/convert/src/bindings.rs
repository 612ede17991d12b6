//! Resolution of configuration layers at the start of a run.
