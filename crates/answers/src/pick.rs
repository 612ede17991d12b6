//! Finds the options that a text names.

use serde_json::Value as Json;

/// Option with the names that a user may call it by.
pub trait Named {
    /// Returns the value that is sent when it is chosen.
    fn value(&self) -> &str;

    /// Returns the text that the user sees.
    fn shown(&self) -> &str;
}

/// Returns true if options may be chosen by number. If an option looks like a number itself, a number could be an
/// index or a value that is not offered.
pub fn is_numbered<T: Named>(options: &[T]) -> bool {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    !options.iter().any(|option| is_number(option.value()) || is_number(option.shown()))
}

/// Returns the index of an option by its value, its label, or its number. Case matters only if it decides.
pub fn one<T: Named>(options: &[T], words: &str) -> Option<usize> {
    let wanted = words.trim();
    named(options, wanted).or_else(|| {
        if !is_numbered(options) {
            return None;
        }
        let number = wanted.trim_end_matches(['.', ')', '。']).parse::<usize>().ok()?;
        number.checked_sub(1).filter(|at| *at < options.len())
    })
}

/// Returns the index of an option by its value or label, as programs name it.
pub fn named<T: Named>(options: &[T], words: &str) -> Option<usize> {
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

/// Returns the indices of options separated by commas, each once. An option may have a comma in its own name. The
/// error is the part that names none. `find` is [`one`] or [`named`].
pub fn several<'w, T: Named>(
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

/// Returns the indices of options that a program lists, each once. The error is the name that matches none.
pub fn listed<T: Named>(options: &[T], names: &[Json]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::new();
    for name in names {
        let at = position_of(options, name).ok_or_else(|| spelled(name))?;
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

/// Returns the index of the option that a JSON value names.
pub fn position_of<T: Named>(options: &[T], name: &Json) -> Option<usize> {
    named(options, &spelled(name)).or_else(|| {
        let number = name.as_f64()?;
        options.iter().position(|option| option.value().parse() == Ok(number))
    })
}

/// Returns JSON as users write it, strings without quotes.
fn spelled(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Lists the options in a line.
pub fn offered<T: Named>(options: &[T]) -> String {
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
