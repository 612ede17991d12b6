/** Widths of texts in the graph. */

/** Width of a text in pixels at a size of font. */
export type Measure = (text: string, size: number, isBold?: boolean) => number;

/** Widths that are kept: measuring is slow, and a graph shows the same texts again. */
const MOST_KEPT = 5000;

/** Returns a function that measures texts in the font of the page. Without a canvas it estimates them. */
export function textMeasure(): Measure {
  const context = document.createElement('canvas').getContext('2d');
  const family = getComputedStyle(document.body).fontFamily || 'sans-serif';
  const kept = new Map<string, number>();
  return (text, size, isBold = false) => {
    if (!context) return [...text].reduce((sum, letter) => sum + size * ((letter.codePointAt(0) ?? 0) > 0x2e80 ? 1 : 0.54), 0);
    const key = `${size} ${isBold} ${text}`;
    let width = kept.get(key);
    if (width === undefined) {
      if (kept.size >= MOST_KEPT) kept.clear();
      context.font = `${isBold ? 600 : 400} ${size}px ${family}`;
      kept.set(key, (width = context.measureText(text).width));
    }
    return width;
  };
}

/** Cuts a text to a width. */
export function cut(text: string, pixels: number, width: (text: string) => number): string {
  if (width(text) <= pixels) return text;
  const letters = [...text];
  let [least, most] = [0, letters.length - 1];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (width(`${letters.slice(0, middle).join('')}…`) <= pixels) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, Math.max(1, least)).join('')}…`;
}

/** Joins as many parts as fit; only the first is ever cut. */
export function fitting(parts: readonly string[], pixels: number, width: (text: string) => number): string {
  for (let end = parts.length; end > 1; end -= 1) {
    const text = parts.slice(0, end).join(' · ');
    if (width(text) <= pixels) return text;
  }
  return cut(parts[0] ?? '', pixels, width);
}
