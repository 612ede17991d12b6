//! Difference between two packages that were made of one source at different times.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::integrity::Digest;
use crewagent_format::package::Package;
use crewagent_format::package::agents::{Agent, MenuItem};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Installed, PreparedContent, PreparedImport};
use crate::store::StoreError;

/// PartDigests of a package that came, went or changed since an older one, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackageDifference {
    pub agents: PartDifference,
    pub menu_items: PartDifference,
    pub workflows: PartDifference,
    pub nodes: PartDifference,
    pub edges: PartDifference,
}

/// Ids of the parts of one kind that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartDifference {
    pub came: Vec<String>,
    pub went: Vec<String>,
    pub changed: Vec<String>,
}

/// PartDigests of one kind by id. Equal digests mean equal parts.
type PartDigests = BTreeMap<String, Digest>;

impl PackageDifference {
    /// Compares two packages.
    pub fn between(older: &Package, newer: &Package) -> Self {
        let (older, newer) = (PackageParts::of(older), PackageParts::of(newer));
        Self {
            agents: PartDifference::between(&older.agents, &newer.agents),
            menu_items: PartDifference::between(&older.menu_items, &newer.menu_items),
            workflows: PartDifference::between(&older.workflows, &newer.workflows),
            nodes: PartDifference::between(&older.nodes, &newer.nodes),
            edges: PartDifference::between(&older.edges, &newer.edges),
        }
    }

    /// Returns true if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl PartDifference {
    fn between(older: &PartDigests, newer: &PartDigests) -> Self {
        let ids: BTreeSet<&String> = older.keys().chain(newer.keys()).collect();
        let mut difference = Self::default();
        for id in ids {
            let list = match (older.get(id), newer.get(id)) {
                (None, _) => &mut difference.came,
                (_, None) => &mut difference.went,
                (Some(one), Some(other)) if one != other => &mut difference.changed,
                (_, _) => continue,
            };
            list.push(id.clone());
        }
        difference
    }

    /// Returns true if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Default)]
struct PackageParts {
    agents: PartDigests,
    menu_items: PartDigests,
    workflows: PartDigests,
    nodes: PartDigests,
    edges: PartDigests,
}

impl PackageParts {
    fn of(package: &Package) -> Self {
        let mut parts = Self::default();
        for agent in package.agents() {
            parts.add_agent(agent);
        }
        for workflow in package.workflows() {
            let id = workflow.label();
            insert(&mut parts.workflows, id.to_owned(), &json!(&*workflow.document));
            for node in workflow.graph.nodes() {
                let text = workflow.steps.get(&node.id).map(|step| &*step.text);
                insert(&mut parts.nodes, format!("{id}/{}", node.id), &json!([node, text]));
            }
            for edge in workflow.graph.edges() {
                let name = format!("{id}: {} → {} ({})", edge.from, edge.to, edge.label);
                insert(&mut parts.edges, name, &json!(edge));
            }
        }
        parts
    }

    fn add_agent(&mut self, agent: &Agent) {
        let mut own = json!(agent);
        if let Some(own) = own.as_object_mut() {
            own.remove("menu");
        }
        insert(&mut self.agents, agent.id.to_string(), &own);
        for item in &agent.menu {
            insert(&mut self.menu_items, format!("{}: {}", agent.id, name_of(item)), &json!(item));
        }
    }
}

fn name_of(item: &MenuItem) -> &str {
    let code = item.trigger.as_deref().or(item.cmd.as_deref()).or_else(|| item.code());
    code.unwrap_or(&item.description)
}

/// Adds a part. PartDigests of one name are told apart by a number.
fn insert(parts: &mut PartDigests, name: String, content: &Json) {
    let mut id = name.clone();
    let mut number = 1;
    while parts.contains_key(&id) {
        number += 1;
        id = format!("{name} #{number}");
    }
    parts.insert(id, Digest::of(content.to_string().as_bytes()));
}

impl PreparedImport<'_> {
    /// Returns the last package that was imported from the same place under the same name, unless it is this one.
    pub fn older(&self) -> Result<Option<Installed>, StoreError> {
        let PreparedContent::Files(_) = &self.content else { return Ok(None) };
        let (origin, name) = (self.origin(), &self.package.manifest().name);
        let mut installed = self.packages.list()?.installed;
        installed.retain(|one| one.origin == origin && one.name == *name);
        Ok(installed.into_iter().max_by_key(|one| one.imported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[(&str, &str)]) -> PartDigests {
        let entry = |(id, text): &(&str, &str)| ((*id).to_owned(), Digest::of(text.as_bytes()));
        parts.iter().map(entry).collect()
    }

    #[test]
    fn parts_come_go_and_change() {
        let older = parts(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let newer = parts(&[("a", "1"), ("b", "2"), ("d", "1")]);
        let difference = PartDifference::between(&older, &newer);
        assert_eq!(difference.came, ["d"]);
        assert_eq!(difference.went, ["c"]);
        assert_eq!(difference.changed, ["b"]);
        assert!(PartDifference::between(&older, &older).is_empty());
    }

    #[test]
    fn parts_of_one_name_are_told_apart() {
        let mut own = PartDigests::new();
        insert(&mut own, "x".to_owned(), &json!(1));
        insert(&mut own, "x".to_owned(), &json!(2));
        assert_eq!(own.keys().collect::<Vec<_>>(), ["x", "x #2"]);
    }
}
