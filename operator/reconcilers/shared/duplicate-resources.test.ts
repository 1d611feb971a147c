import { expect, test } from 'vitest'
import type { KubeObject } from '../../kube/object-cache.ts'
import { currentOwner, successor } from './duplicate-resources.ts'

const object = (name: string, second: number, uid: string, metadata: object = {}): KubeObject =>
  ({
    metadata: { name, namespace: 'shop', uid, creationTimestamp: `2026-01-01T00:00:0${second}Z`, ...metadata },
  }) as unknown as KubeObject
const by = (uid: string, name = '') => ({ kind: 'App', namespace: 'shop', name, uid })
const going = { deletionTimestamp: '2026-01-01T01:00:00Z' }

test.each<[string, KubeObject[], ReturnType<typeof by> | undefined, string | undefined]>([
  ['nothing', [], undefined, undefined],
  ['nothing, whatever the record,', [], by('gone'), undefined],
  ['the older one', [object('b', 2, 'a'), object('a', 1, 'b')], undefined, 'a'],
  ['the younger one that has the record', [object('b', 2, 'a'), object('a', 1, 'b')], by('a'), 'b'],
  [
    'one recreated in place of the owner of the record',
    [object('b', 2, 'a'), object('a', 1, 'b')],
    by('before', 'b'),
    'b',
  ],
  ['one that goes but still has the record', [object('b', 2, 'a', going), object('a', 1, 'b')], by('a'), 'b'],
  ['the older one while a stranger has the record', [object('b', 2, 'a'), object('a', 1, 'b')], by('stranger'), 'a'],
  ['of two in one second the one with the record', [object('a', 1, 'a'), object('b', 1, 'b')], by('b'), 'b'],
  ['of two in one second without a record the smaller uid', [object('a', 1, 'z'), object('b', 1, 'y')], undefined, 'b'],
])('%s holds it, in any order', (_what, objects, owner, expected) => {
  expect(currentOwner(objects, owner)?.metadata.name).toBe(expected)
  expect(currentOwner(objects.toReversed(), owner)?.metadata.name).toBe(expected)
})

test.each<[string, KubeObject[], string | undefined]>([
  ['none, when there is no other,', [object('a', 1, 'a')], undefined],
  ['the oldest of the others', [object('a', 1, 'a'), object('c', 3, 'c'), object('b', 2, 'b')], 'b'],
  ['none that goes as well', [object('a', 1, 'a'), object('b', 2, 'b', going), object('c', 3, 'c')], 'c'],
])('the successor is %s', (_what, objects, expected) => {
  expect(successor(objects, 'a')?.metadata.name).toBe(expected)
  expect(successor(objects.toReversed(), 'a')?.metadata.name).toBe(expected)
})
