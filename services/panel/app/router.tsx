/** Every address of the panel. Pages are loaded when they are first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { ApiProblem } from '../api/problem.ts'
import { messageSearch } from '../mail/message-search.ts'
import { messageTab } from '../mail/message-tab.ts'
import { resourceSearch } from '../operator/resource-search.ts'
import { subSearch } from '../subscriptions/search.ts'
import { textsOf } from '../ui/search.ts'
import { spanSearch } from '../ui/span.tsx'
import { NotFound, RouteFailure } from './not-found.tsx'
import { onSessionEnd, queries } from './queries.ts'
import { sessionRead, signInSearch } from './session.ts'
import { isFormOpen, setSessionOver } from './session-over.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in-page.tsx'

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
    component: lazyRouteComponent(() => import('../mail/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/messages',
    validateSearch: messageSearch,
    component: lazyRouteComponent(() => import('../mail/messages-page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/messages/$id',
    validateSearch: messageTab,
    component: lazyRouteComponent(() => import('../mail/message-page.tsx'), 'MessagePage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/inbox',
    validateSearch: (raw: Record<string, unknown>) => textsOf(raw, ['after', 'open']),
    component: lazyRouteComponent(() => import('../mail/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/send',
    component: lazyRouteComponent(() => import('../mail/send-page.tsx'), 'SendPage'),
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
    component: lazyRouteComponent(() => import('../mail/domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/domains/$id',
    component: lazyRouteComponent(() => import('../mail/domain-page.tsx'), 'DomainPage'),
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
    component: lazyRouteComponent(() => import('../dns/accounts-page.tsx'), 'DnsAccountsPage'),
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
    component: lazyRouteComponent(() => import('../operator/health-page.tsx'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/queues',
    component: lazyRouteComponent(() => import('../operator/queues-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/addresses',
    component: lazyRouteComponent(() => import('../operator/addresses-page.tsx'), 'AddressesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/certificates',
    component: lazyRouteComponent(() => import('../operator/certificates-page.tsx'), 'CertificatesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/resources',
    validateSearch: resourceSearch,
    component: lazyRouteComponent(() => import('../operator/resources-page.tsx'), 'ResourcesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/domains',
    validateSearch: (raw: Record<string, unknown>) => textsOf(raw, ['after', 'user']),
    component: lazyRouteComponent(() => import('../operator/all-domains-page.tsx'), 'AllDomainsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/admin/users',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../operator/users-page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions',
    validateSearch: (raw: Record<string, unknown>) => ({ ...subSearch(raw), ...spanSearch(raw) }),
    component: lazyRouteComponent(() => import('../subscriptions/figures-page.tsx'), 'FiguresPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/apps',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/apps-page.tsx'), 'AppsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/users',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/users-page.tsx'), 'EndUsersPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/plans',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/list',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/subscriptions-page.tsx'), 'SubscriptionsPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/switches',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/switches-page.tsx'), 'SwitchesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/changes',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/changes-page.tsx'), 'ChangesPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/apps/$id',
    component: lazyRouteComponent(() => import('../subscriptions/app-page.tsx'), 'AppPage'),
  }),
  createRoute({
    getParentRoute: within,
    path: '/subscriptions/admins',
    validateSearch: subSearch,
    component: lazyRouteComponent(() => import('../subscriptions/admins-page.tsx'), 'AdminsPage'),
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
