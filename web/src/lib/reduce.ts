/**
 * Fold of events into a view. It serves a live journal, one that is loaded, and a replay up to some event: the view depends on
 * the events alone, not on batches or repeated delivery.
 */

import type { Caller, Event, RunState, StateChange, ToolCall, Usage } from './api/types';
import { type AskRow, type Live, NO_USAGE, type NodeStats, type NoteTopic, type ReplyRow, type RowHead, type ToolRow, type View } from './view';

/** Returns the view after more events. The given view does not change. */
export function reduce(view: View, events: readonly Event[]): View {
  if (events.every((event) => event.type === 'assistant.delta')) {
    // Deltas change only the reply in progress; everything else stays the same value.
    const next = { ...view };
    for (const event of events) take(next, event);
    return next;
  }
  const next: View = {
    ...view,
    rows: view.rows.slice(),
    states: { ...view.states },
    frames: view.frames.slice(),
    visits: view.visits.slice(),
    nodes: { ...view.nodes },
    artifacts: view.artifacts.slice(),
    unlisted: view.unlisted.slice(),
    usage: { ...view.usage },
    runs: view.runs.slice(),
    position: { ...view.position },
    calls: { ...view.calls },
    open: { ...view.open },
  };
  for (const event of events) take(next, event);
  return next;
}

/** Returns the key of a node of one frame. */
export const nodeKey = (nodeId: string, call: number | undefined): string => `${call ?? 0}/${nodeId}`;

/** Returns the id of the active frame: 0 for the run itself. */
export const activeFrame = (view: View): number => view.frames.findLast((frame) => !frame.over)?.call ?? 0;

function take(view: View, event: Event): void {
  if (event.type === 'assistant.delta') {
    takeDelta(view, event);
    return;
  }
  // Events may be delivered twice.
  if (event.seq <= view.seq) return;
  view.seq = event.seq;
  view.time = event.time;
  takeEvent(view, event);
}

function takeDelta(view: View, event: Extract<Event, { type: 'assistant.delta' }>): void {
  const part = event.part ?? 0;
  if (event.seq <= view.seq || (view.live && view.live.turn === event.turn && part <= view.live.part)) return;
  const live = view.live?.turn === event.turn ? view.live : newLive(view, event.turn, view.position.agentId);
  const isThought = event.channel === 'thinking';
  view.live = {
    ...live,
    part,
    text: isThought ? live.text : live.text + event.text,
    thinking: isThought ? live.thinking + event.text : live.thinking,
  };
}

/** Returns the key of a reply, the same in progress and complete, so that its row stays. A stopped reply has another one. */
const keyOf = (view: View, turn: number): string => `t${turn}.${view.stops}`;

const newLive = (view: View, turn: number, agentId: string | undefined): Live => ({ key: keyOf(view, turn), turn, agentId, part: 0, text: '', thinking: '' });

function head(event: Event): RowHead {
  return { key: `e${event.seq}`, seq: event.seq, time: event.time };
}

function note(view: View, event: Event, topic: NoteTopic, subject = '', detail: string[] = []): void {
  view.rows.push({ ...head(event), kind: 'note', topic, subject, detail });
}

