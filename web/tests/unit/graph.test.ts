import { describe, expect, it } from 'vitest';
import type { Picture } from '../../src/lib/api/types';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { KeyReader, conflictingShortcut } from '../../src/lib/keys';
import { reduce } from '../../src/lib/reduce';
import { emptyView } from '../../src/lib/view';
import { fitting } from '../../src/run/letters';
import { edgeText, graphLook, neighbour, reuseNodes, previewLook } from '../../src/run/nodes';
import { journal } from './journals';

/** Returns the picture of hello-branch, reduced to what the tests need. */
function picture(): Picture {
  const node = (id: string, x: number, y: number) => ({ id, kind: 'step', title: id, agent: null, calls: null, lines: [id], x, y, width: 100, height: 50 });
  const edge = (from: string, to: string, label: string) => ({
    from, to, label, isDefault: false, condition: null, flow: 'forward', path: '', points: [], tip: { x: 0, y: 0 }, labelBox: { x: 0, y: 0, width: 0, height: 0, lines: [] },
  });
  return {
    title: 'hello-branch',
    entry: 'step-01-intake',
    width: 400,
    height: 400,
    start: null,
    nodes: [node('step-01-intake', 100, 0), node('decide-02-project-type', 100, 100), node('step-03a-greenfield', 0, 200), node('step-03b-brownfield', 200, 200), node('end-99', 100, 300)],
    edges: [
      edge('step-01-intake', 'decide-02-project-type', 'next'),
      edge('decide-02-project-type', 'step-03a-greenfield', 'greenfield'),
      edge('decide-02-project-type', 'step-03b-brownfield', 'brownfield'),
      edge('step-03a-greenfield', 'end-99', 'next'),
      edge('step-03b-brownfield', 'end-99', 'next'),
    ],
    leftOut: 0,
  };
}

describe('the text of an edge', () => {
  it('has the condition', async () => {
    await setLanguage('en');
    const { edges, nodes } = picture();
    const edge = { ...edges[1]!, isDefault: true };
    expect(edgeText(edge, nodes)).toBe('greenfield → step-03a-greenfield (default)');
    expect(edgeText({ ...edge, condition: ' it is new\n' }, nodes)).toBe('greenfield → step-03a-greenfield (default) if: it is new');
  });
});

describe('the look of a graph', () => {
  const view = reduce(emptyView(), journal('every-question'));

  it('says what is done, where the run is, and where it may go', () => {
    const look = graphLook(picture(), view, 0, false);
    expect(look.nodes.get('step-01-intake')).toMatchObject({ look: 'done', current: false, visits: 1 });
    expect(look.nodes.get('decide-02-project-type')).toMatchObject({ look: 'waiting', current: true });
    expect(look.nodes.get('step-03a-greenfield')).toMatchObject({ look: 'ready', next: true });
    expect(look.nodes.get('end-99')).toMatchObject({ look: 'ready', next: false });
    expect(look.edges).toEqual(['taken', 'next', 'next', 'plain', 'plain']);
  });

  it('shows branches that were not taken once the workflow is complete', () => {
    const state = { ...view.states[0]!, currentNodeId: 'end-99', stepsCompleted: ['step-01-intake', 'decide-02-project-type', 'step-03a-greenfield', 'end-99'], complete: true };
    const look = graphLook(picture(), { ...view, phase: 'Completed', states: { 0: state } }, 0, false);
    expect(look.nodes.get('end-99')).toMatchObject({ look: 'done', current: false });
    expect(look.nodes.get('step-03b-brownfield')?.look).toBe('skipped');
  });

  it('shows the way that a fork was given, and no other', () => {
    const state = { ...view.states[0]!, currentNodeId: 'step-03a-greenfield', stepsCompleted: ['step-01-intake', 'decide-02-project-type'] };
    const visits = [{ nodeId: 'step-03a-greenfield', call: undefined, label: undefined, from: undefined, seq: 1, time: '' }];
    const forked = { ...view, visits, states: { 0: state } };
    expect(graphLook(picture(), forked, 0, false).edges).toEqual(['taken', 'taken', 'plain', 'next', 'plain']);
  });

  it('says that a run is paused if its process was killed', () => {
    const look = graphLook(picture(), { ...view, phase: 'Running' }, 0, false);
    expect(look.nodes.get('decide-02-project-type')?.look).toBe('paused');
  });

  it('keeps the values of nodes that did not change', () => {
    const before = graphLook(picture(), { ...view, phase: 'Running' }, 0, false);
    const after = reuseNodes(graphLook(picture(), view, 0, false), before);
    expect(after).toEqual(graphLook(picture(), view, 0, false));
    expect(after.nodes.get('end-99')).toBe(before.nodes.get('end-99'));
    expect(after.nodes.get('decide-02-project-type')).not.toBe(before.nodes.get('decide-02-project-type'));
  });

  it('is plain for a call that is not known', () => {
    expect(graphLook(picture(), view, 7, false)).toEqual({ ...previewLook(picture()), isPreview: false });
  });
});

