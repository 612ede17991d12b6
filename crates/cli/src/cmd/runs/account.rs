//! Cost of a run: by turn, by node, and in total.

use anstyle::Style;
use crewagent_core::event::{EventKind, ModelEvent};
use crewagent_core::run::history::Position;
use crewagent_core::usage::Usage;
use crewagent_format::package::step::Tier;
use serde_json::{Value as Json, json};

use crate::language::text;
use crate::paint::{self, NAME, QUIET};
use crate::render::summary::{money, number};
use crate::render::table::{TableCell, table};

/// Row of the replies after completion.
const COMPLETE: &str = "complete";

/// Replies of a run, with the cost of each.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Node of the open request.
    place: Option<String>,
    /// Tier and model of the open request.
    asked: (Option<Tier>, Option<String>),
    turns: Vec<TurnCost>,
}

#[derive(Debug)]
struct TurnCost {
    number: u64,
    /// Node; none after completion.
    node: Option<String>,
    /// Model that replied, if known.
    from: Option<String>,
    tier: Option<Tier>,
    /// Name of the model that users know.
    model: Option<String>,
    usage: Usage,
}

/// Sum of several replies.
#[derive(Debug, Default)]
struct Sum {
    turns: u64,
    usage: Usage,
    /// Number of replies with tokens and without a price.
    unpriced: u64,
    /// Names of the models, each once.
    models: Vec<String>,
}

impl Sum {
    fn add(&mut self, turn: &TurnCost) {
        let usage = turn.usage;
        self.turns += 1;
        self.models.extend(turn.model.clone().filter(|model| !self.models.contains(model)));
        self.unpriced += u64::from(usage.tokens() > 0 && usage.cost.is_none());
        self.usage += usage;
    }
}

impl Account {
    /// Adds an event; `position` is the one after it. Only replies have a cost.
    pub(super) fn take(&mut self, kind: &EventKind, position: &Position) {
        match kind {
            EventKind::Model(ModelEvent::TurnStarted(started)) => {
                let workflow = started.frame.and_then(|frame| position.workflow_of(frame));
                let node = started.node_id.as_deref();
                self.place = match workflow {
                    Some(workflow) => Some(format!("{workflow}/{}", node.unwrap_or(COMPLETE))),
                    None => node.map(str::to_owned),
                };
                self.asked = (started.tier, started.model.clone());
            }
            EventKind::Model(ModelEvent::Replied(replied)) => self.turns.push(TurnCost {
                number: replied.turn,
                node: self.place.clone(),
                from: replied.reply.from.clone(),
                tier: self.asked.0,
                model: self.asked.1.clone(),
                usage: replied.reply.usage,
            }),
            EventKind::Model(_)
            | EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Tool(_) => {}
        }
    }

