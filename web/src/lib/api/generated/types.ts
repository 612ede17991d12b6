// Written by a test of crates/server from its wire types. Do not edit.

/**
 * Input goes to this run of a workflow from here on, or no longer to a run.
 */
export type ActiveRunChanged = { 
/**
 * The run; none when it was left.
 */
id?: string, 
/**
 * Note for the model of the conversation about the run that was left.
 */
note?: string, };

/**
 * Document that records steps of a workflow that was not finished.
 */
export type Adoption = { 
/**
 * The document, from the root of the project.
 */
file: string, 
/**
 * Nodes that are done, in the order of the workflow.
 */
done: Array<string>, 
/**
 * Number of nodes that the document records.
 */
recorded: number, 
/**
 * First node that is not done.
 */
next: string, 
/**
 * Node by which the workflow itself continues, if it has one.
 */
own?: string, };

/**
 * An agent of a package.
 */
export type Agent = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its icon, mostly an emoji.
 */
icon: string, 
/**
 * Role, as the agent describes it.
 */
role: string, 
/**
 * Its menu, as it is shown.
 */
menu: Array<MenuLine>, 
/**
 * True if it may use files.
 */
usesFiles: boolean, 
/**
 * MCP servers that it requests.
 */
mcpServers: Array<string>, };

/**
 * The agent of the conversation changed.
 */
export type AgentChanged = { 
/**
 * The agent.
 */
agentId?: string, };

/**
 * Answer of a tool.
 */
export type Answer = { 
/**
 * The result: `{"ok":true,…}` or `{"ok":false,"error":{…}}`. Models read it as plain text.
 */
result: Payload, 
/**
 * Code of the refusal, if it is one.
 */
refused?: RefusalCode, 
/**
 * New and changed files below the artifacts folder, from the root of the project.
 */
created?: Array<string>, 
/**
 * Files of the project that the call wrote or removed, with their digests.
 */
wrote?: Array<WrittenDigest>, 
/**
 * Files whose text the model knows from the call or its answer.
 */
shown?: Array<ShownFile>, 
/**
 * Files of the user that the call would have overwritten, with the digests that they have. The same call again
 * overwrites them.
 */
warned?: Array<WrittenDigest>, 
/**
 * Names of the drafts that the call wrote.
 */
drafted?: Array<string>, 
/**
 * Drafts that the call saved in files of the project.
 */
saved?: Array<SavedDraft>, 
/**
 * True if the call gave nothing new: what it asked for stands in the context, or the file has this content.
 */
repeats?: boolean, 
/**
 * True if the calls behind it in the same reply are not carried out, because it is a refused change of the state.
 */
endsReply?: boolean, };

/**
 * A call that waits for the user's word.
 */
export type Approval = { 
/**
 * The tool.
 */
tool: string, 
/**
 * The rule that asks.
 */
rule: Rule, 
/**
 * The files that would change. What becomes of the run's state is not among them.
 */
files?: Array<FileChange>, 
/**
 * The move that the same call makes.
 */
moved?: Moved, 
/**
 * The arguments, exactly as the model wrote them, of a call that is not about files.
 */
arguments?: string, 
/**
 * True if the arguments are shown in part.
 */
cut?: boolean, 
/**
 * The tool as its server describes it.
 */
offer?: ToolDescription, };

/**
 * File that a run created.
 */
export type Artifact = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * Node that created it, if known.
 */
nodeId?: string, 
/**
 * Size in bytes; none when it does not exist.
 */
bytes?: number, };

/**
 * Files that a run created.
 */
export type Artifacts = { 
/**
 * In the order of their creation.
 */
artifacts: Array<Artifact>, };

/**
 * A piece of the model's reply. Not in the journal.
 */
export type AssistantDelta = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Text of the piece.
 */
text: string, 
/**
 * The addressee: the user, or the model itself.
 */
channel: Channel, };

/**
 * The model's whole reply.
 */
export type AssistantMessage = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Text of the reply.
 */
content?: string, 
/**
 * The tools it calls.
 */
toolCalls?: Array<ToolCall>, 
/**
 * Indices, from 0, of the calls whose arguments are not a JSON object.
 */
brokenCalls?: Array<number>, 
/**
 * Number of the calls that the model wrote as text.
 */
textCalls?: number, 
/**
 * Reason why a call that the model wrote as text cannot be carried out, if there is one and no other call.
 */
unreadableCall?: string, 
/**
 * Calls that are recorded otherwise than the model wrote them.
 */
repairedCalls?: Array<RepairedCall>, 
/**
 * Drafts in its text, whose marks are taken out.
 */
drafts?: Array<ReplyDraft>, 
/**
 * Reasons why other blocks of its text are no drafts.
 */
brokenDrafts?: Array<string>, 
/**
 * Reason why it ended.
 */
finish: Finish, 
/**
 * Usage of the request.
 */
usage: Usage, 
/**
 * Model that wrote it, where that matters: `profile/model`.
 */
from?: string, 
/**
 * Other data that the provider sent and expects back.
 */
extra?: { [key in string]: JsonValue }, };

/**
 * Settings of a run that differ from those of the user.
 */
export type Bounds = { 
/**
 * Confirmation of moves.
 */
mode?: Mode, 
/**
 * True to change the state only through its own tools. A strict run stays strict.
 */
strict?: boolean, 
/**
 * Requests for one input.
 */
maxTurns?: number, 
/**
 * Seconds for one input.
 */
maxSeconds?: number, 
/**
 * Tokens for one input.
 */
maxTokens?: number, 
/**
 * Money for one input.
 */
maxCost?: number, 
/**
 * Permissions of tools; they can only be tightened, and stay with the run.
 */
tools?: Tightening, };

/**
 * A workflow that waits for one that it has called.
 */
export type Caller = { 
/**
 * State of the caller.
 */
state: RunState, 
/**
 * The workflow that is called.
 */
workflowId: string, 
/**
 * The node of the caller that calls it.
 */
nodeId: string, 
/**
 * The number of the call in the run, from 1.
 */
call: FrameId, };

/**
 * Everything that can be started: workflows and agents of all packages.
 */
export type Catalog = { 
/**
 * The last imported one first. Packages with errors are left out.
 */
packages: Array<CatalogPackage>, };

/**
 * An agent of the catalog.
 */
export type CatalogAgent = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its icon, mostly an emoji.
 */
icon: string, };

/**
 * A node of a workflow of the catalog.
 */
export type CatalogNode = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its title; the id if it has none.
 */
title: string, };

/**
 * A package of the catalog.
 */
export type CatalogPackage = { 
/**
 * As a person writes it: `name@version`.
 */
reference: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Its version.
 */
version: string, 
/**
 * Time of the import.
 */
imported: string, 
/**
 * Purpose of the package.
 */
description?: string, 
/**
 * Its workflows; the first is the default.
 */
workflows: Array<CatalogWorkflow>, 
/**
 * Its agents.
 */
agents: Array<CatalogAgent>, };

/**
 * A workflow of the catalog.
 */
export type CatalogWorkflow = { 
/**
 * Reference to start a run with: its id, or the path of its document.
 */
reference: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Purpose of the workflow.
 */
description?: string, 
/**
 * Its nodes.
 */
nodes: Array<CatalogNode>, };

/**
 * One change of a file.
 */
export type Change = { 
/**
 * The event that announced it.
 */
seq: number, 
/**
 * Call of the change.
 */
callId: string, 
/**
 * The node that the run was at.
 */
nodeId?: string, 
/**
 * Time of the change.
 */
time: string, 
/**
 * The digest before; none when there was no file.
 */
before?: string, 
/**
 * The digest after; none when the file was removed.
 */
after?: string, };

/**
 * A file that a run changed.
 */
export type ChangedFile = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * True if the run created it.
 */
created: boolean, 
/**
 * The changes, in their order.
 */
changes: Array<Change>, 
/**
 * Current digest of the file; none when it does not exist.
 */
now?: string, 
/**
 * True if the file is still as the run left it.
 */
isCurrent: boolean, };

/**
 * The files that a run changed.
 */
export type Changes = { 
/**
 * By path.
 */
files: Array<ChangedFile>, };

/**
 * Addressee of a part of a reply.
 */
export type Channel = "text" | "thinking";

/**
 * One step of a connection test.
 */
export type CheckStep = { 
/**
 * `url`, `dns`, `tcp`, `tls`, `endpoint`, `key`, `model` and so on.
 */
name: string, 
/**
 * `ok`, `failed` or `skipped`.
 */
status: string, 
/**
 * Result of the step.
 */
message: string, 
/**
 * Advice for the user.
 */
advice?: string, };

/**
 * An item that the user can choose.
 */
export type Choice = { 
/**
 * Text that the user types to choose it.
 */
answer: string, 
/**
 * Description.
 */
label: string, };

/**
 * The kinds of reasons.
 */
export type Code = "invalid" | "unauthorized" | "forbidden" | "not-found" | "wrong-method" | "too-slow" | "busy" | "in-use" | "changed" | "too-large" | "wrong-type" | "refused" | "model" | "disk" | "internal" | "closing";

/**
 * The explanation of a code.
 */
export type CodePage = { 
/**
 * The code.
 */
code: string, 
/**
 * Its name.
 */
name: string, 
/**
 * `error`, `warning` or `note`.
 */
severity: string, 
/**
 * In one sentence.
 */
summary: string, 
/**
 * With an example and a fix, as Markdown; blank in the list of all codes.
 */
explanation: string, 
/**
 * The explanation in Chinese.
 */
explanationZh: string, };

/**
 * The input was interpreted with the menu of the agent: as a command, whose result follows, or as conversation.
 */
export type CommandResolved = { 
/**
 * Input of the user.
 */
text: Payload, 
/**
 * Command, such as `StartWorkflow` or `ClarifyChoice`; `Chat` if the input is conversation and follows as such.
 */
command: string, 
/**
 * Confidence of the interpretation.
 */
confidence: Confidence, 
/**
 * Reason of the interpretation.
 */
reason: string, 
/**
 * The number of the menu item.
 */
item?: number, 
/**
 * Available choices, if they are shown.
 */
choices?: Array<Choice>, 
/**
 * Reason why the command cannot be executed.
 */
error?: MenuError, };

/**
 * Confidence that a line means a command.
 */
export type Confidence = "low" | "medium" | "high" | "exact";

/**
 * A file that the user has confirmed.
 */
export type ConfirmedFile = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * Digest that it must have now; absent when it must not exist.
 */
ifMatchSha256?: string, };

/**
 * The file whose bytes are sent.
 */
export type ContentQuery = { 
/**
 * From the root of the project.
 */
path: string, 
/**
 * True to show a PDF instead of saving it; other files are always saved.
 */
inline?: boolean, 
/**
 * Any text. It makes the address of each version another one, so that a browser shows no old picture.
 */
version?: string, };

/**
 * Messages left the context of the model because they no longer fit.
 */
export type ContextCut = { 
/**
 * Messages that are no longer sent.
 */
messages: number, 
/**
 * Their size.
 */
bytes: number, };

/**
 * An entry of a list of conversations.
 */
export type Conversation = { 
/**
 * Its id.
 */
id: string, 
/**
 * The id of its project.
 */
project: string, 
/**
 * Title.
 */
title?: string, 
/**
 * The package whose agents are available, as `name@version`.
 */
package?: string, 
/**
 * The agent it began with.
 */
agentId?: string, 
/**
 * Time of creation.
 */
created: string, 
/**
 * Time of the last event.
 */
updated?: string, 
/**
 * Phase of the conversation itself, once a message was sent; its run has its own phase.
 */
phase?: Phase, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * True if it is working in this server.
 */
atWork: boolean, 
/**
 * Other process that is using it.
 */
heldBy?: string, 
/**
 * The text around the match of a search.
 */
found?: string, };

