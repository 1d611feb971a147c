import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, EVERY_APP, may, type Right, type Rights, scopeOf } from './admin-rights.ts'

const who = (role: Rights['role'], ...app_keys: string[]): Rights => ({ role, app_keys })

test.each<[Rights['role'], Right[]]>([
  ['viewer', ['view']],
  ['operator', ['view', 'edit']],
  ['super', ['view', 'edit', 'super']],
])('a %s may %j', (role, rights) => {
  expect((['view', 'edit', 'super'] as const).filter(right => may(who(role), right))).toEqual(rights)
})

test.each<[string, Rights, boolean, readonly string[] | undefined]>([
  ['nothing', who('operator'), false, []],
  ['the app', who('viewer', 'shop'), true, ['shop']],
  ['another app', who('viewer', 'game'), false, ['game']],
  ['a longer name', who('viewer', 'shop2', 'sho'), false, ['shop2', 'sho']],
  ['another spelling', who('viewer', 'Shop'), false, ['Shop']],
  ['every app', who('viewer', EVERY_APP), true, undefined],
  ['every app and another', who('operator', 'game', EVERY_APP), true, undefined],
  ['nothing, but is super', who('super'), true, undefined],
])('who has %s in scope sees the app shop or not', (_, rights, sees, scope) => {
  expect(covers(rights, 'shop')).toBe(sees)
  expect(scopeOf(rights)).toEqual(scope)
})

test('the list of a scope and the single question agree', () => {
  const key = fc.constantFrom('shop', 'game', 'news', EVERY_APP)
  const rights = fc.record({ role: fc.constantFrom('super', 'operator', 'viewer'), app_keys: fc.array(key) })
  fc.assert(
    fc.property(rights, fc.constantFrom('shop', 'game', 'other'), (given, app) => {
      const scope = scopeOf(given as Rights)
      expect(covers(given as Rights, app)).toBe(scope === undefined || scope.includes(app))
    }),
  )
})
