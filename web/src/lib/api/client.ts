/** Requests to the local server. Every failure is a `Problem` that says what happened and what to do. */

import { t } from '../i18n/index.svelte';
import type {
  Program,
  Reaction,
  CodePage,
  Conversation,
  ConversationDetail,
  ConversationList,
  ConversationQuery,
  EventPage,
  Fault,
  FileList,
  FileText,
  ResumeRequest,
  Halting,
  ImportedPackage,
  JournalId,
  Models,
  NewConversation,
  NewRun,
  LaunchRun,
  PackageContent,
  Packages,
  Project,
  Projects,
  RemovedConversation,
  RemovedPackage,
  Report,
  RunDetail,
  RunForecast,
  RunList,
  RunQuery,
  SettingList,
  StartedConversation,
  StartedRun,
  UserMessage,
} from './types';
import { sanitize } from '../text';

/** Error of a request: a refusal by the server, or a server that cannot be reached. */
export class Problem extends Error {
  readonly code: Fault['code'];
  readonly hint: string | undefined;

  constructor(fault: Fault) {
    super(fault.message);
    this.code = fault.code;
    this.hint = fault.hint;
  }
}

/** Returns the fault to show for anything that was thrown. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Problem) return { code: thrown.code, message: thrown.message, hint: thrown.hint };
  return { code: 'internal', message: thrown instanceof Error ? thrown.message : String(thrown) };
}

type Query = Record<string, string | number | boolean | undefined>;

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).filter((pair) => pair[1] !== undefined);
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

let onLocked: (fault: Fault) => void = () => undefined;

/** Registers the listener for a request that the server answers with `unauthorized`. */
export const whenLocked = (listener: (fault: Fault) => void): void => void (onLocked = listener);

async function parseJson(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch {
    throw new Problem({ code: 'page', message: t('error.notJson', { status: response.status }) });
  }
}

/** Sends a request and returns a successful response; throws a `Problem` otherwise. */
export async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const isFile = body instanceof Blob;
  const init: RequestInit = { method, credentials: 'same-origin' };
  if (body !== undefined) {
    init.headers = { 'content-type': isFile ? 'application/octet-stream' : 'application/json' };
    init.body = isFile ? body : JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Problem({
      code: 'offline',
      message: t('error.offline'),
      hint: t('error.offlineHint'),
    });
  }
  if (response.ok) return response;
  const fault = (await parseJson(response)) as Fault;
  if (fault.code === 'unauthorized') onLocked(fault);
  throw new Problem(fault);
}

export const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => (await parseJson(await send(method, path, body))) as T;

export const get = <T>(path: string, query: Query = {}): Promise<T> => request('GET', withQuery(path, query));
export const post = <T>(path: string, body: unknown = {}): Promise<T> => request('POST', path, body);
const id = encodeURIComponent;
const journalPath = (journal: JournalId): string => `/api/${journal.kind}s/${id(journal.id)}`;

export const api = {
  app: () => get<Program>('/api/app'),

  projects: () => get<Projects>('/api/projects'),
  openProject: (path: string) => post<Project>('/api/projects', { path }),
  project: (project: string) => get<Project>(`/api/projects/${id(project)}`),
  relinkProject: (project: string, path: string) => post<Project>(`/api/projects/${id(project)}/relink`, { path }),
  forgetProject: (project: string) => request('DELETE', `/api/projects/${id(project)}`),

  files: (project: string, path?: string) =>
    get<FileList>(`/api/projects/${id(project)}/files`, { path }),
  file: (project: string, path: string) => get<FileText>(`/api/projects/${id(project)}/file`, { path }),
  writeFile: (project: string, path: string, text: string, ifMatchSha256?: string) =>
    request<FileText>('PUT', `/api/projects/${id(project)}/file`, { path, text, ifMatchSha256 }),

  packages: () => get<Packages>('/api/packages'),
  package: (reference: string) => get<PackageContent>(`/api/packages/${id(reference)}`).then(sanitize),
  /** Identifies the package by digest, because several may share a reference. */
  removePackage: (sha256: string, confirm: boolean) =>
    request<RemovedPackage>('DELETE', withQuery(`/api/packages/${id(sha256)}`, { confirm })),
  inspect: (from: string | Blob) =>
    (typeof from === 'string'
      ? post<Report>('/api/packages/inspect', { path: from })
      : request<Report>('POST', withQuery('/api/packages/inspect-file', { name: (from as File).name }), from)
    ).then(sanitize),
  import: (from: string | Blob) =>
    typeof from === 'string'
      ? post<ImportedPackage>('/api/packages/import', { path: from })
      : request<ImportedPackage>('POST', withQuery('/api/packages/import-file', { name: (from as File).name }), from),
  code: (code: string) => get<CodePage>(`/api/codes/${id(code)}`),

  conversations: (query: ConversationQuery) =>
    get<ConversationList>('/api/conversations', query),
  beginConversation: (body: NewConversation) => post<StartedConversation>('/api/conversations', body),
  conversation: (conversation: string) => get<ConversationDetail>(`/api/conversations/${id(conversation)}`).then(sanitize),
  renameConversation: (conversation: string, title: string) =>
    request<Conversation>('PATCH', `/api/conversations/${id(conversation)}`, { title }),
  removeConversation: (conversation: string) =>
    request<RemovedConversation>('DELETE', `/api/conversations/${id(conversation)}`),

  startIn: (conversation: string, body: LaunchRun) =>
    post<Reaction>(`/api/conversations/${id(conversation)}/runs`, body),
  enterRun: (conversation: string, run: string) =>
    post<Reaction>(`/api/conversations/${id(conversation)}/enter`, { run }),

  runs: (query: RunQuery) =>
    get<RunList>('/api/runs', query),
  startRun: (body: NewRun) => post<StartedRun>('/api/runs', body),
  forecast: (body: NewRun) => post<RunForecast>('/api/runs/forecast', body),
  run: (run: string) => get<RunDetail>(`/api/runs/${id(run)}`).then(sanitize),
  removeRun: (run: string) => request('DELETE', `/api/runs/${id(run)}`),
  events: (journal: JournalId, after: number, limit = 5000) =>
    get<EventPage>(`${journalPath(journal)}/events`, { after, limit }),
  blob: (journal: JournalId, sha256: string) => get<FileText>(`${journalPath(journal)}/blobs/${id(sha256)}`),
  say: (journal: JournalId, message: UserMessage) => post<Reaction>(`${journalPath(journal)}/say`, message),
  resume: (journal: JournalId, body: ResumeRequest = {}) => post<Reaction>(`${journalPath(journal)}/resume`, body),
  pause: (journal: JournalId) => post<Halting>(`${journalPath(journal)}/pause`),
  stop: (journal: JournalId) => post<Halting>(`${journalPath(journal)}/stop`),

  models: () => get<Models>('/api/models'),

  settings: () => get<SettingList>('/api/settings'),
  set: (key: string, value: unknown) => request<SettingList>('PATCH', '/api/settings', { key, value }),
};