function takeEvent(view: View, event: Event): void {
  switch (event.type) {
    case 'run.started':
      takeStart(view, event, event.workflow);
      setPosition(view, event, event.state, event.forkedFrom?.callers ?? []);
      if (event.forkedFrom) {
        // Steps are counted on from the run that it was forked from.
        view.position.steps = event.state.stepsCompleted.length;
        note(view, event, 'forked', event.forkedFrom.run, [event.state.currentNodeId, ...event.state.stepsCompleted]);
      }
      else note(view, event, 'started', event.workflow, [event.package]);
      break;
    case 'session.started':
      takeStart(view, event, undefined);
      view.position.agentId = event.agentId;
      break;
    case 'session.agent':
      view.agentId = event.agentId;
      view.position.agentId = event.agentId;
      note(view, event, event.agentId ? 'agent' : 'dismissed', event.agentId ?? '');
      break;
    case 'command.resolved':
      // Conversation follows as the user's input.
      if (event.command === 'Chat') break;
      view.rows.push({ ...head(event), kind: 'user', text: event.text, nodeId: undefined });
      view.rows.push({
        ...head(event),
        key: `e${event.seq}c`,
        kind: 'command',
        command: event.command,
        reason: event.reason,
        choices: event.choices ?? [],
        error: event.error,
      });
      break;
    case 'session.instructed':
      dropQuestion(view);
      note(view, event, 'instructed', event.subject, event.texts.filter((text) => typeof text === 'string'));
      break;
    case 'session.run':
      view.activeRun = event.id;
      if (event.id) {
        if (!view.runs.includes(event.id)) view.runs.push(event.id);
        view.rows.push({ ...head(event), kind: 'run', runId: event.id });
      }
      break;
    case 'run.resumed':
      takeResumed(view, event);
      break;
    case 'user.input':
      takeInput(view, event);
      break;
    case 'workflow.planned':
      break;
    case 'workflow.entered':
      view.frames.push({ workflowId: event.workflowId, call: event.call, nodeId: event.nodeId, over: false });
      view.states[event.call] = event.state;
      visit(view, event, event.state.currentNodeId, event.call, undefined, undefined);
      note(view, event, 'entered', event.workflowId);
      break;
    case 'workflow.left':
      view.frames = view.frames.map((frame) => (frame.call === event.call ? { ...frame, over: true } : frame));
      // The state of the caller follows as `state.changed`.
      note(view, event, 'left', event.workflowId, event.failed ? [event.failed] : []);
      break;
    case 'workflow.held':
      note(view, event, 'held', event.workflowId, [event.message]);
      break;
    case 'turn.started':
      takeTurn(view, event);
      break;
    case 'model.retried':
      view.live = newLive(view, event.turn, view.position.agentId);
      note(view, event, 'retried', event.message, [String(event.attempt), String(event.waitMs)]);
      break;
    case 'model.fellback':
      view.live = null;
      if (event.model === undefined) note(view, event, 'noTier', event.tier);
      else note(view, event, 'fellBack', event.model, [event.message ?? '']);
      break;
    case 'model.overflowed':
      view.live = null;
      note(view, event, 'overflowed', event.message);
      break;
    case 'assistant.message':
      takeReply(view, event);
      break;
    case 'tool.started':
      takeToolStart(view, event);
      break;
    case 'tool.finished':
      takeToolEnd(view, event);
      break;
    case 'state.changed':
      takeChange(view, event, event);
      break;
    case 'question':
      takeQuestion(view, event);
      break;
    case 'model.stopped':
      takeStopped(view, event);
      break;
    case 'phase.changed':
      takePhase(view, event);
      break;
    case 'model.nudged':
      note(view, event, 'nudged', event.kind);
      break;
    case 'context.cut':
      note(view, event, 'cut', String(event.messages));
      break;
    case 'error':
      view.live = null;
      view.rows.push({ ...head(event), kind: 'error', message: event.message, partial: event.partial ?? '', reason: undefined });
      break;
    case 'run.finished':
      // A reply without an end is over with the run.
      view.live = null;
      view.phase = event.phase;
      view.turns = Math.max(view.turns, event.turns);
      break;
    case 'assistant.delta':
      break;
    default:
      // Unknown events of a later version advance `seq` and show nothing.
      break;
  }
}

function takeStart(view: View, event: Extract<Event, { type: 'run.started' | 'session.started' }>, workflow: string | undefined): void {
  view.started = { time: event.time, package: event.package, sha256: event.packageSha256, workflow, project: event.project };
  view.agentId = event.agentId;
  view.settings = event.settings;
}

function takeResumed(view: View, event: Extract<Event, { type: 'run.resumed' }>): void {
  const last = view.rows.at(-1);
  view.live = null;
  view.turnsBefore = view.turns;
  closeCalls(view);
  if (event.settings) view.settings = event.settings;
  if (event.state) {
    // The question belonged to the position before.
    dropQuestion(view);
    setPosition(view, event, event.state, event.callers ?? []);
  }
  const hasHalted = view.phase === 'Running' || last?.kind === 'error' || (last?.kind === 'note' && (last.topic === 'paused' || last.topic === 'stopped'));
  // A run that waited for words resumes with them; that needs no row.
  if (event.fresh || event.notes?.length || hasHalted) note(view, event, event.fresh ? 'fresh' : 'resumed', '', event.notes ?? []);
}

/** Moves the view to a position: a state, and the frames of its callers. */
function setPosition(view: View, event: Event, state: RunState, callers: readonly Caller[]): void {
  const call = callers.at(-1)?.call ?? 0;
  callers.forEach((caller, at) => {
    view.states[at === 0 ? 0 : (callers[at - 1]?.call ?? 0)] = caller.state;
  });
  const isOpen = (call: number): boolean => callers.some((caller) => caller.call === call);
  view.frames = view.frames.map((frame) => ({ ...frame, over: !isOpen(frame.call) }));
  for (const { workflowId, call: number, nodeId } of callers) {
    const isKnown = view.frames.some((frame) => frame.call === number);
    if (!isKnown) view.frames.push({ workflowId, call: number, nodeId, over: false });
  }
  view.states[call] = state;
  visit(view, event, state.currentNodeId, call || undefined, undefined, undefined);
}

