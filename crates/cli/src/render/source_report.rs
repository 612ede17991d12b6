//! Report about a foreign source: what was found in it, and what differs from the last import.

use crewagent_engine::store::{PackageDifference, PartDifference};
use crewagent_format::diagnostic::{Code, Severity};
use crewagent_format::package::Package;
use serde_json::Value as Json;

use crate::language::{say, text};
use crate::paint::{self, NAME, QUIET};

/// Ids of one kind that are named.
const NAMED: usize = 12;

/// Formats what was found in a source, in a few lines.
pub(crate) fn overview(report: &Json, package: &Package) -> String {
    let word = |key: &str| report.get(key).and_then(Json::as_str);
    let kind = kind(word("kind").unwrap_or_default());
    let version = word("sourceVersion").or_else(|| word("version"));
    let title = match version.filter(|version| !version.is_empty()) {
        Some(version) => say!("{kind}, version {}", "{kind}，版本 {}", paint::printable(version)),
        None => say!("{kind}, version unknown", "{kind}，版本未知"),
    };
    let agents: Vec<&str> = package.agents().iter().map(|agent| agent.id.as_str()).collect();
    let workflows: Vec<&str> = package
        .workflows()
        .iter()
        .map(|workflow| workflow.id.as_ref().map_or(workflow.label(), |id| id.as_str()))
        .collect();
    let graphs = || package.workflows().iter().map(|workflow| &workflow.graph);
    let nodes = graphs().map(|graph| graph.nodes().len()).sum();
    let edges = graphs().map(|graph| graph.edges().len()).sum();
    let mut lines = vec![
        paint::styled(NAME, title),
        listed(paint::counted(agents.len(), ("agent", "个智能体")), &agents),
        listed(paint::counted(workflows.len(), ("workflow", "个流程")), &workflows),
        say!(
            "{} with {}",
            "{}，{}",
            paint::counted(nodes, ("step", "个步骤")),
            paint::counted(edges, ("edge", "条边"))
        ),
    ];
    lines.push(by_code(report));
    lines.join("\n") + "\n"
}

/// Names a kind of source.
fn kind(kind: &str) -> &'static str {
    match kind.to_ascii_lowercase().as_str() {
        "installation" => text!("Project with a BMAD installation", "装有 BMAD 的项目"),
        "skills" => text!("Skills", "技能"),
        "tree" => text!("BMAD modules", "BMAD 模块"),
        "workflow" => text!("BMAD workflow", "BMAD 流程"),
        "oldinstallation" | "old-installation" => {
            text!("Project with an old BMAD installation", "装有旧版 BMAD 的项目")
        }
        _ => text!("Foreign source", "外来源"),
    }
}

fn listed(count: String, names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| paint::printable(name)).collect();
    let shown = shown.join(text!(", ", "、"));
    let more = names.len().saturating_sub(NAMED);
    let more =
        if more > 0 { say!(" and {more} more", " 等，另有 {more} 个") } else { String::new() };
    match names {
        [] => count,
        _ => say!("{count}: {}", "{count}：{}", paint::styled(QUIET, shown + &more)),
    }
}

/// Formats the number of findings of each code, the most severe first; notes are only counted.
fn by_code(report: &Json) -> String {
    let counts = report.get("findingCounts").and_then(Json::as_object);
    let mut codes: Vec<(Code, u64)> = counts
        .into_iter()
        .flatten()
        .filter_map(|(code, count)| Some((Code::find(code)?, count.as_u64()?)))
        .collect();
    codes.sort_by_key(|(code, _)| (rank(code.severity()), *code));
    let (notes, told): (Vec<_>, Vec<_>) =
        codes.into_iter().partition(|(code, _)| code.severity() == Severity::Note);
    let mut parts: Vec<String> = told
        .into_iter()
        .map(|(code, count)| format!("{} {} ×{count}", code.as_str(), code.name()))
        .collect();
    let notes: u64 = notes.iter().map(|(_, count)| count).sum();
    if notes > 0 {
        parts.push(paint::counted_u64(notes, ("note", "个提示")));
    }
    if parts.is_empty() {
        parts.push(text!("none", "无").to_owned());
    }
    say!("Findings: {}", "发现：{}", parts.join(text!(", ", "，")))
}

/// Orders severities, the worst first.
fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    }
}

/// Formats what differs from the package that was imported before.
pub(crate) fn difference(older: &str, difference: &PackageDifference, unfinished: usize) -> String {
    let mut lines = vec![say!("Since {older}:", "与 {older} 相比：")];
    for (name, parts) in [
        (text!("agents", "智能体"), &difference.agents),
        (text!("menu items", "菜单项"), &difference.menu_items),
        (text!("workflows", "流程"), &difference.workflows),
        (text!("nodes", "节点"), &difference.nodes),
        (text!("edges", "边"), &difference.edges),
    ] {
        lines.extend(of_part(name, parts));
    }
    if difference.is_empty() {
        lines.push(text!("  nothing that runs see has changed", "  运行所见没有变化").to_owned());
    }
    if unfinished > 0 {
        let runs = paint::counted(unfinished, ("unfinished run", "次未完成的运行"));
        lines.push(say!("{runs} stay on {older}", "{runs}仍用 {older}"));
    } else {
        let words = say!(
            "No unfinished run needs {older}: crewagent package rm {older}",
            "没有未完成的运行需要 {older}：crewagent package rm {older}"
        );
        lines.push(paint::styled(QUIET, words));
    }
    lines.join("\n") + "\n"
}

fn of_part(name: &str, parts: &PartDifference) -> Option<String> {
    let list = |mark: &str, ids: &[String]| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        (!ids.is_empty()).then(|| listed(format!("{mark} {}", ids.len()), &ids))
    };
    let lists = [
        list(text!("new", "新增"), &parts.came),
        list(text!("gone", "消失"), &parts.went),
        list(text!("changed", "改变"), &parts.changed),
    ];
    let lists: Vec<String> = lists.into_iter().flatten().collect();
    (!lists.is_empty()).then(|| say!("  {name}: {}", "  {name}：{}", lists.join("; ")))
}
