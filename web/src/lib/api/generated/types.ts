// Written by a test of crates/server from its wire types. Do not edit.

/**
 * Input goes to this run of a workflow from here on, or no longer to a run.
 */
export type ActiveRunChanged = { 
/**
 * The run; none when it was left.
 */
id?: string, };

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
 * Its role, in its own words.
 */
role: string, 
/**
 * Its menu, as it is shown.
 */
menu: Array<MenuLine>, 
/**
 * Whether it may use files.
 */
usesFiles: boolean, 
/**
 * The MCP servers that it asks for.
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
 * The whole answer as the model gets it: `{"ok":true,…}` or `{"ok":false,"error":{…}}`.
 */
result: Payload, 
/**
 * Whether it is a refusal, and which.
 */
refused?: RefusalCode, 
/**
 * Files that came to be under the artifacts folder, from the root of the project.
 */
created?: Array<string>, };

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
 * The arguments, exactly as the model wrote them, of a call that is not about files.
 */
arguments?: string, 
/**
 * Whether there is more than the arguments show.
 */
cut?: boolean, };

/**
 * A file that a run made.
 */
export type Artifact = { 
/**
 * The file, from the root of the project.
 */
path: string, 
/**
 * The node that it came from, where that is known.
 */
nodeId?: string, 
/**
 * Its size; none when it is gone.
 */
bytes?: number, };

/**
 * The files that a run made.
 */
export type Artifacts = { 
/**
 * In the order in which they came.
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
 * The words.
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
 * Its words.
 */
content?: string, 
/**
 * The tools it calls.
 */
toolCalls?: Array<ToolCall>, 
/**
 * Which of them, counted from 0, have arguments that are not a JSON object.
 */
brokenCalls?: Array<number>, 
/**
 * Why it ended.
 */
finish: Finish, 
/**
 * What it cost.
 */
usage: Usage, 
/**
 * Which model said it, where that matters: `profile/model`.
 */
from?: string, 
/**
 * What else the provider sent and wants back.
 */
extra?: { [key in string]: JsonValue }, };

/**
 * Settings of a run that differ from those of the user.
 */
export type Bounds = { 
/**
 * Whether it asks before each move.
 */
mode?: Mode, 
/**
 * Whether the state changes through its own tools alone. What is strict stays so.
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
 * What tools may do; it can only be tightened, and stays with the run.
 */
tools?: Tightening, };

/**
 * A workflow that waits for one that it has called.
 */
export type Caller = { 
/**
 * Where the caller stands.
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
call: number, };

/**
 * One change of a file.
 */
export type Change = { 
/**
 * The event that announced it.
 */
seq: number, 
/**
 * The call that made it.
 */
callId: string, 
/**
 * The node that the run was at.
 */
nodeId?: string, 
/**
 * When.
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
 * Whether the run made it.
 */
created: boolean, 
/**
 * The changes, in their order.
 */
changes: Array<Change>, 
/**
 * The digest of the file now; none when it is gone.
 */
now?: string, 
/**
 * Whether the file is still as the run left it.
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
 * What was found.
 */
message: string, 
/**
 * What to do about it.
 */
advice?: string, };

/**
 * An item that the user can choose.
 */
export type Choice = { 
/**
 * What is typed to choose it.
 */
answer: string, 
/**
 * What it is, in words.
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
 * `error` or `warning`.
 */
severity: string, 
/**
 * In one sentence.
 */
summary: string, 
/**
 * With an example and a fix, as Markdown.
 */
explanation: string, };

/**
 * The input was taken for a command. Its result follows.
 */
export type CommandResolved = { 
/**
 * The words.
 */
text: Payload, 
/**
 * What they were taken for, such as `StartWorkflow` or `ClarifyChoice`.
 */
command: string, 
/**
 * How sure that is.
 */
confidence: Confidence, 
/**
 * Why.
 */
reason: string, 
/**
 * The number of the menu item.
 */
item?: number, 
/**
 * What can be chosen now, where that is shown.
 */
choices?: Array<Choice>, 
/**
 * Why it cannot be done.
 */
error?: MenuError, };

/**
 * How sure a command is.
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
 * The digest that it must have now; absent when it must be gone.
 */
ifMatchSha256?: string, };

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
 * What it is about.
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
 * When it was created.
 */
created: string, 
/**
 * When something last happened.
 */
updated?: string, 
/**
 * The phase of the conversation itself, once a message was sent; its run has a phase of its own.
 */
phase?: Phase, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * Whether it is at work in this server.
 */
atWork: boolean, 
/**
 * The other process that has it.
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
 * Why it cannot be resumed: what is gone, and what to do.
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
 * What it is about.
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
 * When it was created.
 */
created: string, 
/**
 * When something last happened.
 */
updated?: string, 
/**
 * The phase of the conversation itself, once a message was sent; its run has a phase of its own.
 */
