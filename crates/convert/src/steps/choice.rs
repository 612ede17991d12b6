//! Options of a text: what is shown and what is said about it, put together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::handling::{Handling, HandlingStrength, handlings};
use super::page::MarkdownPage;
use super::shown::{ShownOption, shown_options};
use super::words::{cut, tidy};

/// Most options of a text. More of them are no menu.
const MAX_OPTIONS: usize = 64;

/// Most handlings of one option that are looked at.
const MAX_HANDLINGS: usize = 16;

/// Option of a menu, before its effect is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MenuChoice {
    pub(super) key: String,
    pub(super) label: String,
    /// Handlings of the key in the order in which they count: indexes in [`Menu::handlings`].
    pub(super) said: Vec<usize>,
    /// Line that best says what the option does.
    pub(super) line: usize,
    /// True if the key stands in several menus, so that its last handling counts.
    pub(super) repeated: bool,
}

/// All options of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Menu {
    pub(super) choices: Vec<MenuChoice>,
    pub(super) handlings: Vec<Handling>,
    /// Handling that each line belongs to, the innermost one.
    owners: BTreeMap<usize, usize>,
    /// Keys that stand in several menus, with the line of the last one.
    pub(super) repeated: Vec<(String, usize)>,
}

impl Menu {
    /// Reads the options of a text.
    pub(super) fn read(page: &MarkdownPage<'_>) -> Self {
        let shown = shown_options(page);
        let mut handlings = handlings(page);
        let keys: BTreeSet<&str> = shown.iter().map(|(_, shown)| shown.key.as_str()).collect();
        let direct: BTreeSet<String> = handlings
            .iter()
            .filter(|handling| handling.strength == HandlingStrength::Direct)
            .flat_map(|handling| handling.keys.iter().cloned())
            .collect();
        let asked = asks_yes_or_no(page);
        let counts = |key: &str| {
            keys.contains(key)
                || direct.contains(key)
                || (asked && matches!(key, "y" | "n" | "Y" | "N"))
        };
        handlings.retain(|handling| handling.keys.iter().any(|key| counts(key)));
        by_label(page, &shown, &mut handlings);
        let mut menu = Self { handlings, ..Self::default() };
        menu.owners = menu.owned_lines();
        menu.assemble(page, &shown);
        menu
    }

    /// Returns the keys of the handling that a line belongs to.
    pub(super) fn keys_of(&self, line: usize) -> Option<&[String]> {
        let handling = self.handlings.get(*self.owners.get(&line)?)?;
        Some(handling.keys.as_slice())
    }

    /// Returns true if a line belongs to an option of this menu.
    pub(super) fn owns(&self, line: usize) -> bool {
        self.keys_of(line)
            .is_some_and(|keys| self.choices.iter().any(|choice| keys.contains(&choice.key)))
    }

    /// Finds the innermost handling of each line.
    fn owned_lines(&self) -> BTreeMap<usize, usize> {
        let mut owners = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        let mut next = self.handlings.iter().enumerate().peekable();
        let Some(first) = self.handlings.first() else { return owners };
        let last = self.handlings.iter().map(|handling| handling.end).max().unwrap_or(0);
        for line in first.header..last {
            while let Some((index, _)) = next.next_if(|(_, handling)| handling.header <= line) {
                open.push(index);
            }
            while let Some(index) = open.last() {
                if self.handlings.get(*index).is_some_and(|handling| handling.end > line) {
                    owners.insert(line, *index);
                    break;
                }
                open.pop();
            }
        }
        owners
    }

