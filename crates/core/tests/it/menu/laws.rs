//! Laws of routing, for any menu and any input.

use std::collections::HashSet;

use crewagent_core::menu::{Command, menu_of, route, words};
use crewagent_format::package::agents::Surface;
use crewagent_format::package::agents::{Agent, MenuItem, Trigger};
use crewagent_testkit::fixture::cases;
use proptest::prelude::*;

use super::{action, agent};

/// Generates texts that resemble each other, and arbitrary ones.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "create",
        "story",
        "review",
        "party",
        "menu",
        "exit",
        "*",
        "[",
        "]",
        "[CS]",
        "-",
        " ",
        "or",
        " or fuzzy match ",
        " or fuzzy match on ",
        ",",
        "1",
        "2",
        "０",
        "中",
        "故事",
        "的",
        "🚀",
        "é",
        "e\u{301}",
        "\n",
        "\r",
        "\t",
        "İ",
        "ß",
        "please ",
        "the ",
        "?",
        "#",
        "ﬁ",
        "\u{0}",
        "/",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    prop::option::of(text())
}

fn trigger() -> impl Strategy<Value = Trigger> {
    let kind = prop::sample::select(vec![None, Some("alias"), Some("handler"), Some("other")]);
    (kind, maybe(), prop::sample::select(vec!["", "x"])).prop_map(|(kind, matches, does)| Trigger {
        kind: kind.map(str::to_owned),
        matches,
        target: action(does),
    })
}

fn item() -> impl Strategy<Value = MenuItem> {
    let flag = || prop::option::of(any::<bool>());
    let triggers = prop::collection::vec(trigger(), 0..4);
    let does = prop::sample::select(vec!["", "x"]);
    (text(), maybe(), maybe(), triggers, does, flag(), flag()).prop_map(
        |(description, trigger, cmd, triggers, does, ide_only, web_only)| MenuItem {
            description,
            trigger,
            cmd,
            triggers,
            target: action(does),
            ide_only,
            web_only,
            ..MenuItem::default()
        },
    )
}

/// Generates a menu whose items hold their index as data.
fn menu() -> impl Strategy<Value = Agent> {
    prop::collection::vec(item(), 0..6).prop_map(|mut items| {
        for (index, item) in items.iter_mut().enumerate() {
            item.target.data = Some(index.to_string());
            for trigger in &mut item.triggers {
                trigger.target.data = Some(index.to_string());
            }
        }
        agent(items)
    })
}

fn surface() -> impl Strategy<Value = Surface> {
    prop::sample::select(Surface::ALL.to_vec())
}

/// Returns the indices in the whole menu of the visible items.
fn seen(agent: &Agent, surface: Surface) -> Vec<usize> {
    (0..agent.menu.len()).filter(|index| surface.shows(&agent.menu[*index])).collect()
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn any_input_has_one_meaning_and_only_visible_items_are_meant(
        agent in menu(), input in prop_oneof![4 => text(), 1 => any::<String>()], surface in surface(),
    ) {
        let routed = route(&agent, &input, surface);
        prop_assert_eq!(&routed, &route(&agent, &input, surface));
        let seen = seen(&agent, surface);
        let place = |number: usize| seen.get(number.wrapping_sub(1)).map(ToString::to_string);
        match &routed.command {
            Command::Item(target) => {
                prop_assert!(target.data.is_some());
                prop_assert_eq!(&target.data, &place(routed.item.unwrap()));
            }
            Command::Clarify { candidates, .. } => {
                prop_assert!(!candidates.is_empty());
                prop_assert!(candidates.iter().all(|one| place(one.number).is_some()));
                let mut told = HashSet::new();
                let numbers = candidates.iter().filter(|one| one.answer == one.number.to_string());
                prop_assert!(numbers.map(|one| one.number).all(|number| told.insert(number)));
            }
            Command::ShowMenu | Command::Dismiss | Command::Resume | Command::Chat => {
                prop_assert!(routed.item.is_none_or(|number| place(number).is_some()));
            }
        }
        prop_assert!(!routed.reason.is_empty());
    }

    #[test]
    fn a_number_is_always_the_item_at_its_place(
        agent in menu(), number in 0_usize..9, zeros in 0_usize..3, surface in surface(),
    ) {
        let routed = route(&agent, &format!("{}{number}", "0".repeat(zeros)), surface);
        let lines = menu_of(&agent, surface);
        if (1..=lines.len()).contains(&number) {
            prop_assert_eq!(routed.item, Some(number));
        } else if lines.is_empty() {
            prop_assert_eq!(routed.command, Command::Chat);
        } else if let Command::Clarify { candidates, .. } = routed.command {
            prop_assert_eq!(candidates.len(), lines.len());
        } else {
            prop_assert!(false, "{:?}", routed);
        }
    }

    #[test]
    fn every_word_that_is_offered_chooses_an_item_that_has_it(agent in menu(), surface in surface()) {
        for word in words(&agent, surface) {
            let routed = route(&agent, &word, surface);
            let exactly = |reason: &str| {
                ["trigger", "cmd", "code", "alias", "handler"].iter().any(|spot| reason.starts_with(spot))
            };
            prop_assert!(exactly(&routed.reason), "{word:?}: {routed:?}");
            let number = routed.item.expect(&word);
            let chosen = super::agent(vec![agent.menu[seen(&agent, surface)[number - 1]].clone()]);
            let alone = route(&chosen, &word, surface);
            prop_assert!(exactly(&alone.reason) && alone.item == Some(1), "{word:?}: {alone:?}");
        }
    }
}
