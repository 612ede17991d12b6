/** Pictures of every screen: `npm run shots [folder] [name…]`. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openScreensFixture } from './screens-fixture.mjs';
import { screens } from './screens.mjs';

const folder = process.argv[2] ?? 'shots';
const wanted = process.argv.slice(3);
const WIDTHS = (process.env.WIDTHS ?? '1440,1024,390').split(',').map(Number);
const THEMES = (process.env.THEMES ?? 'light,dark').split(',');
const LANGUAGES = (process.env.LANGUAGES ?? 'en,zh').split(',');

const fixture = await openScreensFixture();
try {
  for (const language of LANGUAGES) {
    for (const theme of THEMES) {
      for (const width of WIDTHS) {
        const to = join(folder, `${language}-${theme}-${width}`);
        await mkdir(to, { recursive: true });
        await fixture.tab.setViewportSize({ width, height: width < 768 ? 844 : 900 });
        await fixture.setPreferences({ theme, language, density: process.env.DENSITY });
        for (const screen of screens(fixture.ids)) {
          if (wanted.length > 0 && !wanted.includes(screen.name)) continue;
          await fixture.showScreen(screen).catch((error) => console.error(`${screen.name}: ${String(error).split('\n')[0]}`));
          await fixture.tab.screenshot({ path: join(to, `${screen.name}.png`) });
        }
      }
    }
  }
  if (fixture.errors.length > 0) console.error([...new Set(fixture.errors)].join('\n'));
} finally {
  await fixture.close();
}
