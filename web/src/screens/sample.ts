import { api } from '../lib/api/client';
import { home } from '../lib/api/home';
import { app } from '../lib/state/app.svelte';
import { keepDraft } from '../lib/state/drafts';
import { go } from '../lib/state/route.svelte';
import { attempt } from '../lib/state/toasts.svelte';

/** Starts the sample in a folder of its own. It needs neither a key nor the network: its model is scripted. */
export async function startSample(): Promise<void> {
  const made = await home.sample();
  const { runId } = await api.startRun({ project: made.project.id, package: made.package, model: made.model });
  keepDraft(`${runId}/hint`, made.answer);
  await attempt(() => Promise.all([app.refreshProjects(), app.refreshPackages()]));
  go({ name: 'run', project: made.project.id, id: runId });
}
