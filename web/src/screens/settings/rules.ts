/** Changes of policy rules for tools. */

import type { Verdict } from '../../lib/api/generated/types';
import { settings } from '../../lib/state/settings.svelte';

const VERDICTS: Verdict[] = ['deny', 'ask', 'allow'];

async function write(verdict: Verdict, rules: string[]): Promise<void> {
  const key = `policy.${verdict}`;
  if (rules.join() !== settings.list(key).join()) await settings.set(key, rules.length > 0 ? rules : undefined);
}

const without = (verdict: Verdict, pattern: string): string[] => settings.list(`policy.${verdict}`).filter((rule) => rule !== pattern);

/**
 * Gives a pattern one verdict. Each list is a request that may fail: the new rule is written before the old one is removed, so
 * that nothing is allowed in between. The stricter of two rules holds.
 */
export async function rule(pattern: string, to: Verdict): Promise<void> {
  // Another client may have changed the rules.
  await settings.load();
  // No rule means allowed, unless a wider rule says otherwise.
  if (to !== 'allow') await write(to, [...without(to, pattern), pattern]);
  for (const verdict of VERDICTS) if (verdict !== to || to === 'allow') await write(verdict, without(verdict, pattern));
}

/** Allows a pattern explicitly, against a wider rule. */
export const allow = (pattern: string): Promise<void> => write('allow', [...without('allow', pattern), pattern]);

/** Returns the folder of a rule that is an exception for a writing tool; none if the rule is about something else. */
export function folderOf(pattern: string, tool: string): string | undefined {
  const [, name, folder] = /^(.+)\((.+)\)$/.exec(pattern) ?? [];
  const isWriter = ['fs.write', 'fs.apply_patch', 'fs.move', 'fs.delete'].includes(tool);
  return isWriter && (name === tool || name === 'fs.*' || name === '*') ? folder : undefined;
}
