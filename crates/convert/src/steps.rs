//! Workflows of step files.

use crate::plan::WorkflowPlan;
use crate::recorder::Recorder;
use crate::references::References;
use crate::source_tree::SourceTree;

/// Reads all workflows whose entry leads to step files.
pub(crate) fn workflows(
    _tree: &SourceTree<'_>,
    _references: &References<'_>,
    _recorder: &mut Recorder,
) -> Vec<WorkflowPlan> {
    Vec::new()
}
