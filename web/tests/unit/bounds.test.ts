import { describe, expect, it } from 'vitest';
import { boundsOf, emptyBounds, valueOf } from '../../src/screens/bounds';

describe('what a run is held to', () => {
  it('is as the settings say where nothing was typed', () => {
    expect(boundsOf(emptyBounds())).toEqual({ mode: 'autopilot', strict: false, tools: { askWrites: false, ask: [], deny: [] } });
  });

  it('has each limit that was typed', () => {
    const bounds = boundsOf({ ...emptyBounds(), mode: 'guided', turns: '7', minutes: '1.5', tokens: '9000', cost: '0.5' });
    expect(bounds).toMatchObject({ mode: 'guided', maxTurns: 7, maxSeconds: 90, maxTokens: 9000, maxCost: 0.5 });
  });

  it('has rules between commas and in lines', () => {
    const { tools } = boundsOf({ ...emptyBounds(), ask: 'fs.write,, mcp.github.*\n', deny: 'fs.*(@project/a, b), fs.search\nmcp.*' });
    expect(tools?.ask).toEqual(['fs.write', 'mcp.github.*']);
    expect(tools?.deny).toEqual(['fs.*(@project/a, b)', 'fs.search', 'mcp.*']);
  });
});

describe('a variable that was typed', () => {
  it('is JSON where that loses nothing', () => {
    const typed = ['3', '1.5', 'true', '[1, "a"]', '"3"', '1.10', '007', '1e3', '12345678901234567890', ' 3', 'a b', ''];
    const meant = [3, 1.5, true, [1, 'a'], '3', '1.10', '007', '1e3', '12345678901234567890', ' 3', 'a b', ''];
    expect(typed.map(valueOf)).toEqual(meant);
  });
});
