/** Everything that can be started: workflows and agents of all packages. */

import { home } from '../api/home';
import type { CatalogPackage, Conversation, Package, RunItem } from '../api/types';
import { app } from './app.svelte';

type Used = Pick<RunItem, 'package' | 'created' | 'updated'> | Pick<Conversation, 'package' | 'created' | 'updated'>;

/**
 * Orders packages by when they were imported or used in the project, the latest first. An import that changed nothing keeps its old
 * time, so the package that the user imported in this tab is named.
 */
export function byUse(packages: CatalogPackage[], used: Used[], imported?: string): CatalogPackage[] {
  const times = new Map(packages.map((one) => [one.reference, Date.parse(one.imported)]));
  for (const one of used) {
    const [known, time] = [times.get(one.package ?? ''), Date.parse(one.updated ?? one.created)];
    if (one.package && known !== undefined && time > known) times.set(one.package, time);
  }
  const timeOf = ({ reference }: CatalogPackage): number => (reference === imported ? Infinity : (times.get(reference) ?? 0));
  return [...packages].sort((one, other) => timeOf(other) - timeOf(one));
}

/** Returns true if a text has all words that are looked for, in any order. */
export function hasWords(text: string, words: string): boolean {
  const found = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => found.includes(word));
}

/** Keeps what a search finds: packages by their names with all that they hold, else single workflows and agents. */
export function search(packages: CatalogPackage[], words: string): CatalogPackage[] {
  const wanted = words.trim();
  if (wanted === '') return packages;
  return packages.flatMap((one) => {
    const of = (...parts: (string | undefined)[]): boolean => hasWords([one.name, ...parts].join(' '), wanted);
    if (hasWords(one.name, wanted)) return [one];
    const workflows = one.workflows.filter(({ name, description }) => of(name, description));
    const agents = one.agents.filter(({ name, title }) => of(name, title));
    return workflows.length + agents.length > 0 ? [{ ...one, workflows, agents }] : [];
  });
}

class CatalogState {
  #all = $state.raw<CatalogPackage[] | null>(null);
  /** Package that this tab imported last. */
  imported = $state<string>();
  #of: Package[] | undefined;

  /** The packages in the order to offer them; none while they load. */
  readonly packages = $derived(this.#all && byUse(this.#all, [...app.runs, ...app.conversations], this.imported));

  /** Loads the catalog, again once the packages changed. */
  async load(): Promise<void> {
    const of = app.packages;
    if (this.#of === of) return;
    this.#of = of;
    try {
      const { packages } = await home.catalog();
      if (this.#of === of) this.#all = packages;
    } catch {
      // The next screen tries again.
      if (this.#of === of) this.#of = undefined;
    }
  }

  /** Returns the title of a node of a run, or its id if the package is gone. */
  titleOf({ package: reference, workflow, currentNode }: Pick<RunItem, 'package' | 'workflow' | 'currentNode'>): string | undefined {
    const own = this.#all?.find((one) => one.reference === reference);
    const nodes = [...(own?.workflows ?? [])].sort((one, other) => Number(other.reference === workflow) - Number(one.reference === workflow));
    for (const { nodes: all } of nodes) {
      const found = all.find((node) => node.id === currentNode);
      if (found) return found.title;
    }
    return currentNode;
  }
}

export const catalog = new CatalogState();
