/** Recorded runs, written by `crewagent run … --json`, without what the runtime added to the prompts. */

import type { Event } from '../../src/lib/api/types';

const files = import.meta.glob<string>('./journals/*.jsonl', { query: '?raw', import: 'default', eager: true });

export function journal(name: string): Event[] {
  const lines = (files[`./journals/${name}.jsonl`] ?? '').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Event);
}

export const NAMES = ['create-story', 'called-workflow', 'every-question'];
