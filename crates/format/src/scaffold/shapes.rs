//! The three shapes of a new package, with steps that do real work from the first run.

/// Shape of a new workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowShape {
    Linear,
    Branch,
    Loop,
}

pub(super) struct ScaffoldNode {
    pub(super) id: &'static str,
    pub(super) kind: &'static str,
    pub(super) title: &'static str,
    pub(super) inputs: &'static [&'static str],
    pub(super) outputs: &'static [&'static str],
    pub(super) sets: &'static [&'static str],
    pub(super) goal: &'static str,
    pub(super) instructions: &'static str,
    pub(super) completion: &'static str,
}

impl ScaffoldNode {
    pub(super) fn file(&self) -> String {
        format!("steps/{}.md", self.id)
    }
}

pub(super) struct ScaffoldEdge {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) label: &'static str,
    pub(super) is_default: bool,
    pub(super) when: Option<EdgeCondition>,
}

/// Condition of an edge: in words, and as a variable with a value.
pub(super) struct EdgeCondition {
    pub(super) text: &'static str,
    pub(super) variable: &'static str,
    pub(super) value: &'static str,
}

impl WorkflowShape {
    pub(super) fn nodes(self) -> &'static [ScaffoldNode] {
        match self {
            Self::Linear => LINEAR,
            Self::Branch => BRANCH,
            Self::Loop => LOOP,
        }
    }

    pub(super) fn edges(self) -> &'static [ScaffoldEdge] {
        match self {
            Self::Linear => LINEAR_EDGES,
            Self::Branch => BRANCH_EDGES,
            Self::Loop => LOOP_EDGES,
        }
    }

    pub(super) fn menu_text(self) -> &'static str {
        match self {
            Self::Linear => "Turn a request into a one-page brief.",
            Self::Branch => "Turn a request into a plan, quick or thorough.",
            Self::Loop => "Draft a document and revise it until the review is satisfied.",
        }
    }

    pub(super) fn workflow_type(self) -> &'static str {
        match self {
            Self::Linear => "brief",
            Self::Branch => "plan",
            Self::Loop => "reviewed-document",
        }
    }
}

const fn next(from: &'static str, to: &'static str) -> ScaffoldEdge {
    ScaffoldEdge { from, to, label: "next", is_default: false, when: None }
}

const ASK: ScaffoldNode = ScaffoldNode {
    id: "step-01-ask",
    kind: "step",
    title: "Ask for the request",
    inputs: &[],
    outputs: &["artifacts/request.md"],
    sets: &["topic"],
    goal: "Know what the user wants, in the user's own words.",
    instructions: "1. If the user has already said what they want, use that. Otherwise ask one question and wait: what should be made, and for whom?",
    completion: "`topic` is a short name for the request. `artifacts/request.md` holds the request as one paragraph, then a list of what is known and a list of what is open.",
};

const END: ScaffoldNode = ScaffoldNode {
    id: "end-99",
    kind: "end",
    title: "Wrap up",
    inputs: &[],
    outputs: &[],
    sets: &[],
    goal: "Leave the user with a clear picture of what was made.",
    instructions: "1. Name every file that this run made, each with one line on what is in it.\n2. Name what is still open, if anything, and who could decide it.",
    completion: "Your last words tell the user both.",
};

const LINEAR: &[ScaffoldNode] = &[
    ASK,
    ScaffoldNode {
        id: "step-02-write",
        kind: "step",
        title: "Write the brief",
        inputs: &["artifacts/request.md"],
        outputs: &["artifacts/brief.md"],
        sets: &[],
        goal: "A brief of one page that somebody else could act on.",
        instructions: "1. Work from `artifacts/request.md`, and from what the project says about the topic.\n2. Mark every assumption as one.",
        completion: "`artifacts/brief.md` has six sections: purpose, audience, what is in, what is out, first three actions, open questions.",
    },
    END,
];

const LINEAR_EDGES: &[ScaffoldEdge] =
    &[next("step-01-ask", "step-02-write"), next("step-02-write", "end-99")];

