/** Copies a text, and says so. */

import { t } from './i18n/index.svelte';
import { attempt, toast } from './state/toasts.svelte';

export async function copyText(text: string): Promise<void> {
  const done = await attempt(async () => {
    await navigator.clipboard.writeText(text);
    return true;
  });
  if (done) toast({ tone: 'ok', message: t('chat.copied') });
}
