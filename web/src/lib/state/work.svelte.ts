/** State of an open work: a conversation with its runs, or a run by itself. */

import { tick, untrack } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { api, faultOf } from '../api/client';
import type { Reaction, ConversationDetail, Fault, JournalId, RunStatus, PackageContent, Picture, ResumeRequest, RunDetail, UserMessage } from '../api/types';
import { activeFrame } from '../reduce';
import type { View } from '../view';
import { slashCommand } from '../slash';
import { isAtLimit, idleLook, needsWords } from '../idle';
import type { Look } from '../status';
import { type Grouped, merge, NOTHING, regroup, type Shown } from '../rows';
import { app } from './app.svelte';
import { files } from './files.svelte';
import { JournalState } from './journal.svelte';
import { shell } from './shell.svelte';
import { draft, keepDraft, queueOf } from './drafts';
import { attempt, toast } from './toasts.svelte';

export interface Step {
  what: 'fork' | 'back';
  run: string;
  seq: number;
  nodeId?: string;
  call?: number;
}

/** Message that waits until the model is idle, with the model chosen for it. */
export interface Queued {
  text: string;
  model?: string | undefined;
}

/** Attempts after which a run that is not found counts as removed. */
const TRIES = 4;

function orNull(thrown: unknown): null {
  if (faultOf(thrown).code === 'not-found') return null;
  throw thrown;
}

/** Works without a screen that still have messages to send. */
const background = new Map<string, Work>();

/** Returns the work of a journal: one that still sends its queue, or a new one. */
export function workOf(journal: JournalId): Work {
  let work = background.get(journal.id);
  background.delete(journal.id);
  if (work) return work;
  // Its effects outlive the screen that opened it.
  const end = $effect.root(() => {
    work = new Work(journal, () => end());
    work.watch();
  });
  return work as unknown as Work;
}

const isQueue = (stored: unknown): stored is Queued[] => Array.isArray(stored) && stored.every((one) => typeof (one as Queued | null)?.text === 'string');

export class Work {
  readonly journal: JournalId;
  main = $state.raw<JournalState | null>(null);
  runs = $state.raw<JournalState[]>([]);
  conversation = $state.raw<ConversationDetail | null>(null);
  detail = $state.raw<RunDetail | null>(null);
  content = $state.raw<PackageContent | null>(null);
  fault = $state.raw<Fault | null>(null);
  /** Node that the user selected in the graph. */
  selected = $state.raw<{ nodeId: string; call: number } | null>(null);
  /** Frame that the user chose for the graph; none follows the active one. */
  chosenFrame = $state<number | null>(null);
  /** Step to fork or to revert, identified by an event in it or by its node. */
  step = $state.raw<Step | null>(null);
  /** Event that the replay shows. */
  replay = $state<number | null>(null);
  /** Scrolls a row into view; set while the list is mounted. */
  reveal: ((seq: number, journal: string) => void) | null = null;
  /** Puts words into the composer, for the user to change; set while it is mounted. */
  compose: ((text: string) => void) | null = null;
  /** A message is being sent. No other one is sent before the response. */
  sending = $state(false);
  /** Model for the next message; none keeps the current one. */
  model = $state<string | undefined>(undefined);
  /** Last answer, and the `seq` of its journal then: the next event shows its effect. */
  #given = $state.raw<{ callId: string; seq: number } | null>(null);
  #isHalting = $state(false);
  /** Messages written while the model is at work. */
  queued = $state.raw<readonly Queued[]>([]);
  /** True if the queue is sent when the model is idle. A queue restored from storage, or refused, waits for the user. */
  autoSend = $state(false);
  /** Rows that the user opened or closed. */
  readonly open = new SvelteMap<string, boolean>();
  readonly removed = new SvelteSet<string>();
  #isGone = false;
  readonly #end: () => void;
  #followed = new Set<string>();
  /** Failed attempts to find a run. */
  #missed = new Map<string, number>();
  /** Last list of each journal. */
  #grouped = new WeakMap<JournalState, Grouped>();

  constructor(journal: JournalId, end: () => void) {
    this.journal = journal;
    this.#end = end;
    this.queued = draft(queueOf(journal.id), isQueue) ?? [];
  }

  /** Run that the inspector shows. */
  readonly run = $derived.by((): JournalState | null => {
    if (this.journal.kind === 'run') return this.main;
    const { activeRun, runs = [] } = this.main?.view ?? {};
    const wanted = activeRun ?? runs.findLast((id) => !this.removed.has(id));
    return this.runs.find((run) => run.journal.id === wanted) ?? null;
  });

