import { expect, test } from 'vitest'
import { oldest } from './duplicates.ts'
import type { KubeObject } from './kube/cache.ts'

const object = (name: string, second: number, uid: string, status?: object): KubeObject =>
  ({ metadata: { name, uid, creationTimestamp: `2026-01-01T00:00:0${second}Z` }, status }) as unknown as KubeObject

test.each<[string, KubeObject[], string | undefined]>([
  ['nothing', [], undefined],
  ['the older one', [object('b', 2, 'a'), object('a', 1, 'b')], 'a'],
  ['the older one even if the younger has the record', [object('b', 2, 'a', { appId: '1' }), object('a', 1, 'b')], 'a'],
  ['of two in one second the one with the record', [object('a', 1, 'a'), object('b', 1, 'b', { domainId: 'd' })], 'b'],
  ['of two in one second without a record the smaller uid', [object('a', 1, 'z'), object('b', 1, 'y')], 'b'],
])('%s holds it, in any order', (_what, objects, expected) => {
  expect(oldest(objects)?.metadata.name).toBe(expected)
  expect(oldest(objects.toReversed())?.metadata.name).toBe(expected)
})
