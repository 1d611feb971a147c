import { expect, test } from 'vitest'
import { isOwner } from './owning-resource.ts'

const owner = { kind: 'App', namespace: 'shop', name: 'main', uid: 'uid-1' }

test.each([
  ['the resource itself', owner, true],
  ['the resource under a new name', { ...owner, name: 'renamed' }, true],
  ['one made anew under its name', { ...owner, uid: 'uid-2' }, true],
  ['another name', { ...owner, uid: 'uid-2', name: 'other' }, false],
  ['the same name in another namespace', { ...owner, uid: 'uid-2', namespace: 'other' }, false],
  ['the same name of another kind', { ...owner, uid: 'uid-2', kind: 'FeatureSwitch' }, false],
  ['a person', undefined, false],
])('%s', (_, resource, expected) => {
  expect(isOwner(owner, resource)).toBe(expected)
})