phase?: Phase, 
/**
 * The kind of question that is open.
 */
asks?: QuestionKind, 
/**
 * Whether it is at work in this server.
 */
atWork: boolean, 
/**
 * The other process that has it.
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
 * Whether there are more than these, or a search ended before it had read everything.
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
 * At most so many; 200 when absent.
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
 * What it runs with.
 */
settings: RunSettings, };

/**
 * Who decided something.
 */
export type Decider = "settings" | "run" | "agent" | "runtime";

/**
 * The result of the doctor.
 */
export type Diagnosis = { 
/**
 * Whether nothing is broken.
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
 * What was checked.
 */
name: string, 
/**
 * `ok`, `warn` or `fail`.
 */
status: string, 
/**
 * What was found.
 */
message: string, 
/**
 * What to do about it.
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
 * When, as RFC 3339 in UTC with milliseconds.
 */
time: string, 
/**
 * The run it belongs to.
 */
runId?: string, 
/**
 * The durable step whose result this is, such as `t1/llm/3`.
 */
key?: string, } & ({ "type": "run.started" } & RunStarted | { "type": "session.started" } & ConversationStarted | { "type": "session.agent" } & AgentChanged | { "type": "command.resolved" } & CommandResolved | { "type": "session.instructed" } & ModelInstructed | { "type": "session.run" } & ActiveRunChanged | { "type": "run.resumed" } & RunResumed | { "type": "user.input" } & UserInput | { "type": "workflow.planned" } & FramePlanned | { "type": "workflow.entered" } & FrameEntered | { "type": "workflow.left" } & FrameLeft | { "type": "workflow.held" } & FrameHeld | { "type": "tools.listed" } & ToolsListed | { "type": "server.logged" } & ServerLogged | { "type": "turn.started" } & TurnStarted | { "type": "assistant.delta" } & AssistantDelta | { "type": "model.retried" } & ModelRetried | { "type": "model.overflowed" } & ModelOverflowed | { "type": "model.stopped" } & ModelStopped | { "type": "assistant.message" } & AssistantMessage | { "type": "tool.started" } & ToolStarted | { "type": "tool.finished" } & ToolFinished | { "type": "state.changed" } & StateChange | { "type": "question" } & UserAsked | { "type": "phase.changed" } & PhaseChanged | { "type": "context.cut" } & ContextCut | { "type": "error" } & RunFailed | { "type": "run.finished" } & RunFinished);

/**
 * Events of a journal.
 */
export type EventPage = { 
/**
 * The events, in their order.
 */
events: Array<Event>, 
/**
 * Whether there are more.
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
 * At most so many; 500 when absent. A page also ends after about 4 MiB.
 */
limit?: number, };

/**
 * Why a request is not granted.
 */
export type Fault = { 
/**
 * Which kind of reason it is.
 */
code: Code, 
/**
 * What happened and why, for people.
 */
message: string, 
/**
 * What to do about it.
 */
hint?: string, };

/**
 * A file that would change.
 */
export type FileChange = { 
/**
 * Where it really is, if a link leads there.
 */
place?: string, 
/**
 * What would change, as a unified diff. Empty if that cannot be shown.
 */
diff: string, 
/**
 * Whether there is more than the diff shows.
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
 * Whether it is a file, and not a folder.
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
 * Whether there are more.
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
 * `error` or `warning`.
 */
severity: string, 
/**
 * The file of the package; may be blank when it is about the whole.
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
 * The value that it is about, as a JSON Pointer into the file or its frontmatter.
 */
pointer?: string, 
/**
 * The line itself, if it is not too long.
 */
excerpt?: string, 
/**
 * What is wrong.
 */
message: string, 
/**
 * What to do about it.
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
 * What it is called.
 */
name: string, 
/**
 * What is wrong with it.
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
 * Where it is.
 */
path: string, };

/**
 * A folder that is to be a project, or where one is now.
 */
export type FolderPath = { 
/**
 * The folder, from the root of the disk.
 */
path: string, };

/**
 * The folder that is listed.
 */
export type FolderQuery = { 
/**
 * The folder, from the root of the disk; that of the user when absent.
 */
path?: string, 
/**
 * Whether hidden folders are listed.
 */
hidden?: boolean, };

/**
 * A rule about writing below a folder, which holds beside those about whole tools.
 */
export type FolderRule = { 
/**
 * Which calls it is about.
 */
pattern: ToolPattern, 
/**
 * What it says of them.
 */
verdict: Verdict, 
/**
 * Who says so.
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
 * Whether there are more.
 */
truncated: boolean, };

/**
 * The beginning of a run that goes on from a moment of another one.
 */
