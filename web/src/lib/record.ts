/** A run as a scenario, which the scripted model plays again. */

import { get } from './api/client';
import type { TextFile } from './api/generated/types';
import { t } from './i18n/index.svelte';
import { toast } from './state/toasts.svelte';

/** Downloads the run as a scenario. */
export async function recordRun(run: string): Promise<void> {
  const { name, text } = await get<TextFile>(`/api/runs/${encodeURIComponent(run)}/scenario`);
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  [link.href, link.download] = [url, name];
  link.click();
  URL.revokeObjectURL(url);
  toast({ tone: 'ok', message: t('export.done', { name }) });
}
