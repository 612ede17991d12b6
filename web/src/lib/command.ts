/** Command lines as users write them. No shell ever runs them. */

/** Splits a command line into arguments: quotes group, a backslash escapes the next character. */
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

/** Quotes and joins arguments, so that `splitCommand` returns the same ones. */
export function joinCommand(all: string[]): string {
  return all.map((word) => (/^[\w@%+=:,./~${}-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** Returns true if a value of this name looks secret. Only a display hint: the server decides what it stores as a secret. */
export const isSecret = (name: string): boolean =>
  /(^|[^a-z0-9])(keys?|apikey|token|secret|password|passwd|pat|auth|authorization|cookie|credentials)([^a-z0-9]|$)/i.test(name);
