import { beforeAll, describe, expect, it } from 'vitest';
import { edit, endingOf, type EditorTexts } from '../../src/files/editor';
import { phrases } from '../../src/lib/i18n/editor/zh';

// jsdom has no layout to measure.
beforeAll(() => {
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
});

const texts = (phrases: Record<string, string> = {}): EditorTexts => ({ label: 'a.txt', help: 'Escape, then Tab', phrases });

function opened(text: string, snapshot: ReturnType<ReturnType<typeof edit>['close']> | null = null, panelText = texts()): { editor: ReturnType<typeof edit>; changes: string[]; host: HTMLElement } {
  const [host, changes] = [document.createElement('div'), [] as string[]];
  document.body.append(host);
  return { editor: edit(host, { path: 'a.txt', text, texts: panelText, snapshot, onchange: (now) => changes.push(now), onsave: () => undefined }), changes, host };
}

describe('the editor', () => {
  it.each(['one\r\ntwo\r\n', 'one\ntwo\n', 'one\r\ntwo\nthree\r\n', 'one\rtwo\n', ''])('keeps how lines end: %j', (text) => {
    const { editor, changes } = opened('another\ntext');
    editor.set(text);
    expect(changes.at(-1) ?? text).toBe(text);
    const { editor: second, changes: then } = opened(text);
    second.set(text);
    // The text is unchanged.
    expect(then).toEqual([]);
    second.set(`${text}more`);
    expect(then).toEqual([`${text}more`]);
  });

  it('tells how the lines of a text end', () => {
    expect(['a\r\nb', 'a\nb', 'a\r\nb\nc', 'a'].map((text) => endingOf(text))).toEqual([
      { ending: '\r\n', isMixed: false },
      { ending: '\n', isMixed: false },
      { ending: '\n', isMixed: true },
      { ending: '\n', isMixed: false },
    ]);
  });

  it('goes on where it was left', () => {
    const { editor } = opened('one');
    editor.set('two');
    const snapshot = editor.close();
    const { editor: again, changes } = opened('two', snapshot);
    again.set('two');
    expect(changes).toEqual([]);
    expect(snapshot.state.doc.toString()).toBe('two');
  });

  it('says how the keyboard leaves it, and speaks the language of the page, also when it was left in another', () => {
    const { editor } = opened('one');
    const { host } = opened('one', editor.close(), texts(phrases));
    const content = host.shadowRoot?.querySelector('.cm-content');
    expect([content?.getAttribute('aria-label'), content?.getAttribute('aria-description')]).toEqual(['a.txt', 'Escape, then Tab']);
    content?.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true }));
    const panel = host.shadowRoot?.querySelector('.cm-search');
    const panelText = [panel?.textContent, ...[...(panel?.querySelectorAll('[aria-label], [placeholder]') ?? [])].flatMap((one) => [one.getAttribute('aria-label'), one.getAttribute('placeholder')])].join('');
    expect(panelText).toContain('查找');
    expect(panelText).not.toMatch(/[a-z]/i);
  });
});
