import { api } from '../lib/api/client';
import type { Package } from '../lib/api/types';
import { count, t } from '../lib/i18n/index.svelte';
import { app } from '../lib/state/app.svelte';
import { attempt } from '../lib/state/toasts.svelte';

/** Removes a package after confirmation; asks a second time if unfinished runs need it. */
export async function removePackage({ reference: name, sha256 }: Package): Promise<boolean> {
  if (!confirm(t('package.removeSure', { name }))) return false;
  let answer = await attempt(() => api.removePackage(sha256, false));
  if (answer && !answer.removed && confirm(count('package.removeNeeded', answer.unfinished, { name })))
    answer = await attempt(() => api.removePackage(sha256, true));
  if (!answer?.removed) return false;
  await attempt(() => app.refreshPackages());
  return true;
}
