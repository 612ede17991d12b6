/** Pictures of every screen: `npm run shots [folder] [name…]`. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { scene } from './screens-fixture.mjs';
import { screens } from './screens.mjs';

const folder = process.argv[2] ?? 'shots';
const wanted = process.argv.slice(3);
const WIDTHS = (process.env.WIDTHS ?? '1440,1024,390').split(',').map(Number);
const THEMES = (process.env.THEMES ?? 'light,dark').split(',');
const LANGUAGES = (process.env.LANGUAGES ?? 'en,zh').split(',');

const set = await scene();
try {
  for (const language of LANGUAGES) {
    for (const theme of THEMES) {
      for (const width of WIDTHS) {
        const to = join(folder, `${language}-${theme}-${width}`);
        await mkdir(to, { recursive: true });
        await set.tab.setViewportSize({ width, height: width < 768 ? 844 : 900 });
        await set.dress({ theme, language, density: process.env.DENSITY });
        for (const screen of screens(set.ids)) {
          if (wanted.length > 0 && !wanted.includes(screen.name)) continue;
          await set.visit(screen).catch((error) => console.error(`${screen.name}: ${String(error).split('\n')[0]}`));
          await set.tab.screenshot({ path: join(to, `${screen.name}.png`) });
        }
      }
    }
  }
  if (set.errors.length > 0) console.error([...new Set(set.errors)].join('\n'));
} finally {
  await set.close();
}