/**
 * Everything about one conversation but its events.
 */
export type ConversationDetail = { 
/**
 * The receiver of the user's messages.
 */
mode: ConversationMode, 
/**
 * The active agent.
 */
agent?: Agent, 
/**
 * Its menu.
 */
menu: Array<MenuLine>, 
/**
 * The runs that were started from it, in their order.
 */
runs: Array<string>, 
/**
 * The run that receives the user's messages.
 */
activeRun?: string, 
/**
 * Reason why it cannot be resumed, and advice.
 */
blocked?: string, 
/**
 * Its id.
 */
id: string, 
/**
 * The id of its project.
 */
project: string, 
/**
 * Title.
 */
title?: string, 
/**
 * The package whose agents are available, as `name@version`.
 */
package?: string, 
/**
 * The agent it began with.
 */
agentId?: string, 
/**
 * Time of creation.
 */
created: string, 
/**
 * Time of the last event.
 */
updated?: string, 
/**
 * Phase of the conversation itself, once a message was sent; its run has its own phase.
 */
phase?: Phase, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * True if it is working in this server.
 */
atWork: boolean, 
/**
 * Other process that is using it.
 */
heldBy?: string, 
/**
 * The text around the match of a search.
 */
found?: string, };

/**
 * Conversations, for a list.
 */
export type ConversationList = { 
/**
 * The one in which something happened last comes first.
 */
conversations: Array<Conversation>, 
/**
 * True if there are more than these, or a search ended before it had read everything.
 */
more: boolean, 
/**
 * Folders of conversations that cannot be read, as far as they were looked at.
 */
damaged: Array<Flaw>, };

/**
 * The receiver of the user's messages.
 */
export type ConversationMode = "chat" | "agent" | "workflow";

/**
 * A filter of conversations.
 */
export type ConversationQuery = { 
/**
 * Those of this project.
 */
project?: string, 
/**
 * Those that contain this text.
 */
words?: string, 
/**
 * Maximum number; 200 when absent.
 */
limit?: number, };

/**
 * A conversation begins.
 */
export type ConversationStarted = { 
/**
 * The package whose agents can be talked to, as `name@version`.
 */
package?: string, 
/**
 * Its digest.
 */
packageSha256?: string, 
/**
 * The agent that is talked to.
 */
agentId?: string, 
/**
 * The project's name.
 */
project: string, 
/**
 * Settings of the conversation.
 */
settings: RunSettings, };

/**
 * Source of a decision.
 */
export type Decider = "settings" | "run" | "agent" | "runtime";

/**
 * The result of the doctor.
 */
export type Diagnosis = { 
/**
 * True if no check failed.
 */
ok: boolean, 
/**
 * Every check.
 */
checks: Array<DoctorCheck>, };

/**
 * One check of the doctor.
 */
export type DoctorCheck = { 
/**
 * Name of the check.
 */
name: string, 
/**
 * `ok`, `warn` or `fail`.
 */
status: string, 
/**
 * Result of the check.
 */
message: string, 
/**
 * Advice for the user.
 */
advice: Array<string>, };

/**
 * The languages of drawings.
 */
export type DrawFormat = "mermaid" | "dot" | "svg";

/**
 * Options for drawing a workflow.
 */
export type DrawQuery = { 
/**
 * The workflow; the first when absent.
 */
workflow?: string, 
/**
 * In which language.
 */
format: DrawFormat, };

/**
 * A run that is to receive the messages of a conversation.
 */
export type EnterRun = { 
/**
 * Its id.
 */
run: string, 
/**
 * The model; unchanged when absent.
 */
model?: string, };

/**
 * One event. In the journal it is one line.
 */
export type Event = { 
/**
 * Its number in the run, from 1. A piece of an event that is still to come (`assistant.delta`) has that
 * event's number, and `part` counts the pieces.
 */
seq: number, 
/**
 * Counts the pieces of an event that is still to come, from 1.
 */
part?: number, 
/**
 * Time, as RFC 3339 in UTC with milliseconds.
 */
time: string, 
/**
 * The run it belongs to.
 */
runId?: string, 
/**
 * The durable step whose result this is, such as `t1/llm/3`.
 */
key?: string, } & ({ "type": "run.started" } & RunStarted | { "type": "session.started" } & ConversationStarted | { "type": "session.agent" } & AgentChanged | { "type": "command.resolved" } & CommandResolved | { "type": "session.instructed" } & ModelInstructed | { "type": "session.run" } & ActiveRunChanged | { "type": "run.resumed" } & RunResumed | { "type": "user.input" } & UserInput | { "type": "workflow.planned" } & FramePlanned | { "type": "workflow.entered" } & FrameEntered | { "type": "workflow.left" } & FrameLeft | { "type": "workflow.held" } & FrameHeld | { "type": "tools.listed" } & ToolsListed | { "type": "server.logged" } & ServerLogged | { "type": "turn.started" } & TurnStarted | { "type": "assistant.delta" } & AssistantDelta | { "type": "model.retried" } & ModelRetried | { "type": "model.fellback" } & ModelFellBack | { "type": "model.overflowed" } & ModelOverflowed | { "type": "model.nudged" } & ModelNudged | { "type": "model.stopped" } & ModelStopped | { "type": "assistant.message" } & AssistantMessage | { "type": "tool.started" } & ToolStarted | { "type": "tool.finished" } & ToolFinished | { "type": "node.entered" } & NodeEntered | { "type": "state.changed" } & StateChange | { "type": "question" } & UserAsked | { "type": "phase.changed" } & PhaseChanged | { "type": "context.cut" } & ContextCut | { "type": "error" } & RunFailed | { "type": "run.finished" } & RunFinished);

/**
 * Events of a journal.
 */
export type EventPage = { 
/**
 * The events, in their order.
 */
events: Array<Event>, 
/**
 * True if there are more.
 */
more: boolean, 
/**
 * For `after` of a stream: its events follow these.
 */
cursor: string, };

/**
 * A filter of events.
 */
export type EventQuery = { 
/**
 * Those after this one; from the first when absent.
 */
after?: number, 
/**
 * Maximum number; 500 when absent. A page also ends after about 4 MiB.
 */
limit?: number, };

/**
 * Error of a request.
 */
export type Fault = { 
/**
 * Kind of the error.
 */
code: Code, 
/**
 * Cause, as text for users.
 */
message: string, 
/**
 * Advice for the user.
 */
hint?: string, };

/**
 * A file that would change.
 */
export type FileChange = { 
/**
 * Real location, if a link leads there.
 */
place?: string, 
/**
 * Change as a unified diff. Empty if it cannot be shown.
 */
diff: string, 
/**
 * True if the diff is shown in part.
 */
cut?: boolean, 
/**
 * The mount path.
 */
path: string, 
/**
 * The digest before; none when there is no file.
 */
before?: string, 
/**
 * The digest after; none when the file is removed.
 */
after?: string, };

/**
 * A file or a folder.
 */
export type FileEntry = { 
/**
 * True for a file, false for a folder.
 */
isFile: boolean, 
/**
 * Its name.
 */
name: string, 
/**
 * From the root of the project.
 */
path: string, };

/**
 * One file of an intent.
 */
export type FileIntent = { 
/**
 * The mount path.
 */
path: string, 
/**
 * The digest before; none when there is no file.
 */
before?: string, 
/**
 * The digest after; none when the file is removed.
 */
after?: string, };

/**
 * The content of a folder.
 */
export type FileList = { 
/**
 * Folders first, then by name.
 */
entries: Array<FileEntry>, 
/**
 * True if there are more.
 */
more: boolean, };

/**
 * The path of a file or folder.
 */
export type FileQuery = { 
/**
 * From the root of the project; the project itself when absent.
 */
path?: string, };

/**
 * The content of a file.
 */
export type FileText = { 
/**
 * From the root of the project.
 */
path: string, 
/**
 * The digest of the whole file.
 */
sha256: string, 
/**
 * Its size.
 */
bytes: number, 
/**
 * Its text; none when it is not text, or too long.
 */
text?: string, };

/**
 * A finding in a package.
 */
export type Finding = { 
/**
 * Its code, such as `BM301`.
 */
code: string, 
/**
 * The name of the code.
 */
name: string, 
/**
 * `error`, `warning` or `note`.
 */
severity: string, 
/**
 * File of the package; blank when the finding is about the whole package.
 */
file: string, 
/**
 * The line, from 1.
 */
line?: number, 
/**
 * The column, from 1.
 */
column?: number, 
/**
 * Value of the finding, as a JSON Pointer into the file or its frontmatter.
 */
pointer?: string, 
/**
 * The line itself, if it is not too long.
 */
excerpt?: string, 
/**
 * Problem.
 */
message: string, 
/**
 * Advice for the author.
 */
help?: string, };

/**
 * Cause for which a reply ended.
 */
export type Finish = "stop" | "length" | "filter";

/**
 * Something in the store that cannot be read.
 */
export type Flaw = { 
/**
 * Its name.
 */
name: string, 
/**
 * Problem with it.
 */
reason: string, };

/**
 * A folder in a folder.
 */
export type FolderEntry = { 
/**
 * Its name.
 */
name: string, 
/**
 * Path of the folder.
 */
path: string, };

/**
 * Folder to make a project of, or the new folder of one.
 */
export type FolderPath = { 
/**
 * Absolute path of the folder.
 */
path: string, };

/**
 * The folder that is listed.
 */
export type FolderQuery = { 
/**
 * Absolute path of the folder; the user's home when absent.
 */
path?: string, 
/**
 * True to list hidden folders.
 */
hidden?: boolean, };

/**
 * A rule about writing below a folder, which holds beside those about whole tools.
 */
export type FolderRule = { 
/**
 * Calls that it applies to.
 */
pattern: ToolPattern, 
/**
 * Verdict for them.
 */
verdict: Verdict, 
/**
 * Source of the rule.
 */
by: Decider, };

/**
 * The folders in a folder.
 */
export type Folders = { 
/**
 * The folder.
 */
path: string, 
/**
 * The one above it.
 */
parent?: string, 
/**
 * The folders in it, by name.
 */
folders: Array<FolderEntry>, 
/**
 * Folders that users often look for: their home and what is usual in it.
 */
places: Array<FolderEntry>, 
/**
 * True if there are more.
 */
truncated: boolean, };

/**
 * Expected cost of a run.
 */
export type Forecast = { 
/**
 * Requests to the model.
 */
requests: number, 
/**
 * Tokens that are sent.
 */
inputTokens: number, 
/**
 * Tokens that are received.
 */
outputTokens: number, 
/**
 * Money, if the prices are known.
 */
cost?: number, 
/**
 * Number of earlier runs whose median this is; none for an estimate.
 */
runs?: number, 
/**
 * Most requests of those runs.
 */
mostRequests?: number, 
/**
 * Highest cost of those runs.
 */
mostCost?: number, 
/**
 * The same in words, with what the limits allow.
 */
text: string, 
/**
 * Limits that are below the forecast, in words.
 */
above?: Array<string>, };

/**
 * A source that was converted.
 */
