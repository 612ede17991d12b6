//! The course of every removal: say what will be removed, ask, and say what was removed.

use serde_json::{Value as Json, json};

use crate::args::RemovalArgs;
use crate::ask;
use crate::console::Console;
use crate::language::text;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};

/// Returns true if the user agrees to a change that cannot be undone: by `--yes`, or at the terminal, where everything
/// printed so far is shown first. Without a terminal `--yes` is needed.
pub(crate) fn confirmed(question: &str, yes: bool, console: &mut Console) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    console.show();
    if !ask::is_possible() {
        let why = text!(
            "nothing was changed: this command asks first, and there is no terminal to ask in; add --yes",
            "没有做任何更改：此命令要先询问，而这里没有可以询问的终端；请加上 --yes",
        );
        return Err(UsageError(why.to_owned()).into());
    }
    ask::confirm(question)
}

/// Shows what will be removed and returns true if the user agrees.
pub(crate) fn agreed(
    lines: impl IntoIterator<Item = String>,
    question: &str,
    args: RemovalArgs,
    console: &mut Console,
) -> anyhow::Result<bool> {
    if args.yes {
        return Ok(true);
    }
    for line in lines {
        console.line(format_args!("  {}", paint::printable(&line)));
    }
    let agreed = confirmed(question, false, console)?;
    if !agreed {
        console.line(text!("Nothing was removed.", "没有删除任何东西。"));
    }
    Ok(agreed)
}

/// The report of what was removed.
pub(crate) struct Removed {
    args: RemovalArgs,
    names: Vec<Json>,
}

impl Removed {
    pub(crate) fn new(args: RemovalArgs) -> Self {
        Self { args, names: Vec::new() }
    }

    /// Reports one removal, with a remark such as ` and its key`.
    pub(crate) fn report(&mut self, name: &str, remark: &str, console: &mut Console) {
        self.names.push(name.into());
        if !self.args.json {
            console.line(format_args!(
                "{} {}{remark}",
                paint::styled(GOOD, text!("removed", "已删除")),
                paint::styled(NAME, paint::printable(name))
            ));
        }
    }

    /// Ends the report.
    pub(crate) fn finish(self, console: &mut Console) -> Outcome {
        if self.args.json {
            console.line(paint::json(&json!({ "removed": self.names })));
        }
        Outcome::Done
    }
}
