import { expect, test } from 'vitest'
import { allowedOwners, mayAdopt, mayOwn } from './namespace-owners.ts'

const listed = (annotation?: string) => async () =>
  allowedOwners(annotation === undefined ? undefined : { 'postwright.dev/owners': annotation })

test.each([
  ['the account of the namespace', 'k8s-shop', undefined, true],
  ['the account of another namespace', 'k8s-bank', undefined, false],
  ['an account that is not listed', 'ann', 'bob, carol', false],
  ['an account that is listed', 'ann', 'bob , ann', true],
  ['a part of a listed name', 'an', 'ann', false],
  ['a name that differs in case', 'Ann', 'ann', false],
  ['everybody, which does not exist', '*', 'ann', false],
  ['the empty name', '', '', false],
])('a resource in shop may act for %s: %s with "%s" is %s', async (_who, username, annotation, expected) => {
  expect(await mayOwn('shop', username, listed(annotation))).toBe(expected)
})

test('the Namespace is not read for its own account', async () => {
  const never = () => Promise.reject(new Error('asked'))
  expect(await mayOwn('shop', 'k8s-shop', never)).toBe(true)
})

test.each([
  [{}, 'ann', false],
  [{ 'postwright.dev/adopt': 'true' }, undefined, false],
  [{ 'postwright.dev/adopt': 'yes' }, 'ann', false],
  [{ 'postwright.dev/adopt': 'true' }, 'ann', true],
])('taking over with %j and owners %s is %s', async (annotations, owners, expected) => {
  expect(await mayAdopt(annotations, 'ann', listed(owners))).toBe(expected)
})
