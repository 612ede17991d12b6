/** Files that a run made or changed, for the list of its artifacts. */

import type { View } from '../lib/view';

export interface ListedFile {
  path: string;
  /** Node that wrote it first, and its frame. */
  nodeId: string | undefined;
  call: number;
  /** `before`: the run began with it and has not touched it. */
  mark: 'created' | 'changed' | 'before';
}

/** Lists the artifacts that a run wrote, then other files of the project that it wrote, then artifacts that it began with. */
export function listFiles(view: View): ListedFile[] {
  const written = new Map<string, ListedFile>();
  const copies = new Set<string>();
  for (const row of view.rows) {
    if (row.kind !== 'tool' || row.status !== 'ok') continue;
    for (const path of row.created) copies.add(path);
    for (const file of row.files) {
      if (!file.path.startsWith('@project/')) continue;
      const path = file.path.slice('@project/'.length);
      if (file.after === undefined) written.delete(path);
      else if (!written.has(path)) written.set(path, { path, nodeId: row.nodeId, call: row.call ?? 0, mark: file.before === undefined ? 'created' : 'changed' });
    }
  }
  const artifacts = new Set(view.artifacts.map((one) => one.path));
  const listed = view.artifacts.map(({ path, nodeId, call }): ListedFile => written.get(path) ?? { path, nodeId, call: call ?? 0, mark: 'before' });
  const begun = Object.values(view.states).flatMap((state) => state.artifacts ?? []);
  return [
    ...listed.filter((one) => one.mark !== 'before'),
    ...[...written.values()].filter((one) => !artifacts.has(one.path) && !copies.has(one.path)),
    ...listed.filter((one) => one.mark === 'before'),
    ...[...new Set(begun)].filter((path) => !artifacts.has(path)).map((path): ListedFile => ({ path, nodeId: undefined, call: 0, mark: 'before' })),
  ];
}
