/** Wire types: those generated from the server, and the few that a journal stores as plain JSON. */

import type { Code, Fault as Refused, MenuErrorCode } from './generated/types';

export type * from './generated/types';

/**
 * Failure of a request, a menu item, a command or a run. The page words `page`, `offline` and `run` itself, in its own language.
 */
export type Fault = Omit<Refused, 'code'> & { code: Code | MenuErrorCode | 'command' | 'offline' | 'run' | 'page' };

/** Field of a form that a question asks for: a subset of JSON Schema. */
export interface FormField {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: FormField[];
  anyOf?: FormField[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  items?: FormField;
}

export interface FormSchema extends FormField {
  properties?: Record<string, FormField>;
  required?: string[];
}
