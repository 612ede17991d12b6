/** Requests of the screens around the works: what can be started, folders, names, model servers on this computer. */

import { sanitize } from '../text';
import { get, post, request } from './client';
import type { Catalog, Folders, LocalServers, Project, ProjectSource, RunItem, Sample } from './types';

const id = encodeURIComponent;

export const home = {
  catalog: () => get<Catalog>('/api/catalog').then(sanitize),
  folders: (path: string | undefined, hidden: boolean) => get<Folders>('/api/folders', { path, hidden: hidden || undefined }),
  makeFolder: (path: string) => post<Folders>('/api/folders', { path }),
  /** Looks for foreign content in the folder of a project. */
  source: (project: string) => get<ProjectSource>(`/api/projects/${id(project)}/source`).then(sanitize),
  localServers: () => get<LocalServers>('/api/local-servers').then(sanitize),
  renameProject: (project: string, name: string) => request<Project>('PATCH', `/api/projects/${id(project)}`, { name }),
  renameRun: (run: string, title: string) => request<RunItem>('PATCH', `/api/runs/${id(run)}`, { title }),
  /** Makes the sample in a new folder of the user's home. */
  sample: () => post<Sample>('/api/sample'),
};
