/** Errors of single fields as the envelope shows them: a rule, which programs know, and a text in the reader's language. */

import type { fields } from '../../platform/sentences/en/fields.ts'
import type { FieldError } from '../../platform/sentences/field-error.ts'
import type { Sentence } from '../../platform/sentences/sentence.ts'
import { type Lang, renderIn } from './language.ts'

/** One error as the envelope shows it. */
export interface LocalizedError {
  /** Path of the field, joined by dots. */
  field: string
  rule: string
  /** Code of the sentence, which is more precise than the rule. */
  code: string
  /** The values in the message as the text of a JSON object: every member of an error is text in this API. */
  params?: string
  message: string
}

/** Names of rules: codes of the sentences about fields that have no placeholder, without `field.`. */
export type FieldRule = {
  [Code in keyof typeof fields]: (typeof fields)[Code] extends `${string}{${string}` ? never : NameOf<Code>
}[keyof typeof fields]

type NameOf<Code> = Code extends `field.${infer Name}` ? Name : never

/** The error of a field that breaks a rule; a path is joined by dots. */
export function fieldError(field: string, rule: FieldRule): FieldError {
  return { pointer: `/${field.replaceAll('.', '/')}`, reason: { code: `field.${rule}` } }
}

/** The errors that the validation of a request found. */
export function fieldErrorsOf(issues: readonly { path: readonly PropertyKey[]; reason: Sentence }[]): FieldError[] {
  return issues.map(({ path, reason }) => ({ pointer: `/${path.map(String).join('/')}`, reason }))
}

/** The error in a language. */
export function localise({ pointer, reason }: FieldError, lang: Lang): LocalizedError {
  const { code, params } = reason
  return {
    field: pointer.slice(1).replaceAll('/', '.'),
    rule: ruleOf(code),
    code,
    ...(params ? { params: JSON.stringify(params) } : {}),
    message: renderIn(lang, reason),
  }
}

/** Rules that stand for several codes: clients know these names. */
const RULES: Readonly<Record<string, readonly NameOf<keyof typeof fields>[]>> = {
  too_small: ['empty', 'too_short', 'too_few', 'too_low', 'not_above'],
  too_big: ['too_long', 'too_many', 'too_high', 'not_below', 'too_many_bytes', 'text_too_large'],
  type: ['type_string', 'type_number', 'type_boolean', 'type_object', 'type_array', 'alternative', 'invalid', 'ip'],
  format: [
    'email',
    'url',
    'instant',
    'step',
    'control_characters',
    'hidden_characters',
    'money',
    'switch_name',
    'id',
    'version',
    'cursor',
    'pem',
    'wechat_key',
    'payment_method',
    'order_number',
  ],
  decimals: ['decimals_three'],
  switch_value: ['switch_boolean', 'switch_number', 'switch_string', 'switch_json', 'switch_changelog'],
  value: ['option'],
}

const RULE_OF = new Map(Object.entries(RULES).flatMap(([rule, names]) => names.map(name => [name as string, rule])))

function ruleOf(code: string): string {
  const name = code.replace(/^field\./, '')
  return RULE_OF.get(name) ?? name
}
