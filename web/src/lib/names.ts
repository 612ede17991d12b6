/** What things are called in lists. */

import type { RunItem } from './api/types';

/** The name of a package without its version. */
const bare = (reference: string): string => reference.replace(/@[^@]*$/, '');

/** A run by its workflow; the main workflow of a package is called like the package. */
export function runName(run: Pick<RunItem, 'workflow' | 'package'>): string {
  return run.workflow === 'workflow.md' ? bare(run.package) : run.workflow.replace(/(^workflows\/|\/workflow\.md$)/g, '');
}

/** The end of an id, which is enough to tell it from its neighbours. */
export const shortId = (id: string): string => id.slice(-5);

/** A model as people know it: a script is called by its file. */
export function modelName(name: string): string {
  return name.startsWith('scripted:') ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** Both ends of a path that may be too long: the last part always stays. */
export function ends(path: string): [string, string] {
  const cut = path.lastIndexOf('/') + 1;
  return cut === path.length ? [path, ''] : [path.slice(0, cut), path.slice(cut)];
}