  /** View of that run: current, or at the event of the replay. */
  readonly runView = $derived.by((): View | null => {
    if (!this.run) return null;
    return this.replay === null ? this.run.view : this.run.at(this.replay);
  });

  readonly #made = $derived((this.runView?.artifacts ?? []).map(({ path }) => path).sort((one, other) => other.length - one.length).join('\n'));

  /** Finds the files that the run made in a text that names them. */
  readonly fileNames = $derived.by((): RegExp | null => {
    if (this.#made === '') return null;
    const names = this.#made.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\n', '|');
    return new RegExp(`(?<![\\w/.-])((?:@project/)?(?:${names}))(?![\\w/-])`);
  });

  /** Journal that receives the user's messages. */
  readonly recipient = $derived.by((): JournalState | null => {
    const active = this.main?.view.activeRun;
    return active !== undefined && !this.removed.has(active) ? this.run : this.main;
  });

  /** Question that the next message answers. */
  readonly question = $derived(this.recipient?.view.question ?? null);

  readonly rows = $derived.by((): Shown[] => {
    const main = this.#rowsOf(this.main);
    return this.runs.length === 0 ? main : merge([main, ...this.runs.map((run) => this.#rowsOf(run))]);
  });

  #rowsOf(state: JournalState | null): Shown[] {
    if (!state) return [];
    const isReplayed = this.replay !== null && state === this.run;
    const rows = isReplayed && this.runView ? this.runView.rows : state.view.rows;
    const grouped = regroup(this.#grouped.get(state) ?? NOTHING, rows, state.journal.id, state !== this.main);
    this.#grouped.set(state, grouped);
    return grouped.shown;
  }

  readonly atWork = $derived.by((): boolean => {
    const { id, kind } = this.journal;
    if (kind === 'conversation') {
      const own = app.conversations.find((conversation) => conversation.id === id);
      return own?.atWork ?? this.recipient?.view.phase === 'Running';
    }
    const own = app.runs.find((run) => run.id === id);
    return own?.atWork ?? this.main?.view.phase === 'Running';
  });

  /** True between the request to pause and the end of the current call. */
  readonly pausing = $derived(this.#isHalting && this.atWork);

  /** True while no message can be sent, so that a fast second one does not answer the next question. */
  readonly busy = $derived.by((): boolean => {
    const given = this.#given;
    const isUnheard = given !== null && given.callId === this.question?.callId && given.seq === this.recipient?.view.seq;
    return this.atWork || this.sending || isUnheard || this.blocked !== undefined;
  });

  readonly look = $derived.by((): Look => {
    const view = this.recipient?.view;
    if (!view) return 'ready';
    if (this.atWork) return 'running';
    return idleLook(view, this.recipient?.journal.kind === 'conversation');
  });

  /** True if the process ended in the middle of the run. */
  readonly wasCut = $derived(this.look === 'paused' && this.recipient?.view.phase === 'Running');

  readonly frame = $derived(this.chosenFrame ?? (this.runView ? activeFrame(this.runView) : 0));

  readonly blocked = $derived(this.conversation?.blocked ?? this.detail?.blocked);

  /** True if it stopped before its end, and not for an answer. */
  readonly isHalted = $derived.by((): boolean => {
    const view = this.recipient?.view;
    const hasStopped = this.look === 'paused' || this.look === 'failed' || (view !== undefined && isAtLimit(view));
    return hasStopped && !this.atWork && this.replay === null && !this.blocked;
  });

  /** True if the user can resume it without words. */
  readonly canResume = $derived(this.isHalted && !(this.look === 'waiting' && needsWords(this.recipient?.view.reason)));

  /** Returns the graph of a frame. */
  graphOf(call: number): Picture | undefined {
    const view = this.runView;
    if (call === 0) {
      const reference = view?.started?.workflow;
      const found = this.content?.workflows.find((one) => one.reference === reference || one.graph.title === reference);
      return this.detail?.graph ?? found?.graph;
    }
    const id = view?.frames.find((frame) => frame.call === call)?.workflowId;
    return this.content?.workflows.find((one) => one.reference === id)?.graph;
  }

  nodeTitle(nodeId: string, call: number): string {
    const graphs = [this.graphOf(call), ...(this.content?.workflows.map((one) => one.graph) ?? [])];
    const found = graphs.flatMap((graph) => graph?.nodes ?? []).find((node) => node.id === nodeId);
    return found?.title ?? nodeId;
  }

  agentName(id: string | undefined): string {
    return this.content?.agents.find((agent) => agent.id === id)?.name ?? id ?? '';
  }

  agentIcon(id: string | undefined): string {
    return this.content?.agents.find((agent) => agent.id === id)?.icon ?? '';
  }

  agentTitle(id: string | undefined): string {
    return this.content?.agents.find((agent) => agent.id === id)?.title ?? '';
  }

  async load(): Promise<void> {
    // It was in the background, and another work may have followed its journals since.
    if (this.main) return [this.main, ...this.runs].forEach((one) => this.#follow(one));
    try {
      await this.refresh();
      this.main = await this.#look(this.journal);
      if (this.#isGone) return;
      if (this.main.fault) this.fault = this.main.fault;
      this.#follow(this.main);
      await this.followRuns();
      const started = this.run?.view.started ?? this.main.view.started;
      const reference = started?.sha256 ?? this.conversation?.package;
      if (reference) this.content = await app.content(reference);
      this.autoSend ||= this.atWork;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
  }

  async #look(journal: JournalId): Promise<JournalState> {
    const state = new JournalState(journal);
    await state.load();
    return state;
  }

  /** Follows a journal from the end of what was loaded; loads it again after a gap. */
  #follow(state: JournalState): void {
    if (state.fault) return;
    app.follow(state.journal, state, state.cursor);
    state.ongap = () => void state.load().then(() => this.#isGone || this.#follow(state));
  }

  async refresh(): Promise<void> {
    if (this.journal.kind === 'conversation') {
      this.conversation = await api.conversation(this.journal.id);
      const run = this.conversation.activeRun ?? this.conversation.runs.at(-1);
      // The conversation stays usable without a removed run.
      this.detail = run ? await api.run(run).catch(orNull) : null;
    } else this.detail = await api.run(this.journal.id);
  }

  /** Follows the runs that the conversation has started so far. */
  async followRuns(): Promise<void> {
    const ids = this.main?.view.runs ?? [];
    const missing = ids.filter((id) => !this.#followed.has(id) && !this.removed.has(id));
    if (missing.length === 0) return;
    for (const id of missing) this.#followed.add(id);
    const found = await Promise.all(missing.map((id) => this.#look({ kind: 'run', id })));
    if (this.#isGone) return;
    for (const run of found) this.#follow(run);
    for (const { fault, journal } of found) {
      if (!fault) continue;
      this.#followed.delete(journal.id);
      if (fault.code !== 'not-found') continue;
      // The event may arrive before the run is readable.
      const tries = (this.#missed.get(journal.id) ?? 0) + 1;
      this.#missed.set(journal.id, tries);
      if (tries >= TRIES) this.removed.add(journal.id);
      else setTimeout(() => !this.#isGone && void this.followRuns(), 250);
    }
    this.runs = [...this.runs, ...found.filter((run) => !run.fault)];
    const reference = this.run?.view.started?.sha256;
    if (!this.content && reference) this.content = await app.content(reference);
    await this.refresh().catch(() => undefined);
  }

  /** Reacts to events and notices until it is closed. */
  watch(): void {
    const atWork = new Map<string, boolean>();
    const onNotice = (notice: RunStatus | null): void => {
      const isOwn = !notice || notice.journal.id === this.journal.id || this.runs.some((run) => run.journal.id === notice.journal.id);
      // While it stays at work, the journal says everything that changes.
      const isSame = notice?.atWork === true && atWork.get(notice.journal.id) === true;
      if (notice) atWork.set(notice.journal.id, notice.atWork);
      if (isOwn && !isSame) void this.#settle();
    };
    $effect(() => app.onNotice(onNotice));
    // The view changes with every event; this effect depends on the number of runs alone.
    const started = $derived(this.main?.view.runs.length);
    $effect(() => {
      void started;
      void untrack(() => this.followRuns());
    });
    // The queue was held back while events were missing here.
    $effect(() => {
      if (this.recipient?.view.seq) void untrack(() => this.sayQueued());
    });
  }

  /** Refreshes after the worker became idle or started. */
  async #settle(): Promise<void> {
    await this.refresh().catch(() => undefined);
    await this.followRuns();
    await this.sayQueued();
    if (background.get(this.journal.id) === this) this.leave();
  }

  /** Detaches the screen. The work stays in the background while its queue is being sent. */
  leave(): void {
    this.replay = null;
    if (this.autoSend && this.queued.length > 0) background.set(this.journal.id, this);
    else this.close();
  }

  close(): void {
    if (background.get(this.journal.id) === this) background.delete(this.journal.id);
    this.#end();
    this.#isGone = true;
    for (const one of this.main ? [this.main, ...this.runs] : this.runs) app.leave(one.journal, one);
  }

  /** Sends a message, or queues it while the model is at work. */
  async say(text: string): Promise<Reaction | 'queued' | undefined> {
    if (this.atWork) {
      this.#setQueue([...this.queued, { text, model: this.model }]);
      this.autoSend = true;
      return 'queued';
    }
    if (this.busy) return undefined;
    return this.#send({ text, model: this.model, answers: this.#asked(text) });
  }

  /** Answers this question, and no later one. */
  async answer(callId: string, text: string): Promise<void> {
    if (!this.busy) await this.#send({ text, model: this.model, answers: callId });
  }

  /** Sends a slash command to the conversation. */
  async command(text: string): Promise<void> {
    if (!this.busy) await this.#send({ text });
    await this.refresh().catch(() => undefined);
  }

  async #send(message: UserMessage): Promise<Reaction | undefined> {
    const seq = this.recipient?.view.seq ?? 0;
    [this.sending, this.#isHalting] = [true, false];
    const reaction = await attempt(() => api.say(this.journal, message));
    this.sending = false;
    this.autoSend = reaction !== undefined;
    if (reaction && message.answers !== undefined) this.#given = { callId: message.answers, seq };
    // Its package or project may be gone.
    if (!reaction) await this.refresh().catch(() => undefined);
    return reaction;
  }

  /** Returns the call id of the question that a text answers. A command answers none. */
  #asked(text: string): string | undefined {
    return slashCommand(text) ? undefined : this.question?.callId;
  }

  /** Sends the first queued message, if the model is idle and asks nothing. */
  async sayQueued(): Promise<void> {
    const [next] = this.queued;
    if (!next || !this.autoSend || this.busy || this.question || !this.recipient) return;
    this.sending = true;
    // An event that has not arrived yet may be a question; the next event tries again.
    const { journal, view } = this.recipient;
    const isKnown = await api.events(journal, view.seq, 1).then((page) => page.events.length === 0, () => false);
    this.sending = false;
    if (isKnown && !this.atWork && !this.question) await this.release(next);
  }

  /** Sends a queued message now, as the answer to an open question. It stays queued if it is refused. */
  async release(one: Queued): Promise<void> {
    if (this.busy || !this.queued.includes(one)) return;
    const reaction = await this.#send({ ...one, answers: this.#asked(one.text) });
    if (reaction?.kind === 'refused') {
      this.autoSend = false;
      toast({ tone: 'err', code: 'command', message: reaction.message });
    } else if (reaction) this.unqueue(one);
  }

  unqueue(one: Queued): void {
    this.#setQueue(this.queued.filter((other) => other !== one));
  }

  #setQueue(queued: readonly Queued[]): void {
    this.queued = queued;
    keepDraft(queueOf(this.journal.id), queued);
  }

  /** Stops the run and holds the queue: sending it would resume the run. */
  stop(): Promise<unknown> {
    this.autoSend = false;
    return attempt(() => api.stop(this.journal));
  }

  async pause(): Promise<void> {
    [this.autoSend, this.#isHalting] = [false, true];
    if (!(await attempt(() => api.pause(this.journal)))) this.#isHalting = false;
  }

  /** Resumes it, with another model or other settings if they are given. */
  resume(body: ResumeRequest = {}): Promise<unknown> {
    this.#isHalting = false;
    return attempt(() => api.resume(this.journal, body));
  }

  /** Makes one of its runs the active one again and resumes it. */
  async enter(run: string): Promise<void> {
    await attempt(() => api.enterRun(this.journal.id, run));
    await this.refresh().catch(() => undefined);
  }

  /** Shows the run as it was at an event, in the conversation, in front of a file or the inspector. */
  showMoment(seq: number): void {
    [files.current, shell.overlay] = [null, null];
    this.replay = seq;
  }

  /** Shows a row of the conversation, in front of a file or the inspector. */
  showRow(seq: number, journal: string): void {
    [files.current, shell.overlay] = [null, null];
    void tick().then(() => this.reveal?.(seq, journal));
  }
}
