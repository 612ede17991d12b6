/** Answers as the runtime reads them. */

import type { FormSchema, Question } from './api/types';
import { objectOf } from './payload';

/** What chooses these options: their values, or their numbers where a value has a comma of its own. */
export function choose(question: Question, values: readonly string[]): string {
  const options = question.options ?? [];
  const isPlain = values.every((value) => !/[,，、;；\n]/.test(value));
  if (values.length <= 1 || isPlain) return values.join(', ');
  return values.map((value) => options.findIndex((option) => option.value === value) + 1).join(', ');
}

/** An answer as people read it: options by their labels, a form field by field. What is neither stays as it is. */
export function inWords(question: Question, options: readonly { value: string; label?: string }[], answer: string): string {
  const fields = (question.schema as FormSchema | undefined)?.properties;
  const given = fields && objectOf(answer);
  if (given) return Object.entries(given).map(([name, value]) => `${fields[name]?.title ?? name}: ${String(value)}`).join('\n');
  const label = (word: string): string => options.find((one) => one.value === word)?.label ?? word;
  return question.multi ? answer.split(', ').map(label).join(', ') : label(answer);
}
