/** Downloads of a run: its scenario, or everything recorded. */

import { get, send } from './api/client';
import type { TextFile } from './api/generated/types';
import { t } from './i18n/index.svelte';
import { toast } from './state/toasts.svelte';

function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  [link.href, link.download] = [url, name];
  link.click();
  URL.revokeObjectURL(url);
  toast({ tone: 'ok', message: t('export.done', { name }) });
}

/** Downloads the run as a scenario for the scripted model. */
export async function recordRun(run: string): Promise<void> {
  const { name, text } = await get<TextFile>(`/api/runs/${encodeURIComponent(run)}/scenario`);
  download(name, new Blob([text], { type: 'application/yaml' }));
}

/** Downloads everything recorded about a run, without secrets. */
export async function exportRun(run: string): Promise<void> {
  const answer = await send('GET', `/api/runs/${encodeURIComponent(run)}/export`);
  download(`crewagent-${run}.zip`, await answer.blob());
}
