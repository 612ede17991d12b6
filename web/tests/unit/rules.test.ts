import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { folderOf, rule } from '../../src/screens/settings/rules';

/** Fake server with settings, which records its lists after each change. */
let lists: Record<string, string[]>;
let seen: Record<string, string[]>[];
let refused: string | null;

beforeEach(() => {
  [lists, seen, refused] = [{ 'policy.allow': [], 'policy.ask': ['fs.write', 'fs.move'], 'policy.deny': [] }, [], null];
  vi.stubGlobal('fetch', async (_path: string, init: RequestInit) => {
    if (init.method === 'PATCH') {
      const { key, value } = JSON.parse(String(init.body)) as { key: string; value?: string[] };
      if (key === refused) return new Response(JSON.stringify({ code: 'io', message: 'no' }), { status: 500 });
      lists = { ...lists, [key]: value ?? [] };
      seen.push(lists);
    }
    return new Response(JSON.stringify({ path: 'config.toml', settings: Object.entries(lists).map(([key, value]) => ({ key, value, default: [], about: '' })) }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const strictest = (of: Record<string, string[]>): string => (['deny', 'ask', 'allow'].find((verdict) => of[`policy.${verdict}`]?.includes('fs.write')) ?? 'none');

describe('a rule for a tool', () => {
  it('goes from ask to deny without being allowed in between', async () => {
    await rule('fs.write', 'deny');
    expect(seen.map(strictest)).toEqual(['deny', 'deny']);
    expect(lists).toEqual({ 'policy.allow': [], 'policy.ask': ['fs.move'], 'policy.deny': ['fs.write'] });
  });

  it('stays as it was when the first change is refused, and is the stricter when the second is', async () => {
    refused = 'policy.deny';
    await expect(rule('fs.write', 'deny')).rejects.toThrow();
    expect(strictest(lists)).toBe('ask');
    refused = 'policy.ask';
    await expect(rule('fs.write', 'deny')).rejects.toThrow();
    expect(strictest(lists)).toBe('deny');
  });

  it('is gone when the tool is allowed', async () => {
    await rule('fs.write', 'allow');
    expect(lists).toEqual({ 'policy.allow': [], 'policy.ask': ['fs.move'], 'policy.deny': [] });
  });
});

describe('a rule about a folder', () => {
  it('is an exception for the tools that write there', () => {
    expect(folderOf('fs.write(@project/src)', 'fs.write')).toBe('@project/src');
    expect(folderOf('fs.write(@project/src)', 'fs.apply_patch')).toBeUndefined();
    expect(folderOf('fs.*(@project/src)', 'fs.apply_patch')).toBe('@project/src');
    expect(folderOf('*(@project)', 'fs.read')).toBeUndefined();
    expect(folderOf('fs.write', 'fs.write')).toBeUndefined();
  });
});
