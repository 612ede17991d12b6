/** What shortcuts and the palette do. */

import { app } from './state/app.svelte';
import { files } from './state/files.svelte';
import { prefs, setPref } from './state/prefs.svelte';
import { go, projectOf, route, type Route } from './state/route.svelte';
import { shell } from './state/shell.svelte';

const wide = (): boolean => matchMedia('(min-width: 1024px)').matches;
const roomy = (): boolean => matchMedia('(min-width: 1280px)').matches;

export function toggleSide(): void {
  if (wide()) setPref('sideOpen', !prefs.sideOpen);
  else shell.overlay = shell.overlay === 'side' ? null : 'side';
}

export function showSide(side: 'works' | 'files'): void {
  const isShown = wide() ? prefs.sideOpen : shell.overlay === 'side';
  if (isShown && shell.side === side) {
    toggleSide();
    return;
  }
  shell.side = side;
  if (wide()) setPref('sideOpen', true);
  else shell.overlay = 'side';
}

export function toggleInspector(): void {
  if (roomy()) setPref('inspectorOpen', !prefs.inspectorOpen);
  else shell.overlay = shell.overlay === 'inspector' ? null : 'inspector';
}

/** Shows the inspector, where there is room for it or over the page. */
export function showInspector(): void {
  if (roomy()) setPref('inspectorOpen', true);
  else shell.overlay = 'inspector';
}

/** Goes to a work, or to where one begins. It is in front of the files that are open. */
export function visit(to: Route): void {
  files.current = null;
  go(to);
}

/** Files open as tabs of the work, or of the project where no work is open. */
export function openFile(project: string, path: string): void {
  files.show(project, path);
  shell.overlay = null;
  if (!shell.work) go({ name: 'project', project });
}

/** The work before or after this one in the list. */
function neighbour(by: 1 | -1): void {
  const project = projectOf(route());
  const id = shell.work?.journal.id;
  if (!project) return;
  const all = app.conversations;
  const at = all.findIndex((one) => one.id === id);
  const next = all[(at + by + all.length) % all.length];
  if (next) visit({ name: 'conversation', project, id: next.id });
}

/** Walks through the regions of the page. */
function nextRegion(): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((one) => one.offsetParent !== null);
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const region = all[(at + 1) % all.length];
  const target = region?.querySelector<HTMLElement>('textarea, [tabindex="0"], a[href], button:not(:disabled), input, select');
  (target ?? region)?.focus();
}

export function act(id: string): void {
  const project = projectOf(route());
  switch (id) {
    case 'palette':
      shell.palette = !shell.palette;
      break;
    case 'file':
      shell.palette = true;
      break;
    case 'new':
      if (project) visit({ name: 'project', project });
      break;
    case 'side':
      toggleSide();
      break;
    case 'inspector':
      toggleInspector();
      break;
    case 'save':
      void files.front?.save();
      break;
    case 'stop':
      if (shell.work?.atWork) void shell.work.stop();
      break;
    case 'previous':
      neighbour(-1);
      break;
    case 'next':
      neighbour(1);
      break;
    case 'works':
    case 'files':
      if (project) showSide(id);
      break;
    case 'packages':
      if (project) go({ name: 'packages', project, package: undefined });
      break;
    case 'runs':
      if (project) go({ name: 'runs', project });
      break;
    case 'settings':
      go({ name: 'settings', section: 'models' });
      break;
    case 'start':
      go({ name: 'start' });
      break;
    case 'replay':
      if (shell.work?.run) shell.work.replay = shell.work.replay === null ? shell.work.run.view.seq : null;
      break;
    case 'regions':
      nextRegion();
      break;
    case 'sheet':
      shell.sheet = 'keys';
      break;
  }
}
