//! Which of several options some words mean.

use serde_json::Value as Json;

/// An option with the names that a person may call it by.
pub(crate) trait Named {
    /// What is sent when it is chosen.
    fn value(&self) -> &str;

    /// What the user reads.
    fn shown(&self) -> &str;
}

/// Whether options may be called by their numbers: not where one of them reads as a number itself, because then nobody
/// knows whether a number is a place or a value that is not offered.
pub(super) fn is_numbered<T: Named>(options: &[T]) -> bool {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    !options.iter().any(|option| is_number(option.value()) || is_number(option.shown()))
}

/// The place of an option by its value, by what is shown, or by its number. Capital letters matter only if they decide.
pub(super) fn one<T: Named>(options: &[T], words: &str) -> Option<usize> {
    let wanted = words.trim();
    named(options, wanted).or_else(|| {
        if !is_numbered(options) {
            return None;
        }
        let number = wanted.trim_end_matches(['.', ')', '。']).parse::<usize>().ok()?;
        number.checked_sub(1).filter(|at| *at < options.len())
    })
}

/// The same without numbers, as programs name an option.
pub(super) fn named<T: Named>(options: &[T], words: &str) -> Option<usize> {
    let wanted = words.trim();
    let lower = wanted.to_lowercase();
    let exact = |option: &T| option.value() == wanted || option.shown() == wanted;
    let alike = |option: &T| {
        option.value().to_lowercase() == lower || option.shown().to_lowercase() == lower
    };
    options.iter().position(exact).or_else(|| {
        let mut similar = (0..options.len()).filter(|at| alike(&options[*at]));
        similar.next().filter(|_| similar.next().is_none())
    })
}

/// The places of options with commas between them, each once. An option may have a comma in its own name. The error is
/// the part that names none. `find` is [`one`] or [`named`].
pub(super) fn several<'w, T: Named>(
    options: &[T],
    words: &'w str,
    find: fn(&[T], &str) -> Option<usize>,
) -> Result<Vec<usize>, &'w str> {
    if let Some(only) = find(options, words) {
        return Ok(vec![only]);
    }
    let mut chosen = Vec::new();
    let parts = words.split([',', '，', '、', ';', '；', '\n']).map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        let at = find(options, part).ok_or(part)?;
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

/// The places of options that a program names one by one, each once. The error is the one that names none.
pub(super) fn listed<T: Named>(options: &[T], names: &[Json]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    for name in names {
        let at = meant(options, name).ok_or_else(|| spelled(name))?;
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

/// The place of the option that a value of JSON names.
pub(super) fn meant<T: Named>(options: &[T], name: &Json) -> Option<usize> {
    named(options, &spelled(name)).or_else(|| {
        let number = name.as_f64()?;
        options.iter().position(|option| option.value().parse() == Ok(number))
    })
}

/// JSON as people write it.
fn spelled(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// What can be chosen, in a line.
pub(super) fn offered<T: Named>(options: &[T]) -> String {
    const SHOWN: usize = 20;
    let is_numbered = is_numbered(options);
    let name = |(number, option): (usize, &T)| match is_numbered {
        true => format!("{number} {}", option.shown()),
        false => option.shown().to_owned(),
    };
    let mut names: Vec<String> = (1..).zip(options).take(SHOWN).map(name).collect();
    if options.len() > SHOWN {
        names.push(format!("and {} more", options.len() - SHOWN));
    }
    names.join(", ")
}