export type ForeignSummary = { 
/**
 * `installation`, `skills`, `tree`, `workflow` or `old-installation`.
 */
kind: string, 
/**
 * Its version, if it says one.
 */
version?: string, 
/**
 * Number of its agents.
 */
agents: number, 
/**
 * Number of its workflows.
 */
workflows: number, 
/**
 * Number of their steps.
 */
steps: number, };

/**
 * Origin of a run that was forked from a node of another one.
 */
export type Fork = { 
/**
 * The other run.
 */
run: string, 
/**
 * Event by which it came to the node.
 */
event: number, 
/**
 * The workflows that wait for the one that is active, the run's own first.
 */
callers?: Array<Caller>, 
/**
 * Number of calls of workflows so far.
 */
calls?: number, 
/**
 * Messages of user and model that were still in the model's context.
 */
words?: Array<Message>, };

/**
 * The state that the new run would start with.
 */
export type ForkPreview = { 
/**
 * The node.
 */
node: string, 
/**
 * Number of the visit.
 */
number: number, 
/**
 * The nodes whose workflow waits there, the run's own first.
 */
callers: Array<string>, 
/**
 * The nodes that are done there.
 */
stepsCompleted: Array<string>, 
/**
 * The variables of the state.
 */
variables: { [key in string]: JsonValue }, 
/**
 * Number of decided branches.
 */
decisions: number, 
/**
 * The files that the state names.
 */
artifacts: Array<string>, 
/**
 * State documents that are copied.
 */
documents: number, 
/**
 * Messages between user and model that the model still has there.
 */
words: number, 
/**
 * True if the workflow is complete there.
 */
complete: boolean, };

/**
 * The node at which a run would be forked.
 */
export type ForkQuery = { 
/**
 * The event by which the run came to the node.
 */
event: number, };

/**
 * A node calls another workflow, which is active from here on.
 */
export type FrameEntered = { 
/**
 * Number of waiting workflows, including the caller.
 */
depth: number, 
/**
 * The agent of the called workflow, where its nodes name none.
 */
agentId: string, 
/**
 * State of that workflow.
 */
state: RunState, 
/**
 * The workflow that is called.
 */
workflowId: string, 
/**
 * The node of the caller that calls it.
 */
nodeId: string, 
/**
 * The number of the call in the run, from 1.
 */
call: FrameId, };

/**
 * A workflow cannot be called, or cannot return.
 */
export type FrameHeld = { 
/**
 * Reason and advice.
 */
message: string, 
/**
 * The workflow that is called.
 */
workflowId: string, 
/**
 * The node of the caller that calls it.
 */
nodeId: string, 
/**
 * The number of the call in the run, from 1.
 */
call: FrameId, };

/**
 * Number of a frame in its run, from 1. The run's own workflow has none.
 */
export type FrameId = number;

/**
 * A called workflow ended, and its caller is active again.
 */
export type FrameLeft = { 
/**
 * Reason why it could not be completed. Then the caller stays at its node, and the user is asked.
 */
failed?: string, 
/**
 * Change of the caller's state.
 */
change: StateChange, 
/**
 * The workflow that is called.
 */
workflowId: string, 
/**
 * The node of the caller that calls it.
 */
nodeId: string, 
/**
 * The number of the call in the run, from 1.
 */
call: FrameId, };

/**
 * A node is about to call another workflow, or that is about to return: what will be written.
 */
export type FramePlanned = { 
/**
 * The state documents, in the order in which they are changed.
 */
files: Array<FileIntent>, 
/**
 * Time of the plan; the guard's clock.
 */
at: string, 
/**
 * The workflow that is called.
 */
workflowId: string, 
/**
 * The node of the caller that calls it.
 */
nodeId: string, 
/**
 * The number of the call in the run, from 1.
 */
call: FrameId, };

/**
 * A link that opens the page, once.
 */
export type FreshLink = { 
/**
 * The address.
 */
url: string, };

/**
 * Permissions of a model for files.
 */
export type FsPolicy = { 
/**
 * True if there are file tools.
 */
enabled: boolean, 
/**
 * The largest read.
 */
maxReadBytes: number, 
/**
 * The largest write.
 */
maxWriteBytes: number, };

/**
 * Effect of an option of a gate.
 */
export type GateAction = "edge" | "call" | "stay" | "yolo";

/**
 * The result of a request to pause or stop.
 */
export type Halting = { 
/**
 * True if it was working. The next phase follows on the stream.
 */
wasAtWork: boolean, };

/**
 * The health of the server.
 */
export type Health = { 
/**
 * Seconds since it began.
 */
uptimeSeconds: number, 
/**
 * Runs and conversations at work.
 */
atWork: number, 
/**
 * Streams that are open.
 */
streams: number, };

/**
 * Data of a frame `hello`, with which a stream begins: the client fetches its lists again.
 */
export type Hello = { 
/**
 * The version of the server.
 */
version: string, 
/**
 * The id of the server process.
 */
server: string, };

/**
 * Lines that differ, with those around them.
 */
export type Hunk = { 
/**
 * The lines.
 */
lines: Array<HunkLine>, 
/**
 * The first line before.
 */
oldStart: number, 
/**
 * Number of lines before.
 */
oldLines: number, 
/**
 * The first line now.
 */
newStart: number, 
/**
 * Number of lines after.
 */
newLines: number, };

/**
 * A line of a hunk, without its end.
 */
export type HunkLine = { 
/**
 * Side of the comparison.
 */
side: HunkSide, 
/**
 * Text of the line.
 */
text: string, };

/**
 * The file that is compared.
 */
export type HunkQuery = { 
/**
 * The file, from the root of the project.
 */
path: string, };

/**
 * Lines of both texts, counted from 0.
 */
export type HunkRange = { 
/**
 * The first line before.
 */
oldStart: number, 
/**
 * Number of lines before.
 */
oldLines: number, 
/**
 * The first line now.
 */
newStart: number, 
/**
 * Number of lines after.
 */
newLines: number, };

/**
 * Side of the comparison.
 */
export type HunkSide = "both" | "before" | "now";

/**
 * Differences of a file.
 */
export type Hunks = { 
/**
 * The digest of the file now.
 */
now: string, 
/**
 * True if the run created the file.
 */
created: boolean, 
/**
 * True if the file is as the run left it.
 */
isCurrent: boolean, 
/**
 * The hunks, from the top.
 */
hunks: Array<Hunk>, };

/**
 * The content of a file.
 */
export type Image = { 
/**
 * Its digest.
 */
sha256: string, 
/**
 * Its text; none when it is not text, or is no longer kept anywhere.
 */
text?: string, };

/**
 * The file and the change that are read.
 */
export type ImageQuery = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * The event that announced the change; all changes of the run together when absent.
 */
seq?: number, };

/**
 * A file before and after.
 */
export type Images = { 
/**
 * Before; none when there was no file.
 */
before?: Image, 
/**
 * After; none when the file was removed.
 */
after?: Image, };

/**
 * The result of an import.
 */
export type ImportedPackage = { 
/**
 * The package; none when it was rejected.
 */
package?: Package, 
/**
 * `new`, `already-there`, `repaired` or `rejected`.
 */
outcome: string, 
/**
 * Report of its check.
 */
report: Report, };

/**
 * Part of an input that the brief shows.
 */
export type InputState = "shown" | "listed" | "missing";

/**
 * A planned change of files.
 */
export type Intent = { 
/**
 * The files, in the order in which they are changed.
 */
files: Array<FileIntent>, 
/**
 * Time of the plan; the guard's clock.
 */
time: string, 
/**
 * Answer to the model once everything is done.
 */
answer: Answer, 
/**
 * Change of the state, if its document is among the files.
 */
state?: StateChange, };

/**
 * An event and the journal it belongs to: the data of a frame `event` of the stream.
 */
export type JournalEvent = { 
/**
 * The journal.
 */
journal: JournalId, 
/**
 * The event.
 */
event: Event, };

/**
 * The journal of a run or of a conversation.
 */
export type JournalId = { 
/**
 * The owner.
 */
kind: JournalKind, 
/**
 * The id of the run or the conversation.
 */
id: string, };

/**
 * The owner of a journal.
 */
export type JournalKind = "run" | "conversation";

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * The place of a label.
 */
export type LabelBox = { 
/**
 * Its centre.
 */
x: number, 
/**
 * Its centre.
 */
y: number, 
/**
 * Its size.
 */
width: number, 
/**
 * Its size.
 */
height: number, 
/**
 * The label, wrapped.
 */
lines: Array<string>, };

/**
 * Workflow to start from a conversation.
 */
export type LaunchRun = { 
/**
 * The package: `name`, `name@version`, or the beginning of its digest.
 */
package: string, 
/**
 * The workflow: its id, or the path of its document; the first when absent.
 */
workflow?: string, 
/**
 * The agent; the first whose menu starts the workflow when absent.
 */
agent?: string, 
/**
 * Variables that are known from the start.
 */
variables?: { [key in string]: JsonValue }, 
/**
 * Words of the user for the first request.
 */
message?: string, 
/**
 * The model; unchanged when absent.
 */
model?: string, 
/**
 * Settings of the run that differ from those of the user.
 */
bounds?: Bounds, };

/**
 * The parts of a prompt.
 */
export type Layer = "system" | "directive" | "brief" | "state" | "data" | "input" | "history" | "runtime";

/**
 * A limit, and who set it.
 */
export type Limit = { 
/**
 * The limit.
 */
value: number, 
/**
 * Source of the limit.
 */
by: Decider, };

/**
 * Limits that stop a run. Each counts from the user's last input.
 */
export type Limits = { 
/**
 * Requests to the model.
 */
turns: number, 
/**
 * Seconds.
 */
seconds?: number, 
/**
 * Tokens, in and out.
 */
tokens?: number, 
/**
 * Money.
 */
cost?: number, };

/**
 * A model server that runs on this computer.
 */
export type LocalServer = { 
/**
 * The profile of the provider.
 */
profile: string, 
/**
 * Name for people.
 */
title: string, 
/**
 * Address of its endpoint.
 */
baseUrl: string, 
/**
 * Models that it offers, by the names that it gives them.
 */
models: Array<string>, 
/**
 * True if it lists its models only with a key.
 */
needsKey: boolean, };

/**
 * Model servers that run on this computer.
 */
export type LocalServers = { 
/**
 * In the order of the providers.
 */
servers: Array<LocalServer>, };

/**
 * The settings of another tool.
 */
export type McpFile = { 
/**
 * JSON with `mcpServers`.
 */
text: string, 
/**
 * True to save them; else they are only shown.
 */
save: boolean, };

/**
 * Servers of another tool's settings.
 */
export type McpImport = { 
/**
 * The servers that can be imported.
 */
servers: Array<McpImportServer>, 
/**
 * Those that cannot, and why.
 */
problems: Array<string>, };

/**
 * A server of another tool.
 */
export type McpImportServer = { 
/**
 * Name in the other tool.
 */
called: string, 
/**
 * Name in this program.
 */
name: string, 
/**
 * The command, or the address.
 */
line: string, 
/**
 * True if it replaces a configured server of this name.
 */
replaces: boolean, 
/**
 * The variables whose values are stored as secrets.
 */
secrets: Array<string>, };

/**
 * Permissions of a model for MCP servers.
 */
export type McpPolicy = { 
/**
 * True if there are tools of MCP servers.
 */
enabled: boolean, 
/**
 * The servers that may be used; all enabled ones when absent.
 */
allowedServers?: Array<string>, };

