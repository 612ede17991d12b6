/** View of one journal: rows, the reply in progress, the position of the run. `reduce` folds events into it. */

import type {
  MenuError,
  Moved,
  Payload,
  Phase,
  Question,
  RunSettings,
  RunState,
  StoppedBy,
  Choice,
  Usage,
} from './api/types';

/** Fields that all rows have. */
export interface RowHead {
  /** Stable for the life of the row. */
  key: string;
  seq: number;
  time: string;
}

export type ToolStatus = 'running' | 'ok' | 'refused' | 'unfinished';

export interface ToolRow extends RowHead {
  kind: 'tool';
  callId: string;
  turn: number;
  tool: string;
  subject: string | undefined;
  args: Payload | undefined;
  status: ToolStatus;
  result: Payload | undefined;
  refused: string | undefined;
  created: string[];
  files: { path: string; before?: string; after?: string }[];
  moved: Moved | undefined;
  /** Old files that the call keeps as outputs. */
  kept: string[];
  ended: string | undefined;
  nodeId: string | undefined;
  /** Frame of the node; none in the run itself. */
  call: number | undefined;
}

export interface AskRow extends RowHead {
  kind: 'ask';
  callId: string;
  question: Question;
  moved: Moved | undefined;
  answer: Payload | undefined;
  /** Text that the runtime did not accept as an answer, and the reason. */
  refused: { text: Payload; why: string } | undefined;
  /** Drafts of a gate that the reply before it shows already. */
  told: string[];
  /** What the answer to a gate led to, as the model reads it. */
  result: Payload | undefined;
  nodeId: string | undefined;
  agentId: string | undefined;
  /** Frame of the node; none in the run itself. */
  call: number | undefined;
}

/** Reason why a reply is incomplete. */
export type Cut = 'length' | 'filter' | StoppedBy;

export interface ReplyRow extends RowHead {
  kind: 'reply';
  turn: number;
  agentId: string | undefined;
  nodeId: string | undefined;
  text: string;
  thinking: string;
  from: string | undefined;
  cut: Cut | undefined;
  /** Names of the drafts in the text. */
  drafts: string[];
  usage: Usage;
}

export type NoteTopic =
  | 'started'
  | 'forked'
  | 'resumed'
  | 'fresh'
  | 'retried'
  | 'overflowed'
  | 'fellBack'
  | 'noTier'
  | 'cut'
  | 'nudged'
  | 'entered'
  | 'left'
  | 'held'
  | 'agent'
  | 'dismissed'
  | 'instructed'
  | 'completed'
  | 'paused'
  | 'stopped'
  | 'waiting';

export interface NoteRow extends RowHead {
  kind: 'note';
  topic: NoteTopic;
  subject: string;
  detail: string[];
}

export type Row =
  | (RowHead & { kind: 'step'; number: number; nodeId: string; agentId: string | undefined; call: number | undefined })
  | (RowHead & { kind: 'user'; text: Payload; nodeId: string | undefined })
  | ReplyRow
  | ToolRow
  | AskRow
  | NoteRow
  | (RowHead & { kind: 'command'; command: string; reason: string; choices: Choice[]; error: MenuError | undefined })
  | (RowHead & { kind: 'run'; runId: string })
  | (RowHead & { kind: 'error'; message: string; partial: string; reason: string | undefined });

/** Reply in progress. */
export interface Live {
  key: string;
  turn: number;
  agentId: string | undefined;
  part: number;
  text: string;
  thinking: string;
}

export interface Visit {
  nodeId: string;
  call: number | undefined;
  label: string | undefined;
  /** Node at the other end of the edge that was taken. */
  from: string | undefined;
  seq: number;
  time: string;
}

/** Sub-workflow in progress or completed. */
export interface Frame {
  workflowId: string;
  call: number;
  /** Node of the caller. */
  nodeId: string;
  over: boolean;
}

/** Statistics of one node in one frame. */
export interface NodeStats {
  millis: number;
  tools: number;
  turns: number;
  refused: number;
}

export interface View {
  /** Last event that is not a delta. */
  seq: number;
  time: string;
  started: { time: string; package: string | undefined; sha256: string | undefined; workflow: string | undefined; project: string } | null;
  agentId: string | undefined;
  settings: RunSettings | null;
  rows: Row[];
  live: Live | null;
  phase: Phase | null;
  reason: string | undefined;
  message: string | undefined;
  question: AskRow | null;
  /** State of each frame; the run itself has 0. */
  states: Record<number, RunState>;
  frames: Frame[];
  visits: Visit[];
  nodes: Record<string, NodeStats>;
  artifacts: { path: string; nodeId: string | undefined; call: number | undefined; time: string }[];
  /** Artifacts that the next change of the state has yet to confirm. */
  unlisted: string[];
  turns: number;
  /** Turns before the last input, from which limits are counted. */
  turnsBefore: number;
  /** Number of stopped replies. */
  stops: number;
  usage: Usage;
  runs: string[];
  activeRun: string | undefined;
  /** Node, agent and frame of the current turn. */
  position: { nodeId: string | undefined; agentId: string | undefined; call: number | undefined; steps: number; since: string };
  /** Arguments of the calls of the last reply, by call id. */
  calls: Record<string, Payload>;
  /** Index in `rows` of each open call. */
  open: Record<string, number>;
  /** Index in `rows` of the question that was answered last. */
  lastAnswered: number | undefined;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

export function emptyView(): View {
  return {
    seq: 0,
    time: '',
    started: null,
    agentId: undefined,
    settings: null,
    rows: [],
    live: null,
    phase: null,
    reason: undefined,
    message: undefined,
    question: null,
    states: {},
    frames: [],
    visits: [],
    nodes: {},
    artifacts: [],
    unlisted: [],
    turns: 0,
    turnsBefore: 0,
    stops: 0,
    usage: NO_USAGE,
    runs: [],
    activeRun: undefined,
    position: { nodeId: undefined, agentId: undefined, call: undefined, steps: 0, since: '' },
    calls: {},
    open: {},
    lastAnswered: undefined,
  };
}
