/** Where a text of Markdown stands, for its links and pictures. */

import { getContext, setContext } from 'svelte';

export interface TextLocation {
  /** Project whose files the text may name. */
  project: string;
  /** Folder of the text, from the root of the project. */
  folder: string;
  /** Opens a file of the project. */
  open: (path: string) => void;
  /** Splits a text at the names of files that are known to exist; none if it names none. */
  filesIn?: (text: string) => { text: string; path?: string }[] | undefined;
}

/** What the parts of one text share. */
export interface TextContext {
  readonly location: TextLocation | undefined;
  /** Prefix of the ids in this text. */
  readonly id: string;
  /** Labels of the footnotes in their order. */
  readonly notes: readonly string[];
}

const KEY = Symbol('Markdown');

export const shareContext = (one: TextContext): TextContext => setContext(KEY, one);
export const textContext = (): TextContext => getContext<TextContext>(KEY);
