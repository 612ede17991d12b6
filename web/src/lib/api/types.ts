/**
 * What goes over the wire. These shapes are those of the server; once its generated types stand in `./generated`, this
 * file re-exports them and nothing else changes.
 */

/** A text, or where a long one is kept. */
export type Payload = string | { blob: string; bytes: number };

export type Phase = 'Running' | 'WaitingUser' | 'Paused' | 'Completed' | 'Failed';

export interface Standing {
  currentNodeId: string;
  stepsCompleted: string[];
  variables?: Record<string, unknown>;
  decisions?: number;
  artifacts?: string[];
  inputDocuments?: string[];
  complete: boolean;
  failed?: string;
}

export interface Moved {
  from: string;
  to: string;
  label: string;
}

export interface StateChange {
  call?: number;
  state: Standing;
  moved?: Moved;
  recorded?: string[];
  warnings?: string[];
}

export interface Caller {
  workflowId: string;
  nodeId: string;
  call: number;
  state: Standing;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  reasoningTokens?: number;
  estimated?: boolean;
  cost?: number;
}

export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: Payload };
}

export interface Option {
  value: string;
  label?: string;
  description?: string;
}

export type QuestionKind = 'text' | 'choice' | 'confirm' | 'form' | 'approval';

/** What a call that waits for consent would do, and the rule that asks. */
export interface Approval {
  tool: string;
  rule: { pattern: string; from: string };
  files?: { path: string; before?: string; after: string; diff: string; cut?: boolean }[];
  arguments?: string;
}

export interface Question {
  question: string;
  kind?: QuestionKind;
  options?: Option[];
  multi?: boolean;
  schema?: FormSchema;
  approval?: Approval;
}

export interface FormField {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  items?: FormField;
}

export interface FormSchema extends FormField {
  properties?: Record<string, FormField>;
  required?: string[];
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: Payload | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  from?: string;
}

export interface RunSettings {
  mode?: 'autopilot' | 'guided';
  limits?: { turns?: number; seconds?: number; tokens?: number; cost?: number };
  policy?: {
    fs?: { enabled?: boolean; maxReadBytes?: number; maxWriteBytes?: number };
    mcp?: { enabled?: boolean; allowedServers?: string[] };
    callSeconds?: number;
    strict?: boolean;
  };
  windowTokens?: number;
}

interface Head {
  seq: number;
  part?: number;
  time: string;
  runId?: string;
  key?: string;
}

export interface MenuFault {
  code: string;
  message: string;
  hint: string;
}

export interface Suggestion {
  answer: string;
  label: string;
}

export type Fact =
  | {
      type: 'run.started';
      package: string;
      packageSha256: string;
      workflow: string;
      agentId: string;
      project: string;
      state: Standing;
      settings: RunSettings;
      data?: Payload;
    }
  | { type: 'session.started'; package?: string; packageSha256?: string; agentId?: string; project: string; settings: RunSettings }
  | { type: 'session.agent'; agentId?: string }
  | {
      type: 'session.command';
      text: Payload;
      command: string;
      confidence: string;
      reason: string;
      item?: number;
      choices?: Suggestion[];
      error?: MenuFault;
    }
  | { type: 'session.instructed'; subject: string; texts: Payload[] }
  | { type: 'session.run'; id?: string }
  | {
      type: 'run.resumed';
      epoch: number;
      fresh?: boolean;
      state?: Standing;
      callers?: Caller[];
      calls?: number;
      settings?: RunSettings;
      notes?: string[];
    }
  | { type: 'user.input'; text: Payload; forNodeId?: string; callId?: string }
  | { type: 'workflow.planned' }
  | { type: 'workflow.entered'; workflowId: string; nodeId: string; call: number; depth: number; agentId: string; state: Standing }
  | { type: 'workflow.left'; workflowId: string; nodeId: string; call: number; failed?: string; change: StateChange }
  | { type: 'workflow.held'; workflowId: string; nodeId: string; call: number; message: string }
  | {
      type: 'turn.started';
      turn: number;
      call?: number;
      nodeId?: string;
      agentId?: string;
      request: { messages: number; bytes: number; sha256: string; added?: Message[] };
    }
  | { type: 'assistant.delta'; turn: number; text: string; channel?: 'text' | 'thinking' }
  | { type: 'model.retried'; turn: number; attempt: number; waitMs: number; message: string }
  | { type: 'model.overflowed'; turn: number; message: string }
  | {
      type: 'assistant.message';
      turn: number;
      content?: string;
      toolCalls?: ToolCall[];
      brokenCalls?: number[];
      finish?: 'stop' | 'length' | 'filter';
      usage?: Usage;
      from?: string;
      extra?: Record<string, unknown>;
    }
  | { type: 'tool.started'; turn: number; callId: string; tool: string; subject?: string; intent?: Intent }
  | {
      type: 'tool.finished';
      turn: number;
      callId: string;
      tool: string;
      result: Payload;
      refused?: string;
      created?: string[];
    }
  | ({ type: 'state.changed' } & StateChange)
  | ({ type: 'question'; callId: string; moved?: Moved } & Question)
  | { type: 'phase.changed'; phase: Phase; reason?: string; message?: string }
  | { type: 'context.cut'; messages: number; bytes: number }
  | { type: 'error'; message: string; partial?: string }
  | { type: 'run.finished'; phase: Phase; artifacts: string[]; turns: number; usage: Usage };

