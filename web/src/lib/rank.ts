/** Ranking of what a search in the palette finds. */

/**
 * Ranks a label and the words around it, lower is better: the label begins with the query, has it, has each of its words (the label or
 * what else is known about the entry), or has its letters in their order. Returns -1 if none holds.
 */
export function rank(label: string, around: string, query: string): number {
  const text = label.toLowerCase();
  const wanted = query.trim().toLowerCase();
  if (text.startsWith(wanted)) return 0;
  if (text.includes(wanted)) return 1;
  const whole = `${text} ${around.toLowerCase()}`;
  if (wanted.split(/\s+/).every((word) => whole.includes(word))) return 2;
  let from = 0;
  for (const letter of wanted) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return -1;
  }
  return 3;
}
