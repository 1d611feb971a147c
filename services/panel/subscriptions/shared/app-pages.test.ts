/** Addresses of the pages of an app. */
import { expect, test } from 'vitest'
import { pathForApp, presentAddress } from './app-pages.ts'

test.each([
  ['/apps/$key', 'shop', '/apps/shop'],
  ['/apps/$key/plans', 'shop', '/apps/shop/plans'],
  ['/apps/$key/plans', 'a b', '/apps/a%20b/plans'],
  ['/apps/$key/subscriptions', undefined, '/subscriptions/list'],
  ['/apps/$key/webhooks', undefined, '/subscriptions/webhooks'],
  ['/apps/$key/user-statistics', undefined, '/subscriptions/user-statistics'],
  ['/apps/$key', undefined, '/subscriptions'],
  ['/apps', 'shop', '/apps'],
  ['/domains', undefined, '/domains'],
])('%s for %s is %s', (route, key, path) => {
  expect(pathForApp(route, key)).toBe(path)
})

test.each([
  ['', { app: 'shop' }, '/apps/shop'],
  ['', { app: 'shop', days: 7 }, '/apps/shop?days=7'],
  ['list', { app: 'shop', status: '1', page: 2 }, '/apps/shop/subscriptions?status=1&page=2'],
  ['changes', { subscription: '9' }, '/apps/shop/changes?subscription=9'],
  ['webhooks', {}, '/apps/shop/webhooks'],
  ['user-statistics', { days: 7 }, '/apps/shop/user-statistics?days=7'],
  ['nothing', {}, undefined],
  ['constructor', {}, undefined],
  ['plans/more', {}, undefined],
])('/subscriptions/%s with %j is %s', (name, search, address) => {
  expect(presentAddress(name, 'shop', search)).toBe(address)
})
