import { expect, it } from 'vitest';

const ROOT = 'https://src/';
const files = import.meta.glob<string>('../../src/**/*.svelte', { query: '?raw', import: 'default', eager: true });
const sources = new Map(Object.entries(files).map(([path, text]) => [path.replace('../../src/', ROOT), text]));

/** Finds buttons without a type in a fragment and in every component that it uses. */
function unsure(file: string, markup: string, seen: Set<string>): string[] {
  const used = [...(sources.get(file) ?? '').matchAll(/import (\w+)[^;]* from '([^']+\.svelte)'|import\('([^']+\.svelte)'\) then \{ default: (\w+) \}/g)];
  const parts = used.filter(([, one, , , other]) => markup.includes(`<${one ?? other} `)).map(([, , one, other]) => new URL(one ?? other ?? '', file).href);
  const inner = parts.flatMap((part) => {
    if (seen.has(part)) return [];
    seen.add(part);
    return unsure(part, sources.get(part) ?? '', seen);
  });
  const own = [...markup.matchAll(/<button\b[^>]*/g)].map(([tag]) => tag).filter((tag) => !/\btype="/.test(tag));
  return [...own.map((tag) => `${file.replace(ROOT, '')}: ${tag}`), ...inner];
}

it('nothing that is pressed inside of a form sends it by accident', () => {
  const forms = [...sources].flatMap(([file, text]) => [...text.matchAll(/<form\b[^]*?<\/form>/g)].map(([markup]) => ({ file, markup })));
  expect(forms.length).toBeGreaterThan(4);
  expect(forms.flatMap(({ file, markup }) => unsure(file, markup, new Set()))).toEqual([]);
});