export type Fork = { 
/**
 * The other run.
 */
run: string, 
/**
 * Its event by which it came to the node.
 */
event: number, 
/**
 * The workflows that wait for the one that is active, the run's own first.
 */
callers?: Array<Caller>, 
/**
 * How many calls of workflows there were.
 */
calls?: number, 
/**
 * What user and model had said to each other, as far as the model still knew it.
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
 * Which visit of it.
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
 * How many branches were decided.
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
 * Whether the workflow is complete there.
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
 * How many workflows wait now, the caller among them.
 */
depth: number, 
/**
 * The agent of the called workflow, where its nodes name none.
 */
agentId: string, 
/**
 * Where that workflow stands.
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
call: number, };

/**
 * A workflow cannot be called, or cannot return.
 */
export type FrameHeld = { 
/**
 * Why, and what to do.
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
call: number, };

/**
 * A workflow that was called is over, and its caller is active again.
 */
export type FrameLeft = { 
/**
 * Why it could not be completed. Then the caller stays on its node, and the user is asked.
 */
failed?: string, 
/**
 * What became of the caller.
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
call: number, };

/**
 * A node is about to call another workflow, or that is about to return: what will be written.
 */
export type FramePlanned = { 
/**
 * The state documents, in the order in which they are changed.
 */
files: Array<FileIntent>, 
/**
 * When it was planned; the guard's clock.
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
call: number, };

/**
 * A link that opens the page, once.
 */
export type FreshLink = { 
/**
 * The address.
 */
url: string, };

/**
 * What a model may do with files.
 */
export type FsPolicy = { 
/**
 * Whether there are file tools.
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
 * The result of a request to pause or stop.
 */
export type Halting = { 
/**
 * Whether it was at work. The phase that follows comes on the stream.
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
 * The data of a frame `hello`, with which a stream begins: lists are to be fetched again.
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
 * How many there were.
 */
oldLines: number, 
/**
 * The first line now.
 */
newStart: number, 
/**
 * How many there are.
 */
newLines: number, };

/**
 * A line of a hunk, without its end.
 */
export type HunkLine = { 
/**
 * Where it is.
 */
side: HunkSide, 
/**
 * What it says.
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
 * How many there were.
 */
oldLines: number, 
/**
 * The first line now.
 */
newStart: number, 
/**
 * How many there are.
 */
newLines: number, };

/**
 * Where a line is.
 */
export type HunkSide = "both" | "before" | "now";

/**
 * What differs in a file.
 */
export type Hunks = { 
/**
 * The digest of the file now.
 */
now: string, 
/**
 * Whether the run made the file.
 */
created: boolean, 
/**
 * Whether the file is as the run left it.
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
 * What was found in it.
 */
report: Report, };

/**
 * A change of files that is about to be made.
 */
export type Intent = { 
/**
 * The files, in the order in which they are changed.
 */
files: Array<FileIntent>, 
/**
 * When it was planned; the guard's clock.
 */
time: string, 
/**
 * What the model will be told when all of it is done.
 */
answer: Answer, 
/**
 * What becomes of the state, if its document is among the files.
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
 * A workflow that is to be started from a conversation.
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
 * Who set it.
 */
by: Decider, };

/**
 * What stops a run. Each counts from the user's last input.
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
 * The settings of another tool.
 */
export type McpFile = { 
/**
 * JSON with `mcpServers`.
 */
text: string, 
/**
 * Whether they are saved; else they are only shown.
 */
save: boolean, };

/**
 * The servers of such a file.
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
 * What it is called there.
 */
called: string, 
/**
 * What it is called here.
 */
name: string, 
/**
 * The command, or the address.
 */
line: string, 
/**
 * Whether a server of this name is set up already, and is replaced.
 */
replaces: boolean, 
/**
 * The variables whose values are stored as secrets.
 */
secrets: Array<string>, };

/**
 * What a model may do with MCP servers.
 */
export type McpPolicy = { 
/**
 * Whether there are tools of MCP servers.
 */
enabled: boolean, 
/**
 * The servers that may be used; all enabled ones when absent.
 */
allowedServers?: Array<string>, };

/**
 * Something that can be read from an MCP server.
 */
export type McpResource = { 
/**
 * Its address.
 */
uri: string, 
/**
 * What people call it.
 */
name: string, };

/**
 * An MCP server that is set up.
 */
export type McpServerItem = { 
/**
 * What the user calls it.
 */
name: string, 
/**
 * Whether runs may use it.
 */
state: ServerState, 
/**
 * How it is reached.
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
 * Time until it has said which tools it has, such as `1m`; 30 seconds when absent.
 */
startupTimeout?: string, 
/**
 * Time for one call; what the policy says when absent.
 */
callTimeout?: string, 
/**
 * The result of its last test, since the program started.
 */
last?: McpTestResult, };

/**
 * The MCP servers that are set up.
 */
export type McpServers = { 
/**
 * By name.
 */
servers: Array<McpServerItem>, 
/**
 * Whether the policy lets runs use servers at all.
 */
policyEnabled: boolean, };

/**
 * A request to enable or disable an MCP server.
 */
export type McpSwitch = { 
/**
 * Whether they may.
 */
enabled: boolean, };

/**
 * The connection test of an MCP server, step by step, and what it offers.
 */
export type McpTestResult = { 
/**
 * Whether it works.
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
 * What can be read from it.
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
 * What it does, in the server's words.
 */
description: string, 
/**
 * What holds for it, and who decided that.
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
 * Where it is.
 */
url: string, 
/**
 * Headers of every request.
 */
headers: Array<McpValue>, };

/**
 * A variable or a header of an MCP server. A secret goes in and never comes out: `${NAME}` stands for it.
 */
export type McpValue = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its value. None when it is not shown, and to keep what is there.
 */
value?: string, 
/**
 * Whether a secret is stored for it. Not heeded in a request.
 */
stored?: boolean, };

/**
 * One thing that was measured.
 */
export type Measurement = { 
/**
 * What.
 */
name: string, 
/**
 * Whether the server does it; none when that is unknown.
 */
found?: boolean, 
/**
 * What was found.
 */
message: string, };

/**
 * A command that cannot be carried out.
 */
export type MenuError = { 
/**
 * Which kind.
 */
code: MenuErrorCode, 
/**
 * What is wrong, in one sentence.
 */
message: string, 
/**
 * What to do about it.
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
 * What it is for.
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
 * Its words; none when it only called tools.
 */
content: string | null, 
/**
 * The tools it called.
 */
tool_calls?: Array<ToolCall>, 
/**
 * Which model said it, where that matters: `profile/model`. What one provider wants back another refuses.
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
 * What happens when a node is left, or the end node completed, while something that it declares is missing.
 */
export type MissingRule = "enforce" | "warn" | "off";

/**
 * Whether a run asks before each move.
 */
export type Mode = "autopilot" | "guided";

/**
 * The model gets the instruction that the user chose from the menu.
 */
export type ModelInstructed = { 
/**
 * What was chosen, in a few words: a script, a prompt, an instruction.
 */
subject: string, 
/**
 * What the model is told, each a message of its own.
 */
texts: Array<Payload>, };

/**
 * A model that is set up. Its key is never returned.
 */
export type ModelItem = { 
/**
 * What the user calls it.
 */
name: string, 
/**
 * What the provider calls it.
 */
model: string, 
/**
 * The profile of the provider.
 */
profile?: string, 
/**
 * Where it is.
 */
baseUrl?: string, 
/**
 * Where its key was found: a variable, `credentials.toml`, `keyring` or `none`.
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
 * What is wrong with it.
 */
problem?: string, };

/**
 * A request was too long for the model's window. It is asked again with less, or the run stops.
 */
export type ModelOverflowed = { 
/**
 * The turn.
 */
turn: number, 
/**
 * What the provider said.
 */
message: string, };

/**
 * A request failed and is sent again. The deltas of its reply are void.
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
 * What went wrong.
 */
message: string, };

/**
 * A request was stopped before its reply was whole. The partial text is kept for the reader; the model is asked
 * again.
 */
export type ModelStopped = { 
/**
 * The turn.
 */
turn: number, 
/**
 * Who wanted it.
 */
by: StoppedBy, 
/**
 * The words that had come.
 */
partial?: string, };

/**
 * The connection test of a model, step by step.
 */
export type ModelTestResult = { 
/**
 * Whether it works.
 */
ok: boolean, 
/**
 * The steps, in their order.
 */
steps: Array<CheckStep>, };

/**
 * The models that are set up.
 */
export type Models = { 
/**
 * By name.
 */
models: Array<ModelItem>, 
/**
 * The one that runs use when nothing else is said.
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
 * A conversation that is to be started: with an agent, else as plain chat.
 */
export type NewConversation = { 
/**
 * The id of the project.
 */
project: string, 
/**
 * The package whose agents and workflows are meant.
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
 * Whether it starts at once; else it waits.
 */
start?: boolean, 
/**
 * The model, if it starts at once; that of the settings when absent.
 */
model?: string, };

/**
 * A package that is to be written.
 */
export type NewPackage = { 
/**
 * The folder that is made for it, from the root of the disk.
 */
path: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is for.
 */
description?: string, 
/**
 * Who writes it.
 */
author?: string, 
/**
 * What its workflow looks like.
 */
template?: Template, };

/**
 * A run that is to be started.
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
 * The model; that of the settings when absent.
 */
model?: string, 
/**
 * Settings of the run that differ from those of the user.
 */
bounds?: Bounds, };

/**
 * Nothing to say: `{}`.
 */
export type Nothing = Record<string, never>;

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
 * A folder that is to be packed into one file.
 */
export type PackOrder = { 
/**
 * The folder with `bmad.json`, from the root of the disk.
 */
path: string, 
/**
 * The file to write; beside the folder when absent.
 */
output?: string, 
/**
 * Whether a file that is there is replaced, if it is named.
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
 * The digest of its content, which tells it from every other. It can be written for the package everywhere.
 */
sha256: string, 
/**
 * When it was imported.
 */
imported: string, 
/**
 * What it was imported from.
 */
origin: string, 
/**
 * How many files it has.
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
 * What it is for.
 */
description?: string, 
/**
 * Who wrote it.
 */
author?: string, 
/**
 * Whether it says that it needs the network.
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
 * Where it is, from the root of the disk.
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
 * Why.
 */
reason?: Reason, 
/**
 * Why, in words.
 */
message?: string, };

/**
 * A graph, laid out. Lengths are pixels.
 */
export type Picture = { 
/**
 * What it is called.
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
 * How many edges are not shown, because there are too many for a picture.
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
 * Whether it is taken when no other applies.
 */
isDefault: boolean, 
/**
 * When it applies.
 */
condition: string | null, 
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
 * Where the line ends.
 */
tip: Point, 
/**
 * Where the label is.
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
 * Where the line ends.
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
 * What a model may do with tools.
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
 * Whether the state of a run changes through tools of its own alone.
 */
strict?: boolean, 
/**
 * Which tools are allowed, ask first or are denied; one set for each place that says something.
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
 * Those that come back.
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
 * In what the server differs from its profile.
 */
changes: JsonValue, 
/**
 * Whether that was remembered.
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
 * What people call it.
 */
title: string, 
/**
 * Where its endpoint is, if it has one place.
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
 * What steps call the user; may be blank.
 */
userName: string, 
/**
 * The default model; none when none is set up.
 */
model?: string, 
/**
 * Why that model cannot be used.
 */
modelProblem?: string, 
/**
 * Whether the web app is built in.
 */
hasWeb: boolean, 
/**
 * The largest package that is taken as a file, in bytes.
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
 * Where it is.
 */
path: string, 
/**
 * Whether the folder is there.
 */
exists: boolean, 
/**
 * The package that was used last, as `name@version`.
 */
lastPackage?: string, 
/**
 * Whether that package is in the store.
 */
hasPackage: boolean, 
/**
 * When it was first used.
 */
created: string, 
/**
 * How many runs it has.
 */
runs: number, 
/**
 * How many conversations it has.
 */
conversations: number, 
/**
 * When something last happened in it.
 */
used: string, 
/**
 * How many of its newest runs wait for the user.
 */
waiting: number, };

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
 * What can be done about a file.
 */
export type Prospect = "ready" | "done" | "conflict" | "lost";

/**
 * What the user is asked.
 */
export type Question = { 
/**
 * The words.
 */
question: string, 
/**
 * What kind of answer is wanted.
 */
kind: QuestionKind, 
/**
 * What can be chosen.
 */
options?: Array<QuestionOption>, 
/**
 * Whether several may be chosen.
 */
multi?: boolean, 
/**
 * The JSON Schema of a form.
 */
schema?: JsonValue, 
/**
 * The call that the user is to allow.
 */
approval?: Approval, };

/**
 * What kind of answer is wanted.
 */
export type QuestionKind = "text" | "choice" | "confirm" | "form" | "approval";

/**
 * Something that can be chosen.
 */
export type QuestionOption = { 
/**
 * What the model gets.
 */
value: string, 
/**
 * What the user reads; the value when absent.
 */
label?: string, 
/**
 * More about it.
 */
description?: string, };

/**
 * What a message of the user led to.
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
 * What is unclear.
 */
reason: string, 
/**
 * What can be chosen.
 */
choices: Array<Choice>, } | { "kind": "refused", 
/**
 * Why.
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
 * Cause for which a run rests.
 */
export type Reason = "stop-point" | "question" | "limit-turns" | "limit-time" | "limit-tokens" | "limit-cost" | "limit-window" | "call" | "loop" | "empty-reply" | "paused" | "stopped" | "model" | "disk" | "internal";

/**
 * Why a call was not carried out.
 */
export type RefusalCode = "ENOENT" | "E_SANDBOX_VIOLATION" | "E_READ_LIMIT" | "E_WRITE_LIMIT" | "E_INVALID_ARGS" | "E_INVALID_FRONTMATTER" | "E_SCHEMA_VALIDATION" | "E_INVALID_TRANSITION" | "E_PRECONDITION_FAILED" | "E_TOOL_NOT_AVAILABLE" | "E_TIMEOUT" | "E_STATE_CHANGE_REQUIRES_CONFIRMATION" | "E_UNKNOWN_OUTCOME" | "E_TOOL_FAILED" | "E_INTERNAL";

/**
 * Options for removing a package.
 */
export type RemoveQuery = { 
/**
 * Whether it is removed although runs and conversations cannot be resumed without it.
 */
confirm?: boolean, };

/**
 * A conversation that was removed.
 */
export type RemovedConversation = { 
/**
 * The runs that went with it.
 */
runs: Array<string>, };

/**
 * The result of removing a package.
 */
export type RemovedPackage = { 
/**
 * Whether it is gone. If not, this is to be confirmed.
 */
removed: boolean, 
/**
 * How many conversations, and runs that are not complete, cannot be resumed without it.
 */
unfinished: number, };

/**
 * The result of a check of a package.
 */
export type Report = { 
/**
 * Whether it can be imported and run.
 */
valid: boolean, 
/**
 * How many errors there are.
 */
errors: number, 
/**
 * How many warnings.
 */
warnings: number, 
/**
 * What was found; of very many, the first.
 */
findings: Array<Finding>, 
/**
 * What is in it, if it is valid.
 */
content?: PackageContent, };

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
 * How many messages it has.
 */
count: number, 
/**
 * An estimate of its tokens.
 */
tokens: number, 
/**
 * Whether it is, byte for byte, what was sent.
 */
exact: boolean, };

/**
 * Contents of a request: sizes, digest, new messages.
 */
export type RequestFacts = { 
/**
 * How many messages.
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
 * How many messages it has.
 */
count: number, 
/**
 * An estimate of its tokens.
 */
tokens: number, 
/**
 * Whether it is, byte for byte, what was sent.
 */
exact: boolean, };

/**
 * A message of a request.
 */
export type RequestMessage = { 
/**
 * Which part of the prompt it is.
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
 * What changes from here on.
 */
bounds?: Bounds, };

/**
 * A file that is to be as it was.
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
 * The digest that the file must have now; absent when it must be gone.
 */
ifMatchSha256?: string, };

/**
 * A hunk that is to be reverted.
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
 * Where the hunk is in it.
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
 * Whether it is removed, because it did not exist before.
 */
removed: boolean, 
/**
 * The digest of the file now; none when it is gone.
 */
now?: string, 
/**
 * What can be done.
 */
prospect: Prospect, 
/**
 * The nodes that wrote it later. Their changes are reverted with it.
 */
later: Array<string>, };

