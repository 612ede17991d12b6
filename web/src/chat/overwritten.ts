/** Difference of a call that wrote over a file: to the content that it replaced. */

import { api } from '../lib/api/client';
import type { JournalId } from '../lib/api/types';
import { difference } from '../lib/difference';
import type { Difference } from '../lib/patch';
import { objectOf } from '../lib/payload';
import type { ToolRow } from '../lib/view';

/** Differences that are kept, because cards are unmounted when they scroll out of view. */
const MOST_KEPT = 200;
const kept = new Map<string, Promise<Difference | undefined>>();

async function compare(journal: JournalId, row: ToolRow): Promise<Difference | undefined> {
  const [{ before, after } = {}] = row.files;
  const content = objectOf(row.args)?.content;
  const textOf = async (sha256: string | undefined): Promise<string | undefined> => (sha256 === undefined ? undefined : (await api.blob(journal, sha256)).text);
  const [old, now] = await Promise.all([textOf(before), typeof content === 'string' ? content : textOf(after)]);
  return old === undefined || now === undefined ? undefined : difference(old, now);
}

/** Returns the difference; none if a version is not text, or is not kept. */
export function overwritten(journal: JournalId, row: ToolRow): Promise<Difference | undefined> {
  const [{ before, after } = {}] = row.files;
  const key = `${before} ${after}`;
  let found = kept.get(key);
  if (!found) {
    found = compare(journal, row).catch(() => undefined);
    kept.set(key, found);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_KEPT))) kept.delete(oldest);
  }
  return found;
}
