import { expect, test } from 'vitest'
import { heir, holderOf } from './duplicates.ts'
import type { KubeObject } from './kube/cache.ts'

const object = (name: string, second: number, uid: string, metadata: object = {}): KubeObject =>
  ({
    metadata: { name, uid, creationTimestamp: `2026-01-01T00:00:0${second}Z`, ...metadata },
  }) as unknown as KubeObject
const going = { deletionTimestamp: '2026-01-01T01:00:00Z' }

test.each<[string, KubeObject[], string | undefined, string | undefined]>([
  ['nothing', [], undefined, undefined],
  ['nothing, whatever the record says,', [], 'gone', undefined],
  ['the older one', [object('b', 2, 'a'), object('a', 1, 'b')], undefined, 'a'],
  ['the younger one that has the record', [object('b', 2, 'a'), object('a', 1, 'b')], 'a', 'b'],
  ['one that goes but still has the record', [object('b', 2, 'a', going), object('a', 1, 'b')], 'a', 'b'],
  ['the older one while a stranger has the record', [object('b', 2, 'a'), object('a', 1, 'b')], 'stranger', 'a'],
  ['of two in one second the one with the record', [object('a', 1, 'a'), object('b', 1, 'b')], 'b', 'b'],
  ['of two in one second without a record the smaller uid', [object('a', 1, 'z'), object('b', 1, 'y')], undefined, 'b'],
])('%s holds it, in any order', (_what, objects, managedByUid, expected) => {
  expect(holderOf(objects, managedByUid)?.metadata.name).toBe(expected)
  expect(holderOf(objects.toReversed(), managedByUid)?.metadata.name).toBe(expected)
})

test.each<[string, KubeObject[], string | undefined]>([
  ['nobody, when there is no other,', [object('a', 1, 'a')], undefined],
  ['the oldest of the others', [object('a', 1, 'a'), object('c', 3, 'c'), object('b', 2, 'b')], 'b'],
  ['none that goes as well', [object('a', 1, 'a'), object('b', 2, 'b', going), object('c', 3, 'c')], 'c'],
])('%s takes over', (_what, objects, expected) => {
  expect(heir(objects, 'a')?.metadata.name).toBe(expected)
  expect(heir(objects.toReversed(), 'a')?.metadata.name).toBe(expected)
})
