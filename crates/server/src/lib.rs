//! The local HTTP server and the web app it serves. Empty until part 6 of the plan; the crate holds the place
//! so that nothing else ever depends on axum.
