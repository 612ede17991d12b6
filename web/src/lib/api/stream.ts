/**
 * The event stream of this tab. Only one is open at a time; to follow other journals it reconnects and resumes after the last
 * frame, so that no event is lost or delivered twice.
 */

import type { Event, JournalId, RunStatus } from './types';

export type Link = 'connecting' | 'open' | 'lost';

export interface Listener {
  event(journal: JournalId, event: Event): void;
  /** Events after `seq` were delivered but never became durable. */
  rewind(journal: JournalId, seq: number): void;
  notice(notice: RunStatus): void;
  /** A stream began: the lists must be fetched again. */
  hello(): void;
  link(link: Link): void;
}

export const nameOf = (journal: JournalId): string => `${journal.kind}/${journal.id}`;

/** Merges cursors of the form `run/a=1.2.0,conversation/b=1.4.0`; of two for one journal the later argument wins. */
export function joinCursors(...cursors: string[]): string {
  const positions = new Map<string, string>();
  for (const cursor of cursors) {
    for (const entry of cursor.split(',')) {
      const [name, position] = entry.split('=');
      if (name && position) positions.set(name, position);
    }
  }
  return [...positions].map(([name, position]) => `${name}=${position}`).join(',');
}

export class Stream {
  #source: EventSource | null = null;
  #watched = new Set<string>();
  #cursor = '';
  #isDue = false;
  #isSuspended = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #listener: Listener;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Follows a journal from the place where `cursor` says that it was read to. */
  follow(journal: JournalId, cursor: string): void {
    this.#watched.add(nameOf(journal));
    this.#cursor = joinCursors(this.#cursor, cursor);
    this.#reopen();
  }

  unfollow(journal: JournalId): void {
    const name = nameOf(journal);
    if (!this.#watched.delete(name)) return;
    this.#cursor = this.#cursor
      .split(',')
      .filter((entry) => !entry.startsWith(`${name}=`))
      .join(',');
    this.#reopen();
  }

  /** Several journals at once are one stream. */
  #reopen(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.open();
    });
  }

  /** Opens the stream, or reconnects it. A suspended stream stays closed. */
  open(): void {
    if (this.#isSuspended) return;
    this.#disconnect();
    const query = new URLSearchParams();
    if (this.#watched.size > 0) query.set('watch', [...this.#watched].join(','));
    if (this.#cursor) query.set('after', this.#cursor);
    this.#listener.link('connecting');
    const source = new EventSource(`/api/events?${query}`);
    this.#source = source;
    const on = <T>(name: string, take: (data: T) => void): void => {
      source.addEventListener(name, (frame: MessageEvent<string>) => {
        if (this.#source !== source) return;
        if (frame.lastEventId) this.#cursor = frame.lastEventId;
        take(JSON.parse(frame.data) as T);
      });
    };
    on<unknown>('hello', () => {
      this.#listener.link('open');
      this.#listener.hello();
    });
    on<{ journal: JournalId; event: Event }>('event', ({ journal, event }) => this.#listener.event(journal, event));
    on<{ journal: JournalId; seq: number }>('rewind', ({ journal, seq }) => this.#listener.rewind(journal, seq));
    on<RunStatus>('notice', (notice) => this.#listener.notice(notice));
    source.onopen = () => this.#listener.link('open');
    source.onerror = () => {
      if (this.#source !== source) return;
      this.#listener.link(source.readyState === EventSource.CLOSED ? 'lost' : 'connecting');
      // The browser reconnects by itself unless the response was an error.
      if (source.readyState === EventSource.CLOSED) this.#retry = setTimeout(() => this.open(), 2000);
    };
  }

  /** Closes the connection until `resume` is called. */
  suspend(): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    this.#disconnect();
    this.#listener.link('lost');
  }

  /** Reconnects a suspended stream. */
  resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.open();
  }

  /** Closes the connection until `open` is called. */
  close(): void {
    this.#isSuspended = false;
    this.#disconnect();
  }

  #disconnect(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
  }
}
