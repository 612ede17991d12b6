/** How the rule for a tool changes. */

import type { Verdict } from '../../lib/api/generated/types';
import { settings } from '../../lib/state/settings.svelte';

const VERDICTS: Verdict[] = ['deny', 'ask', 'allow'];

async function write(verdict: Verdict, rules: string[]): Promise<void> {
  const key = `policy.${verdict}`;
  if (rules.join() !== settings.list(key).join()) await settings.set(key, rules.length > 0 ? rules : undefined);
}

const without = (verdict: Verdict, pattern: string): string[] => settings.list(`policy.${verdict}`).filter((rule) => rule !== pattern);

/**
 * Gives a pattern one verdict. The lists are changed one after the other, and any change may fail: the new rule is there
 * before the old one goes, so that nothing is allowed on the way from one to the other. The stricter of two rules holds.
 */
export async function rule(pattern: string, to: Verdict): Promise<void> {
  // Somebody else may have changed them.
  await settings.load();
  // To allow is to have no rule, where that is enough.
  if (to !== 'allow') await write(to, [...without(to, pattern), pattern]);
  for (const verdict of VERDICTS) if (verdict !== to || to === 'allow') await write(verdict, without(verdict, pattern));
}

/** Allows a pattern by name, where rules for more than it do not. */
export const allow = (pattern: string): Promise<void> => write('allow', [...without('allow', pattern), pattern]);

/** The folder of a rule that is an exception for a tool which writes; none when the rule is not about it. */
export function folderOf(pattern: string, tool: string): string | undefined {
  const [, name, folder] = /^(.+)\((.+)\)$/.exec(pattern) ?? [];
  const isWriter = tool === 'fs.write' || tool === 'fs.apply_patch';
  return isWriter && (name === tool || name === 'fs.*' || name === '*') ? folder : undefined;
}