    /// Returns the number of replies.
    pub(super) fn turns(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Returns the total usage.
    pub(super) fn usage(&self) -> Usage {
        self.all().usage
    }

    fn all(&self) -> Sum {
        let mut sum = Sum::default();
        self.turns.iter().for_each(|turn| sum.add(turn));
        sum
    }

    /// Groups the replies by node, in the order of the first visit.
    fn nodes(&self) -> Vec<(Option<&str>, Sum)> {
        let mut nodes: Vec<(Option<&str>, Sum)> = Vec::new();
        for turn in &self.turns {
            let node = turn.node.as_deref();
            match nodes.iter_mut().find(|(known, _)| *known == node) {
                Some((_, sum)) => sum.add(turn),
                None => {
                    let mut sum = Sum::default();
                    sum.add(turn);
                    nodes.push((node, sum));
                }
            }
        }
        nodes
    }

    /// Formats one line per node, and one for the total. Empty columns are left out.
    pub(super) fn human(&self) -> String {
        let all = self.all();
        if all.usage.tokens() == 0 {
            return String::new();
        }
        let columns: Vec<&Column> =
            COLUMNS.iter().filter(|column| (column.is_used)(&all)).collect();
        let row = |name: &str, style: Style, sum: &Sum| {
            let mut cells = vec![TableCell::new(style, name)];
            cells.extend(columns.iter().map(|column| TableCell::right(style, &(column.text)(sum))));
            cells
        };
        let nodes = self.nodes();
        let mut rows: Vec<Vec<TableCell>> = nodes
            .iter()
            .map(|(node, sum)| row(node.unwrap_or(COMPLETE), Style::new(), sum))
            .collect();
        if nodes.len() > 1 {
            rows.push(row(text!("all", "合计"), NAME, &all));
        }
        let mut heading = vec![text!("node", "节点")];
        heading.extend(columns.iter().map(|column| text!(column.name.0, column.name.1)));
        let lines = table(&heading, &rows);
        let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
        let mut text = format!("\n{}\n{lines}", paint::styled(NAME, text!("Usage", "用量")));
        if all.usage.estimated {
            let note = text!(
                "  ~ an estimate, because the provider did not count\n",
                "  ~ 估算，因为服务商没有给出用量\n"
            );
            text.push_str(&paint::styled(QUIET, note));
        }
        if all.unpriced > 0 && all.usage.cost.is_some() {
            let note = text!(
                "  + and more: some replies have no known price\n",
                "  + 实际更多：有些回复不知道价格\n"
            );
            text.push_str(&paint::styled(QUIET, note));
        }
        text
    }

    /// Returns the usage by node, as JSON.
    pub(super) fn by_node(&self) -> Json {
        let node = |(node, sum): (Option<&str>, Sum)| {
            let mut value = json!({ "node": node, "turns": sum.turns, "usage": sum.usage });
            if !sum.models.is_empty() {
                value["models"] = json!(sum.models);
            }
            value
        };
        self.nodes().into_iter().map(node).collect()
    }

    /// Returns the usage by turn, as JSON.
    pub(super) fn by_turn(&self) -> Json {
        let turn = |turn: &TurnCost| {
            let mut value = json!({ "turn": turn.number, "node": turn.node, "usage": turn.usage });
            if let Some(from) = &turn.from {
                value["from"] = json!(from);
            }
            if let Some(model) = &turn.model {
                value["model"] = json!(model);
            }
            if let Some(tier) = turn.tier {
                value["tier"] = json!(tier);
            }
            value
        };
        self.turns.iter().map(turn).collect()
    }
}

/// Column of the table.
struct Column {
    /// In English and in Chinese.
    name: (&'static str, &'static str),
    is_used: fn(&Sum) -> bool,
    text: fn(&Sum) -> String,
}

const COLUMNS: [Column; 7] = [
    Column { name: ("turns", "轮数"), is_used: |_| true, text: |sum| number(sum.turns) },
    Column {
        name: ("in", "输入"),
        is_used: |_| true,
        text: |sum| tokens(sum, sum.usage.input_tokens),
    },
    Column {
        name: ("cached", "缓存"),
        is_used: |all| all.usage.cached_tokens > 0,
        text: |sum| tokens(sum, sum.usage.cached_tokens),
    },
    Column {
        name: ("out", "输出"),
        is_used: |_| true,
        text: |sum| tokens(sum, sum.usage.output_tokens),
    },
    Column {
        name: ("thoughts", "思考"),
        is_used: |all| all.usage.reasoning_tokens > 0,
        text: |sum| tokens(sum, sum.usage.reasoning_tokens),
    },
    Column { name: ("cost", "费用"), is_used: |all| all.usage.cost.is_some(), text: cost },
    Column {
        name: ("model", "模型"),
        is_used: |all| all.models.len() > 1,
        text: |sum| sum.models.join(", "),
    },
];

/// Formats tokens, with a mark if they are an estimate.
fn tokens(sum: &Sum, tokens: u64) -> String {
    match tokens {
        0 => "-".to_owned(),
        tokens => format!("{}{}", about(sum), number(tokens)),
    }
}

/// Formats the price, as far as it is known.
fn cost(sum: &Sum) -> String {
    match sum.usage.cost {
        None => "-".to_owned(),
        Some(cost) => {
            let more = if sum.unpriced > 0 { "+" } else { "" };
            format!("{}{}{more}", about(sum), money(cost))
        }
    }
}

fn about(sum: &Sum) -> &'static str {
    if sum.usage.estimated { "~" } else { "" }
}

#[cfg(test)]
mod tests {
    use crewagent_core::event::{AssistantMessage, Reply, RequestSummary, TurnStarted};

