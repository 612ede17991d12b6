/**
 * The pictures of the documents, from the running program: `npm run pictures`. With `--check` it goes through the same states,
 * looks for the words of each, makes nothing, and says where the documents and this list differ.
 */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import UPNG from 'upng-js';
import { repository } from './harness.mjs';
import { openScreensFixture } from './screens-fixture.mjs';
import { screens } from './screens.mjs';

const DOCS = join(repository, 'docs');
const [WINDOW, PAGE] = [{ width: 1280, height: 800 }, { width: 960, height: 640 }];
const [COLOURS, SHADES] = [256, 24];

/** A picture shows a screen, or a part of it. The words must be there for it to be the state that the documents speak of. */
const PICTURES = [
  { name: 'app', screen: 'tour', themes: ['light', 'dark'], words: ['How shall the project begin?', 'State update refused', 'Files of this run'] },
  { name: 'first-run', screen: 'start-first', size: PAGE, words: ['Your first run, in three steps', 'Start the sample'] },
  { name: 'model-test', screen: 'settings-model-test', size: PAGE, words: ['Connection refused', 'Test connection'] },
  { name: 'import-errors', screen: 'import-broken', size: PAGE, words: ['The package cannot be imported: 2 errors.', 'BM503'] },
  { name: 'launch', screen: 'launch', words: ['Autopilot: asks only for what is missing', 'Add an input'] },
  { name: 'question', screen: 'tour-form', words: ['What is it about?', 'Fields with * are needed.'] },
  { name: 'approval', screen: 'approval', words: ['Allow once', 'Refuse…', 'Needs approval'] },
  { name: 'graph', screen: 'graph-node', part: 'section.inspector', words: ['Show in the conversation', 'Plan a new start'] },
  { name: 'changes', screen: 'run-changes-open', part: 'section.inspector', words: ['Undo all', 'summary.md'] },
  { name: 'fork', screen: 'fork', words: ['Not copied', 'Retry from here'] },
  { name: 'agent', screen: 'agent-menu', size: PAGE, words: ['Scrum Master', 'Write the next story of the sprint'] },
  { name: 'agent-unsure', screen: 'agent-unsure', size: PAGE, words: ['Which one do you mean?'] },
  { name: 'failed', screen: 'run-failed', words: ['The model failed. Check its settings, then resume.', 'Resume'] },
  { name: 'runs', screen: 'runs', size: PAGE, words: ['Interrupted', 'Resume'] },
  { name: 'replay', screen: 'replay', words: ['Viewing', 'Back to the end'] },
  { name: 'prompt', screen: 'run-prompt', part: 'section.inspector', words: ['byte for byte as it was sent', 'Rules and persona'] },
  { name: 'policy', screen: 'settings-policy', size: PAGE, words: ['Ask first', 'Write files'] },
  { name: 'mcp', screen: 'settings-mcp', size: PAGE, words: ['Add a server', 'no licence found'] },
  { name: 'phone', screen: 'approval', size: { width: 390, height: 780 }, words: ['Allow once'] },
];
const LANGUAGES = { en: 'images', zh: 'images/zh' };
const fileOf = (folder, { name, themes }, theme) => `${folder}/${name}${themes ? `-${theme}` : ''}.png`;

/** The pictures that documents show, by their path in `docs`. */
async function shown() {
  const found = new Set();
  const pages = (await readdir(DOCS)).filter((name) => name.endsWith('.md')).map((name) => join(DOCS, name));
  for (const page of [...pages, join(repository, 'README.md')]) {
    for (const [, path] of (await readFile(page, 'utf8')).matchAll(/[("]([^()"\s]*images\/[^()"\s]*\.png)[)"]/g)) {
      found.add(relative(DOCS, join(dirname(page), path)));
    }
  }
  return found;
}

/** The pictures of the languages in which there is a guide. */
const made = (languages) => languages.flatMap((language) => PICTURES.flatMap((one) => (one.themes ?? ['light']).map((theme) => fileOf(LANGUAGES[language], one, theme))));

function small(png) {
  const image = UPNG.decode(png);
  return Buffer.from(UPNG.encode(UPNG.toRGBA8(image), image.width, image.height, COLOURS));
}

/** A browser draws an edge a shade lighter now and then; that is no new picture. */
function isSame(before, after) {
  const [one, other] = [before, after].map((png) => UPNG.decode(png));
  if (one.width !== other.width || one.height !== other.height) return false;
  const [old, now] = [one, other].map((image) => new Uint8Array(UPNG.toRGBA8(image)[0]));
  return now.every((value, at) => Math.abs(value - old[at]) <= SHADES);
}

async function keep(path, png) {
  const before = await readFile(path).catch(() => null);
  if (!before || !isSame(before, png)) await writeFile(path, png);
}

async function go(language, isCheck, wanted) {
  const faults = [];
  const fixture = await openScreensFixture({ isNormalized: true, language });
  const all = screens(fixture.ids);
  try {
    for (const theme of ['light', 'dark']) {
      await fixture.setPreferences({ theme, language });
      for (const picture of PICTURES.filter((one) => (one.themes ?? ['light']).includes(theme) && (wanted.length === 0 || wanted.includes(one.name)))) {
        await fixture.tab.setViewportSize(picture.size ?? WINDOW);
        await fixture.showScreen(all.find((one) => one.name === picture.screen));
        const text = await fixture.tab.locator('body').innerText();
        if (language === 'en') faults.push(...picture.words.filter((words) => !text.includes(words)).map((words) => `${picture.name}: "${words}" is not on the screen`));
        if (isCheck) continue;
        const place = picture.part ? fixture.tab.locator(picture.part) : fixture.tab;
        await keep(join(DOCS, fileOf(LANGUAGES[language], picture, theme)), small(await place.screenshot({ animations: 'disabled' })));
      }
    }
  } finally {
    await fixture.close();
  }
  return faults;
}

const isCheck = process.argv.includes('--check');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const languages = [];
for (const [language, page] of Object.entries({ en: 'guide.md', zh: 'guide.zh.md' })) {
  if ((await readdir(DOCS)).includes(page)) languages.push(language);
}
const faults = [];
for (const language of isCheck ? ['en'] : languages) {
  await mkdir(join(DOCS, LANGUAGES[language]), { recursive: true });
  faults.push(...(await go(language, isCheck, wanted)));
}
const [inDocs, inList] = [await shown(), new Set(made(languages))];
faults.push(...[...inDocs].filter((path) => !inList.has(path)).map((path) => `docs/${path} is shown in a document, but not made here`));
faults.push(...[...inList].filter((path) => !inDocs.has(path)).map((path) => `docs/${path} is made, but shown in no document`));
for (const path of inList) {
  if (!(await readFile(join(DOCS, path)).catch(() => null))) faults.push(`docs/${path} is missing: run \`npm run pictures\``);
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
