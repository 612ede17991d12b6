//! Table of diagnostic codes. A code never changes its meaning and is never reused.

use serde::Serialize;

/// Severity of a finding. A package with an error is refused; a note never fails a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The package cannot be loaded.
    Error,
    /// The package loads, but probably does not do what its author meant.
    Warning,
    /// The author may want to know it; the package does what it says.
    Note,
}

impl Severity {
    /// Returns the severity as users read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Declares the codes, their names and severities, and ties each to its page in `spec/diagnostics/`.
macro_rules! codes {
    ($($number:literal $variant:ident $name:literal $severity:ident $summary:literal,)*) => {
        /// A stable diagnostic code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// Returns the code as it is printed, such as `BM501`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => concat!("BM", stringify!($number)),)* }
            }

            /// Returns the code's name, such as `duplicate-node-id`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the meaning of the code in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }

            /// Returns the severity; an error refuses the package.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// Returns the code's page in Markdown: its meaning, an example, and the fix.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!(
                        "../../../spec/diagnostics/BM", stringify!($number), ".md"
                    )),)*
                }
            }

            /// Returns the code's page in Chinese.
            pub fn explanation_zh(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!(
                        "../../../spec/diagnostics/zh/BM", stringify!($number), ".md"
                    )),)*
                }
            }
        }
    };
}

