/** Names of events in the log and on the scrubber. */

import type { Event } from '../lib/api/types';
import { t } from '../lib/i18n/index.svelte';

/** Names an event. Deltas are in no log. */
export const logName = (type: Event['type']): string => t(`event.${type as Exclude<Event['type'], 'assistant.delta'>}`);
