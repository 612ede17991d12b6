/** The route of this tab, as an address that survives a reload. */

import { SCREENS, SCREEN_NAMES, type ScreenName, type ScreenRoute } from '../screens';

export type Route = ScreenRoute | { name: 'unknown'; path: string };

type Params = Record<string, string | undefined>;

/** Splits the path of a screen into parts and names of its query. */
function pattern(name: ScreenName): { parts: string[]; query: string[] } {
  const [path = '', query = ''] = SCREENS[name].path.split('?');
  return { parts: path.split('/').filter(Boolean), query: query.split('&').filter(Boolean) };
}

/** Returns the name of the parameter that a part of a pattern stands for. */
const paramIn = (part: string): string | undefined => (part.startsWith(':') ? part.slice(1) : undefined);

/** Decodes a part of a path. A malformed one stays as it is, and names nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads the parameters of a screen from an address; none if the address is another screen's. */
function match(name: ScreenName, given: readonly string[], fields: URLSearchParams): Params | undefined {
  const { parts, query } = pattern(name);
  if (given.length > parts.length) return undefined;
  const params: Params = {};
  for (const [at, part] of parts.entries()) {
    const param = paramIn(part);
    const value = given[at] ?? (param && SCREENS[name].defaults?.[param]);
    if (value === undefined || (param === undefined && value !== part)) return undefined;
    if (param !== undefined) params[param] = value;
  }
  for (const field of query) params[field] = fields.get(field) ?? undefined;
  return params;
}

export function parse(url: URL): Route {
  const given = url.pathname.split('/').filter(Boolean).map(decode);
  for (const name of SCREEN_NAMES) {
    const params = match(name, given, url.searchParams);
    if (params) return { name, ...params } as Route;
  }
  return { name: 'unknown', path: url.pathname };
}

export function href(route: Route): string {
  if (route.name === 'unknown') return route.path;
  const params: Params = { ...route };
  const { parts, query } = pattern(route.name);
  const path = parts.map((part) => encodeURIComponent(params[paramIn(part) ?? ''] ?? part));
  const pairs = query.flatMap((field): [string, string][] => (params[field] === undefined ? [] : [[field, params[field]]]));
  return `/${path.join('/')}${pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : ''}`;
}

/** Returns the route of a screen that needs nothing but the project; none where the project or more is missing. */
export function routeTo(name: ScreenName, project: string | undefined): Route | undefined {
  const known: Params = { ...SCREENS[name].defaults, project };
  const params = pattern(name).parts.map(paramIn).filter((param) => param !== undefined);
  if (params.some((param) => known[param] === undefined)) return undefined;
  return { name, ...Object.fromEntries(params.map((param) => [param, known[param]])) } as Route;
}

export const projectOf = (route: Route): string | undefined => ('project' in route ? route.project : undefined);

let current = $state.raw<Route>(parse(new URL(location.href)));
let last: Route | null = null;
/** Current or last project. Each entry of the history stores it, so that the settings have it after a reload. */
let project = projectOf(current) ?? (history.state as string | null) ?? undefined;
/** Last route outside of the settings. */
let outside: Route = current.name !== 'settings' ? current : project ? { name: 'project', project } : { name: 'start' };

export const route = (): Route => current;

/** Returns the route before the current one. */
export const before = (): Route | null => last;

/** Returns the current or last project of this tab. */
export const lastProject = (): string | undefined => project;

/** Returns the route that the settings lead back to. */
export const backFromSettings = (): Route => outside;

/** Returns the project that the bars show: the settings do not leave it. */
export const projectHere = (): string | undefined => projectOf(current) ?? (current.name === 'settings' ? project : undefined);

function arrive(at: Route): void {
  current = at;
  if (at.name !== 'settings') outside = at;
  project = projectOf(at) ?? project;
}

export function go(to: Route): void {
  const [address, from] = [href(to), current];
  arrive(to);
  if (address === location.pathname + location.search) return;
  history.pushState(project, '', address);
  last = from;
}

addEventListener('popstate', () => {
  last = current;
  arrive(parse(new URL(location.href)));
});

/** Handles a click on a link inside the app, unless the user opens it in another tab. */
export function follow(event: MouseEvent, to: Route, how: (to: Route) => void = go): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  how(to);
}
