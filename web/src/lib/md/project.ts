/** The location of a text that belongs to the open project. */

import { files } from '../state/files.svelte';
import { lastProject } from '../state/route.svelte';
import { shell } from '../state/shell.svelte';
import type { TextLocation } from './context';

const NONE = /(?!)/;

/** Returns the location of a text in a folder of the project; the root for the words of models. */
export function inProject(folder = ''): TextLocation | undefined {
  const project = lastProject();
  // A file that the open run made is a link wherever it is named.
  const filesIn = (text: string): { text: string; path?: string }[] | undefined => {
    const parts = text.split(shell.work?.fileNames ?? NONE);
    // Every other part is a name.
    return parts.length < 2 ? undefined : parts.map((part, at) => (at % 2 === 1 ? { text: part, path: part.replace(/^@project\//, '') } : { text: part }));
  };
  return project === undefined ? undefined : { project, folder, open: (path) => files.show(project, path), filesIn };
}
