/** Every address of the panel. Pages are loaded when they are first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { resourceSearch } from '../admin/resource-search.ts'
import { ApiProblem } from '../api/problem.ts'
import { messageSearch } from '../mail/messages/message-search.ts'
import { messageTab } from '../mail/messages/message-tabs.ts'
import { sessionRead, signInSearch } from '../session/session.ts'
import { SignInPage } from '../session/sign-in-page.tsx'
import { isFormOpen, setSessionOver } from '../state/session-expiry.ts'
import { changesSearch, subSearch } from '../subscriptions/shared/subscriptions-search.ts'
import { spanSearch } from '../ui/layout/days-range.tsx'
import { textsOf } from '../ui/layout/search-params.ts'
import { NotFound, RouteFailure } from './not-found.tsx'
import { onSessionEnd, queries } from './query-cache.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: SignInPage,
})

/** Somebody was signed in when the service said that the session is over. */
let wasOpen = false

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  notFoundComponent: NotFound,
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(sessionRead)
      wasOpen = false
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'not_logged_in')
        throw redirect({ to: '/sign-in', search: signInSearch({ to: location.href, ended: wasOpen }) })
      throw error
    }
  },
})

const within = () => shell
const cursor = (raw: Record<string, unknown>) => textsOf(raw, ['after'])

const pages = [
  createRoute({
    getParentRoute: within,
    path: '/',
    validateSearch: spanSearch,
    component: lazyRouteComponent(() => import('../mail/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/messages',
    validateSearch: messageSearch,
    component: lazyRouteComponent(() => import('../mail/messages/messages-page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/messages/$id',
    validateSearch: messageTab,
    component: lazyRouteComponent(() => import('../mail/messages/message-page.tsx'), 'MessagePage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/inbox',
    validateSearch: (raw: Record<string, unknown>) => textsOf(raw, ['after', 'open']),
    component: lazyRouteComponent(() => import('../mail/messages/captured-mail-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/send',
    component: lazyRouteComponent(() => import('../mail/send/send-page.tsx'), 'SendPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/start',
    component: lazyRouteComponent(() => import('../start/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/domains',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../mail/domains/domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/domains/$id',
    component: lazyRouteComponent(() => import('../mail/domains/domain-page.tsx'), 'DomainPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/smtp',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../access/smtp-page.tsx'), 'SmtpPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/tokens',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../access/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/dns-accounts',
    component: lazyRouteComponent(() => import('../dns/dns-accounts-page.tsx'), 'DnsAccountsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/audit',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../account/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/settings',
    component: lazyRouteComponent(() => import('../account/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/health',
    component: lazyRouteComponent(() => import('../admin/health-page.tsx'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/queues',
    component: lazyRouteComponent(() => import('../admin/queue-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/addresses',
    component: lazyRouteComponent(() => import('../admin/sending-addresses-page.tsx'), 'AddressesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/certificates',
    component: lazyRouteComponent(() => import('../admin/certificates-page.tsx'), 'CertificatesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/resources',
    validateSearch: resourceSearch,
    component: lazyRouteComponent(() => import('../admin/resources-page.tsx'), 'ResourcesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/domains',
    validateSearch: (raw: Record<string, unknown>) => textsOf(raw, ['after', 'user']),
    component: lazyRouteComponent(() => import('../admin/all-domains-page.tsx'), 'AllDomainsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/users',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../admin/accounts-page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions',
    validateSearch: (raw: Record<string, unknown>) => ({ ...subSearch(raw), ...spanSearch(raw) }),
    component: lazyRouteComponent(() => import('../subscriptions/analytics/analytics-page.tsx'), 'FiguresPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/apps',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/apps/apps-page.tsx'), 'AppsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/users',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/subscribers/end-users-page.tsx'), 'EndUsersPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/plans',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/plans/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/list',
    validateSearch: subSearch,
    component: lazyRouteComponent(
      () => import('../subscriptions/subscribers/subscriptions-page.tsx'),
      'SubscriptionsPage',
    ),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/switches',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/switches/switches-page.tsx'), 'SwitchesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/changes',
    validateSearch: changesSearch,
    component: lazyRouteComponent(() => import('../subscriptions/history/change-history-page.tsx'), 'ChangesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/apps/$id',
    component: lazyRouteComponent(() => import('../subscriptions/apps/app-page.tsx'), 'AppPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/admins',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/apps/admins-page.tsx'), 'AdminsPage'),
  }),
] as const

/** The router. */
export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren(pages)]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: RouteFailure,
})

onSessionEnd(() => {
  if (isFormOpen()) return setSessionOver(true)
  wasOpen = true
  queries.removeQueries({ queryKey: sessionRead.queryKey })
  void router.invalidate()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
