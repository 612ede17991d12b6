//! The 92 slips of the contract with models: each is played through the real adapter against a server of exact bytes,
//! by a model that errs once and then does what it is told. The specification puts them into the engine's tests; they
//! are here because calls in text, other names and broken JSON are understood on the way through the adapter.

mod check;
mod files;
mod json;
mod moves;
mod names;
mod play;
mod questions;
mod reply;
mod slip;
mod text_calls;
mod words;

use self::slip::{Slip, Worth};

fn all() -> Vec<Slip> {
    let groups = [
        words::slips(),
        text_calls::slips(),
        names::slips(),
        json::slips(),
        moves::slips(),
        questions::slips(),
        files::slips(),
    ];
    groups.into_iter().flatten().collect()
}

#[test]
fn ninety_percent_of_the_slips_are_repaired_without_the_user() {
    let all = all();
    let numbers: Vec<usize> = all.iter().map(|slip| slip.number).collect();
    assert_eq!(numbers, (1..=92).collect::<Vec<_>>());
    let count = |is: fn(&Worth) -> bool| all.iter().filter(|slip| is(&slip.worth)).count();
    let digits = count(|worth| matches!(worth, Worth::Digit(_)));
    let users = count(|worth| matches!(worth, Worth::User(_)));
    let stops = count(|worth| matches!(worth, Worth::Stop(_)));
    assert_eq!((digits, users, stops), (87, 3, 2));
    assert!(digits * 10 >= all.len() * 9);
}
