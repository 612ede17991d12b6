/** Actions of shortcuts and the palette. */

import { isScreen } from './screens';
import { files } from './state/files.svelte';
import { prefs, setPref } from './state/prefs.svelte';
import { backFromSettings, go, projectHere, projectOf, route, routeTo, type Route } from './state/route.svelte';
import { shell } from './state/shell.svelte';
import { works } from './works';

const wide = (): boolean => matchMedia('(min-width: 1024px)').matches;
const roomy = (): boolean => matchMedia('(min-width: 1280px)').matches;

function toggleSide(): void {
  if (wide()) setPref('sideOpen', !prefs.sideOpen);
  else shell.overlay = shell.overlay === 'side' ? null : 'side';
}

export function showSide(side: 'works' | 'files'): void {
  // The settings have no side panel.
  if (route().name === 'settings') {
    shell.side = side;
    setPref('sideOpen', true);
    go(backFromSettings());
    return;
  }
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

/** Shows the inspector beside the page, or over it in a narrow window. */
export function showInspector(): void {
  if (roomy()) setPref('inspectorOpen', true);
  else shell.overlay = 'inspector';
}

/** Starts the replay of the run at its last event, or ends it. */
export function toggleReplay(): void {
  const { work } = shell;
  if (work?.run && work.replay === null) work.showMoment(work.run.view.seq);
  else if (work) work.replay = null;
}

/** Goes to a work or to the start of one, and brings it in front of open files. */
export function visit(to: Route): void {
  files.current = null;
  go(to);
}

/** Shows what can be started in a project; on its page the heading of the offers gets the focus. */
export function beginWork(project: string): void {
  visit({ name: 'project', project });
  document.getElementById('begin')?.focus();
}

/** Opens a file as a tab of the open work, or of the project. */
export function openFile(project: string, path: string): void {
  files.show(project, path);
  shell.overlay = null;
  if (!shell.work) go({ name: 'project', project });
}

/** Goes to the previous or next work of the list. */
function neighbour(by: 1 | -1): void {
  const project = projectOf(route());
  const id = shell.work?.journal.id;
  if (!project) return;
  const all = works(project);
  const at = all.findIndex((one) => one.id === id);
  const next = all[(at + by + all.length) % all.length];
  if (next) visit(next.to);
}

/** Selects a tab of the work or the project; the first one is not a file. */
function showTab(n: number): void {
  if (!['project', 'conversation', 'run'].includes(route().name)) return;
  const file = files.open[n - 2];
  if (n === 1) files.current = null;
  else if (file) files.current = file.path;
}

/** Moves the focus to the next or previous region. Of nested regions the inner one has the focus. */
function walkRegions(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((one) => one.offsetParent !== null);
  const at = all.findLastIndex((one) => one.contains(document.activeElement));
  const region = all[at < 0 ? 0 : (at + by + all.length) % all.length];
  if (!region) return;
  const inside = [...region.querySelectorAll<HTMLElement>('textarea, [tabindex="0"], a[href], button, input, select')];
  const usable = inside.filter((one) => one.closest('[data-region]') === region && !one.matches(':disabled, [tabindex="-1"]') && one.offsetParent !== null);
  const target = usable.find((one) => one.matches('textarea')) ?? usable[0] ?? region;
  if (target === region) region.tabIndex = -1;
  target.focus();
}

const ACTIONS: Record<string, (project: string | undefined) => void> = {
  palette: () => (shell.palette = shell.palette ? null : 'all'),
  file: (project) => (shell.palette = project ? 'files' : 'all'),
  new: (project) => project && beginWork(project),
  side: toggleSide,
  inspector: toggleInspector,
  save: () => void files.front?.save(),
  stop: () => shell.work?.atWork && void shell.work.stop(),
  previous: () => neighbour(-1),
  next: () => neighbour(1),
  works: (project) => project && showSide('works'),
  files: (project) => project && showSide('files'),
  replay: toggleReplay,
  regions: () => walkRegions(1),
  regionsBack: () => walkRegions(-1),
  sheet: () => (shell.sheet = 'keys'),
};

/** Runs the action of a shortcut: opens a screen, selects a tab, or does what the table says. */
export function runAction(id: string): void {
  const project = projectHere();
  const tab = /^tab-(\d)$/.exec(id)?.[1];
  const screen = isScreen(id) ? routeTo(id, project) : undefined;
  if (tab) showTab(Number(tab));
  else if (screen) go(screen);
  else ACTIONS[id]?.(project);
}
