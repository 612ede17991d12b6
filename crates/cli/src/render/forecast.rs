//! The forecast of a run: one line before its first request, and one for each limit below it.

use crewagent_core::event::{Event, EventKind, RunEvent};
use crewagent_core::forecast::Forecast;

use crate::paint::{self, QUIET, WARNING};

/// Formats the forecast that the start of a run has recorded; empty without one.
pub(crate) fn of_opening(opening: &[Event]) -> String {
    let forecast = opening.iter().find_map(|event| {
        let EventKind::Run(RunEvent::Started(started)) = &event.kind else { return None };
        started.forecast.as_deref()
    });
    forecast.map(lines).unwrap_or_default()
}

/// Formats a forecast.
pub(crate) fn lines(forecast: &Forecast) -> String {
    let mut text = format!("{}\n", paint::styled(QUIET, &forecast.text));
    for above in &forecast.above {
        text.push_str(&format!("{}\n", paint::styled(WARNING, format_args!("! {above}"))));
    }
    text
}

#[cfg(test)]
mod tests {
    use crewagent_core::settings::Limits;
    use crewagent_core::usage::Usage;

    use super::*;

    #[test]
    fn a_forecast_is_one_line_and_each_limit_below_it_another() {
        let usage = Usage { input_tokens: 25_000, output_tokens: 3_000, ..Usage::default() };
        let limits = Limits { turns: 10, ..Limits::default() };
        let text = lines(&Forecast::of_estimate(12, usage, &limits));
        let expected = "About 12 requests, 25k tokens in, 3k out (estimate). No limit is set.\n! That is above the limit of 10 requests for one input, where the run stops and waits for you.\n";
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), expected);
        assert_eq!(of_opening(&[]), "");
    }
}
