/** What is dropped on the page: a file or a folder. */

export type Dropped = File | FileSystemDirectoryEntry;

export const isFolder = (dropped: Dropped): dropped is FileSystemDirectoryEntry => !(dropped instanceof File);

/** Returns what is dropped. The browser knows it only while it handles the event. */
export function droppedIn(data: DataTransfer | null): Dropped | undefined {
  const entry = data?.items[0]?.webkitGetAsEntry?.();
  return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : data?.files[0];
}
