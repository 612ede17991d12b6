//! Contract of menus, rule by rule: numbers, words, handlers, commands. Every case is an input and its routing. The
//! numbers of rules are those of the contract.

use crewagent_core::menu::{MenuLine, menu_of, route, words};
use crewagent_format::package::agents::Surface;
use crewagent_format::package::agents::{Agent, MenuItem};

use super::{agent, item, shown, trigger};

#[track_caller]
pub(super) fn check_on(surface: Surface, agent: &Agent, table: &[(&str, &str)]) {
    for (input, expected) in table {
        let routed = route(agent, input, surface);
        assert_eq!(shown(&routed), *expected, "{input:?}: {routed:?}");
    }
}

#[track_caller]
pub(super) fn check(agent: &Agent, table: &[(&str, &str)]) {
    check_on(Surface::Ide, agent, table);
}

/// Returns a typical menu.
pub(super) fn team() -> Agent {
    agent(vec![
        item("create-story", "[CS] Write the next story of the sprint", "story"),
        item("*validate-prd", "Check the requirements (VP)", "prd"),
        MenuItem {
            cmd: Some("*retro".into()),
            triggers: vec![
                trigger("alias", "retrospective", ""),
                trigger("alias", "*Look-Back", ""),
                trigger("other", "ignored", "x"),
            ],
            ..item("", "[ER] Look at what went well in the past sprint", "retro")
        },
        item("Review", "[cr] Read the code of another", "review"),
    ])
}

#[test]
fn nothing_shows_the_menu() {
    // 5.1: trimmed; empty input shows the menu. A lone `*` asks for a command without naming one.
    check(
        &team(),
        &[
            ("", "menu"),
            (" ", "menu"),
            ("\t \n \r\n", "menu"),
            ("\u{3000}", "menu"),
            ("*", "menu"),
            (" * ", "menu"),
            ("＊", "menu"),
        ],
    );
    check(&agent(vec![]), &[("", "menu"), ("hello", "chat"), ("*menu", "menu")]);
}

#[test]
fn a_number_is_a_visible_item() {
    // 5.3-1: digits choose the n-th visible item; others are asked about, with the range.
    check(
        &team(),
        &[
            ("1", "1 exact story"),
            ("2", "2 exact prd"),
            (" 4\n", "4 exact review"),
            ("02", "2 exact prd"),
            ("0000000000000000000000000000004", "4 exact review"),
            ("*3", "3 exact retro"),
            ("２", "2 exact prd"),
            ("③", "3 exact retro"),
            ("0", "range 1 2 3 4"),
            ("00", "range 1 2 3 4"),
            ("5", "range 1 2 3 4"),
            ("18446744073709551616", "range 1 2 3 4"),
            ("99999999999999999999999999999999999999999999", "range 1 2 3 4"),
            // Not a number of the menu.
            ("-1", "chat"),
            ("+1", "chat"),
            ("1.5", "chat"),
            ("1 2", "chat"),
            ("1st", "chat"),
            ("#1", "chat"),
            ("٣", "chat"),
        ],
    );
    // Without a menu a number is conversation.
    check(&agent(vec![]), &[("1", "chat"), ("0", "chat")]);
    // A number goes before a trigger that looks like one.
    let numbers = agent(vec![item("2", "[3] First", "one"), item("1", "Second", "two")]);
    check(
        &numbers,
        &[("1", "1 exact one"), ("2", "2 exact two"), ("3", "range 1 2"), ("[3]", "1 exact one")],
    );
}

#[test]
fn what_is_hidden_is_neither_counted_nor_matched() {
    // 4.9: `ide-only`, `web-only`; both is nowhere.
    let only = |ide: bool, web: bool, item: MenuItem| MenuItem {
        ide_only: Some(ide),
        web_only: Some(web),
        ..item
    };
    let agent = agent(vec![
        only(true, false, item("local-build", "[LB] Build on this machine", "ide")),
        only(false, true, item("upload", "[UP] Upload a picture", "web")),
        only(true, true, item("ghost", "[GH] Haunt the castle", "never")),
        only(false, false, item("both", "[BO] Seen everywhere", "both")),
        only(false, true, item("local-build", "[LB] Build in the cloud", "cloud")),
    ]);
    check_on(
        Surface::Ide,
        &agent,
        &[
            ("1", "1 exact ide"),
            ("2", "2 exact both"),
            ("3", "range 1 2"),
            ("local-build", "1 exact ide"),
            ("lb", "1 exact ide"),
            ("upload", "chat"),
            ("up", "chat"),
            ("picture", "chat"),
            ("ghost", "chat"),
            ("castle", "chat"),
            ("machine", "1 medium ide"),
        ],
    );
    check_on(
        Surface::Web,
        &agent,
        &[
            ("1", "1 exact web"),
            ("2", "2 exact both"),
            ("3", "3 exact cloud"),
            ("4", "range 1 2 3"),
            ("local-build", "3 exact cloud"),
            ("machine", "chat"),
            ("GH", "chat"),
            ("ghost", "chat"),
            ("upload", "1 exact web"),
        ],
    );
}

