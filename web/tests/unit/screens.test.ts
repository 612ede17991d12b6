import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { en } from '../../src/lib/i18n/en';
import { SHORTCUTS } from '../../src/lib/keys';
import { SCREEN_NAMES, SCREENS } from '../../src/lib/screens';
import source from '../../src/lib/screens.ts?raw';
import { href, parse, type Route, routeTo } from '../../src/lib/state/route.svelte';

const at = (address: string): Route => parse(new URL(address, 'http://127.0.0.1'));

describe('addresses', () => {
  const routes: [Route, string][] = [
    [{ name: 'start' }, '/'],
    [{ name: 'import' }, '/import'],
    [{ name: 'settings', section: 'looks' }, '/settings/looks'],
    [{ name: 'project', project: 'p 1' }, '/project/p%201'],
    [{ name: 'conversation', project: 'p', id: '20261115-094946-2q38e' }, '/project/p/work/20261115-094946-2q38e'],
    [{ name: 'run', project: 'p', id: 'r' }, '/project/p/run/r'],
    [{ name: 'runs', project: 'p' }, '/project/p/runs'],
    [{ name: 'packages', project: 'p', package: 'tiny@0.1.0' }, '/project/p/packages?package=tiny%400.1.0'],
    [{ name: 'packages', project: 'p' }, '/project/p/packages'],
    [{ name: 'launch', project: 'p', package: undefined, workflow: 'workflow.md' }, '/project/p/launch?workflow=workflow.md'],
    [{ name: 'launch', project: 'p', package: 'a', workflow: 'b/c' }, '/project/p/launch?package=a&workflow=b%2Fc'],
    [{ name: 'unknown', path: '/project/p/nothing' }, '/project/p/nothing'],
  ];
  it.each(routes.map(([route, address]) => ({ route, address })))('$address is read as it was written', ({ route, address }) => {
    expect(href(route)).toBe(address);
    expect(at(address)).toEqual(route);
  });

  it('of every screen keep what is in them', () => {
    // A browser resolves parts of dots, and the server takes a path with a dot for a file.
    const part = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('.'));
    fc.assert(
      fc.property(fc.constantFrom(...SCREEN_NAMES), part, part, part, (name, project, id, other) => {
        const { path } = SCREENS[name];
        const all: Record<string, string> = { project, id, section: id, package: other, workflow: id };
        const names = [...path.matchAll(/[:?&](\w+)/g)].map((match) => match[1] ?? '');
        const route = { name, ...Object.fromEntries(names.map((param) => [param, all[param]])) } as Route;
        const url = new URL(href(route), 'http://127.0.0.1');
        expect(parse(url)).toEqual(route);
        expect(url.pathname).not.toContain('.');
      }),
    );
  });

  it('may leave the section of the settings out', () => {
    expect(at('/settings')).toEqual({ name: 'settings', section: 'models' });
  });

  it.each(['/project', '/project/p/work', '/project/p/nothing', '/nothing'])('%s is no screen', (path) => {
    expect(at(path)).toEqual({ name: 'unknown', path });
  });

  it('that are not well formed lead nowhere, and break nothing', () => {
    expect(at('/%E0%A4%A')).toEqual({ name: 'unknown', path: '/%E0%A4%A' });
    expect(at('/project/%')).toEqual({ name: 'project', project: '%' });
  });
});

describe('screens', () => {
  const names = (rail: string): string[] => SCREEN_NAMES.filter((name) => SCREENS[name].rail === rail);

  it('are in the rail and among the shortcuts in their order', () => {
    expect([names('first'), names('project'), names('last')]).toEqual([['start'], ['packages', 'runs'], ['settings']]);
    const from = SHORTCUTS.findIndex((one) => one.id === 'files') + 1;
    expect(SHORTCUTS.slice(from, from + 5).map(({ id, keys }) => `${id} ${keys.join()}`)).toEqual(['packages g p', 'runs g r', 'settings g s', 'start g h', 'replay g t']);
  });

  it('are loaded from the file that types them', () => {
    const files = [...source.matchAll(/import\('..\/screens\/(\w+)\.svelte'\)>\('(\w+)'\)/g)];
    expect(files.length).toBeGreaterThan(5);
    for (const [, typed, loaded] of files) expect(loaded).toBe(typed);
  });

  it('have a name for their shortcut', () => {
    for (const { name } of SHORTCUTS) expect(en).toHaveProperty([name]);
  });

  it('of a project are reached only in one', () => {
    expect(routeTo('runs', undefined)).toBeUndefined();
    expect(routeTo('runs', 'p')).toEqual({ name: 'runs', project: 'p' });
    expect(routeTo('settings', undefined)).toEqual({ name: 'settings', section: 'models' });
    expect(routeTo('start', 'p')).toEqual({ name: 'start' });
    expect(routeTo('run', 'p')).toBeUndefined();
  });
});