describe('arrows in a graph', () => {
  it.each([
    ['step-01-intake', 'ArrowDown', 'decide-02-project-type'],
    ['decide-02-project-type', 'ArrowUp', 'step-01-intake'],
    ['step-03a-greenfield', 'ArrowRight', 'step-03b-brownfield'],
    ['step-03b-brownfield', 'ArrowLeft', 'step-03a-greenfield'],
    ['end-99', 'ArrowDown', undefined],
  ])('%s %s leads to %s', (from, key, to) => {
    expect(neighbour(picture(), from, key)).toBe(to);
  });
});

describe('texts in a graph', () => {
  const width = (text: string): number => [...text].length * 10;
  it.each([
    [['Waiting for you', 'Mary', '2 tools'], 400, 'Waiting for you · Mary · 2 tools'],
    [['Waiting for you', 'Mary', '2 tools'], 300, 'Waiting for you · Mary'],
    [['Waiting for you', 'Mary'], 150, 'Waiting for you'],
    [['Waiting for you', 'Mary'], 100, 'Waiting f…'],
    [[], 100, ''],
  ])('%s in %i pixels are %s', (parts, pixels, text) => expect(fitting(parts, pixels, width)).toBe(text));
});

describe('shortcuts', () => {
  const press = (key: string, more: KeyboardEventInit = {}): KeyboardEvent => new KeyboardEvent('keydown', { key, ...more });

  it('are found alone and in pairs', () => {
    const reader = new KeyReader();
    expect(reader.read(press('k', { ctrlKey: true }), {})).toBe('palette');
    expect(reader.read(press('g'), {})).toBeUndefined();
    expect(reader.read(press('r'), {})).toBe('runs');
    expect(reader.read(press('?', { shiftKey: true }), {})).toBe('sheet');
  });

  it('lead to the tabs by number, and to the regions both ways', () => {
    const reader = new KeyReader();
    expect(reader.read(press('3', { ctrlKey: true }), {})).toBe('tab-3');
    expect(reader.read(press('3', { altKey: true }), {})).toBe('tab-3');
    expect(reader.read(press('F6', { shiftKey: true }), {})).toBe('regionsBack');
  });

  it('have no rivals', () => {
    expect(conflictingShortcut('palette', 'mod+b', {})?.id).toBe('side');
    expect(conflictingShortcut('palette', 'g', {})?.id).toBe('new');
    expect(conflictingShortcut('palette', 'g x', {})).toBeUndefined();
    expect(conflictingShortcut('palette', 'mod+b', { side: 'g x' })).toBeUndefined();
    expect(conflictingShortcut('palette', '? x', {})?.id).toBe('sheet');
  });

  it('can be changed, and are nothing while a word is composed', () => {
    const reader = new KeyReader();
    expect(reader.read(press('o', { ctrlKey: true }), { palette: 'mod+o' })).toBe('palette');
    expect(reader.read(press('k', { ctrlKey: true }), { palette: 'mod+o' })).toBeUndefined();
    expect(reader.read(press('k', { ctrlKey: true, isComposing: true }), {})).toBeUndefined();
  });
});
