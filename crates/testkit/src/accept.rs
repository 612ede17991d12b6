//! Switch of `cargo xtask accept`: tests rewrite their expectations instead of comparing.

/// Returns true if results of this suite are to be written.
pub fn is_accepting(suite: &str) -> bool {
    std::env::var("CREWAGENT_ACCEPT").is_ok_and(|chosen| chosen.split(',').any(|one| one == suite))
}