/**
 * The step that is to be reverted.
 */
export type RevertQuery = { 
/**
 * The event by which the run came to the node.
 */
visit: number, 
/**
 * Whether all later steps are reverted, too.
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
 * Files that are to be reverted.
 */
export type RevertStep = { 
/**
 * The event by which the run came to the node.
 */
visit: number, 
/**
 * Whether all later steps are reverted, too.
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
 * Why it was left alone; none when it was reverted.
 */
left?: string, };

/**
 * The data of a frame `rewind`: events after this one never became part of the journal. They are to be
 * dropped, with every incomplete reply.
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
 * Which calls it is about.
 */
pattern: ToolPattern, 
/**
 * Where it comes from.
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
 * What is allowed, as an exception from the other two.
 */
allow?: Array<ToolPattern>, 
/**
 * What the user is asked about first.
 */
ask?: Array<ToolPattern>, 
/**
 * What is denied.
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
 * What they cost.
 */
usage: Usage, 
/**
 * The graph of its workflow, laid out; none when its package is gone.
 */
graph?: Picture, 
/**
 * Why it cannot be resumed: what is gone, and what to do.
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
 * The conversation that it was started from.
 */
conversation?: string, 
/**
 * When it was created.
 */
created: string, 
/**
 * When something last happened.
 */
updated?: string, 
/**
 * Its status.
 */
status: Status, 
/**
 * Why it waits.
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
 * The node it is at.
 */
currentNode?: string, 
/**
 * How many nodes are done.
 */
stepsCompleted: number, 
/**
 * What it has cost so far; unknown while it is at work, and after a crash.
 */
spent?: Spent, 
/**
 * Whether it is at work in this server.
 */
atWork: boolean, 
/**
 * The other process that has it.
 */
heldBy?: string, 
/**
 * What is wrong with it.
 */
troubles?: Array<string>, };

