//! Contract of menus, rule by rule: input that is similar to a word of the menu, and input that is conversation.

use crewagent_core::menu::{Candidate, Command, route};
use crewagent_format::package::agents::MenuItem;
use crewagent_format::package::agents::Surface;

use super::table::{check, team};
use super::{agent, item};

#[test]
fn something_similar_is_its_item_if_it_is_the_only_one() {
    // 5.3-3: whole words before parts, triggers before descriptions.
    check(
        &team(),
        &[
            // All words of a trigger, with anything between them.
            ("create story", "1 high story"),
            ("Create_Story!", "1 high story"),
            ("validate prd", "2 high prd"),
            // Some of its words.
            ("create", "1 high story"),
            ("prd", "2 high prd"),
            // A part of it, or of an alias.
            ("valid", "2 medium prd"),
            ("create-st", "1 medium story"),
            ("spective", "3 medium retro"),
            // Words of a description.
            ("requirements", "2 medium prd"),
            ("the next story", "1 medium story"),
            ("went well", "3 medium retro"),
            ("code", "4 medium review"),
            // A part of a description.
            ("requi", "2 low prd"),
            ("anoth", "4 low review"),
            // Whole words of a description before a part of a trigger.
            ("look", "3 high retro"),
            // The beginning of several triggers.
            ("re", "several 3 4"),
            ("Re!", "several 3 4"),
            // Too short to be more than chance.
            ("c", "chat"),
            ("va", "chat"),
            ("st", "chat"),
            ("wri", "chat"),
            // Two letters swapped.
            ("craete-story", "1 low story"),
            ("reveiw", "4 low review"),
            // Misspelt otherwise is not similar.
            ("creaet-stroy", "chat"),
            ("crate-story", "chat"),
        ],
    );
    let levels = agent(vec![
        item("restore", "Bring back a backup", "restore"),
        item("visit", "Go to the store", "visit"),
        item("sell-now", "Open the shop", "sell"),
        item("shopping", "Buy what is on the list to sell", "buy"),
    ]);
    check(
        &levels,
        &[
            ("store", "2 medium visit"),
            ("stor", "1 medium restore"),
            ("sell", "3 high sell"),
            ("shop", "3 medium sell"),
            ("shopp", "4 medium buy"),
        ],
    );
}

#[test]
fn a_request_is_the_trigger_and_polite_words() {
    check(
        &team(),
        &[
            ("please create story", "1 high story"),
            ("create a story please", "1 high story"),
            ("Let's start the review now", "4 high review"),
            ("could you run create-story for me", "1 high story"),
            ("I'd like to create the story.", "1 high story"),
            ("run retro", "3 high retro"),
            // Anything else in it makes it conversation.
            ("don't create story", "chat"),
            ("do not run review", "chat"),
            ("never review", "chat"),
            ("create story about dragons", "chat"),
            ("the review was bad", "chat"),
            ("stop the review", "chat"),
            ("no review please", "chat"),
        ],
    );
}

#[test]
fn what_matches_equally_well_is_asked_about() {
    // 5.3-3, 5.4: a tie lists the candidates with their visible numbers, each once.
    let agent = agent(vec![
        MenuItem { web_only: Some(true), ..item("story-web", "Hidden story", "hidden") },
        MenuItem {
            cmd: Some("story-new".into()),
            ..item("create-story", "Write a story", "create")
        },
        item("review-story", "Read a story", "review"),
        item("plan", "Plan the work of the week", "plan"),
        item("report", "Say what was done in the week", "report"),
    ]);
    check(
        &agent,
        &[
            ("story", "several 1 2"),
            ("Story", "several 1 2"),
            ("stor", "several 1 2"),
            ("week", "several 3 4"),
            ("the week", "several 3 4"),
            // A better one breaks the tie.
            ("create story", "1 high create"),
            ("write", "1 medium create"),
            // The answer is a number, or a word.
            ("2", "2 exact review"),
        ],
    );
    let Command::Clarify { candidates, .. } = route(&agent, "story", Surface::Ide).command else {
        panic!("a tie is asked about");
    };
    let one = |number: usize, label: &str| Candidate {
        number,
        label: label.to_owned(),
        answer: number.to_string(),
    };
    assert_eq!(candidates, [one(1, "Write a story"), one(2, "Read a story")]);
}

