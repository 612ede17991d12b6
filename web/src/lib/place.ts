/** What the place in the app is called, for the title of the page. */

import { t } from './i18n/index.svelte';
import type { Route } from './state/route.svelte';

export function placeName(at: Route): string {
  switch (at.name) {
    case 'start':
    case 'settings':
    case 'packages':
    case 'runs':
      return t(`rail.${at.name}`);
    case 'import':
    case 'launch':
    case 'unknown':
      return t(`${at.name}.title`);
    case 'project':
    case 'conversation':
    case 'run':
      return '';
  }
}
