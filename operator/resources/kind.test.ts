import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { amount, condition, defineKind, domainName, referenceTo, SpecError } from './kind.ts'
import { kinds } from './kinds.ts'

const Thing = defineKind({
  kind: 'Thing',
  plural: 'things',
  shortNames: ['th'],
  description: 'A thing.',
  spec: z.object({ size: z.int().default(3), box: z.object({ open: z.boolean().default(true) }).prefault({}) }),
  status: z.object({ seen: z.int().optional() }),
  columns: [],
})
const metadata = {
  name: 'a',
  namespace: 'ns',
  uid: 'u',
  generation: 1,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
}

describe('parsing an object', () => {
  test('applies defaults, also of omitted objects, and drops unknown fields', () => {
    const { spec, metadata: parsed } = Thing.parse({ metadata: { ...metadata, extra: 1 }, spec: { novelty: 'x' } })
    expect(spec).toEqual({ size: 3, box: { open: true } })
    expect(parsed).toMatchObject({ finalizers: [], annotations: {}, labels: {} })
  })

  test.each<[string, unknown, object | undefined]>([
    ['none', undefined, undefined],
    ['one that fits', { seen: 2 }, { seen: 2 }],
    ['one with fields of another release', { seen: 2, older: true }, { seen: 2 }],
    ['one that does not fit', { seen: 'yesterday' }, undefined],
    ['one that is no object', 'broken', undefined],
  ])('reads a status as far as it can: %s', (_what, status, expected) => {
    expect(Thing.parse({ metadata, spec: {}, status }).status).toEqual(expected)
  })

  test.each<[string, unknown, string]>([
    ['a wrong field', { size: 'big' }, 'The spec is not valid: spec.size must be a number'],
    ['no object', 'spec', 'The spec is not valid: spec must be an object'],
    ['nothing', undefined, 'The spec is not valid: spec is required'],
  ])('of a spec that is %s identifies the object, and its known status', (_what, spec, message) => {
    const failure = (() => {
      try {
        return Thing.parse({ metadata, spec, status: { seen: 7 } })
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(SpecError)
    expect(failure).toMatchObject({ message, metadata: { name: 'a', uid: 'u' }, status: { seen: 7 } })
  })
})

const table = (schema: z.ZodType, good: readonly unknown[], bad: readonly unknown[]) => {
  expect(good.filter(value => !schema.safeParse(value).success)).toEqual([])
  expect(bad.filter(value => schema.safeParse(value).success)).toEqual([])
}

test('a domain name is in lower case, of two labels at least, and none begins or ends with a hyphen', () => {
  const label = 'a'.repeat(63)
  table(
    domainName,
    ['a.b', 'example.com', 'xn--fsq.xn--0zwm56d', `${label}.example`, 'a-b.c-d.example', '1.example'],
    [
      '',
      'a',
      'example',
      'Example.com',
      'example.com.',
      '.example.com',
      'a..b',
      '-a.b',
      'a-.b',
      `${label}a.b`,
      'a_b.c',
      'ä.example',
    ],
  )
})

test('an amount is a decimal with two digits at most', () => {
  table(
    amount,
    ['0', '19.9', '19.90', '999999.99'],
    ['', '.5', '1.', '-1', '1.234', '1,5', '1e3', '1000000', ' 1', 19.9],
  )
})

test('a reference names an object as Kubernetes does', () => {
  const named = (name: unknown) => ({ name })
  table(
    referenceTo('App'),
    ['a', 'shop', 'a.b-c', 'a'.repeat(253)].map(named),
    ['', 'Shop', 'a/b', '-a', 'a-', 'a..b', '../x', 'a'.repeat(254), undefined].map(named),
  )
})

test('a condition has a reason that programs can read', () => {
  const given = (reason: string) => ({
    type: 'Ready',
    status: 'True',
    reason,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  table(
    condition,
    ['Available', 'A', 'Is_4:2'].map(given),
    ['', 'not ready', '4ever', 'Ready:', 'a'.repeat(65)].map(given),
  )
})

test('kinds are sorted by their dependencies', () => {
  const at = (name: string) => kinds.findIndex(({ kind }) => kind === name)
  for (const [first, second] of [
    ['DNSProvider', 'MailDomain'],
    ['MailDomain', 'SMTPCredential'],
    ['MailDomain', 'APIToken'],
    ['App', 'SubscriptionPlan'],
    ['App', 'FeatureSwitch'],
  ] as const)
    expect([first, second, at(first) < at(second)]).toEqual([first, second, true])
})
