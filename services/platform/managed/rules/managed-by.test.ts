import { expect, test } from 'vitest'
import { isOwner, otherOwner } from './managed-by.ts'

const owner = { kind: 'App', namespace: 'shop', name: 'main', uid: 'uid-1' }

test.each([
  ['the resource itself', owner, true],
  ['the resource under a new name', { ...owner, name: 'renamed' }, true],
  ['one recreated under its name', { ...owner, uid: 'uid-2' }, true],
  ['another name', { ...owner, uid: 'uid-2', name: 'other' }, false],
  ['the same name in another namespace', { ...owner, uid: 'uid-2', namespace: 'other' }, false],
  ['the same name of another kind', { ...owner, uid: 'uid-2', kind: 'FeatureSwitch' }, false],
  ['a person', undefined, false],
])('%s', (_, resource, expected) => {
  expect(isOwner(owner, resource)).toBe(expected)
})

test.each([
  ['no owner', undefined, undefined, undefined],
  ['a person', { managed_by: owner }, undefined, owner],
  ['another resource', { managed_by: owner }, { ...owner, uid: 'uid-2', name: 'other' }, owner],
  ['the owner', { managed_by: owner }, owner, undefined],
])('only the owner changes a record: %s', (_, record, acting, expected) => {
  expect(otherOwner(record ?? {}, acting)).toEqual(expected)
})