/**
 * The model, the disk or a tool server failed; the run can be resumed.
 */
export type RunFailed = { 
/**
 * What went wrong, in words.
 */
message: string, 
/**
 * The words of a reply that came before it failed.
 */
partial?: string, };

/**
 * The process leaves the run: it rests or is over.
 */
export type RunFinished = { 
/**
 * The phase it is left in.
 */
phase: Phase, 
/**
 * Why.
 */
reason?: Reason, 
/**
 * The files that were made, from the root of the project.
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
 * The conversation that it was started from.
 */
conversation?: string, 
/**
 * When it was created.
 */
created: string, 
/**
 * When something last happened.
 */
updated?: string, 
/**
 * Its status.
 */
status: Status, 
/**
 * Why it waits.
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
 * The node it is at.
 */
currentNode?: string, 
/**
 * How many nodes are done.
 */
stepsCompleted: number, 
/**
 * What it has cost so far; unknown while it is at work, and after a crash.
 */
spent?: Spent, 
/**
 * Whether it is at work in this server.
 */
atWork: boolean, 
/**
 * The other process that has it.
 */
heldBy?: string, 
/**
 * What is wrong with it.
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
 * How many there are, with those that are not listed. Without a status or a conversation to look for, folders are
 * counted, and those that cannot be read are among them.
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
 * At most so many, the newest first; 200 when absent.
 */
limit?: number, };

