import { expect, test } from 'vitest'
import { z } from 'zod'
import { createSchemas } from './json-schema.ts'

const { input, output, components } = createSchemas()

test('code without keywords is refused; otherwise the keywords are used', () => {
  const parsed = z.transform((value: string) => value.length)
  expect(() => input(z.object({ parsed }))).toThrow(/cannot be represented/)
  const described = z
    .transform((value: string) => value.length)
    .register(z.globalRegistry, { type: 'string', format: 'length' })
  expect(input(described)).toEqual({ type: 'string', format: 'length' })
})

test('fields are required when the code refuses an object without them', () => {
  const present = z
    .transform((value: unknown, context) => {
      if (value === undefined) context.issues.push({ code: 'custom', message: 'missing', input: value })
      return value
    })
    .register(z.globalRegistry, { type: 'string' })
  const schema = z.object({ present, text: z.string(), usual: z.string().default('x'), maybe: z.string().optional() })
  expect(input(schema).required).toEqual(['present', 'text'])
})

test('hidden fields are left out', () => {
  const schema = z.strictObject({ shown: z.string(), old: z.unknown().meta({ hidden: true }).optional() })
  expect(input(schema)).toMatchObject({ properties: { shown: {} }, required: ['shown'], additionalProperties: false })
  expect(input(schema).properties).not.toHaveProperty('old')
})

test('patterns with flags are refused', () => {
  expect(() => input(z.string().regex(/^a$/i))).toThrow(/flags.*\^a\$/)
})

test('a format is equivalent to its pattern', () => {
  expect(input(z.iso.datetime({ offset: true }))).toEqual({ type: 'string', format: 'date-time' })
  expect(input(z.string().regex(/^[a-z]+$/))).toEqual({ type: 'string', pattern: '^[a-z]+$' })
})

test('responses are open, without the range of safe integers', () => {
  const schema = z.strictObject({ count: z.number().int() })
  expect(output(schema)).toEqual({ type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] })
  expect(input(schema)).toMatchObject({ additionalProperties: false, properties: { count: { maximum: 2 ** 53 - 1 } } })
})

test('schemas with an id are components, one for each', () => {
  const thing = z.object({ name: z.string() }).meta({ id: 'Thing' })
  const ref = { $ref: '#/components/schemas/Thing' }
  expect(output(z.array(thing))).toEqual({ type: 'array', items: ref })
  expect(output(thing)).toEqual(ref)
  expect(components()).toEqual({
    Thing: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  })
  expect(() => output(z.object({ other: z.string() }).meta({ id: 'Thing' }))).toThrow(/two different schemas.*Thing/i)
})
