/**
 * Markdown of models and files. It is cut into blocks, so that a text that grows renders its last block anew and no
 * other. No HTML is ever made of it: the page builds its elements from the tokens, so there is nothing to sanitise. What
 * stands there as HTML is shown as the text it is.
 */

import { Lexer, type Token, type Tokens, type TokensList } from 'marked';

export type { Token, Tokens };

/** What is nested deeper is shown as it is written. */
const DEEPEST = 12;
/** So much of one paragraph is looked through for marks, because the time that takes grows with its square. */
const LONGEST_RUN = 8000;
/** What is behind so many characters is shown as it is written. */
const LONGEST = 400_000;

const textToken = (raw: string): Tokens.Text => ({ type: 'text', raw, text: raw, escaped: false });

/** A lexer that no text can lead astray, however deep or long. */
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

/** A text and its blocks, for the text that it grows to. */
export interface Blocks {
  text: string;
  all: Token[];
  /** Those that are seen. */
  shown: Token[];
}

/** Behind so many blocks nothing that comes later changes them. */
const UNSETTLED = 2;

const isSeen = (token: Token): boolean => token.type !== 'space' && token.type !== 'def';

/** The blocks of a text. Those of the text before stay, if it only grew, but for the last ones. */
export function blocks(given: string, before?: Blocks): Blocks {
  const text = given.replace(/\r\n?/g, '\n');
  let settledCount = 0;
  if (before && text.startsWith(before.text)) {
    // An empty line parts what is before it from what is behind it.
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

/** Where a link may lead: to other sites and to mail. Anything else is only words. */
export const linkOf = (target: string): string | undefined => (LINK.test(target.trim()) ? target.trim() : undefined);

/** A picture that is in the text itself. Others are not fetched. */
export const pictureOf = (source: string): string | undefined => (PICTURE.test(source.trim()) ? source.trim() : undefined);

/** Text in which characters may be written as `&amp;`. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  // The content of such an element is text and nothing else.
  const reader = document.createElement('textarea');
  reader.innerHTML = text.replaceAll('<', '&lt;');
  return reader.value;
}

/** The text of a Markdown line without its marks, for titles. */
export const plain = (text: string): string => text.replace(/[*_`#>]+/g, '').trim();
