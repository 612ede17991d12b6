/**
 * Text editor. It lives in a shadow root, where its styles are adopted sheets; the content security policy of the page forbids
 * `style` elements.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { goToNextChunk, goToPreviousChunk, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, type StateEffect } from '@codemirror/state';
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
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 12px' },
  '.cm-collapsedLines': { color: 'var(--text-2)', background: 'var(--surface-2)' },
  // A frame above the gutter, which would cover an outline.
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused::after': { content: '""', position: 'absolute', inset: '0', border: '2px solid var(--focus)', pointerEvents: 'none', zIndex: '300' },
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

/** Loads the syntax of a file on demand. */
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

/** Settings that change while an editor is open. */
const [merge, language, breaks, textCompartment] = [new Compartment(), new Compartment(), new Compartment(), new Compartment()];

/** Texts of an editor: its label, how the keyboard leaves it, and translations of its panels. */
export interface EditorTexts {
  label: string;
  help: string;
  phrases: Record<string, string>;
}

const textExtension = ({ label, help, phrases }: EditorTexts): Extension => [EditorView.contentAttributes.of({ 'aria-label': label, 'aria-description': help }), EditorState.phrases.of(phrases)];

/** Detects the line ending of a text. In a mixed text a carriage return belongs to its line. */
export function endingOf(text: string): { ending: string; isMixed: boolean } {
  const isWindows = /\r\n/.test(text) && !/\r(?!\n)|(?<!\r)\n/.test(text);
  return { ending: isWindows ? '\r\n' : '\n', isMixed: !isWindows && text.includes('\r') };
}

/** State of an editor that is not in front: text, undo history, selection and scroll position. */
export interface EditorSnapshot {
  state: EditorState;
  scroll: StateEffect<unknown>;
}

export interface Editor {
  /** Replaces the text. */
  set(text: string): void;
  /** Shows the difference to another text; `null` ends it. */
  compare(other: string | null): void;
  /** Moves to the next or previous difference. */
  jump(forward: boolean): void;
  focus(): void;
  close(): EditorSnapshot;
}

export function edit(
  host: HTMLElement,
  { path, text, texts, snapshot, onchange, onsave }: { path: string; text: string; texts: EditorTexts; snapshot: EditorSnapshot | null; onchange: (text: string) => void; onsave: () => void },
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true });
  root.replaceChildren();
  const frame = document.createElement('div');
  frame.style.height = '100%';
  root.append(frame);
  let { ending, isMixed } = endingOf(text);
  const onlyNewlines = (): Extension => (isMixed ? EditorState.lineSeparator.of('\n') : []);
  const read = (state: EditorState): string => state.doc.sliceString(0, state.doc.length, ending);
  const fresh = (): EditorState =>
    EditorState.create({
      doc: text,
      extensions: [
        breaks.of(onlyNewlines()),
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        EditorView.lineWrapping,
        textCompartment.of([]),
        keymap.of([
          {
            key: 'Mod-s',
            preventDefault: true,
            run: () => {
              onsave();
              return true;
            },
          },
          // Escape, then Tab, leaves the editor; its description says so.
          indentWithTab,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        language.of([]),
        syntaxHighlighting(colours),
        theme,
        merge.of([]),
      ],
    });
  const view = new EditorView({
    root,
    parent: frame,
    state: snapshot?.state ?? fresh(),
    ...(snapshot ? { scrollTo: snapshot.scroll } : {}),
    // Outside of the state, which outlives this view.
    dispatchTransactions(steps, own) {
      own.update(steps);
      if (steps.some((step) => step.docChanged)) onchange(read(own.state));
    },
  });
  // The language may have changed since the snapshot.
  view.dispatch({ effects: textCompartment.reconfigure(textExtension(texts)) });
  void languageOf(path).then((found) => view.dispatch({ effects: language.reconfigure(found) }));
  return {
    set(to) {
      if (to === read(view.state)) return;
      ({ ending, isMixed } = endingOf(to));
      view.dispatch({ effects: breaks.reconfigure(onlyNewlines()) });
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(to) } });
    },
    compare(other) {
      view.dispatch({ effects: merge.reconfigure(other === null ? [] : unifiedMergeView({ original: other, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } })) });
    },
    jump: (forward) => void (forward ? goToNextChunk : goToPreviousChunk)(view),
    focus: () => view.focus(),
    close() {
      const snapshot = { state: view.state, scroll: view.scrollSnapshot() };
      view.destroy();
      return snapshot;
    },
  };
}