const BRANCH: &[ScaffoldNode] = &[
    ASK,
    ScaffoldNode {
        id: "decide-02-depth",
        kind: "decision",
        title: "Quick or thorough",
        inputs: &["artifacts/request.md"],
        outputs: &[],
        sets: &["depth"],
        goal: "Choose how much planning this request deserves.",
        instructions: "1. A request that one person can finish in a day is `quick`. One that touches several people, systems or deadlines is `thorough`.\n2. If `artifacts/request.md` does not make it clear, ask the user and wait.",
        completion: "`depth` is `quick` or `thorough`, and the reason of the decision names the evidence.",
    },
    ScaffoldNode {
        id: "step-03-quick",
        kind: "step",
        title: "Plan quickly",
        inputs: &["artifacts/request.md"],
        outputs: &["artifacts/plan.md"],
        sets: &[],
        goal: "A plan that fits on half a page.",
        instructions: "1. Plan what `artifacts/request.md` asks for, and nothing else.",
        completion: "`artifacts/plan.md` says the result in one sentence, then at most five actions in order, each with a way to see that it is done.",
    },
    ScaffoldNode {
        id: "step-03-thorough",
        kind: "step",
        title: "Plan thoroughly",
        inputs: &["artifacts/request.md"],
        outputs: &["artifacts/plan.md"],
        sets: &[],
        goal: "A plan that survives its first surprise.",
        instructions: "1. Plan what `artifacts/request.md` asks for. Look through the project for what already exists.",
        completion: "`artifacts/plan.md` has: goal and measure of success, who is involved, milestones with dates or order, at least three risks with a counter-measure each, open decisions with an owner.",
    },
    END,
];

const BRANCH_EDGES: &[ScaffoldEdge] = &[
    next("step-01-ask", "decide-02-depth"),
    ScaffoldEdge {
        from: "decide-02-depth",
        to: "step-03-quick",
        label: "quick",
        is_default: true,
        when: Some(EdgeCondition {
            text: "One person can finish it in a day",
            variable: "depth",
            value: "quick",
        }),
    },
    ScaffoldEdge {
        from: "decide-02-depth",
        to: "step-03-thorough",
        label: "thorough",
        is_default: false,
        when: Some(EdgeCondition {
            text: "Several people, systems or deadlines are touched",
            variable: "depth",
            value: "thorough",
        }),
    },
    next("step-03-quick", "end-99"),
    next("step-03-thorough", "end-99"),
];

const LOOP: &[ScaffoldNode] = &[
    ASK,
    ScaffoldNode {
        id: "step-02-draft",
        kind: "step",
        title: "Draft",
        inputs: &["artifacts/request.md"],
        outputs: &["artifacts/draft.md"],
        sets: &[],
        goal: "A complete first version, good enough to be criticised.",
        instructions: "1. Write what `artifacts/request.md` asks for. Where a fact is missing, say so in the text.",
        completion: "`artifacts/draft.md` is the whole document, without placeholders.",
    },
    ScaffoldNode {
        id: "decide-03-review",
        kind: "decision",
        title: "Review",
        inputs: &["artifacts/request.md", "artifacts/draft.md"],
        outputs: &["artifacts/review.md"],
        sets: &["verdict"],
        goal: "Decide whether the document is good enough, and say what is not.",
        instructions: "1. Judge `artifacts/draft.md` by what `artifacts/request.md` asks for.\n2. After three rounds, only findings that would mislead a reader count.",
        completion: "`verdict` is `approved` when nothing must change, else `revise`. `artifacts/review.md` has at most five findings of this round, each with the place, the problem and a suggestion.",
    },
    ScaffoldNode {
        id: "step-04-revise",
        kind: "step",
        title: "Revise",
        inputs: &["artifacts/draft.md", "artifacts/review.md"],
        outputs: &["artifacts/draft.md"],
        sets: &[],
        goal: "Answer every finding of the review.",
        instructions: "1. Change the draft finding by finding, and leave the rest of it alone.\n2. Where you do not follow a suggestion, add one line to its finding in the review that says why.",
        completion: "Every finding of `artifacts/review.md` is answered.",
    },
    END,
];

const LOOP_EDGES: &[ScaffoldEdge] = &[
    next("step-01-ask", "step-02-draft"),
    next("step-02-draft", "decide-03-review"),
    ScaffoldEdge {
        from: "decide-03-review",
        to: "end-99",
        label: "approved",
        is_default: false,
        when: Some(EdgeCondition {
            text: "Nothing in the document must change",
            variable: "verdict",
            value: "approved",
        }),
    },
    ScaffoldEdge {
        from: "decide-03-review",
        to: "step-04-revise",
        label: "revise",
        is_default: true,
        when: Some(EdgeCondition {
            text: "At least one finding must be answered",
            variable: "verdict",
            value: "revise",
        }),
    },
    ScaffoldEdge {
        from: "step-04-revise",
        to: "decide-03-review",
        label: "again",
        is_default: false,
        when: None,
    },
];