export interface Intent {
  files: { path: string; before?: string; after: string }[];
  time: string;
  answer: { result: Payload; refused?: string; created?: string[] };
  state?: StateChange;
}

export type Event = Head & Fact;

export type Kind = 'run' | 'conversation';

export interface Journal {
  kind: Kind;
  id: string;
}

export interface Notice {
  journal: Journal;
  phase?: Phase;
  reason?: string;
  message?: string;
  currentNode?: string;
  stepsCompleted?: number;
  turns?: number;
  time: string;
  atWork: boolean;
  removed: boolean;
}

export interface Fault {
  code: string;
  message: string;
  hint?: string;
}

export interface Flaw {
  name: string;
  reason: string;
}

export interface AppFacts {
  version: string;
  platform: string;
  home: string;
  userName: string;
  model?: string;
  modelProblem?: string;
  hasWeb: boolean;
}

export interface Project {
  id: string;
  name: string;
  path: string;
  exists: boolean;
  lastPackage?: string;
  hasPackage: boolean;
  created: string;
  runs: number;
  conversations: number;
}

/** A project with everything that a first run needs, and no key. */
export interface Sample {
  project: Project;
  package: string;
  model: string;
  answer: string;
}

export interface Folders {
  path: string;
  parent?: string;
  folders: { name: string; path: string }[];
  truncated: boolean;
}

export interface FileEntry {
  isFile: boolean;
  name: string;
  path: string;
}

export interface FileText {
  path: string;
  sha256: string;
  bytes: number;
  text?: string;
}

export interface MenuItem {
  number: number;
  trigger?: string;
  description: string;
}

export interface Agent {
  id: string;
  name: string;
  title: string;
  icon: string;
  role: string;
  menu: MenuItem[];
  usesFiles: boolean;
  mcpServers: string[];
}

export interface Point {
  x: number;
  y: number;
}

