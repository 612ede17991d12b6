/** Archive of a folder that was dropped on the page: the form in which it is sent. */

import { Problem } from './api/client';
import { bytes, number, t } from './i18n/index.svelte';
import { zip, type ZipEntry } from './zip';

/** Folders that hold no content of a package. */
const IGNORED = /^(\.git|\.hg|\.svn|\.cache|\.venv|node_modules|__pycache__|target|dist|build)$/;
/** Most files that are sent. */
const MOST_FILES = 20_000;

const listed = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry: FileSystemFileEntry): Promise<File> => new Promise((resolve, reject) => entry.file(resolve, reject));

/** Reads a folder as an archive of at most this size. */
export async function archiveOf(folder: FileSystemDirectoryEntry, most: number): Promise<File> {
  const entries: ZipEntry[] = [];
  let size = 0;
  const tooMuch = (what: string): Problem => new Problem({ code: 'page', message: t('import.folderTooLarge', { name: folder.name, what }), hint: t('import.folderTooLargeHint') });
  const read = async (from: FileSystemDirectoryEntry, path: string): Promise<void> => {
    const reader = from.createReader();
    const inside: FileSystemEntry[] = [];
    // The browser lists a folder in pieces, and an empty one is the last.
    for (let piece = await listed(reader); piece.length > 0; piece = await listed(reader)) inside.push(...piece);
    for (const entry of inside.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (entry.isDirectory) {
        if (!IGNORED.test(entry.name)) await read(entry as FileSystemDirectoryEntry, `${path}${entry.name}/`);
        continue;
      }
      const file = await fileOf(entry as FileSystemFileEntry);
      size += file.size;
      if (size > most) throw tooMuch(bytes(most));
      if (entries.length >= MOST_FILES) throw tooMuch(number(MOST_FILES));
      entries.push({ path: path + entry.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    }
  };
  await read(folder, '');
  return new File([zip(entries)], `${folder.name}.zip`);
}