#[test]
fn the_beginning_of_several_words_is_asked_about() {
    let agent = agent(vec![
        item("plan-sprint", "Say what to do", "sprint"),
        item("planning", "Say who does it", "who"),
        item("plan", "Say it all", "all"),
        item("triage", "Sort what came in", "triage"),
        item("", "Find out why it is slow", "trace"),
        item("trace", "Find out why it is slow", "trace"),
    ]);
    check(
        &agent,
        &[
            ("plan", "3 exact all"),
            ("pla", "several 1 2 3"),
            ("pl", "several 1 2 3"),
            ("PL", "several 1 2 3"),
            ("plan sprint", "1 high sprint"),
            ("plan-s", "1 medium sprint"),
            ("tr", "several 4 6"),
            ("tri", "4 medium triage"),
            ("tirage", "4 low triage"),
            ("t", "chat"),
        ],
    );
}

#[test]
fn chinese_words_need_no_blanks() {
    let agent = agent(vec![
        item("创建故事", "[CS] 编写下一个用户故事", "story"),
        item("代码评审", "检查代码质量", "review"),
        item("*回顾", "总结本次迭代的经验", "retro"),
        item("作る", "ストーリーを作成する", "japanese"),
    ]);
    check(
        &agent,
        &[
            ("创建故事", "1 exact story"),
            ("*创建故事", "1 exact story"),
            ("回顾", "3 exact retro"),
            ("ＣＳ", "1 exact story"),
            ("创建", "1 high story"),
            ("评审", "2 high review"),
            ("代码", "2 high review"),
            ("迭代", "3 medium retro"),
            ("用户故事", "1 medium story"),
            ("请创建故事", "1 high story"),
            ("帮我创建故事吧", "1 high story"),
            ("开始代码评审", "2 high review"),
            ("ストーリー", "4 medium japanese"),
            ("作る", "4 exact japanese"),
            // One character is too little, an answer is no command, a sentence is conversation.
            ("故", "chat"),
            ("的", "chat"),
            ("好的", "chat"),
            ("继续", "chat"),
            ("不要创建故事", "chat"),
            ("这个故事怎么样？", "chat"),
            ("你觉得代码评审有用吗", "chat"),
        ],
    );
}

#[test]
fn emoji_and_accents_are_words_when_they_are_typed_exactly() {
    let agent = agent(vec![
        item("🚀", "Launch it", "launch"),
        item("Übersicht", "Zeige die Straße", "overview"),
        item("été", "🎉 Celebrate", "party"),
    ]);
    check(
        &agent,
        &[
            ("🚀", "1 exact launch"),
            ("*🚀", "1 exact launch"),
            ("🎉", "chat"),
            ("👩‍👩‍👧", "chat"),
            ("🚀🚀", "chat"),
            ("übersicht", "2 exact overview"),
            ("ÜBERSICHT", "2 exact overview"),
            ("E\u{301}TE\u{301}", "3 exact party"),
            ("🎉 celebrate", "3 medium party"),
            ("straße", "2 medium overview"),
            ("\u{202e}", "chat"),
            ("\0", "chat"),
        ],
    );
}

#[test]
fn conversation_starts_nothing() {
    // 5.3-4. Words of the menu are in most of these.
    check(
        &team(),
        &[
            ("what do you think about the story?", "chat"),
            ("create story?", "chat"),
            ("can you create a story?", "chat"),
            ("I read the story and it is good", "chat"),
            ("the code looks fine to me, next I will write the tests", "chat"),
            ("my requirements are a mess", "chat"),
            ("we should review the sprint before we create a story", "chat"),
            ("yes", "chat"),
            ("No.", "chat"),
            ("ok, thanks", "chat"),
            ("next", "chat"),
            ("the", "chat"),
            ("of the", "chat"),
            ("continue please", "chat"),
            ("go on", "chat"),
            ("start", "chat"),
            ("hello", "chat"),
            ("?", "chat"),
            ("...", "chat"),
            ("```", "chat"),
        ],
    );
    let long = format!("create story {}", "please ".repeat(10_000));
    check(&team(), &[(&long, "chat")]);
}
