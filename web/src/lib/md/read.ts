/**
 * Markdown of models and files, as blocks of tokens: while a text grows, only its last blocks render again. The page builds
 * elements from the tokens and never parses HTML, so there is nothing to sanitise. HTML in a text shows as text.
 */

import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from 'marked';

export type { Token, Tokens };

/** Nesting limit: deeper text stays raw. */
const DEEPEST = 12;
/** Longest inline text in characters that is parsed, because the time grows quadratically. */
const LONGEST_RUN = 8000;
/** Longest text in characters that is parsed; the rest stays raw. */
const LONGEST = 400_000;

const textToken = (raw: string): Tokens.Text => ({ type: 'text', raw, text: raw, escaped: false });

/** Footnote: its label and its text. */
export interface Footnote extends Tokens.Generic {
  type: 'footnote';
  label: string;
  tokens: Token[];
}

/** Reads `[^1]: text`, with lines of the text that are indented. */
function footnote(this: { lexer: Lexer }, src: string): Footnote | undefined {
  const found = /^ {0,3}\[\^([\w-]{1,40})\]:[ \t]*([^\n]*(?:\n(?: {2,}|\t)[^\n]+)*)(?:\n+|$)/.exec(src);
  if (!found) return undefined;
  const [raw, label = '', text = ''] = found;
  return { type: 'footnote', raw, label, tokens: this.lexer.inline(text.replace(/\n\s+/g, '\n')) };
}

/** Rules of GitHub, with two exceptions: one tilde strikes nothing out, and behind a letter it sets an index, as in `H~2~O`. */
class Rules extends Tokenizer {
  override del(src: string, masked: string, before = ''): Tokens.Del | undefined {
    if (src.startsWith('~~')) return super.del(src, masked, before);
    const found = /^~([\w+-]{1,12})~(?!~)/.exec(src);
    if (!found || !/[\p{L}\p{N})]/u.test(before)) return undefined;
    const [raw, text = ''] = found;
    return { type: 'sub', raw, text, tokens: [textToken(text)] } as unknown as Tokens.Del;
  }

  override reflink(src: string, links: Parameters<Tokenizer['reflink']>[1]): ReturnType<Tokenizer['reflink']> {
    const found = /^\[\^([\w-]{1,40})\]/.exec(src);
    if (!found) return super.reflink(src, links);
    return { type: 'footref', raw: found[0], text: found[1] } as unknown as Tokens.Text;
  }
}

const OPTIONS = { gfm: true, extensions: { block: [footnote], childTokens: {}, renderers: {} } };

/** Lexer with limits on depth and length. */
class Reader extends Lexer {
  #depth = 0;

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.#deeper(src, tokens, () => super.blockTokens(src, tokens, isClipped));
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= LONGEST_RUN) return this.#deeper(src, tokens, () => super.inlineTokens(src, tokens));
    tokens.push(textToken(src));
    return tokens;
  }

  #deeper(src: string, tokens: Token[], read: () => Token[]): Token[] {
    if (this.#depth >= DEEPEST) {
      tokens.push(textToken(src));
      return tokens;
    }
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

function read(text: string, most: number): Token[] {
  const rest = text.slice(most);
  try {
    const tokens: Token[] = new Reader({ ...OPTIONS, tokenizer: new Rules() }).lex(text.slice(0, most));
    return rest ? [...tokens, textToken(rest)] : tokens;
  } catch {
    return [textToken(text)];
  }
}

/** Text and its blocks, kept to parse the text that it grows to. */
export interface Blocks {
  text: string;
  all: Token[];
  /** Blocks that render something. */
  shown: Token[];
  /** Footnotes, which are shown at the end. */
  notes: Footnote[];
}

/** Number of blocks at the end that later text can still change. */
const UNSETTLED = 2;

const isSeen = (token: Token): boolean => token.type !== 'space' && token.type !== 'def' && token.type !== 'footnote';

/** Parses a text into blocks. If it only grew, the settled blocks of the text before are reused. */
export function blocks(given: string, before?: Blocks): Blocks {
  const text = given.replace(/\r\n?/g, '\n');
  let settledCount = 0;
  if (before && text.startsWith(before.text)) {
    // Blocks before an empty line do not depend on the text after it.
    let behind = 0;
    for (let at = before.all.length - 1; at >= 0 && settledCount === 0; at -= 1) {
      const token = before.all[at];
      if (token?.type === 'space' && behind >= UNSETTLED) settledCount = at + 1;
      else if (token && isSeen(token)) behind += 1;
    }
  }
  const settled = before?.all.slice(0, settledCount) ?? [];
  const from = settled.reduce((sum, token) => sum + token.raw.length, 0);
  const all = [...settled, ...read(text.slice(from), LONGEST - from)];
  return { text, all, shown: all.filter(isSeen), notes: all.filter((token): token is Footnote => token.type === 'footnote') };
}

const LINK = /^(https?:\/\/|mailto:)/i;
const INLINE_PICTURE = /^data:image\/(png|gif|jpe?g|webp);base64,[a-z0-9+/=]+$/i;

/** Returns the target of a link to a site or to mail. */
export const linkOf = (target: string): string | undefined => (LINK.test(target.trim()) ? target.trim() : undefined);

/** Returns the address that a target leads to, with the host as it is looked up, so that no letter looks like another. */
export const addressOf = (target: string): string => (URL.canParse(target) ? new URL(target).href : target);

/** Returns the source of a picture in the text itself. Those of other sites are never fetched. */
export const pictureOf = (source: string): string | undefined => (INLINE_PICTURE.test(source.trim()) ? source.trim() : undefined);

/** Decodes a part of an address; nothing if it is malformed. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Resolves a link to a file of the project, as GitHub does: from the folder of the text, or from the root with a leading slash. */
export function fileOf(target: string, folder: string): string | undefined {
  const path = decode(target.trim().replace(/[?#].*$/s, '')).replace(/^@project\//, '/');
  // An address with a scheme, of another host, or of another system is none of ours.
  if (path === '' || /^[a-z][a-z0-9+.-]*:|^\/\/|[\\\0]/i.test(path)) return undefined;
  const parts = path.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const part of path.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return parts.join('/') || undefined;
}

/** Returns the anchor of a heading, as GitHub makes it. */
export const slug = (text: string): string => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');

/** Decodes character references such as `&amp;`. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  // A textarea parses its content as text only.
  const reader = document.createElement('textarea');
  reader.innerHTML = text.replaceAll('<', '&lt;');
  return reader.value;
}

/** Strips the marks from a line of Markdown, for titles. */
export const plain = (text: string): string => text.replace(/[*_`#>]+/g, '').trim();
