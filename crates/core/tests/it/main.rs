//! Rules of runs from outside: machine, prompts, menus, forms, histories and published schemas.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests read real files and stop at the first surprise"
)]

mod adoption;
mod events;
mod forms;
mod history;
mod machine;
mod menu;
mod prompt;
mod prompt_laws;
mod schemas;
mod shapes;
