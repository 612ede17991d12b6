/** What goes over the wire: the server's own types, and the few that its journal keeps as plain JSON. */

import type { Code, Fault as Refused, MenuErrorCode } from './generated/types';

export type * from './generated/types';

/**
 * Why something was not done: the server refused it or could not be reached, a menu led nowhere, a command was refused, a run
 * has failed. What the page itself found (`page`) it says in its own language, as with `offline` and `run`.
 */
export type Fault = Omit<Refused, 'code'> & { code: Code | MenuErrorCode | 'command' | 'offline' | 'run' | 'page' };

/** A field of the form that a question asks for: a part of JSON Schema. */
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
