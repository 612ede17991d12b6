/**
 * Markdown of models and files. It is cut into blocks, so that a text that grows renders its last block anew and no
 * other. No HTML is ever made of it: the page builds its elements from the tokens, so there is nothing to sanitise. What
 * stands there as HTML is shown as the text it is.
 */

import { lexer, type Token, type Tokens } from 'marked';

export type { Token, Tokens };

/** The blocks of a text. */
export const blocks = (text: string): Token[] => lexer(text, { gfm: true }).filter((token) => token.type !== 'space' && token.type !== 'def');

const LINK = /^(https?:\/\/|mailto:)/i;
const PICTURE = /^data:image\/(png|gif|jpe?g|webp);base64,[a-z0-9+/=]+$/i;

/** Where a link may lead: to other sites and to mail. Anything else is only words. */
export const linkOf = (target: string): string | undefined => (LINK.test(target.trim()) ? target.trim() : undefined);

/** A picture that is in the text itself. Others are not fetched. */
export const pictureOf = (source: string): string | undefined => (PICTURE.test(source.trim()) ? source.trim() : undefined);

/** Text in which characters may be written as `&amp;`. */
export function decoded(text: string): string {
  if (!text.includes('&')) return text;
  // The content of such an element is text and nothing else.
  const reader = document.createElement('textarea');
  reader.innerHTML = text.replaceAll('<', '&lt;');
  return reader.value;
}

/** The text of a Markdown line without its marks, for titles. */
export const plain = (text: string): string => text.replace(/[*_`#>]+/g, '').trim();
