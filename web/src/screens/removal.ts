import { api } from '../lib/api/client';
import type { Package } from '../lib/api/types';
import { count, t } from '../lib/i18n/index.svelte';
import { app } from '../lib/state/app.svelte';
import { confirmed } from '../lib/state/confirm.svelte';
import { attempt } from '../lib/state/toasts.svelte';

/** Removes a package after a question that says which runs need it. */
export async function removePackage({ reference: name, sha256 }: Package): Promise<boolean> {
  const needed = await attempt(() => api.removePackage(sha256, false));
  if (!needed) return false;
  const text = needed.unfinished > 0 ? count('package.removeNeeded', needed.unfinished) : t('package.removeText');
  if (!(await confirmed({ title: t('package.removeSure', { name }), text, action: t('common.remove') }))) return false;
  if (!(await attempt(() => api.removePackage(sha256, true)))?.removed) return false;
  await attempt(() => app.refreshPackages());
  return true;
}