#[test]
fn a_word_of_the_menu_is_its_item() {
    // 5.3-2 and 4.1: trigger, cmd, alias and code; without case, blanks around it and one `*` on either side.
    check(
        &team(),
        &[
            ("create-story", "1 exact story"),
            ("CREATE-STORY", "1 exact story"),
            ("  Create-Story  ", "1 exact story"),
            ("*create-story", "1 exact story"),
            ("validate-prd", "2 exact prd"),
            ("*Validate-PRD", "2 exact prd"),
            ("retro", "3 exact retro"),
            ("*RETRO", "3 exact retro"),
            ("retrospective", "3 exact retro"),
            ("look-back", "3 exact retro"),
            ("*look-back", "3 exact retro"),
            ("review", "4 exact review"),
            ("ignored", "chat"),
            // One `*`, not two.
            ("**retro", "3 high retro"),
            // Codes, with and without brackets.
            ("CS", "1 exact story"),
            ("cs", "1 exact story"),
            ("[CS]", "1 exact story"),
            ("*[cs]", "1 exact story"),
            ("［ＣＳ］", "1 exact story"),
            ("er", "3 exact retro"),
            ("CR", "4 exact review"),
            // Parentheses are no code.
            ("VP", "chat"),
        ],
    );
    // Of two items that share a word the first has it; a trigger and a code are words alike.
    let shared = agent(vec![
        item("plan", "[X] One", "one"),
        item("*PLAN", "[X] Two", "two"),
        item("x", "Three", "three"),
        item("[M]", "Four", "four"),
    ]);
    check(
        &shared,
        &[
            ("plan", "1 exact one"),
            ("x", "1 exact one"),
            ("2", "2 exact two"),
            ("m", "4 exact four"),
            ("[m]", "4 exact four"),
        ],
    );
}

#[test]
fn a_handler_is_chosen_by_its_own_words() {
    // 4.2, 5.2: a handler's code is a word, the rest of its match is what is similar.
    let party = MenuItem {
        triggers: vec![
            trigger("handler", "SPM or fuzzy match start party mode", "party"),
            trigger("handler", "CH or fuzzy match on chat, talk or expert chat", "talk"),
            trigger("handler", "mute", ""),
            trigger("handler", "", "nameless"),
        ],
        ..item("gather", "[G] Start a party or a chat with the experts", "")
    };
    let only = MenuItem {
        triggers: vec![trigger("handler", "solo", "alone")],
        ..item("single", "One handler", "")
    };
    let parent = MenuItem {
        triggers: vec![trigger("handler", "deep or fuzzy match deep research", "deep")],
        ..item("research", "[R] Search, or search deep", "search")
    };
    let agent = agent(vec![party, only, parent]);
    check(
        &agent,
        &[
            ("SPM", "1 exact party"),
            ("*spm", "1 exact party"),
            ("ch", "1 exact talk"),
            ("start party mode", "1 high party"),
            ("party mode", "1 high party"),
            ("please start party mode", "1 high party"),
            ("talk", "1 high talk"),
            // A handler's match goes before the description of its item.
            ("party", "1 high party"),
            ("chat", "1 high talk"),
            ("part", "1 medium party"),
            // Only the item's own description.
            ("experts", "several SPM CH"),
            // An item without work of its own asks which handler; one that does nothing is not offered.
            ("1", "several SPM CH"),
            ("gather", "several SPM CH"),
            ("g", "several SPM CH"),
            ("mute", "chat"),
            // With one handler there is no question.
            ("2", "2 exact alone"),
            ("single", "2 exact alone"),
            ("solo", "2 exact alone"),
            // An item with work of its own does that.
            ("3", "3 exact search"),
            ("research", "3 exact search"),
            ("deep", "3 exact deep"),
            ("deep research", "3 high deep"),
            ("search", "3 medium deep"),
        ],
    );
}

#[test]
fn a_handler_has_a_word_before_its_item_and_after_other_items() {
    let first = MenuItem {
        triggers: vec![trigger("handler", "same", "handler"), trigger("handler", "other", "first")],
        ..item("same", "First", "")
    };
    let agent = agent(vec![first, item("other", "Second", "second")]);
    check(&agent, &[("same", "1 exact handler"), ("other", "2 exact second")]);
}

