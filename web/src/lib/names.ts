/** Display names in lists. */

import type { RunItem } from './api/types';

/** Strips the version from a package reference. */
const bare = (reference: string): string => reference.replace(/@[^@]*$/, '');

/** Names a run by its workflow; the main workflow of a package has the name of the package. */
export function runName(run: Pick<RunItem, 'workflow' | 'package'>): string {
  return run.workflow === 'workflow.md' ? bare(run.package) : run.workflow.replace(/(^workflows\/|\/workflow\.md$)/g, '');
}

/** Returns the title of a run: what it is about, else its workflow. */
export const titleOfRun = (run: Pick<RunItem, 'workflow' | 'package' | 'title'>): string => run.title ?? runName(run);

/** Returns the end of an id, which is unique enough in a list. */
export const shortId = (id: string): string => id.slice(-5);

/** Names a model; a scripted one by its file. */
export function modelName(name: string): string {
  return name.startsWith('scripted:') ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** Splits a path into the folder, which may be cut, and the last part, which never is. */
export function ends(path: string): [string, string] {
  const cut = path.lastIndexOf('/') + 1;
  return cut === path.length ? [path, ''] : [path.slice(0, cut), path.slice(cut)];
}