/**
 * Resource of an MCP server.
 */
export type McpResource = { 
/**
 * Its address.
 */
uri: string, 
/**
 * Name for people.
 */
name: string, };

/**
 * Configured MCP server.
 */
export type McpServerItem = { 
/**
 * Name that the user gave it.
 */
name: string, 
/**
 * Availability to runs.
 */
state: ServerState, 
/**
 * Transport.
 */
way: McpTransport, 
/**
 * The same in one line: the command, or the address.
 */
line: string, 
/**
 * Variables that it needs and that are set nowhere.
 */
unset: Array<string>, 
/**
 * Time limit until it has listed its tools, such as `1m`; 30 seconds when absent.
 */
startupTimeout?: string, 
/**
 * Time limit of a call; that of the policy when absent.
 */
callTimeout?: string, 
/**
 * The result of its last test, since the program started.
 */
last?: McpTestResult, };

/**
 * Configured MCP servers.
 */
export type McpServers = { 
/**
 * By name.
 */
servers: Array<McpServerItem>, 
/**
 * True if the policy lets runs use servers at all.
 */
policyEnabled: boolean, };

/**
 * A request to enable or disable an MCP server.
 */
export type McpSwitch = { 
/**
 * True if runs may use it.
 */
enabled: boolean, };

/**
 * The connection test of an MCP server, step by step, and what it offers.
 */
export type McpTestResult = { 
/**
 * True if it works.
 */
ok: boolean, 
/**
 * The time of the test.
 */
at: string, 
/**
 * `settings`, `start`, `handshake` and `list`.
 */
steps: Array<CheckStep>, 
/**
 * Its tools, each with what holds for it.
 */
tools: Array<McpTool>, 
/**
 * Tools that are not offered to models, and why.
 */
leftOut: Array<string>, 
/**
 * Resources that can be read.
 */
resources: Array<McpResource>, 
/**
 * The last that it logged, and wrote to its standard error.
 */
log: Array<string>, };

/**
 * A tool of an MCP server.
 */
export type McpTool = { 
/**
 * Its name at the server.
 */
name: string, 
/**
 * Description by the server.
 */
description: string, 
/**
 * Permission of the tool, with its source.
 */
rule: Surveyed, };

/**
 * The transport of an MCP server.
 */
export type McpTransport = { "kind": "stdio", 
/**
 * The program.
 */
command: string, 
/**
 * Its arguments.
 */
args: Array<string>, 
/**
 * Variables beside the few that every server gets.
 */
env: Array<McpValue>, 
/**
 * The folder it is started in; the home folder when absent.
 */
cwd?: string, } | { "kind": "http", 
/**
 * Address of the server.
 */
url: string, 
/**
 * Headers of every request.
 */
headers: Array<McpValue>, };

/**
 * Variable or header of an MCP server. A secret is written and never returned: `${NAME}` stands for it.
 */
export type McpValue = { 
/**
 * Its name.
 */
name: string, 
/**
 * Value. None if it is not shown; in a request, none keeps the current one.
 */
value?: string, 
/**
 * True if a secret is stored for it. Ignored in a request.
 */
stored?: boolean, };

/**
 * One thing that was measured.
 */
export type Measurement = { 
/**
 * Name of the measurement.
 */
name: string, 
/**
 * True if the server supports it; none when unknown.
 */
found?: boolean, 
/**
 * Result of the measurement.
 */
message: string, };

/**
 * A command that cannot be carried out.
 */
export type MenuError = { 
/**
 * Kind of the failure.
 */
code: MenuErrorCode, 
/**
 * Problem, in one sentence.
 */
message: string, 
/**
 * Advice for the user.
 */
hint: string, };

/**
 * The kinds of failure.
 */
export type MenuErrorCode = "UnknownWorkflow" | "NotSupportedClassicWorkflow" | "UnknownPromptId" | "DataLoadFailed" | "PermissionDenied" | "ValidationFailed";

/**
 * A line of a menu, as it is shown.
 */
export type MenuLine = { 
/**
 * Its number, from 1.
 */
number: number, 
/**
 * The word to type instead of the number.
 */
trigger?: string, 
/**
 * Purpose of the item.
 */
description: string, };

/**
 * One message.
 */
export type Message = { "role": "system", 
/**
 * The text.
 */
content: string, } | { "role": "user", 
/**
 * The text.
 */
content: string, } | { "role": "assistant", 
/**
 * Text; none when it only called tools.
 */
content: string | null, 
/**
 * The tools it called.
 */
tool_calls?: Array<ToolCall>, 
/**
 * Model that wrote it, where that matters: `profile/model`. Data that one provider expects back, another
 * refuses.
 */
from?: string, } & ({ [key in string]: number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null }) | { "role": "tool", 
/**
 * The call it answers.
 */
tool_call_id: string, 
/**
 * The answer, a JSON object as text.
 */
content: Payload, };

/**
 * Treatment of a missing output or variable that a node declares, when it is left or, at the end, completed.
 */
export type MissingRule = "enforce" | "warn" | "off";

/**
 * Confirmation of moves.
 */
export type Mode = "autopilot" | "guided";

/**
 * The run's model stands in for that of a tier: from here on, because the tier's model failed for good, or because none
 * is set.
 */
export type ModelFellBack = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Tier that the step advises.
 */
tier: "fast" | "strong" | "review", 
/**
 * Name of the model that failed; none if no model is set for the tier.
 */
model?: string, 
/**
 * Error message.
 */
message?: string, };

/**
 * The model gets the instruction that the user chose from the menu.
 */
export type ModelInstructed = { 
/**
 * Short description of the choice: a script, a prompt, an instruction.
 */
subject: string, 
/**
 * Texts for the model, one message each.
 */
texts: Array<Payload>, };

/**
 * Configured model. Its key is never returned.
 */
export type ModelItem = { 
/**
 * Name that the user gave it.
 */
name: string, 
/**
 * Name at the provider.
 */
model: string, 
/**
 * The profile of the provider.
 */
profile?: string, 
/**
 * Address of its endpoint.
 */
baseUrl?: string, 
/**
 * Location of its key: a variable, `credentials.toml`, `keyring` or `none`.
 */
key?: string, 
/**
 * The size of its window, in tokens.
 */
window?: number, 
/**
 * The price of a million tokens.
 */
price?: Price, 
/**
 * Problem with it.
 */
problem?: string, };

/**
 * The runtime reminds the model, because its reply brought nothing forward. The text is in the next `turn.started`.
 */
export type ModelNudged = { 
/**
 * The turn whose reply it is about.
 */
turn: number, 
/**
 * Kind of the reminder.
 */
kind: NudgeKind, };

/**
 * A request was too long for the model's window. It is asked again with less, or the run stops.
 */
export type ModelOverflowed = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Message of the provider.
 */
message: string, };

/**
 * A request failed and is retried. The deltas of its reply are void.
 */
export type ModelRetried = { 
/**
 * The turn.
 */
turn: number, 
/**
 * The number of attempts so far, from 1.
 */
attempt: number, 
/**
 * The wait before the next attempt, in milliseconds.
 */
waitMs: number, 
/**
 * Error message.
 */
message: string, };

/**
 * A request was stopped before its reply was complete. The partial text is kept for the user; the model is asked
 * again.
 */
export type ModelStopped = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Cause of the stop.
 */
by: StoppedBy, 
/**
 * Text received so far.
 */
partial?: string, };

/**
 * The connection test of a model, step by step.
 */
export type ModelTestResult = { 
/**
 * True if it works.
 */
ok: boolean, 
/**
 * The steps, in their order.
 */
steps: Array<CheckStep>, };

/**
 * Configured models.
 */
export type Models = { 
/**
 * By name.
 */
models: Array<ModelItem>, 
/**
 * Default model of runs.
 */
default?: string, 
/**
 * The providers that are known, for new models.
 */
profiles: Array<ProfileItem>, };

/**
 * A move along an edge.
 */
export type Moved = { 
/**
 * The node that was left.
 */
from: string, 
/**
 * The node that was entered.
 */
to: string, 
/**
 * The edge's label.
 */
label: string, };

/**
 * Conversation to start: with an agent, else as plain chat.
 */
export type NewConversation = { 
/**
 * The id of the project.
 */
project: string, 
/**
 * Package of the agents and workflows.
 */
package?: string, 
/**
 * The active agent.
 */
agent?: string, 
/**
 * The model; that of the settings when absent.
 */
model?: string, 
/**
 * Settings of the run that differ from those of the user.
 */
bounds?: Bounds, };

/**
 * A run that is to start from a node of another one.
 */
export type NewFork = { 
/**
 * The event by which the other run came to the node.
 */
event: number, 
/**
 * True to start at once; else it waits.
 */
start?: boolean, 
/**
 * The model, if it starts at once; that of the settings when absent.
 */
model?: string, };

/**
 * Package to create.
 */
export type NewPackage = { 
/**
 * Absolute path of the folder that is created for it.
 */
path: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Purpose of the package.
 */
description?: string, 
/**
 * Author of the package.
 */
author?: string, 
/**
 * Shape of its workflow.
 */
template?: Template, };

/**
 * Run to start.
 */
export type NewRun = { 
/**
 * The id of the project.
 */
project: string, 
/**
 * The package: `name`, `name@version`, or the beginning of its digest.
 */
package: string, 
/**
 * The workflow: its id, or the path of its document; the first when absent.
 */
workflow?: string, 
/**
 * The agent; the first whose menu starts the workflow when absent.
 */
agent?: string, 
/**
 * Variables that are known from the start.
 */
variables?: { [key in string]: JsonValue }, 
/**
 * Words of the user for the first request.
 */
message?: string, 
/**
 * The model; that of the settings when absent.
 */
model?: string, 
/**
 * Settings of the run that differ from those of the user.
 */
bounds?: Bounds, };

/**
 * A node is entered. A replay takes the files from here, and never looks at the disk.
 */
export type NodeEntered = { 
/**
 * The node.
 */
nodeId: string, 
/**
 * Number of the visit of this node, from 1.
 */
visit: number, 
/**
 * Number of the step in the workflow, from 1.
 */
step: number, 
/**
 * Number of steps on the shortest way.
 */
of: number, 
/**
 * Files that the step works from.
 */
inputs?: Array<SurveyedInput>, 
/**
 * Files that the step has to write.
 */
outputs?: Array<SurveyedOutput>, 
/**
 * True if the files were looked at again in the same visit, because the user spoke: `inputs` has those that
 * changed since.
 */
again?: boolean, };

/**
 * Nothing to say: `{}`.
 */
export type Nothing = Record<string, never>;

/**
 * Kind of a reminder to the model.
 */
export type NudgeKind = "empty" | "no-call" | "finish" | "go-on" | "cut" | "call" | "draft";

/**
 * The origin of a fork.
 */
export type Origin = { 
/**
 * The other run.
 */
run: string, 
/**
 * Its event by which it came to the node.
 */
event: number, 
/**
 * The node.
 */
node: string, };

/**
 * Files that count as outputs of a node.
 */
export type OutputRule = "changed" | "exist";

/**
 * Folder to pack into one file.
 */
export type PackOrder = { 
/**
 * Absolute path of the folder with `bmad.json`.
 */
path: string, 
/**
 * The file to write; beside the folder when absent.
 */
output?: string, 
/**
 * True to replace an existing file, if `output` names one.
 */
replace?: boolean, };

/**
 * A package in the store.
 */
