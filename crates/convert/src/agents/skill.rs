//! Agents written as skills: an `[agent]` table beside the `SKILL.md`, or a table of codes and skills in its text.

use serde_json::{Map, Value as Json};

use super::{AgentPlan, MenuPlan, PersonaPlan, merge, text_of, texts_of, yaml};
use crate::ConvertOptions;
use crate::document::SourceDocument;
use crate::recorder::ImportRecorder;
use crate::references::References;
use crate::source_tree::{SourceTree, join};

/// Reads an agent, if the skill is one.
pub(super) fn read(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    name: &str,
    folder: &str,
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) -> Option<AgentPlan> {
    let file = join(folder, "SKILL.md");
    let document = tree.document(&file)?;
    let (table, layers) = merge::skill_table(tree, (name, folder), options, recorder);
    let mut plan = match table.get("agent").and_then(Json::as_object) {
        Some(agent) => from_table(agent, &file),
        None => from_text(&document, references, &file)?,
    };
    plan.base = folder.to_owned();
    plan.stem = name.to_owned();
    plan.module = tree.module_of(&file).map(str::to_owned);
    plan.description = plan.description.or_else(|| document.scalar("description"));
    plan.customizations = layers;
    plan.file = file;
    Some(plan)
}

fn from_table(agent: &Map<String, Json>, file: &str) -> AgentPlan {
    let text = |key: &str| agent.get(key).map(text_of).unwrap_or_default();
    let list = |key: &str| agent.get(key).map(texts_of).unwrap_or_default();
    let some = |key: &str| Some(text(key)).filter(|text| !text.is_empty());
    let menu = agent.get("menu").and_then(Json::as_array).into_iter().flatten();
    let actions = [
        list("activation_steps_prepend"),
        list("critical_actions"),
        list("activation_steps_append"),
    ];
    AgentPlan {
        name: text("name"),
        title: text("title"),
        icon: text("icon"),
        description: some("description"),
        capabilities: some("capabilities"),
        persona: PersonaPlan {
            role: text("role"),
            identity: text("identity"),
            communication_style: text("communication_style"),
            principles: list("principles"),
            is_text: agent.get("principles").is_some_and(Json::is_string),
        },
        critical_actions: actions.concat(),
        memories: [list("persistent_facts"), list("memories")].concat(),
        menu: menu.map(|item| yaml::menu_item(item, file, 1)).collect(),
        ..AgentPlan::default()
    }
}

/// Reads an agent whose text has a table with a column of codes and a column of skills.
fn from_text(
    document: &SourceDocument,
    references: &References<'_>,
    file: &str,
) -> Option<AgentPlan> {
    let body = document.body();
    let lines: Vec<&str> = body.lines().collect();
    let start = lines.windows(2).position(
        |pair| matches!(pair, [head, rule] if head.trim_start().starts_with('|') && is_rule(rule)),
    )?;
    let rows = lines.get(start + 2..)?.iter().take_while(|line| line.trim_start().starts_with('|'));
    let menu: Vec<MenuPlan> = rows
        .enumerate()
        .filter_map(|(at, row)| {
            let line = document.body_line + u32::try_from(start + 2 + at).ok()?;
            table_item(row, references, file, line)
        })
        .collect();
    if menu.is_empty() {
        return None;
    }
    let heading = lines.iter().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().trim();
    let (name, title) = heading.split_once(['—', '–']).unwrap_or((heading, ""));
    let above = lines.get(..start).unwrap_or_default().iter();
    let prose = above.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let prose: Vec<&str> = prose.copied().collect();
    Some(AgentPlan {
        name: name.trim().to_owned(),
        title: title.trim().to_owned(),
        persona: PersonaPlan {
            identity: prose.join("\n"),
            is_text: true,
            ..PersonaPlan::default()
        },
        menu,
        ..AgentPlan::default()
    })
}

/// Returns true for the line below the head of a table.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Reads a row with a code and the name of a skill of the source.
fn table_item(row: &str, references: &References<'_>, file: &str, line: u32) -> Option<MenuPlan> {
    let cells =
        row.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches(['`', '*']));
    let cells: Vec<&str> = cells.collect();
    let is_code = |cell: &str| {
        (1..=4).contains(&cell.len())
            && cell.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && cell.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    let code = cells.iter().position(|cell| is_code(cell))?;
    let skill = cells.iter().position(|cell| references.skill(cell).is_some())?;
    let others = cells.iter().enumerate().filter(|(at, _)| *at != code && *at != skill);
    let description = others.map(|(_, cell)| *cell).max_by_key(|cell| cell.len());
    let skill = (*cells.get(skill)?).to_owned();
    Some(MenuPlan {
        trigger: (*cells.get(code)?).to_owned(),
        description: description.filter(|text| !text.is_empty()).unwrap_or(&skill).to_owned(),
        does: vec![("skill".to_owned(), skill)],
        file: file.to_owned(),
        line,
        ..MenuPlan::default()
    })
}
