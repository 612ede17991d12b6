//! Maps a line of the user to a command: a number, a word of the menu, something similar, or else conversation.

use crewagent_format::package::agents::words::{
    Phrase, WordField, digits, folded, normalised, phrases,
};
use crewagent_format::package::agents::{Agent, MenuItem};

use super::fuzzy::{Pool, Query, Rank};
use super::{Candidate, Command, Confidence, Routed, Surface, Target, Unclear, able, visible};

/// Maps the first line of `input` to a command. The result is deterministic, and no file is read.
///
/// 1. An empty line shows the menu.
/// 2. A number is an item of the visible menu.
/// 3. A word of the menu is its item: the trigger, the cmd, an alias, the code of the description, or the word of a
///    handler. If items share a word, the first one gets it; a handler comes before its own item.
/// 4. `*menu`, `*help`, `*dismiss`, `*exit`, `*quit` and `*resume` work in every menu.
/// 5. The beginning of several words of the menu asks which one.
/// 6. A similar text is its item if no other item is as similar.
/// 7. All else is conversation.
///
/// An item without work of its own does that of its only handler, or asks which of several. Without handlers it is
/// the builtin that its word names, such as `*menu` or `*dismiss`, or else conversation.
pub fn route(agent: &Agent, input: &str, surface: Surface) -> Routed {
    let input = input.trim();
    let (line, rest) = input.split_once(['\n', '\r']).unwrap_or((input, ""));
    let menu: Vec<VisibleItem<'_>> =
        visible(agent, surface).map(|(number, item)| VisibleItem::new(number, item)).collect();
    let mut routed = number(&menu, line)
        .or_else(|| nothing(line))
        .or_else(|| exact(&menu, line))
        .or_else(|| global(line))
        .or_else(|| similar(&menu, line))
        .unwrap_or_else(|| chat("nothing in the menu matches"));
    routed.details = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    routed
}

/// Visible item and everything that can be chosen of it.
struct VisibleItem<'a> {
    number: usize,
    item: &'a MenuItem,
    target: Option<Target>,
    phrases: Vec<(WordField, Phrase<'a>)>,
    handlers: Vec<HandlerTarget<'a>>,
}

/// Handler with a target.
struct HandlerTarget<'a> {
    /// Text that chooses it. Only an item's only handler may have none: its item chooses it.
    phrase: Option<Phrase<'a>>,
    target: Target,
}

/// Item, or one of its handlers.
#[derive(Clone, Copy)]
struct RouteChoice<'m, 'a> {
    entry: &'m VisibleItem<'a>,
    handler: Option<&'m HandlerTarget<'a>>,
}

impl<'a> VisibleItem<'a> {
    fn new(number: usize, item: &'a MenuItem) -> Self {
        let handlers = able(item).map(|(trigger, target)| HandlerTarget {
            phrase: trigger.matches.as_deref().map(Phrase::new),
            target,
        });
        let mut handlers: Vec<_> = handlers.collect();
        if handlers.len() > 1 {
            handlers.retain(|handler| handler.answer().is_some());
        }
        let target = Target::of(&item.target, item.validate_workflow.is_some());
        Self { number, item, target, phrases: phrases(item), handlers }
    }

    fn itself(&self) -> RouteChoice<'_, 'a> {
        RouteChoice { entry: self, handler: None }
    }

    fn each_handler(&self) -> impl Iterator<Item = RouteChoice<'_, 'a>> {
        self.handlers.iter().map(|handler| RouteChoice { entry: self, handler: Some(handler) })
    }

    /// Returns the builtin command that an item without a target stands for.
    fn builtin(&self) -> Option<Command> {
        let mut texts = self.phrases.iter().flat_map(|(_, phrase)| phrase.texts());
        texts.find_map(|text| builtin(&normalised(text)))
    }

