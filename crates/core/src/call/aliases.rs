//! Paths of reads that stand for others: a package may keep files that its texts name in the project.

use super::Call;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::vpath::VPath;

impl Call {
    /// Replaces the path of a read by the one that it stands for. Rules hold for both. Writes stay where they are.
    pub fn with_aliases(
        mut self,
        policy: &Policy,
        real: &dyn Fn(&VPath) -> Option<VPath>,
    ) -> Result<Self, Refusal> {
        let path = match &mut self {
            Self::Read(call) => &mut call.path,
            Self::List(call) => &mut call.path,
            Self::Search(call) => &mut call.path,
            Self::Write(_) | Self::State(_) => return Ok(self.copying(real)),
            Self::Patch(_) | Self::Move(_) | Self::Delete(_) | Self::AskUser(_) | Self::Gate(_) => {
                return Ok(self);
            }
        };
        let Some(real) = real(path) else { return Ok(self) };
        *path = real;
        self.permitted(policy, &self.places())?;
        Ok(self)
    }

    /// Replaces the paths of files that a write copies.
    fn copying(mut self, real: &dyn Fn(&VPath) -> Option<VPath>) -> Self {
        let files = match &mut self {
            Self::Write(call) => std::slice::from_mut(call),
            Self::State(call) => call.files.as_mut_slice(),
            Self::Read(_)
            | Self::List(_)
            | Self::Search(_)
            | Self::Patch(_)
            | Self::Move(_)
            | Self::Delete(_)
            | Self::AskUser(_)
            | Self::Gate(_) => return self,
        };
        for copy in files.iter_mut().flat_map(|file| &mut file.copies) {
            if let Some(real) = real(&copy.from) {
                copy.from = real;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vpath::Mount;

    fn check_path(tool: &str, arguments: serde_json::Value, expected: &str) {
        let policy = Policy::default();
        let call = Call::parse(tool, &arguments.to_string(), &policy).unwrap();
        let real = |path: &VPath| {
            let below = path.relative().strip_prefix("_bmad/")?;
            VPath::new(Mount::Package, &format!("bmad/{below}"))
        };
        let call = call.with_aliases(&policy, &real).unwrap();
        let path = match &call {
            Call::List(call) => &call.path,
            Call::Search(call) => &call.path,
            Call::Read(_)
            | Call::Write(_)
            | Call::Patch(_)
            | Call::Move(_)
            | Call::Delete(_)
            | Call::AskUser(_)
            | Call::Gate(_)
            | Call::State(_) => call.places()[0],
        };
        assert_eq!(path.to_string(), expected);
    }

    #[test]
    fn reads_go_where_a_path_stands_for_and_writes_stay() {
        check_path("fs.read", json!({"path": "@project/_bmad/x.md"}), "@pkg/bmad/x.md");
        check_path("fs.read", json!({"path": "{project-root}/_bmad/x.md"}), "@pkg/bmad/x.md");
        check_path("fs.list", json!({"path": "_bmad/folder"}), "@pkg/bmad/folder");
        check_path("fs.search", json!({"query": "x", "path": "_bmad/folder"}), "@pkg/bmad/folder");
        check_path("fs.read", json!({"path": "@project/x.md"}), "@project/x.md");
        let write = json!({"path": "@project/_bmad/x.md", "content": "x"});
        check_path("fs.write", write, "@project/_bmad/x.md");
    }
}
