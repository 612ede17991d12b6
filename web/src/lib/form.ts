/** Forms: fields of a schema, their validation, and the answer. Loaded with the first form. */

import type { FormField, FormSchema } from './api/types';

/** Option of a field: `key` for the DOM, `label` for the user, `value` for the answer. */
export interface Choice {
  key: string;
  label: string;
  value: unknown;
}

export interface Entry {
  name: string;
  label: string;
  description: string | undefined;
  kind: 'text' | 'long' | 'number' | 'integer' | 'flag' | 'one' | 'several';
  choices: Choice[];
  required: boolean;
  field: FormField;
}

const typeOf = (field: FormField): string => {
  const types = Array.isArray(field.type) ? field.type : [field.type ?? 'string'];
  return types.find((type) => type !== 'null') ?? 'string';
};

function choicesOf(field: FormField): Choice[] {
  const titled = field.oneOf ?? field.anyOf;
  const all = titled
    ? titled.map((one) => ({ value: one.const, label: one.title }))
    : (field.enum ?? []).map((value, at) => ({ value, label: field.enumNames?.[at] }));
  return all.filter(({ value }) => value !== null).map(({ value, label }) => ({ key: String(value), label: label || String(value), value }));
}

const KINDS: Record<string, Entry['kind']> = { boolean: 'flag', number: 'number', integer: 'integer', array: 'several' };

function kindOf(field: FormField): Entry['kind'] {
  if (choicesOf(field).length > 0) return 'one';
  return KINDS[typeOf(field)] ?? ((field.maxLength ?? 0) > 200 ? 'long' : 'text');
}

/** Formats the bounds of a number in signs that need no translation. */
function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: FormField): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} – ${maximum}`;
  const signs = { '≥': minimum, '>': exclusiveMinimum, '≤': maximum, '<': exclusiveMaximum };
  return Object.entries(signs).flatMap(([sign, bound]) => (bound === undefined ? [] : `${sign} ${bound}`)).join(', ');
}

/** Lists the fields of a form in the order of its schema. */
export function entries(schema: FormSchema): Entry[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    label: field.title ?? name,
    description: [field.description, range(field)].filter(Boolean).join(' · ') || undefined,
    kind: kindOf(field),
    choices: choicesOf(field.items ?? field),
    required: required.has(name),
    field,
  }));
}

export type FormValues = Record<string, string | boolean | string[]>;

/** Returns the values of an untouched form. */
export function initial(all: readonly Entry[]): FormValues {
  const value = ({ kind, field }: Entry): string | boolean | string[] => {
    const given = field.default;
    if (kind === 'flag') return given === true;
    if (kind === 'several') return Array.isArray(given) ? given.map(String) : [];
    return given === undefined || given === null ? '' : String(given);
  };
  return Object.fromEntries(all.map((entry) => [entry.name, value(entry)]));
}

/** Applies a stored draft where its values still have the type of their fields. */
export function restore(values: FormValues, stored: Record<string, unknown> | undefined): FormValues {
  const isLike = (kind: unknown, value: unknown): value is FormValues[string] =>
    Array.isArray(kind) ? Array.isArray(value) && value.every((one) => typeof one === 'string') : typeof kind === typeof value;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const found = stored?.[name];
      return [name, isLike(value, found) ? found : value];
    }),
  );
}

export type Mistake = 'missing' | 'number' | 'integer' | 'range' | 'length' | 'pattern' | 'count';

function mistakeIn(entry: Entry, value: string | boolean | string[] | undefined): Mistake | undefined {
  const { kind, field } = entry;
  const isBlank = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  if (isBlank) return entry.required ? 'missing' : undefined;
  if (kind === 'number' || kind === 'integer') {
    const number = Number(value);
    if (Number.isNaN(number)) return 'number';
    if (kind === 'integer' && !Number.isInteger(number)) return 'integer';
    if (number < (field.minimum ?? -Infinity) || number > (field.maximum ?? Infinity)) return 'range';
    if (number <= (field.exclusiveMinimum ?? -Infinity) || number >= (field.exclusiveMaximum ?? Infinity)) return 'range';
  }
  if (Array.isArray(value) && (value.length < (field.minItems ?? 0) || value.length > (field.maxItems ?? Infinity))) return 'count';
  if ((kind === 'text' || kind === 'long') && typeof value === 'string') {
    const { length } = [...value];
    if (length < (field.minLength ?? 0) || length > (field.maxLength ?? Infinity)) return 'length';
    if (field.pattern && !matches(field.pattern, value)) return 'pattern';
  }
  return undefined;
}

/** Returns true if a pattern matches. The server checks a pattern that this browser cannot compile. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

export function mistakes(all: readonly Entry[], values: FormValues): Record<string, Mistake> {
  const found: Record<string, Mistake> = {};
  for (const entry of all) {
    const mistake = mistakeIn(entry, values[entry.name]);
    if (mistake) found[entry.name] = mistake;
  }
  return found;
}

/** Formats the answer as JSON, without blank fields. */
export function toAnswer(all: readonly Entry[], values: FormValues): string {
  const answer: Record<string, unknown> = {};
  for (const { name, kind, choices } of all) {
    const value = values[name];
    const valueFor = (key: string): unknown => choices.find((one) => one.key === key)?.value ?? key;
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0 && kind === 'several')) continue;
    if (kind === 'number' || kind === 'integer') answer[name] = Number(value);
    else if (kind === 'one') answer[name] = valueFor(String(value));
    else if (kind === 'several' && Array.isArray(value)) answer[name] = value.map(valueFor);
    else answer[name] = value;
  }
  return JSON.stringify(answer);
}
