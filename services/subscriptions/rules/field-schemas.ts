/** Building blocks of request schemas: numbers come as numbers or as their text, everything is bounded. */

import { z } from 'zod'
import { reason } from '../../platform/sentences/issue-reason.ts'

/**
 * Text with a length between `min` and `max`, trimmed. Control characters other than line ends and tabs are refused.
 */
export const text = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min)
    .max(max)
    .refine(value => !CONTROL.test(value), reason('field.hidden_characters'))
    .meta({ pattern: min === 0 ? `^${ALLOWED}*$` : `^${ALLOWED}*${VISIBLE}${ALLOWED}*$` })

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** The same for readers of the contract: allowed characters, and one that trimming keeps. */
const ALLOWED = String.raw`[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]`
const VISIBLE = String.raw`[^\s\u0000-\u001f\u007f]`

/** An address of at most 254 characters (RFC 5321, 4.5.3.1.3), trimmed, or an empty text for none. */
export const emailOrNone = z.union(
  [z.literal(''), z.string().trim().max(254).meta({ format: 'email' }).pipe(z.email())],
  reason('field.email'),
)

/** An integer in a range, as a number or as text. */
export const integer = (min: number, max: number) =>
  z
    .union(
      [
        z.int(),
        z
          .string()
          .trim()
          .regex(/^[+-]?\d{1,16}$/)
          .transform(Number),
      ],
      reason('field.integer'),
    )
    .pipe(z.number().min(min).max(max))
    .meta({
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', pattern: textBetween(min, max) },
      ],
    })

/** Pattern of the text of integers from 0 or 1 to a maximum. */
function textBetween(min: number, max: number): string {
  const last = String(max)
  const shorter = last.length > 1 ? [`[1-9][0-9]{0,${last.length - 2}}`] : []
  // With the same number of digits: equal up to a place, with a smaller digit there.
  const smaller = [...last].flatMap((digit, place) => {
    const [from, to] = [place === 0 ? 1 : 0, Number(digit) - 1]
    return from > to ? [] : [`${last.slice(0, place)}[${from}-${to}][0-9]{${last.length - place - 1}}`]
  })
  return `^(?:${[...(min === 0 ? ['0'] : []), ...shorter, ...smaller, last].join('|')})$`
}

/** A finite number in a range, as a number or as its text. */
export const decimal = (min: number, max: number) =>
  z
    .union(
      [
        z.number(),
        z
          .string()
          .trim()
          .regex(/^[+-]?\d{1,15}(\.\d{1,15})?$/)
          .transform(Number),
      ],
      reason('field.type_number'),
    )
    .pipe(z.number().min(min).max(max))
    .meta({
      anyOf: [
        { type: 'number', minimum: min, maximum: max },
        { type: 'string', pattern: '^[0-9]{1,15}(?:[.][0-9]{1,15})?$' },
      ],
    })

/** One of several digits, as a number or as text; parsed into text. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z
    .union([z.string().trim(), z.number().transform(String)])
    .pipe(z.enum(values))
    .meta({
      anyOf: [
        { type: 'string', enum: values },
        { type: 'integer', enum: values.map(Number) },
      ],
    })

/** The on/off digit. */
export const flag = choice(['0', '1'])

/** Money in yuan with at most two decimals, 0 to 999999.99; parsed into cents. */
export const money = z
  .union([z.number(), z.string().trim()])
  .transform(value => String(value))
  .refine(value => /^\d{1,6}(\.\d+)?$/.test(value), reason('field.money'))
  .refine(value => /^[^.]*(\.\d{1,2})?$/.test(value), reason('field.decimals'))
  .meta({
    description: 'Yuan, with two decimals at most.',
    anyOf: [
      { type: 'number', minimum: 0, maximum: 999_999.99 },
      { type: 'string', pattern: '^[0-9]{1,6}(?:[.][0-9]{1,2})?$' },
    ],
  })
  .transform(value => Math.round(Number(value) * 100))

/** Cents as text in yuan: `1990` is `19.90`. */
export function formatCents(cents: number): string {
  const sign = cents < 0 ? '-' : ''
  const absolute = Math.abs(cents)
  return `${sign}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, '0')}`
}

const ID = '^[1-9][0-9]{0,14}$'

/** Decimal ids of records; parsed into a number, up to 2^53. */
export const id = z
  .union([
    z.int(),
    z
      .string()
      .trim()
      .regex(/^[1-9]\d{0,14}$/, reason('field.id')),
  ])
  .meta({
    anyOf: [
      { type: 'string', pattern: ID },
      { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    ],
  })
  .transform(Number)
  .pipe(z.number().int().min(1))

/** The same for path parameters: an invalid id becomes 0, which no record has, so that the response is 404. */
export const pathId = z
  .string()
  .meta({ pattern: ID })
  .transform(value => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : 0))