function takeInput(view: View, event: Extract<Event, { type: 'user.input' }>): void {
  const at = event.callId === undefined ? undefined : view.open[event.callId];
  const row = at === undefined ? undefined : view.rows[at];
  if (at !== undefined && row?.kind === 'ask') {
    view.rows[at] = { ...row, answer: event.text, refused: undefined };
    view.lastAnswered = at;
    delete view.open[row.callId];
  } else {
    view.rows.push({ ...head(event), kind: 'user', text: event.text, nodeId: event.forNodeId });
  }
  view.question = null;
  view.turnsBefore = view.turns;
}

/** Closes the open question. Its row stays without an answer. */
function dropQuestion(view: View): void {
  if (!view.question) return;
  delete view.open[view.question.callId];
  view.question = null;
}

function takeTurn(view: View, event: Extract<Event, { type: 'turn.started' }>): void {
  dropQuestion(view);
  const { position } = view;
  if (event.nodeId !== undefined && (event.nodeId !== position.nodeId || event.call !== position.call)) {
    const steps = position.steps + 1;
    view.position = { nodeId: event.nodeId, agentId: event.agentId, call: event.call, steps, since: event.time };
    view.rows.push({ ...head(event), kind: 'step', number: steps, nodeId: event.nodeId, agentId: event.agentId, call: event.call });
  } else {
    view.position = { ...position, nodeId: event.nodeId, agentId: event.agentId, call: event.call };
  }
  view.live = newLive(view, event.turn, event.agentId);
  view.phase = 'Running';
  countNode(view, (stats) => ({ ...stats, turns: stats.turns + 1 }));
}

/** Returns the reasoning of a reply. Providers use several names for it. */
function reasoningOf(extra: Record<string, unknown> | undefined): string {
  for (const name of ['reasoning_content', 'reasoning', 'reasoning_text']) {
    const text = extra?.[name];
    if (typeof text === 'string' && text) return text;
  }
  return '';
}

function takeReply(view: View, event: Extract<Event, { type: 'assistant.message' }>): void {
  view.live = null;
  view.turns += 1;
  view.usage = sum(view.usage, event.usage ?? NO_USAGE);
  view.calls = Object.fromEntries((event.toolCalls ?? []).map((call: ToolCall) => [call.id, call.function.arguments]));
  const text = event.content ?? '';
  const thinking = reasoningOf(event.extra);
  const cut = event.finish === 'length' || event.finish === 'filter' ? event.finish : undefined;
  if (text.trim() === '' && thinking === '' && cut === undefined) return;
  const drafts = (event.drafts ?? []).map(({ name }) => name);
  addReply(view, event, { text, thinking, from: event.from, cut, drafts, usage: event.usage ?? NO_USAGE });
}

function addReply(view: View, event: Event & { turn: number }, reply: Pick<ReplyRow, 'text' | 'thinking' | 'from' | 'cut' | 'drafts' | 'usage'>): void {
  const { agentId, nodeId } = view.position;
  view.rows.push({ ...head(event), key: keyOf(view, event.turn), kind: 'reply', turn: event.turn, agentId, nodeId, ...reply });
}

export function sum(one: Usage, other: Usage): Usage {
  const total: Usage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
  if (one.cachedTokens !== undefined || other.cachedTokens !== undefined) {
    total.cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0);
  }
  if (one.cost !== undefined || other.cost !== undefined) total.cost = (one.cost ?? 0) + (other.cost ?? 0);
  if (one.estimated || other.estimated) total.estimated = true;
  return total;
}

function newTool(view: View, event: Extract<Event, { type: 'tool.started' | 'tool.finished' }>): ToolRow {
  return {
    ...head(event),
    kind: 'tool',
    callId: event.callId,
    turn: event.turn,
    tool: event.tool,
    subject: undefined,
    args: view.calls[event.callId],
    status: 'running',
    result: undefined,
    refused: undefined,
    created: [],
    files: [],
    moved: undefined,
    kept: [],
    ended: undefined,
    nodeId: view.position.nodeId,
    call: view.position.call,
  };
}

