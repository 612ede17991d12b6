/** Where in the app this tab is, as an address that can be reloaded and shared with oneself. */

export type Route =
  | { name: 'start' }
  | { name: 'import' }
  | { name: 'settings'; section: string }
  | { name: 'project'; project: string }
  | { name: 'conversation'; project: string; id: string }
  | { name: 'run'; project: string; id: string }
  | { name: 'runs'; project: string }
  | { name: 'packages'; project: string; package: string | undefined }
  | { name: 'launch'; project: string; package: string | undefined; workflow: string | undefined }
  | { name: 'unknown'; path: string };

/** A part of a path. One that is not well formed names nothing that is here. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parse(url: URL): Route {
  const [first, second, third, fourth] = url.pathname.split('/').filter(Boolean).map(decoded);
  const query = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  if (first === undefined) return { name: 'start' };
  if (first === 'import') return { name: 'import' };
  if (first === 'settings') return { name: 'settings', section: second ?? 'models' };
  if (first === 'project' && second) {
    if (third === undefined) return { name: 'project', project: second };
    if (third === 'work' && fourth) return { name: 'conversation', project: second, id: fourth };
    if (third === 'run' && fourth) return { name: 'run', project: second, id: fourth };
    if (third === 'runs') return { name: 'runs', project: second };
    if (third === 'packages') return { name: 'packages', project: second, package: query('package') };
    if (third === 'launch') {
      return { name: 'launch', project: second, package: query('package'), workflow: query('workflow') };
    }
  }
  return { name: 'unknown', path: url.pathname };
}

export function href(route: Route): string {
  const id = encodeURIComponent;
  const query = (fields: Record<string, string | undefined>): string => {
    const pairs = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
  };
  switch (route.name) {
    case 'start':
      return '/';
    case 'import':
      return '/import';
    case 'settings':
      return `/settings/${id(route.section)}`;
    case 'project':
      return `/project/${id(route.project)}`;
    case 'conversation':
      return `/project/${id(route.project)}/work/${id(route.id)}`;
    case 'run':
      return `/project/${id(route.project)}/run/${id(route.id)}`;
    case 'runs':
      return `/project/${id(route.project)}/runs`;
    case 'packages':
      return `/project/${id(route.project)}/packages${query({ package: route.package })}`;
    case 'launch':
      return `/project/${id(route.project)}/launch${query({ package: route.package, workflow: route.workflow })}`;
    case 'unknown':
      return route.path;
  }
}

export const projectOf = (route: Route): string | undefined => ('project' in route ? route.project : undefined);

let current = $state.raw<Route>(parse(new URL(location.href)));
let last: Route | null = null;
/** Each entry of the history keeps it, so that the settings know it after a reload, too. */
let project = projectOf(current) ?? (history.state as string | null) ?? undefined;
/** Where this tab is, or was before it came to the settings. */
let outside: Route = current.name !== 'settings' ? current : project ? { name: 'project', project } : { name: 'start' };

export const route = (): Route => current;

/** Where this tab was before. */
export const before = (): Route | null => last;

/** The project that this tab is in, or was in last. */
export const lastProject = (): string | undefined => project;

/** Where the settings lead back to. */
export const backFromSettings = (): Route => outside;

/** The project that the bars are about: the settings do not leave it. */
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

/** For links: follows them inside the app, unless they are to be opened elsewhere. */
export function follow(event: MouseEvent, to: Route, how: (to: Route) => void = go): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  how(to);
}
