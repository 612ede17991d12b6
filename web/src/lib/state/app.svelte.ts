/** State of the app: the program, projects, packages, lists of works, and the stream that keeps them current. */

import { api, faultOf, whenLocked } from '../api/client';
import { shareConnections } from '../api/hidden';
import { type Link, nameOf, Stream } from '../api/stream';
import { nextPaint } from '../paint';
import { dismissCode } from './toasts.svelte';
import type {
  Program,
  Conversation,
  Event,
  Fault,
  Flaw,
  JournalId,
  Models,
  RunStatus,
  Package,
  PackageContent,
  Project,
  RunItem,
  Status,
} from '../api/types';

/** Time that a reconnection may take before the user hears of it. */
const MILLISECONDS_TO_RECONNECT = 1200;

/** Subscriber of a journal. */
export interface Sink {
  take(event: Event): void;
  rewind(seq: number): void;
}

class AppState {
  program = $state.raw<Program | null>(null);
  projects = $state.raw<Project[]>([]);
  damagedProjects = $state.raw<Flaw[]>([]);
  packages = $state.raw<Package[]>([]);
  models = $state.raw<Models>({ models: [], profiles: [] });
  conversations = $state.raw<Conversation[]>([]);
  runs = $state.raw<RunItem[]>([]);
  /** Number of older runs of the project that are not in the list. */
  olderRuns = $state(0);
  hasOlderConversations = $state(false);
  /** True once the lists of the project were fetched. */
  listed = $state(false);
  project = $state.raw<Project | null>(null);
  link = $state<Link>('connecting');
  /** True if the server has not been reached for a while. A stream that only follows other journals is back before. */
  isLost = $state(false);
  fault = $state.raw<Fault | null>(null);
  ready = $state(false);
  #sinks = new Map<string, Sink>();
  #contents = new Map<string, Promise<PackageContent | null>>();
  #listeners = new Set<(notice: RunStatus | null) => void>();
  #pendingNotices: RunStatus[] = [];
  #wanted: string | undefined;
  #refresh: ReturnType<typeof setTimeout> | undefined;
  #lossTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #stream = new Stream({
    event: (journal, event) => {
      this.#sinks.get(nameOf(journal))?.take(event);
    },
    rewind: (journal, seq) => this.#sinks.get(nameOf(journal))?.rewind(seq),
    notice: (notice) => this.#notice(notice),
    hello: () => void this.#resync(),
    link: (link) => {
      this.link = link;
      this.#watchLink();
      // An EventSource hides the status of a refusal; a request shows it.
      if (link === 'lost') void api.app().catch(() => undefined);
    },
  });

  /** Loads the lists, then opens the stream. */
  async begin(): Promise<void> {
    whenLocked((fault) => {
      this.#stream.close();
      this.fault = fault;
    });
    try {
      await Promise.all([this.refreshProgram(), this.refreshProjects(), this.refreshPackages()]);
      this.fault = null;
      await shareConnections(this.#stream);
      this.#stream.open();
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.ready = true;
  }

  reconnect(): void {
    this.#stream.open();
  }

  /** Reconnects after the network was lost: the server on this computer may still be reachable. */
  recheckConnection(): void {
    if (this.ready && !this.fault) this.reconnect();
  }

  /** Reconnects at once after sleep, or when the network is back. */
  reconnectIfLost(): void {
    if (this.link !== 'open' && !document.hidden) this.recheckConnection();
  }

  /** Says that the connection is lost once it has been away for longer than a reconnection takes, and withdraws that. */
  #watchLink(): void {
    if (this.link !== 'open') {
      // Further attempts do not begin the time anew. A hidden page may be without a stream.
      if (!document.hidden) this.#lossTimer ??= setTimeout(() => (this.isLost = true), MILLISECONDS_TO_RECONNECT);
      return;
    }
    clearTimeout(this.#lossTimer);
    this.#lossTimer = undefined;
    dismissCode('offline');
    this.isLost = false;
  }

  async refreshProgram(): Promise<void> {
    [this.program, this.models] = await Promise.all([api.app(), api.models()]);
  }

  async refreshProjects(): Promise<void> {
    const { projects, damaged } = await api.projects();
    this.projects = projects;
    this.damagedProjects = damaged;
  }

  async refreshPackages(): Promise<void> {
    this.packages = (await api.packages()).packages;
    // A package may have been imported again with other content.
    this.#contents.clear();
  }

  /** Loads the lists of a project. */
  async enter(project: string | undefined): Promise<void> {
    this.#wanted = project;
    if (project === this.project?.id) return;
    this.project = null;
    [this.conversations, this.runs, this.listed] = [[], [], false];
    if (project === undefined) return;
    const found = await api.project(project);
    if (project !== this.#wanted) return;
    this.project = found;
    try {
      await this.refreshLists();
    } catch (thrown) {
      // The next call tries again.
      if (this.project === found) this.project = null;
      throw thrown;
    }
  }

  /** Checks again whether the folder and the package of the project exist. */
  async refreshProject(): Promise<void> {
    const id = this.project?.id;
    const found = id === undefined ? undefined : await api.project(id);
    if (found && found.id === this.project?.id) this.project = found;
  }

  async refreshLists(): Promise<void> {
    const project = this.project?.id;
    if (project === undefined) return;
    const [conversations, runs] = await Promise.all([api.conversations({ project }), api.runs({ project })]);
    if (project !== this.project?.id) return;
    this.conversations = conversations.conversations;
    this.runs = runs.runs;
    // `total` includes damaged runs.
    this.olderRuns = runs.total - runs.runs.length - runs.damaged.length;
    this.hasOlderConversations = conversations.more;
    this.listed = true;
  }

  /** Subscribes a sink to a journal after a cursor. */
  follow(journal: JournalId, sink: Sink, cursor: string): void {
    this.#sinks.set(nameOf(journal), sink);
    this.#stream.follow(journal, cursor);
  }

  /** Unsubscribes a sink. */
  leave(journal: JournalId, sink: Sink): void {
    // Another sink may have replaced it.
    if (this.#sinks.get(nameOf(journal)) !== sink) return;
    this.#sinks.delete(nameOf(journal));
    this.#stream.unfollow(journal);
  }

  /** Returns the content of a package; cached until the packages change. */
  content(reference: string): Promise<PackageContent | null> {
    let content = this.#contents.get(reference);
    if (!content) {
      content = api.package(reference).catch(() => {
        this.#contents.delete(reference);
        return null;
      });
      this.#contents.set(reference, content);
    }
    return content;
  }

  /** Registers a listener for notices. It gets `null` when notices may have been missed. */
  onNotice(listener: (notice: RunStatus | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notice(notice: RunStatus): void {
    this.#pendingNotices.push(notice);
    if (this.#pendingNotices.length === 1) nextPaint(() => this.#applyNotices());
  }

  /** Applies pending notices to the lists in one update. */
  #applyNotices(): void {
    const fresh = this.#pendingNotices;
    this.#pendingNotices = [];
    const about = (kind: JournalId['kind'], id: string): RunStatus[] => fresh.filter(({ journal }) => journal.kind === kind && journal.id === id);
    this.runs = this.runs.map((run) => about('run', run.id).reduce(applyNotice, run));
    this.conversations = this.conversations.map((conversation) => about('conversation', conversation.id).reduce((one, { atWork, phase, asks }) => ({ ...one, atWork, phase, asks }), conversation));
    for (const notice of fresh) for (const listener of this.#listeners) listener(notice);
    // New entries, titles and times come with the lists; one request serves many notices.
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.refreshLists().catch(() => undefined);
    }, 400);
  }

  /** Refreshes after a stream began, because earlier notices were missed. */
  async #resync(): Promise<void> {
    await this.refreshLists().catch(() => undefined);
    for (const listener of this.#listeners) listener(null);
  }
}

const STATUS: Record<string, Status> = {
  Running: 'running',
  WaitingUser: 'waiting-user',
  Paused: 'paused',
  Completed: 'completed',
  Failed: 'failed',
};

function applyNotice(run: RunItem, notice: RunStatus): RunItem {
  return {
    ...run,
    atWork: notice.atWork,
    status: notice.phase ? (STATUS[notice.phase] ?? run.status) : run.status,
    reason: notice.reason,
    message: notice.message,
    asks: notice.asks,
    currentNode: notice.currentNode ?? run.currentNode,
    stepsCompleted: notice.stepsCompleted ?? run.stepsCompleted,
    updated: notice.time,
  };
}

export const app = new AppState();
