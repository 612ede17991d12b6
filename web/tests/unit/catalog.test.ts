import { describe, expect, it } from 'vitest';
import type { CatalogPackage, Models } from '../../src/lib/api/types';
import { titleOfRun } from '../../src/lib/names';
import { rank } from '../../src/lib/rank';
import { byUse, search } from '../../src/lib/state/catalog.svelte';
import { modelToSave } from '../../src/screens/local-models';

const packageOf = (name: string, imported: string, workflows: string[] = [], agents: string[] = []): CatalogPackage => ({
  reference: `${name}@1.0.0`,
  name,
  version: '1.0.0',
  imported,
  workflows: workflows.map((one) => ({ reference: one, name: one, nodes: [] })),
  agents: agents.map((one) => ({ id: one, name: one, title: 'Analyst', icon: '' })),
});
const names = (packages: CatalogPackage[]): string[] => packages.map((one) => one.name);

describe('the packages that are offered', () => {
  const all = [packageOf('old', '2026-01-01T00:00:00Z'), packageOf('mid', '2026-01-02T00:00:00Z'), packageOf('new', '2026-01-03T00:00:00Z')];

  it('begin with the one that was imported last', () => {
    expect(names(byUse(all, []))).toEqual(['new', 'mid', 'old']);
  });

  it('begin with the one that the project used after that', () => {
    const used = [
      { package: 'old@1.0.0', created: '2026-01-02T12:00:00Z', updated: '2026-01-04T00:00:00Z' },
      { package: 'gone@1.0.0', created: '2026-01-05T00:00:00Z' },
    ];
    expect(names(byUse(all, used))).toEqual(['old', 'new', 'mid']);
  });

  it('begin with the one that was just imported, though the store had it already', () => {
    const used = [{ package: 'new@1.0.0', created: '2026-02-01T00:00:00Z' }];
    expect(names(byUse(all, used, 'mid@1.0.0'))).toEqual(['mid', 'new', 'old']);
  });

  it('are narrowed to the workflows and agents that have the words', () => {
    const shop = packageOf('shop', '2026-01-01T00:00:00Z', ['Write a brief', 'Review code'], ['Mary', 'Winston']);
    const [found] = search([shop], 'review');
    expect(found?.workflows.map((one) => one.name)).toEqual(['Review code']);
    expect(found?.agents).toEqual([]);
    expect(search([shop], 'SHOP')).toEqual([shop]);
    expect(search([shop], 'shop mary')[0]?.agents.map((one) => one.name)).toEqual(['Mary']);
    expect(search([shop], 'nothing')).toEqual([]);
    expect(search([shop], '  ')).toEqual([shop]);
  });
});

describe('the palette', () => {
  it('finds an entry by words in any order, of the label and around it', () => {
    expect(rank('Hello branch', 'Run a workflow hello-branch', 'run hello')).toBe(2);
    expect(rank('Language: 简体中文', 'Appearance chinese zh', 'zh')).toBe(2);
    expect(rank('Hello branch', 'Run a workflow', 'run goodbye')).toBe(-1);
  });

  it('ranks what begins with the query before what has it, and letters in order last', () => {
    const ranks = ['run', 'Stop the run', 'rather unusual name'].map((label) => rank(label, '', 'run'));
    expect(ranks).toEqual([0, 1, 3]);
  });
});

describe('a run', () => {
  it('is called by its title, else by its workflow', () => {
    const run = { package: 'shop@1.0.0', workflow: 'workflows/brief/workflow.md' };
    expect(titleOfRun(run)).toBe('brief');
    expect(titleOfRun({ ...run, title: 'Bikes' })).toBe('Bikes');
  });
});

describe('a model of this computer', () => {
  const known: Models = { models: [{ name: 'qwen3-8b', model: 'other', profile: 'openai' }], profiles: [{ name: 'ollama', title: 'Ollama', baseUrl: 'http://localhost:11434/v1' }] };
  const server = { profile: 'ollama', baseUrl: 'http://localhost:11434/v1' };

  it('is saved without a key, under a name of its own, and runs use it', () => {
    expect(modelToSave(server, 'llama3.2', known)).toEqual({ name: 'llama3.2', body: { model: 'llama3.2', profile: 'ollama', noKey: true, useIt: true } });
    expect(modelToSave(server, 'qwen3:8b', known).name).toBe('ollama-qwen3-8b');
  });

  it('keeps the name that it has already, and an address that is not the usual one', () => {
    const again = { ...known, models: [{ name: 'mine', model: 'qwen3:8b', profile: 'ollama' }] };
    const { name, body } = modelToSave({ ...server, baseUrl: 'http://127.0.0.1:9/v1' }, 'qwen3:8b', again);
    expect([name, body.baseUrl]).toEqual(['mine', 'http://127.0.0.1:9/v1']);
  });
});
