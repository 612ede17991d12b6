//! Which of several options some words mean.

/// An option with the names that a person may call it by.
pub(crate) trait Named {
    /// What is sent when it is chosen.
    fn value(&self) -> &str;

    /// What the user reads.
    fn shown(&self) -> &str;
}

/// The place of an option by its value, by what is shown, or by its number. Capital letters matter only if they decide.
pub(super) fn one<T: Named>(options: &[T], words: &str) -> Option<usize> {
    let wanted = words.trim();
    named(options, wanted).or_else(|| {
        let number = wanted.trim_end_matches(['.', ')', '。']).parse::<usize>().ok()?;
        number.checked_sub(1).filter(|at| *at < options.len())
    })
}

/// The same without numbers.
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
/// the part that names none.
pub(super) fn several<'w, T: Named>(options: &[T], words: &'w str) -> Result<Vec<usize>, &'w str> {
    if let Some(only) = one(options, words) {
        return Ok(vec![only]);
    }
    let mut chosen = Vec::new();
    let parts = words.split([',', '，', '、', ';', '；', '\n']).map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        let at = one(options, part).ok_or(part)?;
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen)
}

/// What can be chosen, in a line.
pub(super) fn offered<T: Named>(options: &[T]) -> String {
    const SHOWN: usize = 20;
    let numbered = (1..).zip(options).take(SHOWN);
    let mut names: Vec<String> =
        numbered.map(|(number, option)| format!("{number} {}", option.shown())).collect();
    if options.len() > SHOWN {
        names.push(format!("and {} more", options.len() - SHOWN));
    }
    names.join(", ")
}
