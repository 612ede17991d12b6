/** The location of a text that belongs to the open project. */

import { files } from '../state/files.svelte';
import { lastProject } from '../state/route.svelte';
import type { TextLocation } from './context';

/** Returns the location of a text in a folder of the project; the root for the words of models. */
export function inProject(folder = ''): TextLocation | undefined {
  const project = lastProject();
  return project === undefined ? undefined : { project, folder, open: (path) => files.show(project, path) };
}
