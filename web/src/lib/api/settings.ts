/** Requests of the settings: models, MCP servers, tool policy, diagnosis. */

import { get, post, request } from './client';
import type {
  Diagnosis,
  McpTestResult,
  McpServerItem,
  McpServers,
  McpImport,
  ProbeResult,
  NewPackage,
  PackageContent,
  Packed,
  SetMcpServer,
  ToolSurvey,
} from './generated/types';
import type { ModelTestResult, ModelItem, SetModel } from './types';

const server = (name: string): string => `/api/mcp/servers/${encodeURIComponent(name)}`;
const model = (name: string): string => `/api/models/${encodeURIComponent(name)}`;

export const mcp = {
  list: () => get<McpServers>('/api/mcp'),
  set: (name: string, body: SetMcpServer) => request<McpServerItem>('PUT', server(name), body),
  enable: (name: string, enabled: boolean) => request<McpServerItem>('PATCH', server(name), { enabled }),
  remove: (name: string) => request('DELETE', server(name)),
  test: (name: string) => post<McpTestResult>(`${server(name)}/test`),
  takeOver: (text: string, save: boolean) => post<McpImport>('/api/mcp/import', { text, save }),
};

export const models = {
  set: (name: string, body: SetModel) => request<ModelItem>('PUT', model(name), body),
  remove: (name: string) => request('DELETE', model(name)),
  use: (name: string) => post(`${model(name)}/use`),
  test: (name: string) => post<ModelTestResult>(`${model(name)}/test`),
  probe: (name: string) => post<ProbeResult>(`${model(name)}/probe`),
};

export const tools = (of: { package?: string; agent?: string } = {}): Promise<ToolSurvey> => get('/api/tools', of);
export const doctor = (): Promise<Diagnosis> => get('/api/doctor');
export const author = {
  make: (body: NewPackage) => post<PackageContent>('/api/packages/new', body),
  pack: (path: string) => post<Packed>('/api/packages/pack', { path }),
};