export interface PictureNode {
  id: string;
  kind: string;
  title: string | null;
  agent: string | null;
  calls: string | null;
  lines: string[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PictureEdge {
  from: string;
  to: string;
  label: string;
  isDefault: boolean;
  condition: string | null;
  flow: string;
  path: string;
  points: Point[];
  tip: Point;
  labelBox: { x: number; y: number; width: number; height: number; lines: string[] };
}

export interface Picture {
  title: string;
  entry: string | null;
  width: number;
  height: number;
  start: { x: number; y: number; path: string; tip: Point } | null;
  nodes: PictureNode[];
  edges: PictureEdge[];
}

export interface Workflow {
  reference: string;
  name: string;
  description?: string;
  agentId: string;
  graph: Picture;
}

export interface PackageContent {
  name: string;
  version: string;
  description?: string;
  author?: string;
  requiresNetwork: boolean;
  workflows: Workflow[];
  agents: Agent[];
}

export interface Package {
  reference: string;
  name: string;
  version: string;
  sha256: string;
  imported: string;
  origin: string;
  files: number;
  bytes: number;
}

export interface Finding {
  code: string;
  name: string;
  severity: string;
  file: string;
  line?: number;
  column?: number;
  excerpt?: string;
  message: string;
  help?: string;
}

export interface Report {
  valid: boolean;
  errors: number;
  warnings: number;
  findings: Finding[];
  content?: PackageContent;
}

export interface ImportedPackage {
  package?: Package;
  outcome: string;
  report: Report;
}

export interface CodePage {
  code: string;
  name: string;
  severity: string;
  summary: string;
  explanation: string;
}

export interface Conversation {
  id: string;
  project: string;
  title?: string;
  package?: string;
  agentId?: string;
  created: string;
  updated?: string;
  atWork: boolean;
  heldBy?: string;
  found?: string;
}

export interface ConversationDetail extends Conversation {
  mode: 'chat' | 'agent' | 'workflow';
  agent?: Agent;
  menu: MenuItem[];
  runs: string[];
  activeRun?: string;
  blocked?: string;
}

export interface Bounds {
  mode?: 'autopilot' | 'guided';
  strict?: boolean;
  maxTurns?: number;
  maxSeconds?: number;
  maxTokens?: number;
  maxCost?: number;
}

export interface NewRun {
  project: string;
  package: string;
  workflow?: string;
  agent?: string;
  variables?: Record<string, unknown>;
  model?: string;
  bounds?: Bounds;
}

export interface NewConversation {
  project: string;
  package?: string;
  agent?: string;
  model?: string;
  bounds?: Bounds;
}

/** A run that is started inside a conversation. */
export interface NewTalkRun {
  package: string;
  workflow?: string;
  agent?: string;
  variables?: Record<string, unknown>;
  model?: string;
}

export type Status = 'running' | 'interrupted' | 'waiting-user' | 'paused' | 'completed' | 'failed' | 'unknown';

export interface RunItem {
  id: string;
  project: string;
  package: string;
  workflow: string;
  agentId: string;
  conversation?: string;
  created: string;
  updated?: string;
  status: Status;
  reason?: string;
  message?: string;
  currentNode?: string;
  stepsCompleted: number;
  atWork: boolean;
  heldBy?: string;
  troubles?: string[];
}

export interface RunDetail extends RunItem {
  state?: Standing;
  path: { node: string; label?: string }[];
  question?: Question;
  turns: number;
  usage: Usage;
  graph?: Picture;
  blocked?: string;
}

export interface EventPage {
  events: Event[];
  more: boolean;
  cursor: string;
}

export type Came =
  | { kind: 'work' | 'dismissed' | 'no-run' | 'help' | 'status' | 'nothing' }
  | { kind: 'started' | 'resumed' | 'left'; runId: string }
  | { kind: 'menu'; lines: MenuItem[] }
  | { kind: 'agents'; agents: string[] }
  | { kind: 'clarify'; reason: string; choices: Suggestion[] }
  | { kind: 'refused'; message: string }
  | { kind: 'met'; agentId: string };

export interface RequestItem {
  turn: number;
  nodeId?: string;
  count: number;
  tokens: number;
  exact: boolean;
}

export interface RequestDetail extends RequestItem {
  messages: { layer: string; tokens: number; message: Message }[];
  tools: string[];
}

export interface ChangedFile {
  path: string;
  created: boolean;
  changes: { seq: number; callId: string; nodeId?: string; time: string; before?: string; after: string }[];
  now?: string;
  isCurrent: boolean;
}

export interface Images {
  before?: { sha256: string; text?: string };
  after: { sha256: string; text?: string };
}

export interface Price {
  input: number;
  output: number;
  cached?: number;
}

export interface ModelItem {
  name: string;
  model: string;
  profile?: string;
  baseUrl?: string;
  key?: string;
  window?: number;
  price?: Price;
  problem?: string;
}

export interface Profile {
  name: string;
  title: string;
  baseUrl?: string;
  keyVariable?: string;
}

export interface Models {
  models: ModelItem[];
  default?: string;
  profiles: Profile[];
}

export interface SetModel {
  model?: string;
  profile?: string;
  baseUrl?: string;
  key?: string;
  keyVariable?: string;
  noKey?: boolean;
  window?: number;
  maxOutput?: number;
  temperature?: number;
  price?: Price;
  useIt?: boolean;
}

export interface Checkup {
  ok: boolean;
  steps: { name: string; status: string; message: string; advice?: string }[];
}

export interface Setting {
  key: string;
  value: unknown;
  default: unknown;
  about: string;
}

export interface SettingList {
  settings: Setting[];
  path: string;
}
