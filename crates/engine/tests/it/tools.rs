//! The tools as a model uses them: calls as text in, answers as text out.

mod carrying;
mod copying;
pub(crate) mod fixture;
mod guarded;
mod outputs;
mod overwriting;
mod patching;
mod reading;
mod reference;
mod relocating;
mod repeats;
mod translating;
mod writing;
