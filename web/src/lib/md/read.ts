/**
 * Markdown of models and files, as blocks of tokens: while a text grows, only its last blocks render again. The page builds
 * elements from the tokens and never parses HTML, so there is nothing to sanitise. HTML in a text shows as text.
 */

import { Lexer, type Token, type Tokens, type TokensList } from 'marked';

export type { Token, Tokens };

/** Nesting limit: deeper text stays raw. */
const DEEPEST = 12;
/** Longest inline text in characters that is parsed, because the time grows quadratically. */
const LONGEST_RUN = 8000;
/** Longest text in characters that is parsed; the rest stays raw. */
const LONGEST = 400_000;

const textToken = (raw: string): Tokens.Text => ({ type: 'text', raw, text: raw, escaped: false });

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
    const tokens: Token[] = new Reader({ gfm: true }).lex(text.slice(0, most));
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
}

/** Number of blocks at the end that later text can still change. */
const UNSETTLED = 2;

const isSeen = (token: Token): boolean => token.type !== 'space' && token.type !== 'def';

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
  return { text, all, shown: all.filter(isSeen) };
}

const LINK = /^(https?:\/\/|mailto:)/i;
const PICTURE = /^data:image\/(png|gif|jpe?g|webp);base64,[a-z0-9+/=]+$/i;

/** Returns the target of a link to a site or to mail; other links stay text. */
export const linkOf = (target: string): string | undefined => (LINK.test(target.trim()) ? target.trim() : undefined);

/** Returns the source of an inline picture. Others are never fetched. */
export const pictureOf = (source: string): string | undefined => (PICTURE.test(source.trim()) ? source.trim() : undefined);

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
