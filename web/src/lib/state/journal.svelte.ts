/** State of one followed journal: its events and their view. Updates are batched per paint. */

import { api, faultOf } from '../api/client';
import type { Event, Fault, JournalId } from '../api/types';
import { reduce } from '../reduce';
import { nextPaint } from '../paint';
import { emptyView, type Live, type View } from '../view';

export class JournalState {
  readonly journal: JournalId;
  /** Events without deltas, in order. */
  events: Event[] = [];
  /** View of these events. Deltas do not touch it, so they invalidate nothing that depends on it. */
  view = $state.raw<View>(emptyView());
  /** Reply in progress. */
  live = $state.raw<Live | null>(null);
  /** Increases with every change of `events`. */
  version = $state(0);
  loaded = $state(false);
  fault = $state.raw<Fault | null>(null);
  cursor = '';
  /** Called when the sequence of events has a gap. */
  ongap: () => void = () => undefined;
  #isRead = false;
  #waiting: Event[] = [];
  #isDue = false;

  constructor(journal: JournalId) {
    this.journal = journal;
  }

  /** Loads the journal page by page. */
  async load(): Promise<void> {
    this.fault = null;
    this.#isRead = false;
    try {
      const events: Event[] = [];
      for (;;) {
        const page = await api.events(this.journal, events.at(-1)?.seq ?? 0);
        for (const event of page.events) events.push(event);
        this.cursor = page.cursor;
        if (!page.more || page.events.length === 0) break;
      }
      [this.events, this.#waiting] = [events, []];
      this.#show(reduce(emptyView(), this.events));
      this.loaded = true;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.#isRead = true;
  }

  take(event: Event): void {
    // The stream delivers these events again after the cursor of the load.
    if (!this.#isRead) return;
    this.#waiting.push(event);
    if (this.#isDue) return;
    this.#isDue = true;
    nextPaint(() => this.#flush());
  }

  /** Drops events that never became durable. */
  rewind(seq: number): void {
    this.#waiting = [];
    this.events = this.events.filter((event) => event.seq <= seq);
    this.#show(reduce(emptyView(), this.events));
  }

  /** Returns the view after some event. */
  at(seq: number): View {
    return reduce(emptyView(), this.events.filter((event) => event.seq <= seq));
  }

  #flush(): void {
    this.#isDue = false;
    const fresh = this.#waiting;
    this.#waiting = [];
    if (!this.#isRead) return;
    if (this.#hasGap(fresh)) {
      this.ongap();
      return;
    }
    const known = this.events.length;
    this.#keep(fresh);
    const next = reduce({ ...this.view, live: this.live }, fresh);
    if (this.events.length > known) this.#show(next);
    else this.live = next.live;
  }

  /** Returns true if a sequence number is missing. */
  #hasGap(fresh: readonly Event[]): boolean {
    let last = this.events.at(-1)?.seq ?? 0;
    for (const { part, seq } of fresh) {
      if (part !== undefined || seq <= last) continue;
      if (seq > last + 1) return true;
      last = seq;
    }
    return false;
  }

  #show(view: View): void {
    this.view = view;
    this.live = view.live;
    this.version += 1;
  }

  #keep(events: readonly Event[]): void {
    for (const event of events) {
      if (event.part === undefined && event.seq > (this.events.at(-1)?.seq ?? 0)) this.events.push(event);
    }
  }
}
