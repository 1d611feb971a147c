/** Why zod refuses a value, as a sentence: its own messages mention types and patterns of the implementation. */
import type { z } from 'zod'
import { english } from './en/index.ts'
import type { SentenceCode, SentenceParam } from './render.ts'
import { type Sentence, sentence } from './sentence.ts'

/** An issue of zod, as far as it explains the refusal. */
type ZodIssue = Readonly<z.core.$ZodIssue>

/**
 * The message of a check in a schema: the code of the sentence that {@link reasonOfIssue} makes of it. Its placeholders get
 * the bound of the check as `count`, and the `params` of a custom check under their names.
 */
export function reason(code: SentenceCode): string {
  return code
}

/** Codes for the types of zod that requests have. */
const TYPES: Readonly<Record<string, SentenceCode>> = {
  string: 'field.type_string',
  number: 'field.type_number',
  boolean: 'field.type_boolean',
  object: 'field.type_object',
  record: 'field.type_object',
  array: 'field.type_array',
  int: 'field.integer',
}

/** Codes for the formats of zod that have a text of their own. */
const FORMATS: Readonly<Record<string, SentenceCode>> = {
  email: 'field.email',
  url: 'field.url',
  datetime: 'field.instant',
}

/** Most options that a text lists. */
const LISTED_OPTIONS = 12

/** The reason of an issue. `isAbsent`: the value is missing, which unions and lists of options do not distinguish. */
export function reasonOfIssue(issue: ZodIssue, isAbsent: boolean): Sentence {
  // zod wraps what is wrong with a key or an entry.
  const [inner] = issue.code === 'invalid_key' || issue.code === 'invalid_element' ? issue.issues : []
  if (inner) return reasonOfIssue(inner, false)
  if (isAbsent && issue.code !== 'custom') return sentence('field.required')
  if (isCode(issue.message)) return ofCheck(issue.message, issue)
  switch (issue.code) {
    case 'invalid_type':
      return { code: TYPES[issue.expected] ?? 'field.type' }
    case 'too_small':
      return tooSmall(issue)
    case 'too_big':
      return tooBig(issue)
    case 'invalid_format':
      return { code: FORMATS[issue.format] ?? 'field.format' }
    case 'invalid_value':
      return issue.values.length > LISTED_OPTIONS
        ? sentence('field.value')
        : sentence('field.option', { options: issue.values.map(String) })
    case 'not_multiple_of':
      return sentence('field.step', { step: issue.divisor })
    case 'invalid_union':
      return ofAlternatives(issue)
    default:
      return sentence('field.invalid')
  }
}

function isCode(message: string): message is SentenceCode {
  return Object.hasOwn(english, message)
}

function ofCheck(code: SentenceCode, issue: ZodIssue): Sentence {
  const bound = 'maximum' in issue ? issue.maximum : 'minimum' in issue ? issue.minimum : undefined
  const known: Record<string, SentenceParam> = {
    ...(bound === undefined ? {} : { count: Number(bound) }),
    ...('params' in issue ? (issue.params as Record<string, SentenceParam> | undefined) : {}),
  }
  const names = [...english[code].matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => name)
  if (names.length === 0) return { code }
  return { code, params: Object.fromEntries(names.map(name => [name, known[name] ?? ''])) }
}

/** Of a value or a list of such values: what the values may be. */
function ofAlternatives({ errors }: z.core.$ZodIssueInvalidUnion): Sentence {
  const [first, ...others] = errors.flatMap(([one]) => (one && one.code !== 'invalid_type' ? [one] : []))
  const optionsOf = (one: ZodIssue | undefined) => (one?.code === 'invalid_value' ? one.values.join() : undefined)
  const options = optionsOf(first)
  return first && options !== undefined && others.every(one => optionsOf(one) === options)
    ? reasonOfIssue(first, false)
    : sentence('field.alternative')
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): Sentence {
  const count = Number(minimum)
  if (origin === 'string') return count === 1 ? sentence('field.empty') : sentence('field.too_short', { count })
  if (origin === 'array' || origin === 'set') return sentence('field.too_few', { count })
  return inclusive === false ? sentence('field.not_above', { count }) : sentence('field.too_low', { count })
}

function tooBig({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): Sentence {
  const count = Number(maximum)
  if (origin === 'string') return sentence('field.too_long', { count })
  if (origin === 'array' || origin === 'set') return sentence('field.too_many', { count })
  return inclusive === false ? sentence('field.not_below', { count }) : sentence('field.too_high', { count })
}
