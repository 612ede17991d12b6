import { beforeAll, describe, expect, it } from 'vitest';
import { edit, endingOf, type Said } from '../../src/files/editor';
import { phrases } from '../../src/lib/i18n/editor/zh';

// There is no layout here to measure.
beforeAll(() => {
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
});

const said = (phrases: Record<string, string> = {}): Said => ({ label: 'a.txt', help: 'Escape, then Tab', phrases });

function opened(text: string, kept: ReturnType<ReturnType<typeof edit>['close']> | null = null, words = said()): { editor: ReturnType<typeof edit>; heard: string[]; host: HTMLElement } {
  const [host, heard] = [document.createElement('div'), [] as string[]];
  document.body.append(host);
  return { editor: edit(host, { path: 'a.txt', text, said: words, kept, onchange: (now) => heard.push(now), onsave: () => undefined }), heard, host };
}

describe('the editor', () => {
  it.each(['one\r\ntwo\r\n', 'one\ntwo\n', 'one\r\ntwo\nthree\r\n', 'one\rtwo\n', ''])('keeps how lines end: %j', (text) => {
    const { editor, heard } = opened('another\ntext');
    editor.set(text);
    expect(heard.at(-1) ?? text).toBe(text);
    const { editor: second, heard: then } = opened(text);
    second.set(text);
    // It is what it was.
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
    const kept = editor.close();
    const { editor: again, heard } = opened('two', kept);
    again.set('two');
    expect(heard).toEqual([]);
    expect(kept.state.doc.toString()).toBe('two');
  });

  it('says how the keyboard leaves it, and speaks the language of the page, also when it was left in another', () => {
    const { editor } = opened('one');
    const { host } = opened('one', editor.close(), said(phrases));
    const content = host.shadowRoot?.querySelector('.cm-content');
    expect([content?.getAttribute('aria-label'), content?.getAttribute('aria-description')]).toEqual(['a.txt', 'Escape, then Tab']);
    content?.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true }));
    const panel = host.shadowRoot?.querySelector('.cm-search');
    const words = [panel?.textContent, ...[...(panel?.querySelectorAll('[aria-label], [placeholder]') ?? [])].flatMap((one) => [one.getAttribute('aria-label'), one.getAttribute('placeholder')])].join('');
    expect(words).toContain('查找');
    expect(words).not.toMatch(/[a-z]/i);
  });
});
