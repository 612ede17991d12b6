/** Commands as people write and read them. They are never run by a shell. */

/** The words of a line: quotes hold a word together, a backslash takes the next character as it is. */
export function splitCommand(line: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const c = line.charAt(at);
    if (c === '\\' && quote !== "'" && at + 1 < line.length) word = (word ?? '') + line.charAt((at += 1));
    else if (quote) [word, quote] = c === quote ? [word, ''] : [(word ?? '') + c, quote];
    else if (c === '"' || c === "'") [word, quote] = [word ?? '', c];
    else if (!/\s/.test(c)) word = (word ?? '') + c;
    else if (word !== null) [word] = [null, found.push(word)];
  }
  return word === null ? found : [...found, word];
}

/** A line that shows exactly these words. */
export function joinCommand(all: string[]): string {
  return all.map((word) => (/^[\w@%+=:,./~${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** Whether a value of this name is stored apart from the settings and never shown again. The server decides; this is for the eye. */
export const isSecret = (name: string): boolean =>
  /(^|[^a-z0-9])(keys?|apikey|token|secret|password|passwd|pat|auth|authorization|cookie|credentials)([^a-z0-9]|$)/i.test(name);
