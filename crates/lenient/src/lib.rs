//! What models write almost right: calls as text instead of as calls, and arguments that are almost JSON. Pure: texts in,
//! values and faults out.

pub mod calls;
pub mod json;