/** Tools whose calls are questions. */
const QUESTIONS = new Set(['ui.ask_user', 'ui.gate']);

function takeToolStart(view: View, event: Extract<Event, { type: 'tool.started' }>): void {
  // The event `question` makes the row of a question.
  if (QUESTIONS.has(event.tool)) return;
  const row = { ...newTool(view, event), subject: event.subject, files: event.intent?.files ?? [] };
  const at = view.open[event.callId];
  // A process that resumes the run starts unfinished calls again.
  if (at !== undefined && view.rows[at]?.kind === 'tool') {
    view.rows[at] = { ...row, key: view.rows[at].key };
    return;
  }
  view.open[event.callId] = view.rows.length;
  view.rows.push(row);
}

function takeToolEnd(view: View, event: Extract<Event, { type: 'tool.finished' }>): void {
  const at = view.open[event.callId];
  const known = at === undefined ? undefined : view.rows[at];
  delete view.open[event.callId];
  // The row of the question shows the answer, and what it led to.
  if (QUESTIONS.has(event.tool) && event.refused === undefined) {
    if (event.tool === 'ui.gate') takeOutcome(view, event);
    return;
  }
  const begun = known?.kind === 'tool' ? known : newTool(view, event);
  const row: ToolRow = {
    ...begun,
    status: event.refused === undefined ? 'ok' : 'refused',
    result: event.result,
    refused: event.refused,
    created: event.created ?? [],
    ended: event.time,
  };
  if (at !== undefined && known?.kind === 'tool') view.rows[at] = row;
  else view.rows.push(row);
  countNode(view, (stats) => ({
    ...stats,
    tools: stats.tools + 1,
    refused: stats.refused + (event.refused === undefined ? 0 : 1),
  }));
  for (const path of event.created ?? []) {
    addArtifact(view, path, event.time);
    view.unlisted.push(path);
  }
  const removed = (event.wrote ?? []).filter((one) => one.sha256 === undefined).map((one) => one.path);
  if (removed.length > 0) view.artifacts = view.artifacts.filter((artifact) => !removed.includes(artifact.path));
}

const isGate = (row: AskRow): boolean => row.question.kind === 'gate';

/** Adds to a gate what its answer led to. */
function takeOutcome(view: View, event: Extract<Event, { type: 'tool.finished' }>): void {
  const at = view.rows.findLastIndex((row) => row.kind === 'ask' && row.callId === event.callId);
  const row = view.rows[at];
  if (row?.kind === 'ask') view.rows[at] = { ...row, result: event.result };
}

function addArtifact(view: View, path: string, time: string): void {
  if (view.artifacts.some((artifact) => artifact.path === path)) return;
  view.artifacts.push({ path, nodeId: view.position.nodeId, call: view.position.call, time });
}

function takeChange(view: View, event: Event, change: StateChange): void {
  view.states[change.call ?? 0] = change.state;
  const listed = change.state.artifacts ?? [];
  // A file that the state leaves out is a copy of an output, or is gone.
  const isLeftOut = (path: string): boolean => view.unlisted.includes(path) && !listed.includes(path);
  view.artifacts = view.artifacts.filter((artifact) => !isLeftOut(artifact.path));
  view.unlisted = [];
  for (const path of listed) addArtifact(view, path, event.time);
  if (change.kept?.length) keepRow(view, change.kept);
  if (!change.moved) return;
  leaveNode(view, event.time, change.moved.from, change.call);
  visit(view, event, change.moved.to, change.call, change.moved.label, change.moved.from);
  const last = view.rows.findLastIndex((row) => row.kind === 'tool' || (row.kind === 'ask' && isGate(row)));
  const row = view.rows[last];
  const isTold = row?.kind === 'ask' ? row.answer !== undefined : row?.kind === 'tool' && row.status === 'ok';
  if (row && isTold && event.type === 'state.changed') view.rows[last] = { ...row, moved: change.moved } as typeof row;
}

/** Notes the old files that the last call keeps as outputs. */
function keepRow(view: View, kept: string[]): void {
  const last = view.rows.findLastIndex((row) => row.kind === 'tool');
  const row = view.rows[last];
  if (row?.kind === 'tool' && row.status === 'ok') view.rows[last] = { ...row, kept };
}

function visit(
  view: View,
  event: Event,
  nodeId: string,
  call: number | undefined,
  label: string | undefined,
  from: string | undefined,
): void {
  const last = view.visits.at(-1);
  if (last && last.nodeId === nodeId && last.call === call && from === undefined) return;
  view.visits.push({ nodeId, call, label, from, seq: event.seq, time: event.time });
}

