//! A package with other texts: values of a run are put into them. Ids, edges and conditions stay, so everything that
//! [`check`](super::check) found still holds.

use std::sync::Arc;

use super::Package;
use super::agents::{Agent, MenuTarget, Principles};
use super::graph::Node;
use super::step::Step;
use super::workflow::Mirror;
use crate::id::NodeId;

impl Package {
    /// Returns the package with other texts of its agents and workflows, and with other steps and nodes. Workflows are
    /// named by their index in [`Package::workflows`].
    #[must_use]
    pub fn with_texts(
        &self,
        general: &dyn Fn(&str) -> String,
        of_workflow: &dyn Fn(usize, &str) -> String,
        step: &dyn Fn(usize, &NodeId, &Step) -> Step,
        node: &dyn Fn(usize, &mut Node),
    ) -> Self {
        let mut package = self.clone();
        package.manifest.artifact_roots.iter_mut().for_each(|root| *root = general(root));
        package.agents.iter_mut().for_each(|agent| retell(agent, general));
        for (at, workflow) in package.workflows.iter_mut().enumerate() {
            if let Some(mirror) = &workflow.front.mirror {
                let file = of_workflow(at, &mirror.file);
                let mirror = Mirror { file, ..mirror.clone() };
                let front = Arc::make_mut(&mut workflow.front);
                front.mirror = Some(mirror);
            }
            let steps = workflow.steps.iter();
            let steps = steps.map(|(id, old)| (id.clone(), Arc::new(step(at, id, old))));
            workflow.steps = Arc::new(steps.collect());
            workflow.graph = workflow.graph.with_nodes(&|changed| node(at, changed));
        }
        package
    }
}

impl Step {
    /// Returns the step with another text below the frontmatter.
    #[must_use]
    pub fn with_body(&self, body: &str) -> Self {
        let before = self.text.get(..self.body.start).unwrap_or_default();
        let after = self.text.get(self.body.end..).unwrap_or_default();
        let end = before.len() + body.len();
        Self {
            text: [before, body, after].concat().into(),
            body: self.body.start..end,
            ..self.clone()
        }
    }
}

/// Changes the texts of an agent that a model reads.
fn retell(agent: &mut Agent, text: &dyn Fn(&str) -> String) {
    let persona = &mut agent.persona;
    for field in [&mut persona.role, &mut persona.identity, &mut persona.communication_style] {
        *field = text(field);
    }
    match &mut persona.principles {
        Principles::Text(principles) => *principles = text(principles),
        Principles::List(principles) => principles.iter_mut().for_each(|one| *one = text(one)),
    }
    agent.critical_actions.iter_mut().for_each(|action| *action = text(action));
    agent.prompts.iter_mut().for_each(|prompt| prompt.content = text(&prompt.content));
    if let Some(prompt) = &mut agent.system_prompt {
        *prompt = text(prompt);
    }
    for item in &mut agent.menu {
        item.description = text(&item.description);
        retarget(&mut item.target, text);
        item.triggers.iter_mut().for_each(|trigger| retarget(&mut trigger.target, text));
    }
}

fn retarget(target: &mut MenuTarget, text: &dyn Fn(&str) -> String) {
    let fields = [&mut target.exec, &mut target.action, &mut target.data];
    for field in fields.into_iter().flatten() {
        *field = text(field);
    }
}
