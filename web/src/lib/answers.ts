/** Conversions between answers of the page and the text that the runtime reads. */

import type { FormSchema, Question } from './api/types';
import { objectOf } from './payload';

/** Formats the answer that chooses these options: their values, or their numbers if a value contains a comma. */
export function choose(question: Question, values: readonly string[]): string {
  const options = question.options ?? [];
  const isPlain = values.every((value) => !/[,，、;；\n]/.test(value));
  if (values.length <= 1 || isPlain) return values.join(', ');
  return values.map((value) => options.findIndex((option) => option.value === value) + 1).join(', ');
}

export type Consent = 'once' | 'run' | 'deny';

/** Parses the answer to an approval. Anything that is not a consent is a refusal. */
export function consentOf(answer: string): { consent: Consent; why: string } {
  const [, word = '', why = ''] = /^([^\s:：,，]*)[\s:：,，]*([^]*)$/.exec(answer.trim()) ?? [];
  if (!why && /^(once|o|yes|y|是)$/i.test(word)) return { consent: 'once', why };
  if (!why && /^(run|r)$/i.test(word)) return { consent: 'run', why };
  return { consent: 'deny', why: /^(deny|d|no|n|否)$/i.test(word) ? why : answer };
}

/** Formats an answer for the user: options by label, a form field by field, other text unchanged. */
export function formatAnswer(question: Question, options: readonly { value: string; label?: string }[], answer: string): string {
  const fields = (question.schema as FormSchema | undefined)?.properties;
  const values = fields && objectOf(answer);
  if (values) return Object.entries(values).map(([name, value]) => `${fields[name]?.title ?? name}: ${String(value)}`).join('\n');
  // A typed number counts the options, unless an option has it as its value.
  const label = (word: string): string => {
    const option = options.find((one) => one.value === word) ?? (/^\d+$/.test(word) ? options[Number(word) - 1] : undefined);
    return option?.label ?? option?.value ?? word;
  };
  return question.multi ? answer.split(/[,，、]\s*/).map((word) => label(word.trim())).join(', ') : label(answer.trim());
}