export type Package = { 
/**
 * As a person writes it: `name@version`.
 */
reference: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Its version.
 */
version: string, 
/**
 * Digest of its content, which identifies it. It is accepted wherever a package is named.
 */
sha256: string, 
/**
 * Time of the import.
 */
imported: string, 
/**
 * Source of the import.
 */
origin: string, 
/**
 * Number of files.
 */
files: number, 
/**
 * Their size together.
 */
bytes: number, };

/**
 * The content of a package.
 */
export type PackageContent = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its version.
 */
version: string, 
/**
 * Purpose of the package.
 */
description?: string, 
/**
 * Author of the package.
 */
author?: string, 
/**
 * True if it declares that it needs the network.
 */
requiresNetwork: boolean, 
/**
 * Its workflows; the first is the default.
 */
workflows: Array<Workflow>, 
/**
 * Its agents.
 */
agents: Array<Agent>, };

/**
 * A file or folder of this computer.
 */
export type PackagePath = { 
/**
 * Absolute path.
 */
path: string, };

/**
 * The packages of the store.
 */
export type Packages = { 
/**
 * By name, then by version.
 */
packages: Array<Package>, 
/**
 * Folders of packages that cannot be used.
 */
damaged: Array<Flaw>, };

/**
 * A package that was packed.
 */
export type Packed = { 
/**
 * The file.
 */
path: string, 
/**
 * The digest of the package.
 */
sha256: string, 
/**
 * The size of the file.
 */
bytes: number, };

/**
 * A branch that was taken.
 */
export type PastDecision = { 
/**
 * The node that was left.
 */
from: string, 
/**
 * The node that was entered.
 */
to: string, 
/**
 * The edge's label.
 */
label: string, 
/**
 * Reason of the choice.
 */
reason?: string, };

/**
 * A text, or where it is kept. Equal means: the same place and the same bytes.
 */
export type Payload = string | { blob: string, bytes: number };

/**
 * The phases of a run.
 */
export type Phase = "Running" | "WaitingUser" | "Paused" | "Completed" | "Failed";

/**
 * The run entered a phase.
 */
export type PhaseChanged = { 
/**
 * The phase.
 */
phase: Phase, 
/**
 * Reason of the phase.
 */
reason?: Reason, 
/**
 * Reason as text.
 */
message?: string, };

/**
 * A graph, laid out. Lengths are pixels.
 */
export type Picture = { 
/**
 * Title of the workflow.
 */
title: string, 
/**
 * The node that a run starts at.
 */
entry: string | null, 
/**
 * Its size.
 */
width: number, 
/**
 * Its size.
 */
height: number, 
/**
 * The mark in front of the entry.
 */
start: PictureStart | null, 
/**
 * The nodes.
 */
nodes: Array<PictureNode>, 
/**
 * The edges.
 */
edges: Array<PictureEdge>, 
/**
 * Number of edges that are not shown, because there are too many for a picture.
 */
leftOut: number, };

/**
 * An edge of a picture.
 */
export type PictureEdge = { 
/**
 * The node it leaves.
 */
from: string, 
/**
 * The node it enters.
 */
to: string, 
/**
 * The name of the move.
 */
label: string, 
/**
 * True if it is taken when no other applies.
 */
isDefault: boolean, 
/**
 * Condition of the move.
 */
condition: string | null, 
/**
 * Key of the option of the gate that takes it.
 */
gate?: string, 
/**
 * `forward`, `back` (a loop) or `own` (from a node to itself).
 */
flow: string, 
/**
 * The line, as SVG writes it.
 */
path: string, 
/**
 * The corners of the line.
 */
points: Array<Point>, 
/**
 * End of the line.
 */
tip: Point, 
/**
 * Position of the label.
 */
labelBox: LabelBox, };

/**
 * A node of a picture.
 */
export type PictureNode = { 
/**
 * Its id.
 */
id: string, 
/**
 * `step`, `decision`, `merge`, `end` or `subworkflow`.
 */
kind: string, 
/**
 * Its title.
 */
title: string | null, 
/**
 * The agent that works on it.
 */
agent: string | null, 
/**
 * The workflow that it calls.
 */
calls: string | null, 
/**
 * Keys of the options of its gate.
 */
keys?: Array<string>, 
/**
 * The nodes that it resumes at, to which no edges are drawn.
 */
resumesAt?: Array<string>, 
/**
 * True if it completes itself.
 */
auto?: boolean, 
/**
 * The title, wrapped.
 */
lines: Array<string>, 
/**
 * The left edge.
 */
x: number, 
/**
 * The upper edge.
 */
y: number, 
/**
 * Its size.
 */
width: number, 
/**
 * Its size.
 */
height: number, };

/**
 * The mark in front of the entry.
 */
export type PictureStart = { 
/**
 * Its centre.
 */
x: number, 
/**
 * Its centre.
 */
y: number, 
/**
 * The line to the entry, as SVG writes it.
 */
path: string, 
/**
 * End of the line.
 */
tip: Point, };

/**
 * A point of a picture.
 */
export type Point = { 
/**
 * From the left.
 */
x: number, 
/**
 * From the top.
 */
y: number, };

/**
 * Permissions of a model for tools.
 */
export type Policy = { 
/**
 * File tools.
 */
fs: FsPolicy, 
/**
 * Tools of MCP servers.
 */
mcp: McpPolicy, 
/**
 * Seconds that one call may take.
 */
callSeconds: number, 
/**
 * True if the state of a run changes only through its own tools.
 */
strict?: boolean, 
/**
 * Rules that allow, ask or deny; one set for each source.
 */
rules?: Array<RuleSet>, };

/**
 * The price of a million tokens.
 */
export type Price = { 
/**
 * Those that are sent.
 */
input: number, 
/**
 * Tokens that are received.
 */
output: number, 
/**
 * Cached input; the price of other input when absent.
 */
cached?: number, };

/**
 * The result of a probe.
 */
export type ProbeResult = { 
/**
 * One line each.
 */
findings: Array<Measurement>, 
/**
 * Differences of the server from its profile.
 */
changes: JsonValue, 
/**
 * True if they were stored.
 */
remembered: boolean, };

/**
 * A provider that is known.
 */
export type ProfileItem = { 
/**
 * Its name.
 */
name: string, 
/**
 * Name for people.
 */
title: string, 
/**
 * Address of its endpoint, if it has a fixed one.
 */
baseUrl?: string, 
/**
 * The environment variable in which its users keep the key.
 */
keyVariable?: string, };

/**
 * The running program.
 */
export type Program = { 
/**
 * Its version.
 */
version: string, 
/**
 * The system it runs on, such as `linux`.
 */
platform: string, 
/**
 * The folder of the store.
 */
home: string, 
/**
 * Name of the user in steps; may be blank.
 */
userName: string, 
/**
 * Default model; none when none is configured.
 */
model?: string, 
/**
 * Reason why that model cannot be used.
 */
modelProblem?: string, 
/**
 * True if the web app is built in.
 */
hasWeb: boolean, 
/**
 * Maximum size of an uploaded package, in bytes.
 */
maxUpload: number, };

/**
 * A folder of the user that is known to the store.
 */
export type Project = { 
/**
 * Its id, which it keeps when the folder moves.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Path of the folder.
 */
path: string, 
/**
 * True if the folder exists.
 */
exists: boolean, 
/**
 * The package that was used last, as `name@version`.
 */
lastPackage?: string, 
/**
 * True if that package is in the store.
 */
hasPackage: boolean, 
/**
 * Time of the first use.
 */
created: string, 
/**
 * Number of runs.
 */
runs: number, 
/**
 * Number of conversations.
 */
conversations: number, 
/**
 * Time of the last event.
 */
used: string, 
/**
 * Number of its newest runs that wait for the user.
 */
waiting: number, };

/**
 * New name of a project.
 */
export type ProjectName = { 
/**
 * The name.
 */
name: string, };

/**
 * The foreign content in the folder of a project, and the package that was made of it.
 */
export type ProjectSource = { 
/**
 * True if there is content that can be imported from the folder.
 */
found: boolean, 
/**
 * True if it is an installation, so that the folder is what its workflows work on.
 */
isInstallation: boolean, 
/**
 * The package that was made of it last, with its workflows and agents.
 */
package?: CatalogPackage, 
/**
 * True if that package was made of the content as it is now; if not, an import makes a new one.
 */
isCurrent: boolean, };

/**
 * The projects of the store.
 */
export type Projects = { 
/**
 * Those that were used last first.
 */
projects: Array<Project>, 
/**
 * Folders of projects that cannot be read.
 */
damaged: Array<Flaw>, };

/**
 * Possible treatment of a file.
 */
export type Prospect = "ready" | "done" | "conflict" | "lost";

/**
 * Question to the user.
 */
export type Question = { 
/**
 * Text of the question.
 */
question: string, 
/**
 * Expected kind of answer.
 */
kind: QuestionKind, 
/**
 * Available choices.
 */
options?: Array<QuestionOption>, 
/**
 * True if several may be chosen.
 */
multi?: boolean, 
/**
 * The JSON Schema of a form.
 */
schema?: JsonValue, 
/**
 * The call that the user is to allow.
 */
approval?: Approval, 
/**
 * The drafts that a gate shows.
 */
show?: Array<ShownDraft>, };

/**
 * Kinds of answers.
 */
export type QuestionKind = "text" | "choice" | "confirm" | "form" | "approval" | "gate";

/**
 * Something that can be chosen.
 */
export type QuestionOption = { 
/**
 * Text for the model.
 */
value: string, 
/**
 * Text for the user; the value when absent.
 */
label?: string, 
/**
 * More about it.
 */
description?: string, 
/**
 * Effect of an option of a gate.
 */
does?: GateAction, };

/**
 * Reaction to a message of the user.
 */
export type Reaction = { "kind": "work" } | { "kind": "started", 
/**
 * The run.
 */
runId: string, } | { "kind": "resumed", 
/**
 * The run.
 */
runId: string, } | { "kind": "menu", 
/**
 * Its lines.
 */
lines: Array<MenuLine>, } | { "kind": "agents", 
/**
 * Their ids.
 */
agents: Array<string>, } | { "kind": "clarify", 
/**
 * Reason why it is unclear.
 */
reason: string, 
/**
 * Available choices.
 */
choices: Array<Choice>, } | { "kind": "refused", 
/**
 * Reason of the failure.
 */
message: string, } | { "kind": "met", 
/**
 * The agent.
 */
agentId: string, } | { "kind": "dismissed" } | { "kind": "left", 
/**
 * The run.
 */
runId: string, } | { "kind": "no-run" } | { "kind": "help" } | { "kind": "status" } | { "kind": "nothing" };

/**
 * Reason why a run is idle.
 */
export type Reason = "stop-point" | "question" | "limit-turns" | "limit-time" | "limit-tokens" | "limit-cost" | "limit-window" | "limit-node" | "call" | "loop" | "stalled" | "empty-reply" | "paused" | "stopped" | "model" | "disk" | "internal";

/**
 * Reason why a call was not carried out.
 */
export type RefusalCode = "ENOENT" | "E_SANDBOX_VIOLATION" | "E_READ_LIMIT" | "E_WRITE_LIMIT" | "E_INVALID_ARGS" | "E_INVALID_FRONTMATTER" | "E_SCHEMA_VALIDATION" | "E_INVALID_TRANSITION" | "E_PRECONDITION_FAILED" | "E_TOOL_NOT_AVAILABLE" | "E_TIMEOUT" | "E_STATE_CHANGE_REQUIRES_CONFIRMATION" | "E_UNKNOWN_OUTCOME" | "E_NOT_EXECUTED" | "E_TOOL_FAILED" | "E_INTERNAL";

