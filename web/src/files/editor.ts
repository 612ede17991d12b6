/**
 * The editor. It lives in a shadow root, because there its styles are adopted sheets, which the policy of the page
 * allows, and not `style` elements, which it does not.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-2)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--surface-2) 60%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
  },
  '.cm-panels': { backgroundColor: 'var(--surface-2)', color: 'var(--text)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--diff-add) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--diff-del)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
});

const colours = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '650' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--wait)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--info)' },
  { tag: [tags.comment, tags.meta], color: 'var(--text-3)' },
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--accent)' },
  { tag: [tags.link, tags.url], color: 'var(--accent)', textDecoration: 'underline' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '650' },
]);

/** The language of a file, fetched when a file has it. */
async function languageOf(path: string): Promise<Extension> {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  switch (ending) {
    case 'md':
    case 'markdown':
      return (await import('@codemirror/lang-markdown')).markdown();
    case 'json':
      return (await import('@codemirror/lang-json')).json();
    case 'yaml':
    case 'yml':
      return (await import('@codemirror/lang-yaml')).yaml();
    case 'py':
      return (await import('@codemirror/lang-python')).python();
    case 'js':
    case 'mjs':
    case 'ts':
    case 'jsx':
    case 'tsx':
      return (await import('@codemirror/lang-javascript')).javascript({ jsx: ending.endsWith('x'), typescript: ending.startsWith('t') });
    default:
      return [];
  }
}

export interface Editor {
  /** Replaces the text from outside. */
  set(text: string): void;
  /** Shows the difference to another text, or none. */
  compare(other: string | null): void;
  focus(): void;
  close(): void;
}

export function edit(
  host: HTMLElement,
  { path, text, label, onchange, onsave }: { path: string; text: string; label: string; onchange: (text: string) => void; onsave: () => void },
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true });
  root.replaceChildren();
  const frame = document.createElement('div');
  frame.style.height = '100%';
  root.append(frame);
  const [merge, language] = [new Compartment(), new Compartment()];
  const view = new EditorView({
    root,
    parent: frame,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        keymap.of([
          {
            key: 'Mod-s',
            preventDefault: true,
            run: () => {
              onsave();
              return true;
            },
          },
          // Escape, then Tab, leaves the editor by keyboard.
          indentWithTab,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onchange(update.state.doc.toString());
        }),
        language.of([]),
        syntaxHighlighting(colours),
        theme,
        merge.of([]),
      ],
    }),
  });
  void languageOf(path).then((found) => view.dispatch({ effects: language.reconfigure(found) }));
  return {
    set(to) {
      if (to !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: to } });
    },
    compare(other) {
      view.dispatch({ effects: merge.reconfigure(other === null ? [] : unifiedMergeView({ original: other, mergeControls: false })) });
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}