/**
 * Another process resumes the run.
 */
export type RunResumed = { 
/**
 * Which process of this run it is, from 1; each later one has a higher number.
 */
epoch: number, 
/**
 * True if the events before are not replayed, because they are damaged or do not fit.
 */
fresh?: boolean, 
/**
 * Where it stands, if that is not where the journal left it.
 */
state?: RunState, 
/**
 * The workflows that wait for the one that is active there, the first one first.
 */
callers?: Array<Caller>, 
/**
 * How many calls of workflows there were, as far as is known.
 */
calls?: number, 
/**
 * What it runs with from here on, if that has changed.
 */
settings?: RunSettings, 
/**
 * What was wrong with the journal or the state, in words.
 */
notes?: Array<string>, };

/**
 * The settings of one run.
 */
export type RunSettings = { 
/**
 * Whether it asks before each move.
 */
mode: Mode, 
/**
 * What stops it.
 */
limits: Limits, 
/**
 * What happens when something that a node declares is missing.
 */
missing: MissingRule, 
/**
 * The system's tool policy; agents can only tighten it.
 */
policy: Policy, 
/**
 * The step's text stands in the node brief up to this size.
 */
inlineStepBytes: number, 
/**
 * The model that was asked for, by its name; none for the one that is set up for runs.
 */
model?: string, 
/**
 * The size of the model's window, in tokens.
 */
windowTokens: number, };

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
 * Where it stands.
 */
