/** Rows of files with values that a comma or a tab separates. */

/** Most rows that are read. */
export const MOST_ROWS = 5000;

/** Reads rows after RFC 4180, leniently. The separator is a tab, a semicolon or a comma, whichever the first line has most. */
export function readRows(text: string): { rows: string[][]; isCut: boolean } {
  const first = text.slice(0, (text.indexOf('\n') + 1 || text.length + 1) - 1);
  const countOf = (sign: string): number => first.split(sign).length;
  const separator = ['\t', ';', ','].reduce((best, sign) => (countOf(sign) > countOf(best) ? sign : best), ',');
  const rows: string[][] = [];
  let [row, value, isQuoted] = [[] as string[], '', false];
  const endRow = (): void => {
    row.push(value);
    if (row.length > 1 || value !== '') rows.push(row);
    [row, value] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    if (isQuoted) {
      if (letter !== '"') value += letter;
      else if (text[at + 1] === '"') {
        value += letter;
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && value === '') isQuoted = true;
    else if (letter === separator) {
      row.push(value);
      value = '';
    } else if (letter === '\n' || letter === '\r') {
      endRow();
      if (rows.length === MOST_ROWS) return { rows, isCut: text.slice(at).trim() !== '' };
    } else value += letter;
  }
  endRow();
  return { rows, isCut: false };
}

/** Returns how columns are aligned: those of numbers to the right. */
export function alignments(rows: readonly string[][]): ('right' | null)[] {
  const [header = [], ...rest] = rows;
  const isNumber = (text: string | undefined): boolean => text === undefined || text === '' || /^[-+]?[\d.,\s]*\d\s*%?$/.test(text.trim());
  return header.map((_, at) => (rest.length > 0 && rest.every((row) => isNumber(row[at])) ? 'right' : null));
}