const NO_STATS: NodeStats = { millis: 0, tools: 0, turns: 0, refused: 0 };

function countNode(view: View, change: (stats: NodeStats) => NodeStats): void {
  const { nodeId, call } = view.position;
  if (nodeId === undefined) return;
  const key = nodeKey(nodeId, call);
  view.nodes[key] = change(view.nodes[key] ?? NO_STATS);
}

function leaveNode(view: View, time: string, nodeId: string, call: number | undefined): void {
  if (view.position.nodeId !== nodeId || view.position.call !== call || !view.position.since) return;
  const millis = Math.max(0, Date.parse(time) - Date.parse(view.position.since));
  countNode(view, (stats) => ({ ...stats, millis: stats.millis + millis }));
  view.position.since = '';
}

/** Returns the drafts in the last reply, unless a call followed it that may have changed them. */
function told(view: View): string[] {
  const last = view.rows.at(-1);
  return last?.kind === 'reply' ? last.drafts : [];
}

function takeQuestion(view: View, event: Extract<Event, { type: 'question' }>): void {
  const { question, kind, options, multi, schema, approval, show } = event;
  const row: AskRow = {
    ...head(event),
    kind: 'ask',
    callId: event.callId,
    question: { question, kind: kind ?? 'text', options, multi, schema, approval, show },
    moved: event.moved,
    answer: undefined,
    refused: undefined,
    told: told(view),
    result: undefined,
    nodeId: view.position.nodeId,
    agentId: view.position.agentId,
    call: view.position.call,
  };
  view.open[event.callId] = view.rows.length;
  view.rows.push(row);
  view.question = row;
}

/** Reasons that other rows explain already. */
const QUIET = new Set(['question', 'stop-point']);

function takePhase(view: View, event: Extract<Event, { type: 'phase.changed' }>): void {
  view.phase = event.phase;
  view.reason = event.reason;
  view.message = event.message;
  if (event.phase !== 'Running') view.live = null;
  const detail = event.message ? [event.message] : [];
  if (event.phase === 'Completed') note(view, event, 'completed', '', detail);
  // The user who paused it needs no reason.
  else if (event.phase === 'Paused') {
    const last = view.rows.at(-1);
    const isFork = last?.kind === 'note' && last.topic === 'forked';
    if (!isFork) note(view, event, event.reason === 'stopped' ? 'stopped' : 'paused');
  }
  else if (event.phase === 'Failed') {
    closeCalls(view);
    takeFailure(view, event);
  }
  else if (event.reason === 'question' && event.message) reopenQuestion(view, event.message);
  else if (event.phase === 'WaitingUser' && !QUIET.has(event.reason ?? 'stop-point')) {
    note(view, event, 'waiting', event.reason ?? '', detail);
  }
}

/** Keeps the partial text of a stopped reply; the next request starts a new reply. */
function takeStopped(view: View, event: Extract<Event, { type: 'model.stopped' }>): void {
  view.live = null;
  if (event.partial) addReply(view, event, { text: event.partial, thinking: '', from: undefined, cut: event.by, drafts: [], usage: NO_USAGE });
  view.stops += 1;
}

/** Reopens the question whose answer was refused, with the reason. */
function reopenQuestion(view: View, why: string): void {
  const row = view.lastAnswered === undefined ? undefined : view.rows[view.lastAnswered];
  if (view.lastAnswered === undefined || row?.kind !== 'ask' || row.answer === undefined) return;
  view.question = { ...row, answer: undefined, refused: { text: row.answer, why } };
  view.rows[view.lastAnswered] = view.question;
  view.open[row.callId] = view.lastAnswered;
}

function takeFailure(view: View, event: Extract<Event, { type: 'phase.changed' }>): void {
  const last = view.rows.at(-1);
  // The event before it holds the error.
  if (last?.kind === 'error' && (!event.message || last.message === event.message)) {
    view.rows[view.rows.length - 1] = { ...last, reason: event.reason };
    return;
  }
  view.rows.push({ ...head(event), kind: 'error', message: event.message ?? '', partial: '', reason: event.reason });
}

/** Marks calls in progress as unfinished: their process has ended. */
function closeCalls(view: View): void {
  for (const [callId, at] of Object.entries(view.open)) {
    const row = view.rows[at];
    if (row?.kind === 'tool') {
      view.rows[at] = { ...row, status: 'unfinished' };
      // The next process may start it again under the same id.
      view.open[callId] = at;
    }
  }
}
