import { afterEach, describe, expect, it, vi } from 'vitest';
import { language } from '../../src/lib/i18n/index.svelte';
import { app } from '../../src/lib/state/app.svelte';

afterEach(() => vi.unstubAllGlobals());

describe('a package', () => {
  it('that was imported anew is not shown as it was before', async () => {
    let workflows: string[] = ['old'];
    vi.stubGlobal('fetch', (path: string) => Promise.resolve(new Response(JSON.stringify(path.endsWith('/packages') ? { packages: [] } : { name: 'p', workflows }))));
    const first = await app.content('p@1.0.0');
    workflows = ['new'];
    expect(await app.content('p@1.0.0')).toBe(first);
    await app.refreshPackages();
    expect((await app.content('p@1.0.0'))?.workflows).toEqual(['new']);
  });
});

describe('preferences', () => {
  const stored = (): Record<string, unknown> => JSON.parse(localStorage.getItem('crewagent.prefs') ?? '{}') as Record<string, unknown>;
  /** Changes preferences in another tab. */
  function setElsewhere(values: object): void {
    localStorage.setItem('crewagent.prefs', JSON.stringify({ ...stored(), ...values }));
    dispatchEvent(new StorageEvent('storage', { key: 'crewagent.prefs' }));
  }

  it('are the same in all tabs, and none takes back what another set', async () => {
    vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }));
    const { applyPrefs, prefs, setPref } = await import('../../src/lib/state/prefs.svelte');
    await applyPrefs();
    localStorage.setItem('crewagent.prefs', JSON.stringify({ keys: { palette: 'alt+k' } }));
    // This tab does not know the value yet, and keeps it.
    setPref('side', 300);
    expect(stored()).toMatchObject({ side: 300, keys: { palette: 'alt+k' } });
    setElsewhere({ theme: 'dark', language: 'zh' });
    expect([prefs.theme, prefs.keys, document.documentElement.dataset.theme]).toEqual(['dark', { palette: 'alt+k' }, 'dark']);
    await vi.waitFor(() => expect(language()).toBe('zh'));
  });
});
