import { describe, expect, it } from 'vitest';
import { en } from '../../src/lib/i18n/en';
import { texts as homeEn } from '../../src/lib/i18n/home/en';
import { texts as homeZh } from '../../src/lib/i18n/home/zh';
import { texts as settingsEn } from '../../src/lib/i18n/settings/en';
import { texts as settingsZh } from '../../src/lib/i18n/settings/zh';
import { zh } from '../../src/lib/i18n/zh';
import guide from '../../../docs/guide.md?raw';
import guideZh from '../../../docs/guide.zh.md?raw';

/** Returns the labels that a guide sets in bold, or as emphasis: each names something on the page. */
function labels(page: string): string[] {
  const found = [...page.matchAll(/\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?!\*)/g)].map((match) => match[1] ?? match[2] ?? '');
  return found.flatMap((label) => label.split(' › '));
}

describe('the guide', () => {
  it.each([
    ['guide.md', guide, { ...en, ...homeEn, ...settingsEn }],
    ['guide.zh.md', guideZh, { ...zh, ...homeZh, ...settingsZh }],
  ])('%s names what is on the page', (_, page, texts) => {
    const known = Object.values(texts);
    const all = labels(page);
    expect(all.length).toBeGreaterThan(60);
    const shown = (label: string): boolean => known.some((text) => text.toLowerCase().startsWith(label.toLowerCase()));
    expect(all.filter((label) => !shown(label))).toEqual([]);
  });
});