state: RunState, 
/**
 * What it runs with.
 */
settings: RunSettings, 
/**
 * A file that came with the start, as the model is told of it.
 */
data?: Payload, 
/**
 * The run that it goes on from, and from where.
 */
forkedFrom?: Fork, };

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
 * What conditions and later steps look at.
 */
variables: { [key in string]: JsonValue }, 
/**
 * How many branches were decided.
 */
decisions: number, 
/**
 * The files that were made, from the root of the project.
 */
artifacts: Array<string>, 
/**
 * Documents that come from outside, such as the artifacts of a calling workflow.
 */
inputDocuments?: Array<string>, 
/**
 * Whether the workflow is complete.
 */
complete: boolean, 
/**
 * Why it cannot be completed, where its status says so. It counts for a workflow that was called.
 */
failed?: string, };

/**
 * The data of a frame `notice`: how a run or a conversation is now, for lists.
 */
export type RunStatus = { 
/**
 * Which one.
 */
journal: JournalId, 
/**
 * Its phase; none when it was removed.
 */
phase?: Phase, 
/**
 * Why it rests.
 */
reason?: Reason, 
/**
 * Why, in words.
 */
message?: string, 
/**
 * What kind of question it waits with.
 */
asks?: QuestionKind, 
/**
 * The node it is at.
 */
currentNode?: string, 
/**
 * How many nodes are done, where that is known.
 */
stepsCompleted?: number, 
/**
 * Requests to the model, where that is known.
 */
turns?: number, 
/**
 * When.
 */
time: string, 
/**
 * Whether a process is at work on it.
 */
atWork: boolean, 
/**
 * Whether it was removed.
 */
removed: boolean, };

/**
 * A project and a package to try, with a model that answers from a file: no key, no network.
 */
export type Sample = { 
/**
 * The project that was made.
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
 * What the model understands as an answer to its question.
 */
answer: string, };

/**
 * A tool server wrote a line into its log.
 */
export type ServerLogged = { 
/**
 * The server.
 */
server: string, 
/**
 * How grave it is, in the server's word; `stderr` for what it wrote there.
 */
level: string, 
/**
 * What it wrote, cleaned and capped.
 */
text: string, };

/**
 * Whether runs may use a server.
 */
export type ServerState = "enabled" | "kept-out" | "disabled";

/**
 * An MCP server that is to be set up, or as it is to be from now on.
 */
