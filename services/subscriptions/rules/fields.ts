/** Building blocks of request schemas: numbers come as numbers or as their text, everything is bounded. */
import { z } from 'zod'

/** Text of so many characters, trimmed. NUL and other control characters other than line ends and tabs are refused. */
export const text = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min)
    .max(max)
    .refine(value => !CONTROL.test(value), 'format')

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** A whole number in a range, as a number or as its text. */
export const integer = (min: number, max: number) =>
  z
    .union(
      [
        z.int(),
        z
          .string()
          .trim()
          .regex(/^[+-]?\d{1,15}$/)
          .transform(Number),
      ],
      'integer',
    )
    .pipe(z.number().min(min).max(max))

/** A finite number in a range, as a number or as its text. */
export const decimal = (min: number, max: number) =>
  z
    .union([
      z.number(),
      z
        .string()
        .trim()
        .regex(/^[+-]?\d{1,15}(\.\d{1,15})?$/)
        .transform(Number),
    ])
    .pipe(z.number().min(min).max(max))

/** One of several digits, as a number or as its text; comes out as text. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.union([z.string().trim(), z.number().transform(String)]).pipe(z.enum(values))

/** The on/off digit. */
export const flag = choice(['0', '1'])

/** Money in yuan with two decimals at most, 0 to 999999.99; comes out in cents. */
export const money = z
  .union([z.number(), z.string().trim()])
  .transform(value => String(value))
  .refine(value => /^\d{1,6}(\.\d+)?$/.test(value), 'format')
  .refine(value => /^[^.]*(\.\d{1,2})?$/.test(value), 'decimals')
  .transform(value => Math.round(Number(value) * 100))

/** Cents as text in yuan: `1990` is `19.90`. */
export function formatCents(cents: number): string {
  const sign = cents < 0 ? '-' : ''
  const absolute = Math.abs(cents)
  return `${sign}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, '0')}`
}

/** Decimal ids of records; comes out as a number. 2^53 is the largest that a number holds. */
export const id = z
  .union([
    z.int(),
    z
      .string()
      .trim()
      .regex(/^[1-9]\d{0,14}$/),
  ])
  .transform(Number)
  .pipe(z.number().int().min(1))

/** The same for path parameters: anything else simply does not exist, so it becomes 0, which no record has. */
export const pathId = z.string().transform(value => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : 0))
