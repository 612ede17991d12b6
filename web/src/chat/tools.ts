/** Labels of tool calls in the conversation. */

import type { Key } from '../lib/i18n/index.svelte';
import { objectOf } from '../lib/payload';
import { visible } from '../lib/text';
import type { ToolRow } from '../lib/view';

const VERBS: Record<string, Key> = {
  'fs.read': 'tool.read',
  'fs.list': 'tool.list',
  'fs.search': 'tool.search',
  'fs.write': 'tool.write',
  'fs.apply_patch': 'tool.patch',
  'fs.move': 'tool.move',
  'fs.delete': 'tool.delete',
  'ui.ask_user': 'tool.ask',
  'ui.gate': 'tool.gate',
  'runtime.complete_node': 'tool.complete',
  'runtime.update_state': 'tool.state',
};

/** Labels of calls that are not done, or were refused. */
const WANTED: Record<string, Key> = {
  'fs.read': 'wanted.read',
  'fs.list': 'wanted.list',
  'fs.search': 'wanted.search',
  'fs.write': 'wanted.write',
  'fs.apply_patch': 'wanted.patch',
  'fs.move': 'wanted.move',
  'fs.delete': 'wanted.delete',
};

const isState = (row: ToolRow): boolean =>
  row.subject?.startsWith('@state/') === true || objectOf(row.args)?.path === '@state/workflow.md';

/** Returns the text key of the verb; none for an unknown tool. */
export function verbOf(row: ToolRow): Key | undefined {
  if (row.tool === 'runtime.complete_node' && row.status === 'refused') return 'tool.stateRefused';
  if (isState(row)) return row.status === 'refused' ? 'tool.stateRefused' : 'tool.state';
  return (row.status !== 'ok' && WANTED[row.tool]) || VERBS[row.tool];
}

export function pathOf(row: ToolRow): string {
  const args = objectOf(row.args);
  if (row.tool === 'fs.search' && typeof args?.query === 'string') return visible(args.query);
  return visible(row.subject ?? (typeof args?.path === 'string' ? args.path : ''));
}

/** Codes of calls that failed; a rule refused the others. */
const FAILED = /^E(?:[A-Z]+|_(?:TIMEOUT|TOOL_FAILED|INTERNAL|UNKNOWN_OUTCOME))$/;

export interface Refusal {
  code: string;
  hasFailed: boolean;
  message: string;
  hint: string | undefined;
  allowed: string[];
}

/** Parses the refusal that the model received. */
export function refusalOf(row: ToolRow): Refusal | undefined {
  if (row.refused === undefined) return undefined;
  const error = objectOf(row.result)?.error as Record<string, unknown> | undefined;
  const details = error?.details as Record<string, unknown> | undefined;
  const allowed = Array.isArray(details?.allowedNext) ? details.allowedNext : [];
  return {
    code: row.refused,
    hasFailed: FAILED.test(row.refused),
    message: typeof error?.message === 'string' ? error.message : row.refused,
    hint: typeof error?.hint === 'string' ? error.hint : undefined,
    allowed: allowed.map((one: unknown) =>
      typeof one === 'string' ? one : String((one as { to?: unknown }).to ?? JSON.stringify(one)),
    ),
  };
}
