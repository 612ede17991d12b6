/**
 * Markdown of models and files, made harmless. It is cut into blocks, so that a text that grows renders its last block
 * anew and no other. Images from elsewhere are not fetched, and links lead only where a person would expect.
 */

import DOMPurify from 'dompurify';
import { lexer, parser, type Token } from 'marked';

export interface Block {
  raw: string;
  token: Token;
}

export function split(text: string): Block[] {
  return lexer(text, { gfm: true }).map((token) => ({ raw: token.raw, token }));
}

const TAGS = [
  'a', 'b', 'blockquote', 'br', 'code', 'del', 'details', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img',
  'kbd', 'li', 'mark', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'summary', 'sup', 'table', 'tbody', 'td', 'th',
  'thead', 'tr', 'u', 'ul',
];
const ATTRIBUTES = ['href', 'title', 'alt', 'src', 'width', 'height', 'start', 'align', 'colspan', 'rowspan', 'open'];
const SAFE_LINK = /^(https?:|mailto:)/i;
const OWN_IMAGE = /^data:image\/(png|gif|jpe?g|webp);base64,/i;

const purifier = DOMPurify();

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    const target = node.getAttribute('href') ?? '';
    if (SAFE_LINK.test(target)) {
      node.setAttribute('target', '_blank');
      node.setAttribute('rel', 'noopener noreferrer nofollow');
    } else node.removeAttribute('href');
  }
  if (node.tagName === 'IMG' && !OWN_IMAGE.test(node.getAttribute('src') ?? '')) {
    const words = node.ownerDocument.createElement('span');
    words.textContent = `[${node.getAttribute('alt') || 'image'}]`;
    words.title = node.getAttribute('src') ?? '';
    node.replaceWith(words);
  }
});

export function html(block: Block): string {
  const dirty = parser([block.token], { gfm: true });
  return purifier.sanitize(dirty, { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
}

/** The text of a Markdown line without its marks, for titles. */
export const plain = (text: string): string => text.replace(/[*_`#>]+/g, '').trim();
