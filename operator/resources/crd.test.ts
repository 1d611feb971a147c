import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rootSchema, type SchemaNode, toCrd } from './crd.ts'
import { defineKind, immutable, listOf, mapOf, presenceIsFixed, READY_COLUMNS, setOf, withRules } from './kind.ts'
import { kinds } from './kinds.ts'

const kindOf = (spec: z.ZodType) =>
  defineKind({
    kind: 'Thing',
    plural: 'things',
    shortName: 'th',
    description: 'A thing.',
    spec,
    status: z.object({ size: z.int().optional() }),
    columns: READY_COLUMNS,
  })
const fieldOf = (field: z.ZodType) =>
  rootSchema(kindOf(z.object({ field }))).properties?.spec?.properties?.field as SchemaNode
const short = z.string().max(9)

describe('what the API server would refuse, or could not bound, is refused here', () => {
  test.each<[string, z.ZodType, string]>([
    ['a string without an end', z.string(), 'field: a string without maxLength'],
    ['a list without an end', z.array(short), 'field: a list without maxItems or list type'],
    ['a list without a merge strategy', z.array(short).max(3), 'field: a list without maxItems or list type'],
    ['an endless string in a list', setOf(z.string(), 3), 'field[]: a string without maxLength'],
    ['an endless string in an object', z.object({ a: z.string() }), 'field.a: a string without maxLength'],
    ['a union', z.union([short, z.boolean()]), 'field: anyOf is not structural'],
    ['a free map', z.record(short, short), 'field: a free map cannot be used'],
    ['a float', z.number(), 'field: type number cannot be used'],
    ['anything', z.any(), 'field: type unknown cannot be used'],
  ])('%s', (_what, field, error) => {
    expect(() => fieldOf(field)).toThrow(`Thing.spec.${error}`)
  })
})

describe('a field in the schema', () => {
  test.each<[string, z.ZodType, SchemaNode]>([
    ['a flag', z.boolean(), { type: 'boolean' }],
    ['a choice', z.enum(['A', 'B']).default('A'), { type: 'string', enum: ['A', 'B'], default: 'A' }],
    ['a bounded string', short.describe('Short.'), { type: 'string', maxLength: 9, description: 'Short.' }],
    ['an integer without the bounds of a double', z.int(), { type: 'integer', format: 'int64' }],
    ['a bounded number', z.int().min(1).max(5), { type: 'integer', format: 'int64', minimum: 1, maximum: 5 }],
    [
      'a set',
      setOf(short, 3),
      { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 9 }, 'x-kubernetes-list-type': 'set' },
    ],
    [
      'a list that is replaced atomically',
      listOf(z.boolean(), 3),
      { type: 'array', maxItems: 3, items: { type: 'boolean' }, 'x-kubernetes-list-type': 'atomic' },
    ],
    [
      'one that cannot change',
      immutable(short, 'field'),
      {
        type: 'string',
        maxLength: 9,
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'field cannot be changed' }],
      },
    ],
  ])('%s', (_what, field, node) => {
    expect(fieldOf(field)).toEqual(node)
  })

  test('a map by keys names them', () => {
    const node = fieldOf(mapOf(z.object({ type: short }), 4, ['type']))
    expect(node).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'], maxItems: 4 })
  })

  test('rules of an object are next to its properties', () => {
    const node = fieldOf(withRules(z.object({ a: short.optional() }), presenceIsFixed('a')))
    expect(node['x-kubernetes-validations']).toEqual([
      { rule: 'has(self.a) == has(oldSelf.a)', message: 'a cannot be added or removed later', fieldPath: '.a' },
    ])
    expect(node.required).toBeUndefined()
  })
})

describe.each(kinds.map(kind => [kind.kind, kind] as const))('the definition of %s', (_name, kind) => {
  const crd = toCrd(kind)
  const [version] = crd.spec.versions

  test('has distinct names for kubectl', () => {
    const { names } = crd.spec
    expect(crd.metadata.name).toBe(`${kind.plural}.postwright.dev`)
    expect(names.categories).toEqual(['postwright-all'])
    for (const category of names.categories) expect([names.singular, names.plural]).not.toContain(category)
    expect(kinds.filter(({ shortName }) => names.shortNames.includes(shortName))).toEqual([kind])
  })

  test('describes every field of the spec', () => {
    const silent: string[] = []
    const walk = (node: SchemaNode, path: string) => {
      for (const [name, child] of Object.entries(node.properties ?? {})) {
        if (!child.description) silent.push(`${path}.${name}`)
        walk(child, `${path}.${name}`)
        if (child.items) walk(child.items, `${path}.${name}[]`)
      }
    }
    walk(version?.schema.openAPIV3Schema.properties?.spec ?? {}, 'spec')
    expect(silent).toEqual([])
  })

  test('has every printed column in its schema', () => {
    for (const { jsonPath } of version?.additionalPrinterColumns ?? []) {
      if (jsonPath.startsWith('.metadata.')) continue
      const path = jsonPath
        .replaceAll(/\[\?.*?\]/g, '[]')
        .split('.')
        .slice(1)
      let node: SchemaNode | undefined = version?.schema.openAPIV3Schema
      for (const part of path) {
        const child: SchemaNode | undefined = node?.properties?.[part.replace('[]', '')]
        node = part.endsWith('[]') ? child?.items : child
      }
      expect([jsonPath, node?.type]).toEqual([jsonPath, expect.stringMatching(/^(string|integer|boolean)$/)])
    }
  })
})
