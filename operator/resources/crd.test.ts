import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rootSchema, type SchemaNode, toCrd } from './crd.ts'
import {
  defineKind,
  immutable,
  listOf,
  mapOf,
  mapOfTexts,
  presenceIsFixed,
  READY_COLUMNS,
  setOf,
  withRules,
} from './kind.ts'
import { kinds } from './kinds.ts'

const kindOf = (spec: z.ZodType) =>
  defineKind({
    kind: 'Thing',
    plural: 'things',
    shortNames: ['th'],
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
    ['a free map', z.record(short, short), 'field: a free map without maxProperties cannot be used'],
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
      'a map of short texts',
      mapOfTexts(short, 3),
      { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 9 } },
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

/** True for a description with words that are not the words of the name. */
function saysMore(description: string | undefined, name: string): boolean {
  const own = name.toLowerCase()
  const words = (description ?? '').toLowerCase().match(/[a-z]+/g) ?? []
  return words.filter(word => word.length > 3 && !own.includes(word)).length > 0
}

test.each([
  [undefined, 'domainName', false],
  ['', 'domainName', false],
  ['The domain name.', 'domainName', false],
  ['Domain in the From address.', 'domainName', true],
])('%j says more than the name %s: %s', (description, name, expected) => {
  expect(saysMore(description, name)).toBe(expected)
})

describe.each(kinds.map(kind => [kind.kind, kind] as const))('the definition of %s', (_name, kind) => {
  const crd = toCrd(kind)
  const [version] = crd.spec.versions

  test('stores the present version alone, and serves former ones with the same schema', () => {
    const [stored, ...others] = crd.spec.versions
    expect([stored?.name, stored?.storage, stored?.served]).toEqual(['v1beta1', true, true])
    expect(stored).not.toHaveProperty('deprecated')
    expect(others.map(({ name, storage, served }) => [name, storage, served])).toEqual(
      kind.formerVersions.map(name => [name, false, true]),
    )
    for (const { schema, deprecationWarning } of others) {
      const { apiVersion: _, ...rest } = schema.openAPIV3Schema.properties ?? {}
      expect(rest).toEqual(
        expect.objectContaining({ spec: version?.schema.openAPIV3Schema.properties?.spec, status: expect.anything() }),
      )
      expect(rest.status).toEqual(version?.schema.openAPIV3Schema.properties?.status)
      expect(deprecationWarning).toContain(`use postwright.dev/v1beta1`)
    }
    expect(crd.spec.conversion).toEqual({ strategy: 'None' })
  })

  test('has distinct names for kubectl', () => {
    const { names } = crd.spec
    expect(crd.metadata.name).toBe(`${kind.plural}.postwright.dev`)
    expect(names.categories).toEqual(['postwright-all'])
    for (const category of names.categories) expect([names.singular, names.plural]).not.toContain(category)
    const owners = kinds.filter(({ shortNames }) => shortNames.some(name => names.shortNames.includes(name)))
    expect(owners).toEqual([kind])
    expect(names.shortNames).not.toContain('app')
  })

  test('has the scope of its kind', () => {
    expect(crd.spec.scope).toBe(kind.kind.startsWith('Cluster') ? 'Cluster' : 'Namespaced')
  })

  test('describes every field of spec and status, and says more than its name', () => {
    const silent: string[] = []
    const walk = (node: SchemaNode, path: string) => {
      for (const [name, child] of Object.entries(node.properties ?? {})) {
        if (!saysMore(child.description, name)) silent.push(`${path}.${name}`)
        walk(child, `${path}.${name}`)
        walkEntries(child.items, name, `${path}.${name}[]`)
      }
    }
    const walkEntries = (node: SchemaNode | undefined, name: string, path: string) => {
      if (!node?.properties) return
      if (!saysMore(node.description, name)) silent.push(path)
      walk(node, path)
    }
    const { spec, status } = version?.schema.openAPIV3Schema.properties ?? {}
    walk(spec ?? {}, 'spec')
    walk(status ?? {}, 'status')
    expect(silent).toEqual([])
  })

  test('counts as in progress before the operator saw it', () => {
    const status = version?.schema.openAPIV3Schema.properties?.status
    expect(status?.default).toEqual({ observedGeneration: -1 })
    expect(status?.properties?.observedGeneration?.minimum).toBe(-1)
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