/**
 * Options for removing a package.
 */
export type RemoveQuery = { 
/**
 * True to remove it. Without it the answer says what needs the package, and nothing is removed.
 */
confirm?: boolean, };

/**
 * A conversation that was removed.
 */
export type RemovedConversation = { 
/**
 * Runs that were removed with it.
 */
runs: Array<string>, };

/**
 * The result of removing a package.
 */
export type RemovedPackage = { 
/**
 * True if it was removed: the request had `confirm`.
 */
removed: boolean, 
/**
 * Number of conversations, and of incomplete runs, that cannot be resumed without it.
 */
unfinished: number, };

/**
 * A call that the model wrote in another form than it is recorded and sent back.
 */
export type RepairedCall = { 
/**
 * Index of the call, from 0.
 */
index: number, 
/**
 * The tool's name as the model wrote it, if that was another.
 */
name?: string, 
/**
 * The arguments as the model wrote them, if they were repaired.
 */
arguments?: Payload, 
/**
 * Kinds of repairs of the arguments, such as `trailing-comma`.
 */
repairs?: Array<string>, };

/**
 * A draft in the text of a reply.
 */
export type ReplyDraft = { 
/**
 * The name of the draft.
 */
name: string, 
/**
 * The offset of its first byte in the text of the reply.
 */
start: number, 
/**
 * The offset behind its last byte.
 */
end: number, };

/**
 * The result of a check of a package.
 */
export type Report = { 
/**
 * True if it can be imported and run.
 */
valid: boolean, 
/**
 * Number of errors.
 */
errors: number, 
/**
 * Number of warnings.
 */
warnings: number, 
/**
 * Number of notes, which never fail a check.
 */
notes: number, 
/**
 * Findings; of very many, the first.
 */
findings: Array<Finding>, 
/**
 * Content of the package, if it is valid.
 */
content?: PackageContent, 
/**
 * The source that the package was made of, if an author did not write it.
 */
source?: ForeignSummary, };

/**
 * A request to the model, as it was sent.
 */
export type RequestDetail = { 
/**
 * Its messages.
 */
messages: Array<RequestMessage>, 
/**
 * The tools that were offered, by name.
 */
tools: Array<string>, 
/**
 * Its number in the run, from 1.
 */
turn: number, 
/**
 * The node.
 */
nodeId?: string, 
/**
 * Number of messages.
 */
count: number, 
/**
 * An estimate of its tokens.
 */
tokens: number, 
/**
 * True if it equals the sent request byte for byte.
 */
exact: boolean, };

/**
 * A request to the model, without its messages.
 */
export type RequestItem = { 
/**
 * Its number in the run, from 1.
 */
turn: number, 
/**
 * The node.
 */
nodeId?: string, 
/**
 * Number of messages.
 */
count: number, 
/**
 * An estimate of its tokens.
 */
tokens: number, 
/**
 * True if it equals the sent request byte for byte.
 */
exact: boolean, };

/**
 * A message of a request.
 */
export type RequestMessage = { 
/**
 * Part of the prompt.
 */
layer: Layer, 
/**
 * An estimate of its tokens.
 */
tokens: number, 
/**
 * The message.
 */
message: Message, };

/**
 * Contents of a request: sizes, digest, new messages.
 */
export type RequestSummary = { 
/**
 * Number of messages.
 */
messages: number, 
/**
 * Their size.
 */
bytes: number, 
/**
 * A digest over all of them, and over the tools.
 */
sha256: string, 
/**
 * The messages that the runtime wrote for this request; the others are in earlier events.
 */
added?: Array<Message>, };

/**
 * The requests of a run.
 */
export type Requests = { 
/**
 * In their order.
 */
requests: Array<RequestItem>, };

/**
 * A request to resume.
 */
export type ResumeRequest = { 
/**
 * The model; unchanged when absent.
 */
model?: string, 
/**
 * Changes of the settings from here on.
 */
bounds?: Bounds, };

/**
 * File to restore.
 */
export type Revert = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * As before this change; as before the run when absent.
 */
seq?: number, 
/**
 * Digest that the file must have now; absent when it must not exist.
 */
ifMatchSha256?: string, };

/**
 * Hunk to revert.
 */
export type RevertHunk = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * The digest that the file must have now.
 */
ifMatchSha256: string, 
/**
 * Position of the hunk in it.
 */
hunk: HunkRange, };

/**
 * The effect of reverting a step.
 */
export type RevertPlan = { 
/**
 * The files, by path.
 */
files: Array<RevertPlanFile>, };

/**
 * A file that a revert would change.
 */
export type RevertPlanFile = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * True if it is removed, because it did not exist before.
 */
removed: boolean, 
/**
 * Current digest of the file; none when it does not exist.
 */
now?: string, 
/**
 * Possible treatment.
 */
prospect: Prospect, 
/**
 * The nodes that wrote it later. Their changes are reverted with it.
 */
later: Array<string>, };

/**
 * Step to revert.
 */
export type RevertQuery = { 
/**
 * The event by which the run came to the node.
 */
visit: number, 
/**
 * True to revert all later steps, too.
 */
onward?: boolean, };

/**
 * The result of a revert.
 */
export type RevertResult = { 
/**
 * Every file of the request.
 */
files: Array<RevertedFile>, };

/**
 * Files to revert.
 */
export type RevertStep = { 
/**
 * The event by which the run came to the node.
 */
visit: number, 
/**
 * True to revert all later steps, too.
 */
onward?: boolean, 
/**
 * The files that the user has confirmed.
 */
files: Array<ConfirmedFile>, };

/**
 * The result for one file.
 */
export type RevertedFile = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * Reason why it was not reverted; none when it was.
 */
left?: string, };

/**
 * Data of a frame `rewind`: events after this one never became part of the journal. The client drops them, with every
 * incomplete reply.
 */
export type Rewind = { 
/**
 * The journal.
 */
journal: JournalId, 
/**
 * The last event that stays; 0 when none does.
 */
seq: number, };

/**
 * A rule, and where it comes from.
 */
export type Rule = { 
/**
 * Calls that it applies to.
 */
pattern: ToolPattern, 
/**
 * Source of the rule.
 */
from: Source, };

/**
 * The rules of one place.
 */
export type RuleSet = { 
/**
 * The place.
 */
from: Source, 
/**
 * Calls that are allowed, as exceptions from the other two.
 */
allow?: Array<ToolPattern>, 
/**
 * Calls that need the user's approval.
 */
ask?: Array<ToolPattern>, 
/**
 * Calls that are denied.
 */
deny?: Array<ToolPattern>, };

/**
 * Everything about one run but its events.
 */
export type RunDetail = { 
/**
 * The digest of its package, which `/api/packages/{reference}` takes, too.
 */
packageSha256?: string, 
/**
 * The state of the active workflow.
 */
state?: RunState, 
/**
 * The run that it was forked from, and its node.
 */
forkedFrom?: Origin, 
/**
 * The nodes in the order in which they were entered.
 */
path: Array<Visit>, 
/**
 * The question that waits for its answer.
 */
question?: Question, 
/**
 * Replies of the model.
 */
turns: number, 
/**
 * Usage of all turns.
 */
usage: Usage, 
/**
 * Graph of its workflow, laid out; none when its package was removed.
 */
graph?: Picture, 
/**
 * Reason why it cannot be resumed, and advice.
 */
blocked?: string, 
/**
 * Its id.
 */
id: string, 
/**
 * The id of its project.
 */
project: string, 
/**
 * The package, as `name@version`.
 */
package: string, 
/**
 * The workflow.
 */
workflow: string, 
/**
 * The agent.
 */
agentId: string, 
/**
 * Title that the user gave it, else what its user said first, else the name of the first file that it made.
 */
title?: string, 
/**
 * The conversation that it was started from.
 */
conversation?: string, 
/**
 * The run that it was forked from.
 */
forkOf?: string, 
/**
 * Time of creation.
 */
created: string, 
/**
 * Time of the last event.
 */
updated?: string, 
/**
 * Its status.
 */
status: Status, 
/**
 * Reason why it waits.
 */
reason?: Reason, 
/**
 * The same as text.
 */
message?: string, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * The text of that question, in one line.
 */
asked?: string, 
/**
 * Current node.
 */
currentNode?: string, 
/**
 * Number of completed nodes.
 */
stepsCompleted: number, 
/**
 * Cost so far; unknown while it is working, and after a crash.
 */
spent?: Spent, 
/**
 * True if it is working in this server.
 */
atWork: boolean, 
/**
 * Other process that is using it.
 */
heldBy?: string, 
/**
 * Problems of the run.
 */
troubles?: Array<string>, };

/**
 * The model, the disk or a tool server failed; the run can be resumed.
 */
export type RunFailed = { 
/**
 * Error message.
 */
message: string, 
/**
 * Text of a reply that was received before the failure.
 */
partial?: string, };

/**
 * The process leaves the run, which is idle or complete.
 */
export type RunFinished = { 
/**
 * The phase it is left in.
 */
phase: Phase, 
/**
 * Reason of the phase.
 */
reason?: Reason, 
/**
 * Created and changed files, from the root of the project.
 */
artifacts: Array<string>, 
/**
 * Requests to the model, over the whole run.
 */
turns: number, 
/**
 * Tokens, over the whole run.
 */
usage: Usage, };

/**
 * Expected cost of a run.
 */
export type RunForecast = { 
/**
 * The forecast; absent for a model that answers from a file, or that is not known.
 */
forecast?: Forecast, };

/**
 * An entry of a list of runs.
 */
export type RunItem = { 
/**
 * Its id.
 */
id: string, 
/**
 * The id of its project.
 */
project: string, 
/**
 * The package, as `name@version`.
 */
package: string, 
/**
 * The workflow.
 */
workflow: string, 
/**
 * The agent.
 */
agentId: string, 
/**
 * Title that the user gave it, else what its user said first, else the name of the first file that it made.
 */
title?: string, 
/**
 * The conversation that it was started from.
 */
conversation?: string, 
/**
 * The run that it was forked from.
 */
forkOf?: string, 
/**
 * Time of creation.
 */
created: string, 
/**
 * Time of the last event.
 */
updated?: string, 
/**
 * Its status.
 */
status: Status, 
/**
 * Reason why it waits.
 */
reason?: Reason, 
/**
 * The same as text.
 */
message?: string, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * The text of that question, in one line.
 */
asked?: string, 
/**
 * Current node.
 */
currentNode?: string, 
/**
 * Number of completed nodes.
 */
stepsCompleted: number, 
/**
 * Cost so far; unknown while it is working, and after a crash.
 */
spent?: Spent, 
/**
 * True if it is working in this server.
 */
atWork: boolean, 
/**
 * Other process that is using it.
 */
heldBy?: string, 
/**
 * Problems of the run.
 */
troubles?: Array<string>, };

/**
 * A list of runs.
 */
export type RunList = { 
/**
 * The newest first.
 */
runs: Array<RunItem>, 
/**
 * Number of runs, including those that are not listed. Without a status or a conversation in the filter it counts
 * folders, also those that cannot be read.
 */
total: number, 
/**
 * Folders of runs that cannot be read, as far as they were looked at.
 */
damaged: Array<Flaw>, };

/**
 * A filter of runs.
 */