#[test]
fn every_menu_knows_a_few_commands() {
    // 8: `*` is the sign of a global command; without it the word may be conversation.
    check(
        &team(),
        &[
            ("*menu", "menu"),
            ("*MENU", "menu"),
            ("/menu", "menu"),
            ("*help", "menu"),
            ("*dismiss", "dismiss"),
            ("*exit", "dismiss"),
            ("/quit", "dismiss"),
            ("*resume", "resume"),
            ("menu", "chat"),
            ("help", "chat"),
            ("exit", "chat"),
            ("resume", "chat"),
            ("*unknown", "chat"),
            ("/create-story", "1 high story"),
        ],
    );
}

#[test]
fn an_item_without_work_is_what_its_word_says() {
    let cmd = |cmd: &str, description: &str| MenuItem {
        cmd: Some(cmd.to_owned()),
        ..item("", description, "")
    };
    let agent = agent(vec![
        cmd("*menu", "[M] Show the menu again"),
        cmd("MH or fuzzy match on menu or help", "[MH] Redisplay Menu Help"),
        cmd("DA or fuzzy match on exit, leave, goodbye or dismiss agent", "[DA] Dismiss Agent"),
        cmd("CH or fuzzy match on chat", "[CH] Chat with the agent about anything"),
        item("resume", "Go on", ""),
        item("help", "Explain the method", "explain"),
        MenuItem { target: Default::default(), ..item("", "", "") },
    ]);
    check(
        &agent,
        &[
            ("1", "menu 1"),
            ("menu", "menu 1"),
            ("*menu", "menu 1"),
            ("m", "menu 1"),
            ("mh", "menu 2"),
            ("da", "dismiss 3"),
            ("goodbye", "dismiss 3"),
            ("dismiss agent", "dismiss 3"),
            ("ch", "chat 4"),
            ("chat", "chat 4"),
            ("resume", "resume 5"),
            ("5", "resume 5"),
            // Work of its own goes first.
            ("help", "6 exact explain"),
            ("*help", "6 exact explain"),
            // Nothing at all.
            ("7", "chat 7"),
        ],
    );
}

#[test]
fn only_the_first_line_is_matched_and_the_rest_is_passed_on() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("2", "2 exact prd", None),
        ("2\n", "2 exact prd", None),
        (
            "2\nuse the long form\nand be kind",
            "2 exact prd",
            Some("use the long form\nand be kind"),
        ),
        ("\n\n2\r\n  about cats \r\n", "2 exact prd", Some("about cats")),
        ("2\rold line ends", "2 exact prd", Some("old line ends")),
        ("create-story\n\n\n1", "1 exact story", Some("1")),
        ("hello\n2", "chat", Some("2")),
        ("*menu\nx", "menu", Some("x")),
        ("9\nwhy", "range 1 2 3 4", Some("why")),
    ];
    for (input, expected, details) in cases {
        let routed = route(&team(), input, Surface::Ide);
        assert_eq!((shown(&routed).as_str(), routed.details.as_deref()), (*expected, *details));
    }
}

#[test]
fn the_reason_says_what_was_matched() {
    for (input, expected) in [
        ("", "nothing was typed"),
        ("2", "number 2"),
        ("9", "the menu has the numbers 1 to 4"),
        ("create-story", "trigger `create-story`"),
        ("retro", "cmd `*retro`"),
        ("look-back", "alias `*Look-Back`"),
        ("cs", "code `[CS]`"),
        ("*menu", "command `*menu`"),
        ("create", "the words match `create-story`"),
        ("valid", "the letters are part of `*validate-prd`"),
        ("requirements", "the words match the description"),
        ("sprint", "2 match equally well"),
        ("hello", "nothing in the menu matches"),
    ] {
        assert_eq!(route(&team(), input, Surface::Ide).reason, expected, "{input:?}");
    }
}

#[test]
fn the_menu_is_shown_with_numbers_and_completed_by_words() {
    let lines = menu_of(&team(), Surface::Web);
    let triggers: Vec<_> = lines.iter().map(|line| line.trigger.as_deref()).collect();
    assert_eq!(
        triggers,
        [Some("create-story"), Some("validate-prd"), Some("retro"), Some("Review")]
    );
    let expected = MenuLine {
        number: 4,
        trigger: Some("Review".into()),
        description: "[cr] Read the code of another".into(),
    };
    assert_eq!(lines.last(), Some(&expected));
    assert_eq!(
        words(&team(), Surface::Ide),
        [
            "create-story",
            "CS",
            "validate-prd",
            "retro",
            "ER",
            "retrospective",
            "Look-Back",
            "Review",
            "cr"
        ]
    );
}
