/** Routes of the subscription pages, and addresses of earlier releases. */
import { createRoute, notFound, redirect } from '@tanstack/react-router'
import { queryString } from '../api/fetch.ts'
import { lazyPage } from '../app/lazy-page.tsx'
import { shell } from '../app/shell-route.ts'
import { appWebhookSearch } from '../mail/webhooks/webhook-search.ts'
import { daysRangeSearch } from '../ui/layout/days-range-search.ts'
import { stringParams } from '../ui/layout/search-params.ts'
import { presentAddress } from './shared/app-pages.ts'
import {
  allChangesSearch,
  changesSearch,
  plansSearch,
  subscriptionListSearch,
  subscriptionsSearch,
  switchesSearch,
  usersSearch,
} from './shared/subscriptions-search.ts'

const chosenApp = lazyPage(() => import('./shared/app-redirects.tsx'), 'ChosenAppPage')

/** Redirects `/subscriptions/<name>?app=<key>`; an address without an app leads to the one that was chosen last. */
function openAppOfSearch(name: string, search: Record<string, unknown>): void {
  const [key] = Object.values(stringParams(search, ['app']))
  if (name === 'apps') throw redirect({ href: `/apps${queryString({ ...search, app: undefined })}`, replace: true })
  const href = presentAddress(name, key ?? '', search)
  if (href === undefined) throw notFound()
  if (key !== undefined) throw redirect({ href, replace: true })
}

export const subscriptionRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: '/apps',
    validateSearch: subscriptionsSearch,
    component: lazyPage(() => import('./apps/apps-page.tsx'), 'AppsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key',
    validateSearch: daysRangeSearch,
    component: lazyPage(() => import('./analytics/analytics-page.tsx'), 'AnalyticsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/settings',
    component: lazyPage(() => import('./apps/app-page.tsx'), 'AppPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/user-statistics',
    validateSearch: daysRangeSearch,
    component: lazyPage(() => import('./analytics/user-statistics-page.tsx'), 'UserStatisticsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/users',
    validateSearch: usersSearch,
    component: lazyPage(() => import('./subscribers/end-users-page.tsx'), 'EndUsersPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/users/$id',
    component: lazyPage(() => import('./users/user-page.tsx'), 'UserPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/plans',
    validateSearch: plansSearch,
    component: lazyPage(() => import('./plans/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/subscriptions',
    validateSearch: subscriptionListSearch,
    component: lazyPage(() => import('./subscribers/subscriptions-page.tsx'), 'SubscriptionsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/switches',
    validateSearch: switchesSearch,
    component: lazyPage(() => import('./switches/switches-page.tsx'), 'SwitchesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/switches/$name',
    component: lazyPage(() => import('./switches/switch-page.tsx'), 'SwitchPage'),
  }),
  // Not below the switches: "new" may be the name of one.
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/new-switch',
    component: lazyPage(() => import('./switches/switch-page.tsx'), 'NewSwitchPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/webhooks',
    component: lazyPage(() => import('./webhooks/app-webhooks-page.tsx'), 'AppWebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/webhooks/$id',
    validateSearch: appWebhookSearch,
    component: lazyPage(() => import('./webhooks/app-webhook-page.tsx'), 'AppWebhookPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/apps/$key/changes',
    validateSearch: changesSearch,
    component: lazyPage(() => import('./history/change-history-page.tsx'), 'ChangeHistoryPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/subscriptions/all-changes',
    validateSearch: allChangesSearch,
    component: lazyPage(() => import('./history/change-history-page.tsx'), 'AllChangesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/subscriptions/admins',
    validateSearch: subscriptionsSearch,
    component: lazyPage(() => import('./apps/admins-page.tsx'), 'AdminsPage'),
  }),
  // Addresses of earlier releases, which named the app in the search, or none.
  createRoute({
    getParentRoute: () => shell,
    path: '/subscriptions',
    beforeLoad: ({ search }) => openAppOfSearch('', search),
    component: chosenApp,
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/subscriptions/$',
    beforeLoad: ({ params, search }) => openAppOfSearch(params._splat ?? '', search),
    component: chosenApp,
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/subscriptions/apps/$id',
    component: lazyPage(() => import('./shared/app-redirects.tsx'), 'AppByIdPage'),
  }),
] as const