export type SetMcpServer = { 
/**
 * How it is reached.
 */
way: McpTransport, 
/**
 * Whether runs may use it; as it was when absent, and a new one may not.
 */
enabled?: boolean, 
/**
 * Time until it has said which tools it has, such as `1m`.
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
 * What the provider calls it.
 */
model?: string, 
/**
 * The profile of the provider.
 */
profile?: string, 
/**
 * Where it is.
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
 * Whether it needs no key.
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
 * How freely it speaks.
 */
temperature?: number, 
/**
 * The price of a million tokens.
 */
price?: Price, 
/**
 * Whether runs use it from now on.
 */
useIt?: boolean, };

/**
 * A setting that is to be changed.
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
 * What it is without the user.
 */
default: JsonValue | null, 
/**
 * What it is for.
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
 * Where rules come from.
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
call?: number, 
/**
 * Where the run stands now.
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
 * What was let pass.
 */
warnings?: Array<string>, };

/**
 * A state document of a run.
 */
export type StateText = { 
/**
 * Where it is in the folder of the run.
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
 * The status of a run: its phase, and whether a process works on it.
 */
export type Status = "running" | "interrupted" | "waiting-user" | "paused" | "completed" | "failed" | "unknown";

/**
 * Cause for which a request was stopped.
 */
export type StoppedBy = "user" | "time";

/**
 * What holds for one tool.
 */
export type Surveyed = { 
/**
 * Its name; `mcp.*` stands for the tools of all servers.
 */
tool: string, 
/**
 * Whether it may be called, in general: rules about folders are exceptions from it.
 */
verdict: Verdict, 
/**
 * Who decided that.
 */
by: Decider, 
/**
 * The rule that decided it, if one did.
 */
rule?: Rule, 
/**
 * Whether it may change the state of the run and nothing else.
 */
stateOnly?: boolean, 
/**
 * The most bytes of one call.
 */
maxBytes?: Limit, };

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
 * What one run tightens.
 */
export type Tightening = { 
/**
 * Whether the user is asked before a file is changed.
 */
askWrites?: boolean, 
/**
 * What is allowed, as an exception from the other two.
 */
allow?: Array<ToolPattern>, 
/**
 * What the user is asked about first.
 */
ask?: Array<ToolPattern>, 
/**
 * What is denied.
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
 * The whole answer as the model gets it: `{"ok":true,…}` or `{"ok":false,"error":{…}}`.
 */
result: Payload, 
/**
 * Whether it is a refusal, and which.
 */
refused?: RefusalCode, 
/**
 * Files that came to be under the artifacts folder, from the root of the project.
 */
created?: Array<string>, };

/**
 * Which calls a rule is about: `fs.write`, `fs.*`, `*`, or those that write below a folder, as `fs.*(@project/src)`.
 */
export type ToolPattern = string;

/**
 * For whom it is asked what tools may do.
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
 * What it is about, in a few words: a path, a query.
 */
subject?: string, 
/**
 * What will be changed.
 */
intent?: Intent, };

/**
 * The permissions of tools, as they are enforced, and who decided them.
 */
export type ToolSurvey = { 
/**
 * The agent that was asked about.
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
 * What it offers and models are not told of, with the reason.
 */
leftOut?: Array<string>, 
/**
 * Why it has no tools.
 */
error?: string, 
/**
 * The tools as models are told of them, as JSON.
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
call?: number, 
/**
 * Where the run is; none after completion.
 */
nodeId?: string, 
/**
 * The agent that speaks; none in a conversation without an agent.
 */
agentId?: string, 
/**
 * What is sent.
 */
request: RequestFacts, };

/**
 * Tokens, and money where the prices are known.
 */
export type Usage = { 
/**
 * Tokens that were sent.
 */
inputTokens: number, 
/**
 * Tokens that came back.
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
 * Whether some of the numbers are our own estimate, because the provider gave none.
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
 * The call that asks, or whose move waits for a yes.
 */
callId: string, 
/**
 * The move that waits for a yes.
 */
moved?: Moved, 
/**
 * The words.
 */
question: string, 
/**
 * What kind of answer is wanted.
 */
kind: QuestionKind, 
/**
 * What can be chosen.
 */
options?: Array<QuestionOption>, 
/**
 * Whether several may be chosen.
 */
multi?: boolean, 
/**
 * The JSON Schema of a form.
 */
schema?: JsonValue, 
/**
 * The call that the user is to allow.
 */
approval?: Approval, };

/**
 * The user said something, or answered a question.
 */
export type UserInput = { 
/**
 * Their words, unchanged.
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
 * What a rule says, the strictest last.
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
 * Journals with commas between them, such as `run/<id>,conversation/<id>`. A conversation brings its runs along.
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
 * What a run is started with: its id, or the path of its document.
 */
reference: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is for.
 */
description?: string, 
/**
 * The agent that runs it when none is named.
 */
agentId: string, 
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
 * The digest that the file must have now; a file that is not there yet when absent.
 */
ifMatchSha256?: string, };
