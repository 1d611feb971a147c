/** Routes of messages, domains, templates, suppressions and webhooks. */
import { createRoute, redirect } from '@tanstack/react-router'
import { readOptions } from '../api/hooks.ts'
import { firstPage, lazyPage } from '../app/lazy-page.tsx'
import { queries } from '../app/query-cache.ts'
import { isFirstPage, shell } from '../app/shell-route.ts'
import { NAMED_LIST, OLDEST_FIRST, type OrderedSearch, orderedSearch } from '../ui/layout/list-order.ts'
import { stringParams } from '../ui/layout/search-params.ts'
import { reportsSearch } from './domains/reports/reports-search.ts'
import { messageSearch } from './messages/message-search.ts'
import { messageTab } from './messages/message-tabs.ts'
import { LATEST, overviewSearch } from './overview/overview-search.ts'
import { suppressionSearch } from './suppressions/suppression-search.ts'
import { webhookSearch } from './webhooks/webhook-search.ts'

/** Leads to the guide when the overview is the first page that is opened and the account has no message yet. */
async function welcomeNewcomer(): Promise<void> {
  if (!isFirstPage()) return
  const latest = await queries.ensureQueryData(readOptions('listEmails', LATEST)).catch(() => undefined)
  if (latest?.data.length === 0) throw redirect({ to: '/start', replace: true })
}

function domainsSearch(
  raw: Record<string, unknown>,
): OrderedSearch<(typeof NAMED_LIST.columns)[number]> & { search?: string } {
  return { ...orderedSearch(NAMED_LIST)(raw), ...stringParams(raw, ['search']) }
}

export const mailRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: '/',
    validateSearch: overviewSearch,
    beforeLoad: ({ preload }) => (preload ? undefined : welcomeNewcomer()),
    component: firstPage(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/messages',
    validateSearch: messageSearch,
    component: lazyPage(() => import('./messages/messages-page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/messages/$id',
    validateSearch: messageTab,
    component: lazyPage(() => import('./messages/message-page.tsx'), 'MessagePage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/suppressions',
    validateSearch: suppressionSearch,
    component: lazyPage(() => import('./suppressions/suppressions-page.tsx'), 'SuppressionsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/inbox',
    validateSearch: (raw: Record<string, unknown>) => stringParams(raw, ['after', 'open']),
    component: lazyPage(() => import('./messages/captured-mail-page.tsx'), 'CapturedMailPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/send',
    component: lazyPage(() => import('./send/send-page.tsx'), 'SendPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/templates',
    validateSearch: orderedSearch(NAMED_LIST),
    component: lazyPage(() => import('./templates/templates-page.tsx'), 'TemplatesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/templates/$id',
    component: lazyPage(() => import('./templates/template-page.tsx'), 'TemplatePage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/domains',
    validateSearch: domainsSearch,
    component: lazyPage(() => import('./domains/domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/domains/$id',
    component: lazyPage(() => import('./domains/domain-page.tsx'), 'DomainPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/domains/$id/inbox',
    validateSearch: (raw: Record<string, unknown>) => stringParams(raw, ['after', 'open', 'to', 'subject']),
    component: lazyPage(() => import('./inbox/domain-inbox-page.tsx'), 'DomainInboxPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/domains/$id/reports',
    validateSearch: reportsSearch,
    component: lazyPage(() => import('./domains/reports/domain-reports-page.tsx'), 'DomainReportsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/webhooks',
    validateSearch: orderedSearch(OLDEST_FIRST),
    component: lazyPage(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/webhooks/$id',
    validateSearch: webhookSearch,
    component: lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
  }),
] as const
