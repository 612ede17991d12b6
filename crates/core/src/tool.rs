//! What tools do, as far as it can be said without touching a disk.

pub mod call;
pub mod leaked;
pub mod schema;
pub mod served;
pub mod survey;
pub mod text_patch;
pub mod window;
