/** Addresses of every route of the panel, as the route tables of its areas have them. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REFUSED } from './seed-database.ts'

/** Ids of records that some addresses name. */
export interface PageIds {
  template: string
  webhook: string
  user: string
  appWebhook: string
}

/** Names that are seeded: domains, the app and its switches. */
const SANDBOX = '/domains/sandbox.mail.example.com'

/** Addresses of each route, with data that `seed` and `seedStored` have stored; a route that only leads to another one has none. */
export function pagesOf(ids: PageIds): Readonly<Record<string, readonly string[]>> {
  return {
    '/sign-in': [],
    '/forgot-password': ['/forgot-password'],
    '/oidc-callback': ['/oidc-callback'],
    '/reset-password': ['/reset-password'],
    '/accept-invitation': ['/accept-invitation'],
    '/join': ['/join'],
    '/confirm-email': ['/confirm-email'],
    '/': ['/', '/?hours=24'],
    '/messages': ['/messages', '/messages?q=nothing-like-this', '/messages?order=asc&template=tpl_1'],
    '/messages/$id': ['timeline', 'preview', 'source', 'facts'].map(tab => `/messages/${REFUSED}?tab=${tab}`),
    '/suppressions': ['/suppressions'],
    '/inbox': ['/inbox'],
    '/send': ['/send'],
    '/templates': ['/templates'],
    '/templates/$id': [`/templates/${ids.template}`],
    '/start': ['/start'],
    '/domains': ['/domains'],
    '/domains/$id': [SANDBOX, '/domains/own.example', '/domains/example.com'],
    '/domains/$id/inbox': [`${SANDBOX}/inbox`],
    '/domains/$id/reports': [`${SANDBOX}/reports`],
    '/smtp': ['/smtp'],
    '/tokens': ['/tokens'],
    '/webhooks': ['/webhooks'],
    '/webhooks/$id': [`/webhooks/${ids.webhook}`],
    '/dns-accounts': ['/dns-accounts'],
    '/limits': ['/limits'],
    '/members': ['/members'],
    '/audit': ['/audit'],
    '/settings': ['/settings'],
    '/admin/health': ['/admin/health'],
    '/admin/queues': ['/admin/queues'],
    '/admin/addresses': ['/admin/addresses'],
    '/admin/certificates': ['/admin/certificates'],
    '/admin/resources': ['/admin/resources'],
    '/admin/domains': ['/admin/domains'],
    '/admin/users': ['/admin/users'],
    '/apps': ['/apps'],
    '/apps/$key': ['/apps/shop'],
    '/apps/$key/settings': ['/apps/shop/settings'],
    '/apps/$key/user-statistics': ['/apps/shop/user-statistics'],
    '/apps/$key/users': ['/apps/shop/users'],
    '/apps/$key/users/$id': [`/apps/shop/users/${ids.user}`],
    '/apps/$key/plans': ['/apps/shop/plans'],
    '/apps/$key/subscriptions': ['/apps/shop/subscriptions'],
    '/apps/$key/switches': ['/apps/shop/switches'],
    '/apps/$key/switches/$name': ['/apps/shop/switches/new_checkout', '/apps/shop/switches/releases'],
    '/apps/$key/new-switch': ['/apps/shop/new-switch'],
    '/apps/$key/webhooks': ['/apps/shop/webhooks'],
    '/apps/$key/webhooks/$id': [`/apps/shop/webhooks/${ids.appWebhook}`],
    '/apps/$key/changes': ['/apps/shop/changes'],
    // Addresses of earlier releases lead to those above.
    '/subscriptions': [],
    '/subscriptions/$': [],
    '/subscriptions/apps/$id': [],
    '/subscriptions/admins': ['/subscriptions/admins'],
    '/subscriptions/all-changes': ['/subscriptions/all-changes'],
  }
}

/** Pages of an account that has nothing yet. */
export const EMPTY_PAGES = [
  ...['/', '/start', '/messages', '/suppressions', '/send', '/templates', '/domains', '/smtp', '/tokens', '/webhooks'],
  ...['/dns-accounts', '/limits', '/members', '/audit', '/settings', '/inbox', '/nowhere'],
] as const

/** Paths of the routes, read from the route tables, so that a page cannot be missing in a test of all pages. */
export async function routesOfPanel(): Promise<string[]> {
  const panel = join(import.meta.dirname, '../../../services/panel')
  const routes: string[] = []
  for await (const file of glob('*/routes.ts', { cwd: panel })) {
    const source = await readFile(join(panel, file), 'utf8')
    routes.push(...[...source.matchAll(/\bpath: '([^']+)'/g)].map(match => match[1] ?? ''))
  }
  return routes.toSorted()
}
