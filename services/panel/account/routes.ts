/** Routes of an account: the guide, logins and tokens, DNS accounts, limits, members, audit log, settings. */
import { createRoute } from '@tanstack/react-router'
import { firstPage, lazyPage } from '../app/lazy-page.tsx'
import { shell } from '../app/shell-route.ts'
import { LATEST_FIRST, OLDEST_FIRST, orderedSearch } from '../ui/layout/list-order.ts'

export const accountRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: '/start',
    component: firstPage(() => import('../start/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/smtp',
    validateSearch: orderedSearch(OLDEST_FIRST),
    component: lazyPage(() => import('../access/smtp-page.tsx'), 'SmtpPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/tokens',
    validateSearch: orderedSearch(OLDEST_FIRST),
    component: lazyPage(() => import('../access/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/dns-accounts',
    component: lazyPage(() => import('../dns/dns-accounts-page.tsx'), 'DnsAccountsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/limits',
    component: lazyPage(() => import('../limits/limits-page.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/members',
    component: lazyPage(() => import('../members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/audit',
    validateSearch: orderedSearch(LATEST_FIRST),
    component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/settings',
    component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
  }),
] as const