codes! {
    // 1xx: the container.
    101 NotAnArchive "not-an-archive" Error "the file is not a readable ZIP archive",
    102 AbsoluteEntry "absolute-entry" Error "an entry has an absolute path or a drive letter",
    103 ParentEntry "parent-entry" Error "an entry climbs out with `..`",
    104 BadEntryName "bad-entry-name" Error "an entry has a name that does not work everywhere",
    105 LinkEntry "link-entry" Error "an entry is a symbolic link or a special file",
    106 DuplicateEntry "duplicate-entry" Error "two entries have the same path",
    107 CaseCollision "case-collision" Error "two paths differ only in upper and lower case",
    108 EncryptedEntry "encrypted-entry" Error "an entry is encrypted",
    109 TooManyEntries "too-many-entries" Error "the package has more entries than the limit",
    110 PackageTooLarge "package-too-large" Error "the unpacked package is larger than the limit",
    111 FileTooLarge "file-too-large" Error "a file is larger than the limit",
    112 RatioTooHigh "ratio-too-high" Error "an entry unpacks to far more than its packed size",
    113 UnknownCompression "unknown-compression" Error "an entry uses a compression method we do not read",
    114 CorruptEntry "corrupt-entry" Error "an entry's content or header contradicts the archive's directory",
    115 FileAndFolder "file-and-folder" Error "one path is both a file and a folder",

    // 2xx: files and syntax.
    201 MissingManifest "missing-manifest" Error "there is no `bmad.json` at the root",
    202 MissingFile "missing-file" Error "a referenced file is not in the package",
    203 NotAFile "not-a-file" Error "a folder stands where a file is expected",
    204 UnreadableFile "unreadable-file" Error "a file cannot be read",
    205 NotUtf8 "not-utf8" Error "a text file is not UTF-8",
    206 JsonSyntax "json-syntax" Error "a file is not valid JSON",
    207 TooDeep "too-deep" Error "a document is nested too deeply",
    208 NoFrontmatter "no-frontmatter" Error "a Markdown file does not begin with frontmatter",
    209 UnclosedFrontmatter "unclosed-frontmatter" Error "frontmatter is opened but not closed",
    210 YamlSyntax "yaml-syntax" Error "frontmatter is not valid YAML",
    211 YamlLimit "yaml-limit" Error "frontmatter exceeds a limit on size or aliases",
    212 FrontmatterNotMap "frontmatter-not-map" Error "frontmatter is not a map of keys and values",
    213 DuplicateKey "duplicate-key" Error "a key appears twice in one object",
    214 PathOutside "path-outside" Error "a reference does not stay inside the package",
    215 DocumentTooLarge "document-too-large" Error "a document is too large to be read as text",

    // 3xx: the shape of documents.
    301 UnknownKey "unknown-key" Error "a closed object has a key it may not have",
    302 MissingKey "missing-key" Error "a required key is missing",
    303 WrongType "wrong-type" Error "a value has the wrong type",
    304 EmptyValue "empty-value" Error "a value must not be empty",
    305 BadId "bad-id" Error "an id has characters it may not have, or is too long",
    306 BadChoice "bad-choice" Error "a value is not one of the allowed words",
    307 BadDateTime "bad-date-time" Error "a date-time is not RFC 3339 with an offset",
    308 NumberOutOfRange "number-out-of-range" Error "a number is out of its range",
    309 VersionAsNumber "version-as-number" Warning "`schemaVersion` is a number instead of a string",
    310 IgnoredValue "ignored-value" Warning "an optional value cannot be used, and is ignored",
    311 MisspelledKey "misspelled-key" Warning "a key without effect looks like one that has an effect",
    312 NotPortable "not-portable" Warning "other tools for format 1.1 may refuse this",
    313 LeftOut "left-out" Note "the version that was asked for does not know this, so it was left out",

    // 4xx: the manifest.
    401 UnsupportedSchema "unsupported-schema" Error "the format version is not one we read",
    402 BadVersion "bad-version" Error "a version is not semantic versioning",
    403 RuntimeTooOld "runtime-too-old" Error "the package needs a newer runtime",
    404 BadDigest "bad-digest" Error "`integrity.sha256` is not 64 hexadecimal digits",
    405 IntegrityMismatch "integrity-mismatch" Error "the content does not match `integrity.sha256`",
    406 DuplicateWorkflowId "duplicate-workflow-id" Error "two workflows have the same id",
    407 DuplicateConfigName "duplicate-config-name" Error "two keys of the configuration have the same name",
    408 BadConfigDefault "bad-config-default" Warning "a default is not a value that its key may have",
    409 DeadAlias "dead-alias" Error "an alias does not stand for a folder of the package",
    410 BadArtifactRoot "bad-artifact-root" Error "an artifact root is not a folder in the project",

    // 5xx: the graph.
    501 DuplicateNodeId "duplicate-node-id" Error "two nodes have the same id",
    502 UnknownEntryNode "unknown-entry-node" Error "`entryNodeId` is not a node",
    503 UnknownEdgeEnd "unknown-edge-end" Error "an edge begins or ends at a node that does not exist",
    504 UnknownAgent "unknown-agent" Error "an `agentId` is not an agent of the package",
    505 BadCondition "bad-condition" Error "a `conditionExpr` is not valid JSONLogic",
    510 NoReachableEnd "no-reachable-end" Warning "no `end` node can be reached from the entry",
    511 UnreachableNode "unreachable-node" Warning "a node cannot be reached from the entry",
    512 DeadEnd "dead-end" Warning "a node that is not an end has no way out",
    513 FewBranches "few-branches" Warning "a decision has fewer than two branches",
    514 NoDefaultBranch "no-default-branch" Warning "a decision has no default branch",
    515 DefaultCount "default-count" Warning "a node with several edges does not have exactly one default",
    516 DuplicateEdge "duplicate-edge" Warning "two edges between the same nodes have the same label",
    517 CycleWithoutDecision "cycle-without-decision" Warning "a cycle has no decision node in it",
    518 CycleWithoutExit "cycle-without-exit" Warning "no edge leaves a cycle",
    519 OutputOutsideArtifacts "output-outside-artifacts" Warning "an output lies outside `artifacts/`",
    520 UnsetVariable "unset-variable" Warning "a condition uses a variable that no step sets",
    521 UnsetOutputVariable "unset-output-variable" Warning "an output is named by a variable that no step sets",
    522 DuplicateOption "duplicate-option" Error "a gate has two options with the same key",
    523 UnknownOption "unknown-option" Error "an option is named that the gate does not have",
    524 OptionEdgeCount "option-edge-count" Error "an option that leads on does not have exactly one edge",
    525 BadTargetPath "bad-target-path" Error "a file that the runtime is to write is not one of the project",
    526 MisplacedGate "misplaced-gate" Error "a node that cannot ask the user has a gate or waits for the user",
    527 MisplacedAuto "misplaced-auto" Error "a node that needs the model has `auto`",
    528 DuplicateSection "duplicate-section" Error "a gate has two sections with the same id",

    // 6xx: steps and workflow documents.
    601 NodeIdMismatch "node-id-mismatch" Error "a step's `nodeId` is not its node's id",
    602 TransitionsDisagree "transitions-disagree" Warning "a step's `transitions` differ from the graph's edges",
    603 TypeDisagrees "type-disagrees" Warning "a step's `type` differs from its node's",
    604 AgentDisagrees "agent-disagrees" Warning "a step's `agentId` differs from its node's",
    605 InputsDisagree "inputs-disagree" Warning "a step's `inputs` differ from its node's",
    606 OutputsDisagree "outputs-disagree" Warning "a step's `outputs` differ from its node's",
    607 NoGoal "no-goal" Warning "a step has no `## Goal` section",
    608 NoInstructions "no-instructions" Warning "a step has no `## Instructions` section",
    609 DeadIndexLink "dead-index-link" Warning "a link in the Steps Index leads nowhere",
    610 UnknownCurrentNode "unknown-current-node" Warning "`currentNodeId` is not a node of the graph",
    611 UnknownCompletedNode "unknown-completed-node" Warning "`stepsCompleted` names a node that does not exist",
    612 BadArtifactPath "bad-artifact-path" Warning "an entry of `artifacts` is not relative to the project",
    613 UnknownTier "unknown-tier" Warning "a step's `model` is not a tier",
    614 BadStepLimit "bad-step-limit" Warning "a limit of a step cannot be used",
    615 DeadPackagePath "dead-package-path" Warning "a text names a file that is not in the package",
    616 UnusedStep "unused-step" Warning "a step file belongs to no node",
    617 UnknownMirrorNode "unknown-mirror-node" Warning "`mirror.values` names a node that does not exist",

    // 7xx: agents and menus.
    701 DuplicateAgentId "duplicate-agent-id" Error "two agents have the same id",
    702 UnusedAgent "unused-agent" Warning "an agent is never used",
    703 DuplicatePromptId "duplicate-prompt-id" Warning "two prompts of an agent have the same id",
    711 HiddenMenuItem "hidden-menu-item" Warning "a menu item is hidden everywhere",
    712 NoMenuAction "no-menu-action" Warning "a menu item does nothing",
    713 ShadowedTrigger "shadowed-trigger" Warning "a trigger hides another one",
    714 DeadMenuTarget "dead-menu-target" Warning "a menu item points to nothing",
    715 InvalidMenuTarget "invalid-menu-target" Error "a menu item with `validate-workflow` points to nothing",

    // 8xx: sub-workflows.
    801 UnknownSubworkflow "unknown-subworkflow" Error "a sub-workflow is not a workflow of the package",
    802 CallCycle "call-cycle" Error "workflows call each other in a circle",
    803 SubworkflowEdges "subworkflow-edges" Error "a subworkflow node does not have exactly one outgoing edge",
    804 NoSubworkflowRef "no-subworkflow-ref" Error "a subworkflow node names no workflow",
    805 SubworkflowAsStep "subworkflow-as-step" Warning "a 1.1 subworkflow node names no workflow of the package and runs as a step",
    806 IgnoredCall "ignored-call" Warning "a node that is no subworkflow node has the keys of a call",

    // 9xx: the import of other content.
    901 NothingFound "nothing-found" Error "the source is neither a package nor content that can be imported",
    902 SeveralVersions "several-versions" Warning "a source has parts of several versions that differ",
    903 CarriedAsText "carried-as-text" Warning "a part of the source became no workflow and is carried as text",
    904 ModuleNotHere "module-not-here" Warning "a text names a file of a module that is not in the source",
    905 EntryWithoutSteps "entry-without-steps" Note "a file that looks like an entry leads to no step",
    906 IdMadeLonger "id-made-longer" Note "equal ids got the name of their module in front",
    911 FrontmatterUnreadable "frontmatter-unreadable" Warning "frontmatter of the source is not YAML and was read line by line",
    912 TagNotClosed "tag-not-closed" Warning "a tag is not closed and ends with its parent",
    913 UnknownTag "unknown-tag" Note "a tag has no meaning here and stays text",
    914 AgentIncomplete "agent-incomplete" Warning "an agent lacks a part of its persona, or cannot be read",
    921 DanglingReference "dangling-reference" Warning "a text names a file or a step that is not in the source",
    922 JumpToNowhere "jump-to-nowhere" Warning "an instruction jumps to a step that does not exist",
    923 GeneratedFile "generated-file" Note "a list that the content reads was made by the import",
    924 LinkOutside "link-outside" Warning "a link leads out of the source and was not followed",
    925 ScriptNotRun "script-not-run" Note "a text tells to run a script, which does not run",
    926 NeedsSubagent "needs-subagent" Note "a workflow asks for subagents",
    927 NeedsWeb "needs-web" Note "a workflow asks for the web",
    928 NeedsShell "needs-shell" Note "a workflow asks for a shell",
    931 UnreachableStep "unreachable-step" Warning "a step file lies beside others and nothing leads to it",
    932 EdgeByOrder "edge-by-order" Warning "an edge rests on nothing but the order of the files",
    933 StepsOutOfOrder "steps-out-of-order" Warning "steps stand in another order than their numbers",
    934 ModeEntry "mode-entry" Note "a step is reached only by a jump",
    935 OptionNotUnderstood "option-not-understood" Warning "the text does not say what a menu option does",
    936 SeveralMenus "several-menus" Note "a step has several menus with one key",
    937 ExitAdded "exit-added" Note "a node was added for the end of the workflow",
    941 VariableNeverSet "variable-never-set" Warning "a name that is needed never gets a value",
    942 VariableMisspelt "variable-misspelt" Warning "a name without a value differs little from one with a value",
    943 ConfigMissing "config-missing" Warning "a part of the configuration cannot be read or resolved",
    944 ConfigDiffers "config-differs" Warning "two configuration files have different values for one key",
    945 PathOutsideProject "path-outside-project" Warning "a configured path leads out of the project",
    951 EndNotRecorded "end-not-recorded" Warning "the last step does not say that it is to be recorded",
    952 NumberOfSeveralSteps "number-of-several-steps" Warning "several steps record the same number",
    953 OverrideWithoutMatch "override-without-match" Warning "an entry of the overrides fits nothing in the source",
    999 ImporterBug "importer-bug" Error "the package that an import made does not pass its check",
}

