import { expect, test } from 'vitest'
import { fromSubscriptions, matchingResources, namespacesOf, type Resource, readiness } from './kubernetes-resources.ts'
import { resourceSearch } from './resource-search.ts'

const state = (ready: boolean): Resource['state'] => ({
  ready,
  reason: '',
  message: '',
  conditions: [],
  observed_at: '2026-11-21T10:00:00.000Z',
})
const one = (name: string, ready?: boolean, namespace = 'web'): Resource => ({
  kind: 'MailDomain',
  namespace,
  name,
  record: `${name}.example`,
  state: ready === undefined ? null : state(ready),
})
const ALL = [one('a', true), one('b', false), one('c'), one('d', true, 'shop')]
const names = (resources: readonly Resource[]) => resources.map(({ name }) => name)

test.each([
  ['what needs attention comes first', {}, ['b', 'c', 'a', 'd']],
  ['by namespace', { namespace: 'shop' }, ['d']],
  ['by state', { state: 'ready' }, ['a', 'd']],
  ['those without a reported status', { state: 'unseen' }, ['c']],
  ['by a part of the record name', { q: 'B.EXAMPLE' }, ['b']],
  ['by namespace and name, as in the badge of a record', { q: 'shop/d' }, ['d']],
  ['no match', { q: 'nothing' }, []],
])('%s', (_, search, expected) => {
  expect(names(matchingResources(ALL, search))).toEqual(expected)
})

test('namespaces are unique and sorted', () => expect(namespacesOf(ALL)).toEqual(['shop', 'web']))

test.each([
  ['App', 'shop'],
  ['FeatureSwitch', 'shop / banner'],
])('a %s of the subscriptions module manages %s', (kind, record) => {
  const answer = { kind, namespace: 'web', name: 'x', app_key: 'shop', record_id: '1', record_name: 'banner' }
  const seen = {
    ready: true,
    reason: '',
    message_code: 'text.verbatim',
    message_params: {},
    message: '',
    conditions: [],
    observed_at: '1795255200',
  }
  expect(fromSubscriptions({ ...answer, state: null })).toMatchObject({ record, state: null })
  expect(fromSubscriptions({ ...answer, state: seen }).state?.observed_at).toBe('2026-11-21T10:00:00.000Z')
})

test('invalid search parameters are dropped', () => {
  expect(resourceSearch({ q: '', namespace: ['x'], state: { y: 1 } })).toEqual({})
  expect(readiness(one('x', false))).toBe('not_ready')
})