    use super::*;

    fn account(turns: &[(Option<&str>, Usage)]) -> Account {
        let models = turns.iter().map(|(node, usage)| (*node, *usage, None));
        account_of(&models.collect::<Vec<_>>())
    }

    fn account_of(turns: &[(Option<&str>, Usage, Option<&str>)]) -> Account {
        let mut account = Account::default();
        for (at, (node, usage, model)) in turns.iter().enumerate() {
            let turn = at as u64 + 1;
            let request =
                RequestSummary { messages: 1, bytes: 1, sha256: String::new(), added: Vec::new() };
            let node_id = node.map(str::to_owned);
            let (model, tier) = (model.map(str::to_owned), model.map(|_| Tier::Fast));
            let started =
                TurnStarted { turn, node_id, request, model, tier, ..TurnStarted::default() };
            account.take(&started.into(), &Position::default());
            let from = Some("openai/small".to_owned());
            let reply = Reply { usage: *usage, from, ..Reply::default() };
            let replied = AssistantMessage { turn, reply };
            account.take(&replied.into(), &Position::default());
        }
        account
    }

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    #[track_caller]
    fn check_table(turns: &[(Option<&str>, Usage)], expected: &str) {
        let text = anstream::adapter::strip_str(&account(turns).human()).to_string();
        assert_eq!(text, expected);
    }

    #[test]
    fn a_run_of_several_models_names_them_by_node() {
        let turns = [
            (Some("a"), usage(10, 1), Some("small")),
            (Some("a"), usage(10, 1), Some("small")),
            (Some("b"), usage(10, 1), Some("large")),
        ];
        let account = account_of(&turns);
        let text = anstream::adapter::strip_str(&account.human()).to_string();
        let expected = "\nUsage\n  node  turns  in  out         model\n  a         2  20    2         small\n  b         1  10    1         large\n  all       3  30    3  small, large\n";
        assert_eq!(text, expected);
        assert_eq!(account.by_node()[0]["models"], json!(["small"]));
        assert_eq!(account.by_turn()[2]["model"], json!("large"));
        assert_eq!(account.by_turn()[2]["tier"], json!("fast"));
    }

    #[test]
    fn a_run_is_accounted_for_by_node() {
        let priced = Usage {
            cached_tokens: 1_024,
            reasoning_tokens: 7,
            cost: Some(0.0012),
            ..usage(12_345, 67)
        };
        let turns = [
            (Some("one"), priced),
            (Some("two"), Usage { cost: Some(2.0), ..usage(5, 6) }),
            (Some("one"), Usage { cost: Some(0.0), ..usage(1, 1) }),
            (None, Usage { cost: Some(0.0), ..usage(1, 1) }),
        ];
        check_table(
            &turns,
            "
Usage
  node      turns      in  cached  out  thoughts     cost
  one           2  12,346   1,024   68         7  $0.0012
  two           1       5       -    6         -    $2.00
  complete      1       1       -    1         -       $0
  all           4  12,352   1,024   75         7    $2.00
",
        );
        let account = account(&turns);
        assert_eq!((account.turns(), account.usage().tokens()), (4, 12_427));
        assert_eq!(account.by_node()[0]["turns"], 2);
        assert_eq!(account.by_node()[2]["node"], Json::Null);
        let turn = &account.by_turn()[1];
        assert_eq!((&turn["node"], &turn["from"]), (&json!("two"), &json!("openai/small")));
    }

    #[test]
    fn what_is_not_known_for_certain_is_marked() {
        let estimated = Usage { estimated: true, cost: Some(0.5), ..usage(100, 10) };
        check_table(
            &[(Some("one"), estimated), (Some("two"), usage(1, 1))],
            "
Usage
  node  turns    in  out       cost
  one       1  ~100  ~10   ~$0.5000
  two       1     1    1          -
  all       2  ~101  ~11  ~$0.5000+
  ~ an estimate, because the provider did not count
  + and more: some replies have no known price
",
        );
        check_table(&[], "");
        check_table(&[(Some("one"), usage(0, 0))], "");
        check_table(
            &[(Some("one"), usage(1, 2))],
            "\nUsage\n  node  turns  in  out\n  one       1   1    2\n",
        );
    }
}