    fn label(&self) -> &'a str {
        let word = || self.phrases.iter().find_map(|(_, phrase)| phrase.texts().next());
        let description = self.item.description.trim();
        if description.is_empty() { word().unwrap_or_default() } else { description }
    }

    /// Returns the handlers with a word that begins with the line, else the item if it has one.
    fn begun(&self, query: &Query) -> Vec<RouteChoice<'_, 'a>> {
        let begins = |phrase: &Phrase<'_>| phrase.texts().any(|text| query.begins(text));
        let has_begun = |choice: &RouteChoice<'_, 'a>| {
            choice.handler.and_then(|handler| handler.phrase.as_ref()).is_some_and(begins)
        };
        let handlers: Vec<_> = self.each_handler().filter(has_begun).collect();
        if handlers.is_empty() && self.phrases.iter().any(|(_, phrase)| begins(phrase)) {
            return vec![self.itself()];
        }
        handlers
    }

    /// Ranks how well a line matches the item or its handlers, with the matching choices and the reason. A matching
    /// handler hides the description of its item, so that the handler is chosen and not the item.
    fn similar(&self, query: &Query) -> Option<(Rank, Vec<RouteChoice<'_, 'a>>, String)> {
        let description = (self.item.description.as_str(), Pool::Description);
        let words = self.phrases.iter().flat_map(|(_, phrase)| phrase.texts());
        let own = best(query, words.map(|word| (word, Pool::Word)).chain([description]));
        let handlers: Vec<_> = self
            .each_handler()
            .filter_map(|choice| {
                let phrase = choice.handler?.phrase.as_ref()?;
                Some((best(query, phrase.texts().map(|text| (text, Pool::Word)))?, choice))
            })
            .collect();
        let top = handlers.iter().map(|((rank, _), _)| *rank).max();
        let speaks = |(rank, _): &(Rank, &str)| {
            top.is_some_and(|top| top >= *rank || rank.pool() == Pool::Description)
        };
        if let Some((rank, text)) = own.filter(|own| !speaks(own)) {
            return Some((rank, vec![self.itself()], rank.says(text)));
        }
        let top = top?;
        let says = handlers.iter().find(|((rank, _), _)| *rank == top)?.0;
        let choices = handlers.iter().filter(|((rank, _), _)| *rank == top);
        let rank = own.map_or(top, |(rank, _)| rank.max(top));
        Some((rank, choices.map(|(_, choice)| *choice).collect(), top.says(says.1)))
    }
}

/// Returns the best matching text, the first of equals.
fn best<'t>(
    query: &Query,
    texts: impl Iterator<Item = (&'t str, Pool)>,
) -> Option<(Rank, &'t str)> {
    let ranked = texts.filter_map(|(text, pool)| Some((query.rank(text, pool)?, text)));
    ranked.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

impl<'a> HandlerTarget<'a> {
    /// Returns the text that chooses it.
    fn answer(&self) -> Option<&'a str> {
        self.phrase.as_ref()?.texts().next()
    }

    fn label(&self) -> Option<&'a str> {
        let phrase = self.phrase.as_ref()?;
        phrase.similar.first().copied().or(phrase.word)
    }

    fn has_word(&self, wanted: &str) -> bool {
        self.phrase
            .as_ref()
            .and_then(|phrase| phrase.word)
            .is_some_and(|word| normalised(word) == wanted)
    }
}

impl RouteChoice<'_, '_> {
    fn taken(self, confidence: Confidence, reason: String) -> Routed {
        let Self { entry, handler } = self;
        let command = match (handler, &entry.target, entry.handlers.as_slice()) {
            (Some(handler), _, _) => Command::Item(handler.target.clone()),
            (None, Some(target), _) => Command::Item(target.clone()),
            (None, None, [only]) => Command::Item(only.target.clone()),
            (None, None, []) => match entry.builtin() {
                Some(command) => command,
                None => {
                    let reason = format!("{reason}; this item starts nothing");
                    return Routed { item: Some(entry.number), ..chat(&reason) };
                }
            },
            (None, None, _) => {
                let candidates = entry.each_handler().map(RouteChoice::candidate).collect();
                Command::Clarify { why: Unclear::SeveralMatch, candidates }
            }
        };
        Routed { command, confidence, reason, item: Some(entry.number), details: None }
    }

    fn candidate(self) -> Candidate {
        let number = self.entry.number;
        let handler = self.handler.and_then(|handler| Some((handler.label()?, handler.answer()?)));
        let (label, answer) = match handler {
            Some((label, answer)) => (label, answer.to_owned()),
            None => (self.entry.label(), number.to_string()),
        };
        Candidate { number, label: label.to_owned(), answer }
    }
}

fn nothing(line: &str) -> Option<Routed> {
    let is_nothing = line.is_empty() || normalised(line).is_empty();
    is_nothing.then(|| sure(Command::ShowMenu, "nothing was typed".to_owned()))
}

