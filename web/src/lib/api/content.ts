/** Addresses of bytes, for elements that fetch by themselves. */

import { withQuery } from './client';

/** Returns the address of a file's bytes. Each version has its own, so that no old picture is shown. */
export const contentAddress = (project: string, path: string, version?: string, inline?: boolean): string =>
  withQuery(`/api/projects/${encodeURIComponent(project)}/content`, { path, version, inline });
