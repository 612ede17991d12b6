import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';

const files = Object.keys(import.meta.glob('../../src/**/*.svelte')).map((path) => resolve(import.meta.dirname, path));

/** The part of the page between the tags, with every part that it is made of. */
function within(file: string, markup: string, seen: Set<string>): string[] {
  const source = readFileSync(file, 'utf8');
  const used = [...source.matchAll(/import (\w+)[^;]* from '([^']+\.svelte)'|import\('([^']+\.svelte)'\) then \{ default: (\w+) \}/g)];
  const parts = used.filter(([, one, , , other]) => markup.includes(`<${one ?? other} `)).map(([, , one, other]) => resolve(dirname(file), one ?? other ?? ''));
  const inner = parts.filter((part) => !seen.has(part)).flatMap((part) => {
    seen.add(part);
    return within(part, readFileSync(part, 'utf8'), seen);
  });
  const buttons = [...markup.matchAll(/<button\b[^>]*/g)].map(([tag]) => tag);
  return [...buttons.filter((tag) => !/\btype="/.test(tag)).map((tag) => `${file.split('/src/')[1]}: ${tag}`), ...inner];
}

it('nothing that is pressed inside of a form sends it by accident', () => {
  const forms = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/<form\b[^]*?<\/form>/g)].map(([markup]) => ({ file, markup })));
  expect(forms.length).toBeGreaterThan(4);
  expect(forms.flatMap(({ file, markup }) => within(file, markup, new Set()))).toEqual([]);
});
