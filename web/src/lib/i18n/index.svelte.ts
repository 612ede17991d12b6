/** Texts of the page. Each language is a file that is fetched on demand; the texts of the settings and of the screens of projects are further ones. */

import { visible } from '../text';
import type { en } from './en';
import type { texts as home } from './home/en';
import type { texts as settings } from './settings/en';

export type Key = keyof typeof en | keyof typeof home | keyof typeof settings;
export type Texts = Record<Key, string>;
export type Language = 'en' | 'zh';
type Fill = Record<string, string | number>;

export const LANGUAGES: { id: Language; name: string }[] = [
  { id: 'en', name: 'English' },
  { id: 'zh', name: '简体中文' },
];

// The page mounts after its texts are loaded.
let texts = $state.raw({} as Texts);
let current = $state<Language>('en');

/** Further texts, which come with the screens that need them. */
const FURTHER = {
  home: { en: () => import('./home/en'), zh: () => import('./home/zh') },
  settings: { en: () => import('./settings/en'), zh: () => import('./settings/zh') },
};
const wanted = new Set<keyof typeof FURTHER>();

/** Translations of the server's codes. English needs none: the server sends English. */
let faults = $state.raw<Record<string, string>>({});
let inChinese = $state.raw<(english: string) => string | undefined>();

async function fetchTexts(language: Language): Promise<Texts> {
  const base = language === 'zh' ? (await import('./zh')).zh : (await import('./en')).en;
  const further = await Promise.all([...wanted].map(async (name) => (await FURTHER[name][language]()).texts));
  return Object.assign({}, base, ...further) as Texts;
}

/** Fetches further texts. */
export async function loadTexts(name: keyof typeof FURTHER): Promise<void> {
  if (wanted.has(name)) return;
  wanted.add(name);
  texts = await fetchTexts(current);
}

/** Returns true once the texts of the settings are loaded. */
export const hasSettingsTexts = (): boolean => 'mcp.add' in texts;

/** Changes the language without a reload of the page. */
export async function setLanguage(language: Language): Promise<void> {
  texts = await fetchTexts(language);
  current = language;
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  // The page does not wait for translations: until they come it shows the server's English alone.
  if (language !== 'zh') return;
  void import('./faults/zh').then((module) => (faults = module.faults), () => undefined);
  void import('./faults/sentences').then((module) => (inChinese = module.sentence), () => undefined);
}

export const language = (): Language => current;

function fillIn(text: string, fill: Fill): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => visible(String(fill[name] ?? whole)));
}

/** Returns the text of a key with its placeholders filled in. */
export function t(key: Key, fill: Fill = {}): string {
  return fillIn(texts[key], fill);
}

/** Returns the text for a count: `key.one` if the language has a singular. */
export function count(key: Counted, n: number, fill: Fill = {}): string {
  const isOne = current === 'en' && n === 1;
  return fillIn(texts[(isOne ? `${key}.one` : key) as Key], { n: number(n), ...fill });
}

/** Keys that have a singular. */
export type Counted = { [K in Key]: `${K}.one` extends Key ? K : never }[Key];

/** Returns the label of a name from the server, or the name itself if there is none. */
export function labelFor(prefix: string, name: string | undefined): string {
  if (name === undefined) return '';
  const key = `${prefix}.${name}`;
  return key in texts ? texts[key as Key] : name;
}

/** Returns the translation of a code such as `fault.busy`; nothing if the page is in English like the server. */
export function translate(code: string): string | undefined {
  return current === 'en' ? undefined : (faults[code] ?? texts[code as Key]);
}

/** Returns a sentence of the server in the language of the page, if it is known; nothing if the page is in English. */
export const translateSentence = (english: string | undefined): string | undefined => (current === 'en' || english === undefined ? undefined : inChinese?.(english));

const locale = (): string => (current === 'zh' ? 'zh-CN' : 'en');

/** Formatters are slow to construct, so each is made once. */
const plain: Record<Language, Intl.NumberFormat> = { en: new Intl.NumberFormat('en'), zh: new Intl.NumberFormat('zh-CN') };

export const number = (value: number): string => plain[current].format(value);

/** Formats an approximate count, such as `18.4k`. */
export const compact = (value: number): string =>
  new Intl.NumberFormat(locale(), { notation: 'compact', maximumFractionDigits: 1 }).format(value);

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let [size, at] = [value, 0];
  while (size >= 1024 && at < units.length - 1) [size, at] = [size / 1024, at + 1];
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: size < 10 && at > 0 ? 1 : 0 }).format(size)} ${units[at]}`;
}

export const money = (value: number): string =>
  new Intl.NumberFormat(locale(), { style: 'currency', currency: 'USD', maximumFractionDigits: value < 0.1 ? 4 : 2 }).format(value);

export function clock(time: string): string {
  return new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(new Date(time));
}

export function date(time: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}

/** Formats an age, such as `3 minutes ago`. A time in the future, by a clock that is wrong, counts as now. */
export function ago(time: string, now: number): string {
  const seconds = Math.min(0, Math.round((Date.parse(time) - now) / 1000));
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400], ['hour', 3600], ['minute', 60]];
  const form = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' });
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return form.format(Math.round(seconds / size), unit);
  }
  return t('time.now');
}

/** Formats a duration, such as `0:42` or `1.2 s`. */
export function span(millis: number): string {
  if (millis < 10_000) return t('time.seconds', { n: (millis / 1000).toFixed(1) });
  const seconds = Math.round(millis / 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}