    fn assemble(&mut self, page: &MarkdownPage<'_>, shown: &[(usize, ShownOption)]) {
        let mut places: BTreeMap<&str, KeyPlaces> = BTreeMap::new();
        let headers: BTreeSet<usize> =
            self.handlings.iter().map(|handling| handling.header).collect();
        for (order, (line, shown)) in shown.iter().enumerate() {
            let place =
                places.entry(shown.key.as_str()).or_insert_with(|| KeyPlaces::at(*line, order));
            let opens = headers.contains(line);
            if place.label.is_none() || !opens {
                place.label = Some(shown.label.clone());
            }
            if !opens && place.last.is_none_or(|last| *line > last) {
                place.menus += usize::from(place.last.is_none_or(|last| *line > last + 1));
                place.last = Some(*line);
            }
        }
        let mut directs: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, handling) in self.handlings.iter().enumerate() {
            for key in &handling.keys {
                let known = places.contains_key(key.as_str());
                if !known
                    && !matches!(
                        handling.strength,
                        HandlingStrength::Direct | HandlingStrength::Bare
                    )
                {
                    continue;
                }
                let place =
                    places.entry(key.as_str()).or_insert_with(|| KeyPlaces::at(handling.header, 0));
                place.first = place.first.min(handling.header);
                place.said.push(index);
                if handling.strength == HandlingStrength::Direct {
                    *directs.entry(key.as_str()).or_default() += 1;
                }
            }
        }
        let mut choices: Vec<((usize, usize), MenuChoice)> = Vec::new();
        let mut repeated = Vec::new();
        for (key, mut place) in places {
            place.said.sort_by_key(|index| {
                let handling = self.handlings.get(*index);
                let rank = handling.map_or(3, |handling| rank(handling.strength));
                (rank, std::cmp::Reverse(*index))
            });
            place.said.truncate(MAX_HANDLINGS);
            let line = place
                .said
                .first()
                .and_then(|index| self.handlings.get(*index))
                .map_or(place.last.unwrap_or(place.first), |handling| handling.header);
            let is_repeated = place.menus > 1 && directs.get(key).copied().unwrap_or(0) > 1;
            if is_repeated {
                repeated.push((key.to_owned(), line));
            }
            let label = place.label.or_else(|| self.label_of(page, key, &place.said));
            let label = label.unwrap_or_else(|| key.to_owned());
            choices.push((
                (place.first, place.order),
                MenuChoice {
                    key: key.to_owned(),
                    label,
                    said: place.said,
                    line,
                    repeated: is_repeated,
                },
            ));
        }
        choices.sort_by_key(|(place, _)| *place);
        choices.truncate(MAX_OPTIONS);
        self.choices = choices.into_iter().map(|(_, choice)| choice).collect();
        self.repeated = repeated;
    }

    /// Returns the label of an option that is not shown: from its handling, else its first words.
    fn label_of(&self, page: &MarkdownPage<'_>, key: &str, said: &[usize]) -> Option<String> {
        let first_to_last: BTreeSet<usize> = said.iter().copied().collect();
        let handlings = || first_to_last.iter().filter_map(|index| self.handlings.get(*index));
        if let Some(label) = handlings().find_map(|handling| handling.label.clone()) {
            return Some(label);
        }
        handlings().find_map(|handling| {
            let line = page.lines.get(handling.header)?;
            let words = tidy(line.content.get(handling.inline..)?);
            let words =
                words.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '{' | '}' | ')'));
            (!words.is_empty() && words != key).then(|| cut(words, 60))
        })
    }
}

/// Occurrences of a key.
struct KeyPlaces {
    first: usize,
    /// Rank among all options that are shown.
    order: usize,
    last: Option<usize>,
    /// Number of places at which the key is shown.
    menus: usize,
    label: Option<String>,
    said: Vec<usize>,
}

impl KeyPlaces {
    fn at(first: usize, order: usize) -> Self {
        Self { first, order, last: None, menus: 0, label: None, said: Vec::new() }
    }
}

fn rank(strength: HandlingStrength) -> u8 {
    match strength {
        HandlingStrength::Direct | HandlingStrength::Bare => 0,
        HandlingStrength::Mention => 1,
        HandlingStrength::Section => 2,
    }
}

/// Returns true if the text asks `(y/n)`.
fn asks_yes_or_no(page: &MarkdownPage<'_>) -> bool {
    page.lines.iter().filter(|line| !line.excluded).any(|line| {
        let lower = line.content.to_ascii_lowercase();
        ["(y/n", "[y/n"].iter().any(|cue| lower.contains(cue))
    })
}

