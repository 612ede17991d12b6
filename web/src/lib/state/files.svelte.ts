/** Files open in tabs, with their unsaved text. */

import { api, faultOf, Problem } from '../api/client';
import type { EditorSnapshot } from '../../files/editor';
import type { Fault } from '../api/types';
import { t } from '../i18n/index.svelte';
import { visible } from '../text';
import { confirmed } from './confirm.svelte';
import { toast } from './toasts.svelte';

export class OpenFile {
  readonly project: string;
  readonly path: string;
  /** Content on disk at the last load or save. */
  base = $state.raw<{ text: string; sha256: string } | null>(null);
  draft = $state('');
  /** Content on disk, if it changed while the draft is unsaved. */
  theirs = $state.raw<{ text: string; sha256: string } | null>(null);
  fault = $state.raw<Fault | null>(null);
  bytes = $state(0);
  isText = $state(true);
  loaded = $state(false);
  /** Increases when the draft is replaced from disk. */
  stamp = $state(0);
  /** Editor state, while another tab is in front. */
  snapshot: EditorSnapshot | null = null;
  /** View that the user chose. */
  chosen = $state<'preview' | 'source' | null>(null);
  #turn = 0;
  #saved: Promise<void> = Promise.resolve();

  constructor(project: string, path: string) {
    this.project = project;
    this.path = path;
  }

  readonly dirty = $derived(this.base !== null && this.draft !== this.base.text);

  get name(): string {
    return visible(this.path.slice(this.path.lastIndexOf('/') + 1));
  }

  /** Reloads the file. Unsaved text stays; if the disk changed too, both versions are kept. */
  async look(): Promise<void> {
    const turn = this.#next();
    try {
      const file = await api.file(this.project, this.path);
      // A later load or save supersedes this one.
      if (turn !== this.#turn) return;
      this.fault = null;
      this.bytes = file.bytes;
      this.isText = file.text !== undefined;
      const found = { text: file.text ?? '', sha256: file.sha256 };
      if (this.base?.sha256 === found.sha256) return;
      if (this.dirty) this.theirs = found;
      else this.#accept(found);
    } catch (thrown) {
      if (turn === this.#turn) this.fault = faultOf(thrown);
    } finally {
      this.loaded = true;
    }
  }

  /** Saves the draft after any save in progress. */
  save(): Promise<void> {
    this.#saved = this.#saved.then(() => (this.dirty ? this.#write(this.base?.sha256) : undefined));
    return this.#saved;
  }

  /** Writes the draft to a file that was deleted from disk. */
  recreate(): Promise<void> {
    this.#saved = this.#saved.then(() => this.#write(undefined));
    return this.#saved;
  }

  async #write(over: string | undefined): Promise<void> {
    // The draft may change while the request runs.
    const sent = this.draft;
    try {
      const file = await api.writeFile(this.project, this.path, sent, over);
      this.#next();
      this.base = { text: sent, sha256: file.sha256 };
      this.bytes = file.bytes;
      [this.theirs, this.fault] = [null, null];
      toast({ tone: 'ok', message: t('files.saved', { name: this.name }) });
    } catch (thrown) {
      if (thrown instanceof Problem && thrown.code === 'changed') await this.look();
      else toast({ tone: 'err', ...faultOf(thrown) });
    }
  }

  #next(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /** Overwrites the version on disk. */
  async keepMine(): Promise<void> {
    if (!this.theirs) return;
    this.base = this.theirs;
    this.theirs = null;
    await this.save();
  }

  keepTheirs(): void {
    if (this.theirs) this.#accept(this.theirs);
    this.theirs = null;
  }

  #accept(found: { text: string; sha256: string }): void {
    this.base = found;
    this.draft = found.text;
    this.stamp += 1;
  }
}

type StoredTabs = Record<string, { paths: string[]; current: string | null }>;
const KEY = 'crewagent.tabs';

/** Reads the tabs of the page before a reload. */
function readTabs(): StoredTabs {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as StoredTabs;
  } catch {
    return {};
  }
}

class Files {
  open = $state.raw<OpenFile[]>([]);
  /** Path of the tab in front; none for the conversation. */
  current = $state<string | null>(null);
  /** Increases when an agent wrote files. */
  writes = $state(0);
  #project = '';
  /** Tabs of other projects. */
  #others = new Map<string, { open: OpenFile[]; current: string | null }>();

  readonly front = $derived(this.open.find((file) => file.path === this.current) ?? null);

  /** Switches to the tabs of a project. Returns true if they are those of the page before a reload. */
  enter(project: string): boolean {
    if (project === this.#project) return false;
    this.#others.set(this.#project, { open: this.open, current: this.current });
    this.#project = project;
    const known = this.#others.get(project);
    const stored = known ? undefined : readTabs()[project];
    const open = known?.open ?? (stored?.paths ?? []).map((path) => new OpenFile(project, path));
    this.#others.delete(project);
    [this.open, this.current] = [open, known?.current ?? stored?.current ?? null];
    for (const file of open) void file.look();
    return stored !== undefined;
  }

  /** Stores the tabs for a reload. Unsaved text is not kept: the browser asks before it is lost. */
  store(): void {
    const all = [...this.#others, [this.#project, { open: this.open, current: this.current }] as const];
    const tabs: StoredTabs = { ...readTabs() };
    for (const [project, { open, current }] of all) tabs[project] = { paths: open.map((file) => file.path), current };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(tabs));
    } catch {
      // Without storage the tabs are gone after a reload.
    }
  }

  /** True if any tab has unsaved text. */
  get isDirty(): boolean {
    return [this.open, ...[...this.#others.values()].map((other) => other.open)].flat().some((file) => file.dirty);
  }

  show(project: string, path: string): void {
    this.enter(project);
    const known = this.open.find((file) => file.path === path);
    if (!known) {
      const file = new OpenFile(project, path);
      this.open = [...this.open, file];
      void file.look();
    } else void known.look();
    this.current = path;
  }

  async close(path: string): Promise<void> {
    const file = this.open.find((one) => one.path === path);
    if (file?.dirty && !(await confirmed({ title: t('files.closeDirty', { name: file.name }), text: t('files.closeDirtyText'), action: t('files.closeAnyway') }))) return;
    const at = this.open.findIndex((one) => one === file);
    if (at < 0) return;
    this.open = this.open.filter((one) => one.path !== path);
    // The next tab takes its position.
    if (this.current === path) this.current = (this.open[at] ?? this.open[at - 1])?.path ?? null;
  }

  /** Reloads open files that an agent wrote. */
  touched(paths: readonly string[]): void {
    this.writes += 1;
    for (const file of this.open) if (paths.includes(file.path)) void file.look();
  }
}

export const files = new Files();

addEventListener('pagehide', () => files.store());
addEventListener('beforeunload', (event) => {
  if (files.isDirty) event.preventDefault();
});
