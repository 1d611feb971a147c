/** Addresses of the pages of an app, `/apps/<key>/<page>`, and those of earlier releases, which named the app in the search. */
import { queryString } from '../../api/fetch.ts'

/** Pages of an app under `/apps/$key`, by their name under `/subscriptions`: in earlier releases, and while no app was chosen. */
const PAGES: Readonly<Record<string, string>> = {
  '': '',
  users: '/users',
  plans: '/plans',
  list: '/subscriptions',
  switches: '/switches',
  changes: '/changes',
  webhooks: '/webhooks',
  'user-statistics': '/user-statistics',
}

const TEMPLATE = '/apps/$key'

/** Address of a route under `/apps/$key` for an app. Without an app it leads to the app that was chosen last. */
export function pathForApp(route: string, key: string | undefined): string {
  if (!route.startsWith(TEMPLATE)) return route
  const rest = route.slice(TEMPLATE.length)
  if (key !== undefined) return `/apps/${encodeURIComponent(key)}${rest}`
  const old = Object.keys(PAGES).find(name => PAGES[name] === rest)
  return old ? `/subscriptions/${old}` : '/subscriptions'
}

/** Present address of `/subscriptions/<name>` for an app, with the other search parameters; undefined for unknown names. */
export function presentAddress(
  name: string,
  key: string,
  search: Readonly<Record<string, unknown>>,
): string | undefined {
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
  if (page === undefined) return undefined
  return pathForApp(TEMPLATE + page, key) + queryString({ ...search, app: undefined })
}
