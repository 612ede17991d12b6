/** Checks the gzipped size of what a browser fetches: `npm run budget` after `npm run build`. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist');
const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8'));

/** Returns a chunk with all its static imports. */
function closure(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const next of manifest[name].imports ?? []) closure(next, found);
  return found;
}

const size = (names) => [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, manifest[name].file))).length, 0);
const without = (names, ...others) => [...names].filter((name) => !others.some((other) => other.has(name)));

const base = closure('index.html');
const chat = closure('src/screens/WorkScreen.svelte');
const graph = closure('src/run/Inspector.svelte');
const editor = closure('src/files/editor.ts');
const markdown = closure('node_modules/@codemirror/lang-markdown/dist/index.js');

const budgets = [
  ['base', size(base), 41],
  ['texts (en)', size(closure('src/lib/i18n/en.ts')), 11],
  ['texts (zh)', size(closure('src/lib/i18n/zh.ts')), 12],
  ['texts of faults (zh)', size(closure('src/lib/i18n/faults/zh.ts')), 9],
  ['sentences of faults (zh)', size(closure('src/lib/i18n/faults/sentences.ts')), 5],
  ['texts of settings (en)', size(closure('src/lib/i18n/settings/en.ts')), 6],
  ['texts of settings (zh)', size(closure('src/lib/i18n/settings/zh.ts')), 6],
  ['chat', size(without(chat, base)), 52],
  ['graph and inspector', size(without(graph, base, chat)), 25],
  ['editor with Markdown', size(without(new Set([...editor, ...markdown]), base, chat)), 220],
];

let isOver = false;
for (const [name, bytes, most] of budgets) {
  const tooMuch = bytes > most * 1000;
  isOver ||= tooMuch;
  console.log(`${tooMuch ? 'OVER' : 'ok  '}  ${name.padEnd(22)} ${(bytes / 1000).toFixed(1).padStart(6)} kB of ${most}`);
}
process.exitCode = isOver ? 1 : 0;
