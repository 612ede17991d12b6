/** Names of events for people. */

import { named } from '../lib/i18n/index.svelte';

export const logName = (type: string): string => named('event', type);