/// Reads a number. Without a menu it means nothing; one that is out of range, however large, asks the user.
fn number(menu: &[VisibleItem<'_>], line: &str) -> Option<Routed> {
    let digits = digits(line)?;
    let number: Option<usize> = digits.parse().ok();
    let index = number.and_then(|number| number.checked_sub(1));
    if let Some((entry, number)) = index.and_then(|index| menu.get(index)).zip(number) {
        return Some(entry.itself().taken(Confidence::Exact, format!("number {number}")));
    }
    let last = menu.last()?.number;
    let reason = format!("the menu has the numbers 1 to {last}");
    let candidates = menu.iter().map(|entry| entry.itself().candidate()).collect();
    Some(clarify(Unclear::OutOfRange, candidates, Confidence::Low, reason))
}

fn exact(menu: &[VisibleItem<'_>], line: &str) -> Option<Routed> {
    let wanted = normalised(line);
    let handler_of = |entry: &VisibleItem<'_>| -> Option<Routed> {
        let mut handlers = entry.each_handler();
        let choice = handlers
            .find(|choice| choice.handler.is_some_and(|handler| handler.has_word(&wanted)))?;
        let word = choice.handler?.phrase.as_ref()?.word?;
        Some(choice.taken(Confidence::Exact, format!("handler `{word}`")))
    };
    let own = |entry: &VisibleItem<'_>| -> Option<Routed> {
        let mut words =
            entry.phrases.iter().filter_map(|(spot, phrase)| Some((spot, phrase.word?)));
        let (spot, word) = words.find(|(_, word)| normalised(word) == wanted)?;
        let reason = match spot {
            WordField::Trigger => format!("trigger `{word}`"),
            WordField::Cmd => format!("cmd `{word}`"),
            WordField::Code => format!("code `[{word}]`"),
            WordField::Alias(_) => format!("alias `{word}`"),
        };
        Some(handler_of(entry).unwrap_or_else(|| entry.itself().taken(Confidence::Exact, reason)))
    };
    menu.iter().find_map(own).or_else(|| menu.iter().find_map(handler_of))
}

/// Reads a command that every menu has. Without a sign before it, the word may be part of the conversation.
fn global(line: &str) -> Option<Routed> {
    let folded = folded(line);
    let word = folded.strip_prefix(['*', '/'])?.trim();
    Some(sure(builtin(word)?, format!("command `*{word}`")))
}

/// Returns the command of a builtin word.
fn builtin(word: &str) -> Option<Command> {
    match word {
        "menu" | "help" => Some(Command::ShowMenu),
        "dismiss" | "exit" | "quit" => Some(Command::Dismiss),
        "resume" => Some(Command::Resume),
        _ => None,
    }
}

fn similar(menu: &[VisibleItem<'_>], line: &str) -> Option<Routed> {
    let query = Query::new(line)?;
    let found: Vec<_> = menu.iter().filter_map(|entry| entry.similar(&query)).collect();
    let top = found.iter().map(|(rank, _, _)| *rank).max();
    let found = found.into_iter().filter(|(rank, _, _)| Some(*rank) == top);
    let found: Vec<_> = found
        .flat_map(|(_, choices, says)| {
            choices.into_iter().map(move |choice| (choice, says.clone()))
        })
        .collect();
    let begun: Vec<_> = menu.iter().flat_map(|entry| entry.begun(&query)).collect();
    if begun.len() > found.len().max(1) && !top.is_some_and(Rank::is_whole) {
        let reason = format!("{} begin like this", begun.len());
        return Some(several(begun, Confidence::Medium, reason));
    }
    let top = top?;
    if let [(choice, says)] = found.as_slice() {
        return Some(choice.taken(top.confidence(), says.clone()));
    }
    let reason = format!("{} match equally well", found.len());
    let choices = found.into_iter().map(|(choice, _)| choice).collect();
    Some(several(choices, top.confidence(), reason))
}

/// Asks which of several choices is meant.
fn several(choices: Vec<RouteChoice<'_, '_>>, confidence: Confidence, reason: String) -> Routed {
    let candidates = choices.into_iter().map(RouteChoice::candidate).collect();
    clarify(Unclear::SeveralMatch, candidates, confidence, reason)
}

fn sure(command: Command, reason: String) -> Routed {
    Routed { command, confidence: Confidence::Exact, reason, item: None, details: None }
}

fn chat(reason: &str) -> Routed {
    let (command, reason) = (Command::Chat, reason.to_owned());
    Routed { command, confidence: Confidence::Low, reason, item: None, details: None }
}

fn clarify(
    why: Unclear,
    candidates: Vec<Candidate>,
    confidence: Confidence,
    reason: String,
) -> Routed {
    let command = Command::Clarify { why, candidates };
    Routed { command, confidence, reason, item: None, details: None }
}
