//! The forecast of a run: one line before its first request, and one for each limit below it.

use crewagent_core::event::{Event, EventKind, RunEvent};
use crewagent_core::forecast::Forecast;

use super::summary;
use crate::language::text;
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
    // The recorded words are English; the numbers are said again.
    let words = text!(forecast.text.clone(), chinese(forecast));
    let mut text = format!("{}\n", paint::styled(QUIET, words));
    for above in &forecast.above {
        let above = text!(above.as_str(), "这超出了一次输入的上限：运行会在上限处停下等你。");
        text.push_str(&format!("{}\n", paint::styled(WARNING, format_args!("! {above}"))));
    }
    text
}

fn chinese(forecast: &Forecast) -> String {
    let cost = |cost: Option<f64>| {
        cost.map(|cost| format!("，{}", summary::money(cost))).unwrap_or_default()
    };
    let (sent, received) =
        (summary::number(forecast.input_tokens), summary::number(forecast.output_tokens));
    let origin = match forecast.most_requests {
        None => "估算".to_owned(),
        Some(most) => {
            let most_cost = cost(forecast.most_cost);
            format!("{} 次运行的中位数；最多 {most} 次请求{most_cost}", forecast.runs)
        }
    };
    let own = cost(forecast.cost);
    let ceiling = match forecast.text.rsplit_once(". ").map(|(_, ceiling)| ceiling) {
        Some(ceiling) => match ceiling.strip_prefix("Cannot exceed ") {
            Some(limit) => format!("不会超过 {}。", limit.trim_end_matches('.')),
            None => "没有设置上限。".to_owned(),
        },
        None => String::new(),
    };
    let requests = forecast.requests;
    format!(
        "约 {requests} 次请求，输入 {sent} 词元，输出 {received} 词元{own}（{origin}）。{ceiling}"
    )
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