/// Adds handlings that name an option by its label: `**Review:** Load it`.
fn by_label(
    page: &MarkdownPage<'_>,
    shown: &[(usize, ShownOption)],
    handlings: &mut Vec<Handling>,
) {
    let said: BTreeSet<&str> =
        handlings.iter().flat_map(|handling| &handling.keys).map(String::as_str).collect();
    let mut open: HashMap<String, &str> = HashMap::new();
    for (_, shown) in
        shown.iter().filter(|(_, shown)| !said.contains(shown.key.as_str())).take(MAX_OPTIONS)
    {
        let label = head(&shown.label);
        // `New Session` also names the option `Start New Session`.
        for (at, _) in label.match_indices(' ') {
            let end = label.get(at + 1..).unwrap_or_default();
            if end.contains(' ') {
                open.insert(end.to_owned(), &shown.key);
            }
        }
        open.insert(label, &shown.key);
    }
    let last = shown.iter().map(|(line, _)| *line).max();
    let (Some(last), false) = (last, open.is_empty()) else { return };
    let mut added = Vec::new();
    for (index, line) in page.instructions().skip_while(|(index, _)| *index <= last) {
        let Some(rest) = line.content.strip_prefix("**") else { continue };
        let Some((name, after)) = rest.split_once("**") else { continue };
        if name.len() > 60 || !(name.ends_with(':') || after.starts_with(':')) {
            continue;
        }
        let name = head(name.trim_end_matches(':'));
        if let (Some(key), false) = (open.get(&name), name.is_empty()) {
            added.push(Handling {
                keys: vec![(*key).to_owned()],
                label: None,
                strength: HandlingStrength::Bare,
                header: index,
                inline: line.content.len() - after.len(),
                end: index + 1,
            });
        }
    }
    handlings.extend(added);
    handlings.sort_by_key(|handling| handling.header);
}

/// Returns the part of a label in front of its explanation, in lower case.
fn head(label: &str) -> String {
    let label = tidy(label);
    let head = [" - ", " – ", " — "].iter().filter_map(|dash| label.find(dash)).min();
    head.and_then(|end| label.get(..end)).unwrap_or(&label).trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let page = MarkdownPage::read(text, 1);
        let menu = Menu::read(&page);
        let seen: Vec<String> = menu
            .choices
            .iter()
            .map(|choice| {
                format!("{}={} x{} @{}", choice.key, choice.label, choice.said.len(), choice.line)
            })
            .collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn what_is_shown_and_what_is_said_belong_together() {
        check(
            "Select: [A] Ask [C] Continue\n\n- IF A: x\n- IF C: y",
            &["A=Ask x1 @2", "C=Continue x1 @3"],
        );
        check(
            "[C] Continue - go\n\n## Handle\n#### If 'C' (Continue):\n- x",
            &["C=Continue - go x1 @3"],
        );
        check("- **[Y] Yes:**\n  - a\n- **[N] No:**\n  - b", &["Y=Yes x1 @0", "N=No x1 @2"]);
        check("[1] One\n[2] Two", &["1=One x0 @0", "2=Two x0 @1"]);
    }

    #[test]
    fn an_option_may_be_said_and_not_shown() {
        check(
            "When 'A' selected: Read more\n\n[C] Continue",
            &["A=Read more x1 @0", "C=Continue x0 @2"],
        );
        check("Ready? (y/n)\n\n- **y:** go\n- **n:** stop", &["y=go x1 @2", "n=stop x1 @3"]);
        check("- **a:** go\n- **b:** stop", &[]);
        check("- **A**: first\n- **B**: second", &[]);
        check("After user selects 'C', load it", &[]);
    }

    #[test]
    fn a_label_names_its_option() {
        check(
            "[1] Review Results - see\n[2] Start New Session\n\n**Review Results:** a\n**New Session:** b",
            &["1=Review Results - see x1 @3", "2=Start New Session x1 @4"],
        );
    }

    #[test]
    fn the_last_handling_comes_first() {
        let text = "Select: [A] Ask [C] Go\n\n- IF A: x\n- IF C: x\n\nSelect: [A] Again [C] On\n\n- IF A: y\n- IF C: y";
        check(text, &["A=Again x2 @7", "C=On x2 @8"]);
        let menu = Menu::read(&MarkdownPage::read(text, 1));
        assert_eq!(menu.repeated, [("A".to_owned(), 7), ("C".to_owned(), 8)]);
    }

    #[test]
    fn a_line_belongs_to_the_innermost_handling() {
        let text = "[A] a\n[B] b\n#### If 'A' or 'B':\n- all\n- For option B, more\n- rest\n## End";
        let menu = Menu::read(&MarkdownPage::read(text, 1));
        let keys = |line: usize| menu.keys_of(line).map(|keys| keys.join(""));
        assert_eq!(keys(3).as_deref(), Some("AB"));
        assert_eq!(keys(4).as_deref(), Some("B"));
        assert_eq!(keys(5).as_deref(), Some("AB"));
        assert_eq!(keys(6), None);
    }
}