export type RunQuery = { 
/**
 * Those of this project.
 */
project?: string, 
/**
 * Those that are like this.
 */
status?: Status, 
/**
 * Those that were started from this conversation.
 */
conversation?: string, 
/**
 * Maximum number, the newest first; 200 when absent.
 */
limit?: number, };

/**
 * Another process resumes the run.
 */
export type RunResumed = { 
/**
 * Number of this process of the run, from 1; each later one has a higher number.
 */
epoch: number, 
/**
 * True if the events before are not replayed, because they are damaged or do not fit.
 */
fresh?: boolean, 
/**
 * State of the run, if it differs from the journal.
 */
state?: RunState, 
/**
 * The workflows that wait for the one that is active there, the first one first.
 */
callers?: Array<Caller>, 
/**
 * Number of calls of workflows so far, as far as known.
 */
calls?: number, 
/**
 * Settings from here on, if they changed.
 */
settings?: RunSettings, 
/**
 * Problems of the journal or the state.
 */
notes?: Array<string>, 
/**
 * Version of the contract with the model from here on, if the events before are not replayed.
 */
promptVersion?: number, 
/**
 * Words of the user since the last move, if the events before are not replayed.
 */
words?: Array<Message>, 
/**
 * Artifacts that the run wrote since the last move, if the events before are not replayed.
 */
created?: Array<string>, };

/**
 * The settings of one run.
 */
export type RunSettings = { 
/**
 * Confirmation of moves.
 */
mode: Mode, 
/**
 * Limits that stop it.
 */
limits: Limits, 
/**
 * Treatment of a missing output or variable that a node declares.
 */
missing: MissingRule, 
/**
 * Files that count as outputs of a node.
 */
outputs: OutputRule, 
/**
 * The system's tool policy; agents can only tighten it.
 */
policy: Policy, 
/**
 * Maximum size of a step's text in the node brief.
 */
inlineStepBytes: number, 
/**
 * Maximum size of an input that the node brief shows whole.
 */
inlineInputBytes: number, 
/**
 * Maximum size of all inputs that the node brief shows.
 */
inlineInputsBytes: number, 
/**
 * Manner in which a model is told to change the state.
 */
stateTools: StateTools, 
/**
 * Name of the requested model; none for the default one.
 */
model?: string, 
/**
 * The size of the model's window, in tokens.
 */
windowTokens: number, 
/**
 * Models for the tiers that steps advise.
 */
tiers?: Tiers, };

/**
 * A run begins.
 */
export type RunStarted = { 
/**
 * The package, as `name@version`.
 */
package: string, 
/**
 * Its digest.
 */
packageSha256: string, 
/**
 * The workflow: its id, or the path of its document.
 */
workflow: string, 
/**
 * The run's agent.
 */
agentId: string, 
/**
 * The project's name.
 */
project: string, 
/**
 * State at the start.
 */
state: RunState, 
/**
 * Settings of the run.
 */
settings: RunSettings, 
/**
 * File that was passed at the start, in the form that the model reads.
 */
data?: Payload, 
/**
 * Run that it was forked from, and the position there.
 */
forkedFrom?: Fork, 
/**
 * Last messages of the talk that it was started from.
 */
earlier?: Array<Message>, 
/**
 * Expected cost, as it was told before the first request; none for a model that answers from a file.
 */
forecast?: Forecast, 
/**
 * Half-done document that the user is asked about first.
 */
adoption?: Adoption, 
/**
 * Mistakes in the configuration of the project, and where the run continues if it adopts a document.
 */
notes?: Array<string>, };

/**
 * Contents of a state document that the runtime acts on.
 */
export type RunState = { 
/**
 * The node the run is at.
 */
currentNodeId: string, 
/**
 * The nodes that are done, in order.
 */
stepsCompleted: Array<string>, 
/**
 * Values for conditions and later steps.
 */
variables: { [key in string]: JsonValue }, 
/**
 * Number of decided branches.
 */
decisions: number, 
/**
 * The last decisions, at most ten, the newest last.
 */
lastDecisions?: Array<PastDecision>, 
/**
 * Created files, from the root of the project.
 */
artifacts: Array<string>, 
/**
 * External documents, such as the artifacts of a calling workflow.
 */
inputDocuments?: Array<string>, 
/**
 * True if the workflow is complete.
 */
complete: boolean, 
/**
 * Reason why it cannot be completed, if its status says so. It matters for a called workflow.
 */
failed?: string, };

/**
 * The data of a frame `notice`: how a run or a conversation is now, for lists.
 */
export type RunStatus = { 
/**
 * Conversation or run.
 */
journal: JournalId, 
/**
 * Its phase; none when it was removed.
 */
phase?: Phase, 
/**
 * Reason why it is idle.
 */
reason?: Reason, 
/**
 * Reason as text.
 */
message?: string, 
/**
 * Kind of the open question.
 */
asks?: QuestionKind, 
/**
 * Current node.
 */
currentNode?: string, 
/**
 * Number of completed nodes, if known.
 */
stepsCompleted?: number, 
/**
 * Requests to the model, where that is known.
 */
turns?: number, 
/**
 * Time of the status.
 */
time: string, 
/**
 * True if a process is working on it.
 */
atWork: boolean, 
/**
 * True if it was removed.
 */
removed: boolean, };

/**
 * A project and a package to try, with a model that answers from a file: no key, no network.
 */
export type Sample = { 
/**
 * The created project.
 */
project: Project, 
/**
 * The package, as `name@version`.
 */
package: string, 
/**
 * The model that a run is started with.
 */
model: string, 
/**
 * Answer that the model understands.
 */
answer: string, };

/**
 * Folder for the sample.
 */
export type SampleFolder = { 
/**
 * Absolute path of a folder that is new or empty; a new one in the user's home when absent.
 */
path?: string, };

/**
 * A draft that was saved in a file of the project.
 */
export type SavedDraft = { 
/**
 * The name of the draft.
 */
name: string, 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * The digest of the text that was saved.
 */
sha256: string, 
/**
 * Its size.
 */
bytes: number, };

/**
 * A tool server wrote a line into its log.
 */
export type ServerLogged = { 
/**
 * The server.
 */
server: string, 
/**
 * Severity in the server's terms; `stderr` for its standard error.
 */
level: string, 
/**
 * Text of the line, cleaned and capped.
 */
text: string, };

/**
 * Availability of a server to runs.
 */
export type ServerState = "enabled" | "kept-out" | "disabled";

/**
 * MCP server to add, or its new settings.
 */
export type SetMcpServer = { 
/**
 * Transport.
 */
way: McpTransport, 
/**
 * True if runs may use it; when absent, unchanged, and false for a new one.
 */
enabled?: boolean, 
/**
 * Time limit until it has listed its tools, such as `1m`.
 */
startupTimeout?: string, 
/**
 * Time for one call.
 */
callTimeout?: string, };

/**
 * Settings of a model. Those that are absent stay unchanged.
 */
export type SetModel = { 
/**
 * Name at the provider.
 */
model?: string, 
/**
 * The profile of the provider.
 */
profile?: string, 
/**
 * Address of its endpoint.
 */
baseUrl?: string, 
/**
 * Its key, which is stored and never returned.
 */
key?: string, 
/**
 * The environment variable that its key is in.
 */
keyVariable?: string, 
/**
 * True if it needs no key.
 */
noKey?: boolean, 
/**
 * The size of its window, in tokens.
 */
window?: number, 
/**
 * The longest reply, in tokens.
 */
maxOutput?: number, 
/**
 * Sampling temperature.
 */
temperature?: number, 
/**
 * The price of a million tokens.
 */
price?: Price, 
/**
 * True to make it the default model of runs.
 */
useIt?: boolean, };

/**
 * Setting to change.
 */
export type SetSetting = { 
/**
 * Its name, such as `run.max-turns`.
 */
key: string, 
/**
 * Its new value; as without the user when absent.
 */
value?: JsonValue, };

/**
 * A setting.
 */
export type Setting = { 
/**
 * Its name, such as `run.max-turns`.
 */
key: string, 
/**
 * Its value; none when it is not set and has no default.
 */
value: JsonValue | null, 
/**
 * Default value.
 */
default: JsonValue | null, 
/**
 * Purpose of the setting.
 */
about: string, };

/**
 * The settings, one by one.
 */
export type SettingList = { 
/**
 * In the order of their documentation.
 */
settings: Array<Setting>, 
/**
 * The file they are in.
 */
path: string, };

/**
 * A draft that a gate shows.
 */
export type ShownDraft = { 
/**
 * The name of the draft.
 */
name: string, 
/**
 * The mount path.
 */
path: string, 
/**
 * The digest of the text. A choice holds for exactly this text.
 */
sha256: string, 
/**
 * The size of the text.
 */
bytes: number, 
/**
 * The text.
 */
text: Payload, 
/**
 * The file that it is saved to, from the root of the project.
 */
to?: string, };

/**
 * A file whose text stands in the answer of a call, or in the call itself.
 */
export type ShownFile = { 
/**
 * The mount path.
 */
path: string, 
/**
 * The digest of the whole file.
 */
sha256: string, 
/**
 * The first line that is shown, from 1.
 */
start: number, 
/**
 * The last line that is shown.
 */
end: number, 
/**
 * True if the model wrote it, and false if it read it.
 */
written?: boolean, };

/**
 * Source of rules.
 */
export type Source = "settings" | "run";

/**
 * Cost of a run.
 */
export type Spent = { 
/**
 * Requests to the model.
 */
turns: number, 
/**
 * Tokens, and money where the prices are known.
 */
usage: Usage, };

/**
 * A conversation that was started.
 */
export type StartedConversation = { 
/**
 * The conversation.
 */
id: string, };

/**
 * A run that was started.
 */
export type StartedRun = { 
/**
 * The run.
 */
runId: string, };

/**
 * A change of the state document.
 */
export type StateChange = { 
/**
 * The call of a workflow whose state it is; none for the run's own.
 */
call?: FrameId, 
/**
 * State of the run after the change.
 */
state: RunState, 
/**
 * The move, if one was made.
 */
moved?: Moved, 
/**
 * The keys that the runtime recorded because the model left them out.
 */
recorded?: Array<string>, 
/**
 * The variables that the call set, with the same value or another.
 */
set?: Array<string>, 
/**
 * Outputs that count although this visit did not write them, because the model keeps them as they are.
 */
kept?: Array<string>, 
/**
 * Rule violations that were only warned about.
 */
warnings?: Array<string>, };

/**
 * A state document of a run.
 */
export type StateText = { 
/**
 * Path in the folder of the run.
 */
path: string, 
/**
 * The whole text.
 */
text: string, 
/**
 * Its digest.
 */
sha256: string, };

/**
 * The state documents of a run.
 */
export type StateTexts = { 
/**
 * That of the run itself first, then those of its calls of other workflows.
 */
documents: Array<StateText>, };

/**
 * Manner in which a model is told to change the state of a run.
 */
export type StateTools = "auto" | "tool" | "document";

/**
 * The status of a run: its phase, and whether a process works on it.
 */
export type Status = "running" | "interrupted" | "waiting-user" | "paused" | "completed" | "failed" | "unknown";

/**
 * Cause for which a request was stopped.
 */
export type StoppedBy = "user" | "time";

/**
 * Permission of one tool.
 */
