/** What the whole app knows: the program, projects, packages, lists of works and runs, and the stream that keeps them true. */

import { api, faultOf, whenLocked } from '../api/client';
import { type Link, nameOf, Stream } from '../api/stream';
import { nextPaint } from '../paint';
import type {
  AppFacts,
  Conversation,
  Event,
  Fault,
  Flaw,
  Journal,
  Models,
  Notice,
  Package,
  PackageContent,
  Project,
  RunItem,
  Status,
} from '../api/types';

/** Somebody who follows a journal. */
export interface Sink {
  take(event: Event): void;
  rewind(seq: number): void;
}

class AppState {
  facts = $state.raw<AppFacts | null>(null);
  projects = $state.raw<Project[]>([]);
  damagedProjects = $state.raw<Flaw[]>([]);
  packages = $state.raw<Package[]>([]);
  models = $state.raw<Models>({ models: [], profiles: [] });
  conversations = $state.raw<Conversation[]>([]);
  runs = $state.raw<RunItem[]>([]);
  /** Older runs of the project that are not in the list. */
  olderRuns = $state(0);
  /** Whether there are older conversations than those in the list. */
  hasOlderConversations = $state(false);
  /** Whether the lists of the project are known; one that was not fetched yet is not empty. */
  listed = $state(false);
  project = $state.raw<Project | null>(null);
  link = $state<Link>('connecting');
  fault = $state.raw<Fault | null>(null);
  ready = $state(false);
  #sinks = new Map<string, Sink>();
  #contents = new Map<string, Promise<PackageContent | null>>();
  #listeners = new Set<(notice: Notice | null) => void>();
  #pendingNotices: Notice[] = [];
  #wanted: string | undefined;
  #refresh: ReturnType<typeof setTimeout> | undefined;
  readonly #stream = new Stream({
    event: (journal, event) => {
      this.#sinks.get(nameOf(journal))?.take(event);
    },
    rewind: (journal, seq) => this.#sinks.get(nameOf(journal))?.rewind(seq),
    notice: (notice) => this.#notice(notice),
    hello: () => void this.#resync(),
    link: (link) => {
      this.link = link;
      // The stream does not say why it was refused; a request does.
      if (link === 'lost') void api.app().catch(() => undefined);
    },
  });

  /** Gets to know the program; the stream begins then. */
  async begin(): Promise<void> {
    whenLocked((fault) => {
      this.#stream.close();
      this.fault = fault;
    });
    try {
      await Promise.all([this.refreshFacts(), this.refreshProjects(), this.refreshPackages()]);
      this.fault = null;
      this.#stream.open();
      void import('../api/hidden').then(({ shareConnections }) => shareConnections(() => this.#stream.suspend()));
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.ready = true;
  }

  reconnect(): void {
    this.#stream.open();
  }

  /** The network is gone. The server is on this computer and may be there all the same: that is tried out. */
  recheckConnection(): void {
    if (this.ready && !this.fault) this.reconnect();
  }

  /** The computer woke up, or the network is back: nobody waits for the next try. */
  reconnectIfLost(): void {
    if (this.link !== 'open' && !document.hidden) this.recheckConnection();
  }

  async refreshFacts(): Promise<void> {
    [this.facts, this.models] = await Promise.all([api.app(), api.models()]);
  }

  async refreshProjects(): Promise<void> {
    const { projects, damaged } = await api.projects();
    this.projects = projects;
    this.damagedProjects = damaged;
  }

  async refreshPackages(): Promise<void> {
    this.packages = (await api.packages()).packages;
    // One may have been imported anew, with other content.
    this.#contents.clear();
  }

  /** Makes a project the one that lists are about. */
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
      // It can be entered again.
      if (this.project === found) this.project = null;
      throw thrown;
    }
  }

  /** Looks whether the folder and the package of the project are there now. */
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
    // Those that cannot be read are counted, too.
    this.olderRuns = runs.total - runs.runs.length - runs.damaged.length;
    this.hasOlderConversations = conversations.more;
    this.listed = true;
  }

  /** Tells a sink what happens in a journal behind this place. */
  follow(journal: Journal, sink: Sink, cursor: string): void {
    this.#sinks.set(nameOf(journal), sink);
    this.#stream.follow(journal, cursor);
  }

  /** Nobody looks at it any more. */
  leave(journal: Journal, sink: Sink): void {
    // The next one may be there already.
    if (this.#sinks.get(nameOf(journal)) !== sink) return;
    this.#sinks.delete(nameOf(journal));
    this.#stream.unfollow(journal);
  }

  /** What is in a package, asked for once while the packages stay as they are. */
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

  /** Calls back when a run or a conversation comes to rest or goes on; without a notice when some may have been missed. */
  onNotice(listener: (notice: Notice | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notice(notice: Notice): void {
    this.#pendingNotices.push(notice);
    if (this.#pendingNotices.length === 1) nextPaint(() => this.#applyNotices());
  }

  /** Many runs may change at once: the lists change once. */
  #applyNotices(): void {
    const fresh = this.#pendingNotices;
    this.#pendingNotices = [];
    const about = (kind: Journal['kind'], id: string): Notice[] => fresh.filter(({ journal }) => journal.kind === kind && journal.id === id);
    this.runs = this.runs.map((run) => about('run', run.id).reduce(applyNotice, run));
    this.conversations = this.conversations.map((conversation) => about('conversation', conversation.id).reduce((one, { atWork, phase, asks }) => ({ ...one, atWork, phase, asks }), conversation));
    for (const notice of fresh) for (const listener of this.#listeners) listener(notice);
    // New ones, titles and times come with the lists; many notices are one request.
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.refreshLists().catch(() => undefined);
    }, 400);
  }

  /** A stream began. What happened before it was not told. */
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

function applyNotice(run: RunItem, notice: Notice): RunItem {
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