impl Code {
    /// Finds a code by what a user may type: `BM501`, `bm501`, `501` or `duplicate-node-id`.
    pub fn find(text: &str) -> Option<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        let number = wanted.strip_prefix("bm").unwrap_or(&wanted);
        Self::ALL.iter().copied().find(|code| {
            code.name() == wanted || code.as_str().get(2..).is_some_and(|digits| digits == number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_by_number_and_by_name() {
        for text in ["BM501", "bm501", " 501 ", "duplicate-node-id"] {
            assert_eq!(Code::find(text), Some(Code::DuplicateNodeId), "{text}");
        }
        assert_eq!(Code::find("BM998"), None);
        assert_eq!(Code::find(""), None);
    }

    #[test]
    fn every_code_has_a_page_with_an_example_and_a_fix() {
        for code in Code::ALL {
            let page = code.explanation();
            let title = format!("# {} · {}\n", code.as_str(), code.name());
            assert!(page.starts_with(&title), "{}.md must begin with {title:?}", code.as_str());
            assert!(
                page.contains(&format!("**{}**", code.severity().word())),
                "{} names its severity",
                code.as_str()
            );
            for section in ["\n## Example\n", "\n## Fix\n"] {
                assert!(page.contains(section), "{}.md has no {section:?}", code.as_str());
            }
            assert!(page.len() > 400, "{}.md says too little", code.as_str());
        }
    }

    #[test]
    fn names_are_unique_and_codes_ascend() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.is_sorted_by_key(|code| code.as_str()));
    }
}