export type Surveyed = { 
/**
 * Name; `mcp.*` means the tools of all servers.
 */
tool: string, 
/**
 * General verdict: rules about folders are exceptions from it.
 */
verdict: Verdict, 
/**
 * Source of the verdict.
 */
by: Decider, 
/**
 * The rule that decided it, if one did.
 */
rule?: Rule, 
/**
 * True if it may change the state of the run and nothing else.
 */
stateOnly?: boolean, 
/**
 * The most bytes of one call.
 */
maxBytes?: Limit, };

/**
 * A file that a step works from.
 */
export type SurveyedInput = { 
/**
 * The mount path.
 */
path: string, 
/**
 * How much of it the brief shows.
 */
state: InputState, 
/**
 * Its size.
 */
bytes?: number, 
/**
 * Its number of lines.
 */
lines?: number, 
/**
 * Its digest.
 */
sha256?: string, 
/**
 * The whole text, or the headings of a text that is too long, each with the number of its line.
 */
text?: string, };

/**
 * A file that a step has to write.
 */
export type SurveyedOutput = { 
/**
 * The path from the root of the project.
 */
path: string, 
/**
 * True if there is such a file.
 */
exists: boolean, 
/**
 * True if this run wrote it last.
 */
own: boolean, 
/**
 * Its size.
 */
bytes?: number, 
/**
 * Its digest.
 */
sha256?: string, };

/**
 * The shape of the workflow of a new package.
 */
export type Template = "linear" | "branch" | "loop";

/**
 * A text that can be saved as a file.
 */
export type TextFile = { 
/**
 * A name for it.
 */
name: string, 
/**
 * The text.
 */
text: string, };

/**
 * Model of a tier.
 */
export type TierModel = { 
/**
 * Its name.
 */
model: string, 
/**
 * The size of its window, in tokens.
 */
windowTokens: number, 
/**
 * True if it was named for this run; otherwise it follows the settings.
 */
given?: boolean, };

/**
 * Models for the tiers that steps advise; those of a tier without one go to the run's model.
 */
export type Tiers = { 
/**
 * For simple work.
 */
fast: TierModel | null, 
/**
 * For hard work.
 */
strong: TierModel | null, 
/**
 * For judging the work of another model.
 */
review: TierModel | null, };

/**
 * Tightening of the policy for one run.
 */
export type Tightening = { 
/**
 * True if the user is asked before a file is changed.
 */
askWrites?: boolean, 
/**
 * Calls that are allowed, as exceptions from the other two.
 */
allow?: Array<ToolPattern>, 
/**
 * Calls that need the user's approval.
 */
ask?: Array<ToolPattern>, 
/**
 * Calls that are denied.
 */
deny?: Array<ToolPattern>, 
/**
 * The largest read.
 */
maxReadBytes?: number, 
/**
 * The largest write.
 */
maxWriteBytes?: number, 
/**
 * Seconds that one call may take.
 */
callSeconds?: number, };

/**
 * A title.
 */
export type Title = { 
/**
 * The title.
 */
title: string, };

/**
 * A call of a tool, as the model wrote it.
 */
export type ToolCall = { id: string, type: "function", function: { name: string, arguments: Payload } };

/**
 * A tool of a server, as the server describes it when the user is asked.
 */
export type ToolDescription = { 
/**
 * Description in the server's words.
 */
description: string, 
/**
 * Digest of the description and the schema of the arguments.
 */
sha256: string, 
/**
 * True if the server has changed the tool since the user allowed it.
 */
redefined?: boolean, };

/**
 * A tool call was answered; refusals are answers.
 */
export type ToolFinished = { 
/**
 * The turn.
 */
turn: number, 
/**
 * The call.
 */
callId: string, 
/**
 * The tool's canonical name, or what the model wrote.
 */
tool: string, 
/**
 * The result: `{"ok":true,…}` or `{"ok":false,"error":{…}}`. Models read it as plain text.
 */
result: Payload, 
/**
 * Code of the refusal, if it is one.
 */
refused?: RefusalCode, 
/**
 * New and changed files below the artifacts folder, from the root of the project.
 */
created?: Array<string>, 
/**
 * Files of the project that the call wrote or removed, with their digests.
 */
wrote?: Array<WrittenDigest>, 
/**
 * Files whose text the model knows from the call or its answer.
 */
shown?: Array<ShownFile>, 
/**
 * Files of the user that the call would have overwritten, with the digests that they have. The same call again
 * overwrites them.
 */
warned?: Array<WrittenDigest>, 
/**
 * Names of the drafts that the call wrote.
 */
drafted?: Array<string>, 
/**
 * Drafts that the call saved in files of the project.
 */
saved?: Array<SavedDraft>, 
/**
 * True if the call gave nothing new: what it asked for stands in the context, or the file has this content.
 */
repeats?: boolean, 
/**
 * True if the calls behind it in the same reply are not carried out, because it is a refused change of the state.
 */
endsReply?: boolean, };

/**
 * Pattern of calls: `fs.write`, `fs.*`, `*`, those that write below a folder, as `fs.*(@project/src)`, or those about a
 * kind of files, as `fs.*(secrets)`.
 */
export type ToolPattern = string;

/**
 * Scope of the permissions to show.
 */
export type ToolQuery = { 
/**
 * A package of the store.
 */
package?: string, 
/**
 * An agent of it: its id or its name.
 */
agent?: string, };

/**
 * A tool call begins. For a change of files this is the intent, recorded before anything is touched.
 */
export type ToolStarted = { 
/**
 * The turn.
 */
turn: number, 
/**
 * The call.
 */
callId: string, 
/**
 * The tool's canonical name, or what the model wrote.
 */
tool: string, 
/**
 * Short description of its subject: a path, a query.
 */
subject?: string, 
/**
 * Planned change of files.
 */
intent?: Intent, 
/**
 * Kinds of repairs that its arguments needed, such as `trailing-comma`.
 */
repaired?: Array<string>, };

/**
 * The permissions of tools, as they are enforced, and who decided them.
 */
export type ToolSurvey = { 
/**
 * The agent of the query.
 */
agentId?: string, 
/**
 * Tool by tool, with those of MCP servers that were tested.
 */
tools: Array<Surveyed>, 
/**
 * The rules about writing below folders.
 */
folders: Array<FolderRule>, 
/**
 * Seconds that one call may take.
 */
callSeconds: Limit, };

/**
 * A tool server listed its tools. Requests from here on offer them, as far as the policy allows.
 */
export type ToolsListed = { 
/**
 * The server.
 */
server: string, 
/**
 * The canonical names of its tools.
 */
names: Array<string>, 
/**
 * Parts of its offer that are hidden from models, each with the reason.
 */
leftOut?: Array<string>, 
/**
 * Reason why it has no tools.
 */
error?: string, 
/**
 * Tools in the form that models read, as JSON.
 */
tools: Payload, };

/**
 * A request goes to the model.
 */
export type TurnStarted = { 
/**
 * Its number in the run, from 1.
 */
turn: number, 
/**
 * The call of a workflow that it belongs to; none in the run's own.
 */
call?: FrameId, 
/**
 * Node of the run; none after completion.
 */
nodeId?: string, 
/**
 * The agent that replies; none in a conversation without an agent.
 */
agentId?: string, 
/**
 * Tier that the request goes to; none for the run's own model.
 */
tier?: "fast" | "strong" | "review", 
/**
 * Name of the model; none for one that answers from a file.
 */
model?: string, 
/**
 * Size of the request as it is sent, in bytes; none for a model that answers from a file.
 */
rendered?: number, 
/**
 * Request that is sent.
 */
request: RequestSummary, };

/**
 * Facts about a file that is sent.
 */
export type UploadQuery = { 
/**
 * Name of the file, as its user knows it.
 */
name?: string, };

/**
 * Tokens, and money where the prices are known.
 */
export type Usage = { 
/**
 * Tokens that were sent.
 */
inputTokens: number, 
/**
 * Tokens that were received.
 */
outputTokens: number, 
/**
 * Those of the sent ones that the provider had at hand from an earlier request.
 */
cachedTokens?: number, 
/**
 * Those of the returned ones that were thoughts.
 */
reasoningTokens?: number, 
/**
 * True if some of the numbers are our own estimate, because the provider gave none.
 */
estimated?: boolean, 
/**
 * Money, in the currency of the price table.
 */
cost?: number, };

/**
 * The user is asked something.
 */
export type UserAsked = { 
/**
 * Call that asks, or whose move needs approval.
 */
callId: string, 
/**
 * Move that needs approval.
 */
moved?: Moved, 
/**
 * Files that change with the move. An agreement holds for exactly these.
 */
files?: Array<FileIntent>, 
/**
 * Text of the question.
 */
question: string, 
/**
 * Expected kind of answer.
 */
kind: QuestionKind, 
/**
 * Available choices.
 */
options?: Array<QuestionOption>, 
/**
 * True if several may be chosen.
 */
multi?: boolean, 
/**
 * The JSON Schema of a form.
 */
schema?: JsonValue, 
/**
 * The call that the user is to allow.
 */
approval?: Approval, 
/**
 * The drafts that a gate shows.
 */
show?: Array<ShownDraft>, };

/**
 * Input of the user, or the answer to a question.
 */
export type UserInput = { 
/**
 * Text of the user, unchanged.
 */
text: Payload, 
/**
 * The node the run was at, while the workflow was not complete.
 */
forNodeId?: string, 
/**
 * The call whose question it answers.
 */
callId?: string, };

/**
 * A message of the user.
 */
export type UserMessage = { 
/**
 * The text.
 */
text: string, 
/**
 * The model that answers it; unchanged when absent.
 */
model?: string, 
/**
 * The call whose question it answers, so that it answers no other one.
 */
answers?: string, };

/**
 * Verdicts of rules, the strictest last.
 */
export type Verdict = "allow" | "ask" | "deny";

/**
 * A visit of a node.
 */
export type Visit = { 
/**
 * The event that led there.
 */
seq: number, 
/**
 * The node.
 */
node: string, 
/**
 * The number of the visit among those of the node, from 1.
 */
number: number, 
/**
 * The label of the edge that led there.
 */
label?: string, 
/**
 * The call of a workflow that it belongs to; none in the run's own.
 */
call?: number, };

/**
 * The journals that a stream follows.
 */
export type Watch = { 
/**
 * Journals, separated by commas, such as `run/<id>,conversation/<id>`. A conversation includes its runs.
 */
watch?: string, 
/**
 * The id of the last frame that was seen; the header `Last-Event-ID` wins.
 */
after?: string, };

/**
 * A workflow of a package.
 */
export type Workflow = { 
/**
 * Reference to start a run with: its id, or the path of its document.
 */
reference: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Purpose of the workflow.
 */
description?: string, 
/**
 * The agent that runs it when none is named.
 */
agentId: string, 
/**
 * Variables that its steps set; those that are known from the start are not asked for.
 */
variables: Array<string>, 
/**
 * Its graph, laid out.
 */
graph: Picture, };

/**
 * The new content of a file.
 */
export type WriteFile = { 
/**
 * From the root of the project.
 */
path: string, 
/**
 * The whole text.
 */
text: string, 
/**
 * Digest that the file must have now; absent if it must not exist yet.
 */
ifMatchSha256?: string, };

/**
 * A file of the project that a call wrote or removed.
 */
export type WrittenDigest = { 
/**
 * The path from the root of the project.
 */
path: string, 
/**
 * The digest afterwards; none if the file was removed.
 */
sha256?: string, 
/**
 * True if the call changed only parts of a file that is not the run's.
 */
foreign?: boolean, };
