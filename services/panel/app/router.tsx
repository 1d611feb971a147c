/** Routes of the panel. Page components are loaded when a page is first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import i18next from 'i18next'
import { resourceSearch } from '../admin/resource-search.ts'
import { call } from '../api/client.ts'
import { queryString } from '../api/fetch.ts'
import { ApiProblem } from '../api/problem.ts'
import { reportsSearch } from '../mail/domains/reports/reports-search.ts'
import { messageSearch } from '../mail/messages/message-search.ts'
import { messageTab } from '../mail/messages/message-tabs.ts'
import { suppressionSearch } from '../mail/suppressions/suppression-search.ts'
import { webhookSearch } from '../mail/webhooks/webhook-search.ts'
import { sessionQuery, signInSearch } from '../session/session.ts'
import { SignInPage } from '../session/sign-in-page.tsx'
import { adoptSession } from '../session/working-account.ts'
import { isFormOpen, setSessionExpired } from '../state/session-expiry.ts'
import { presentAddress } from '../subscriptions/shared/app-pages.ts'
import { changesSearch, subscriptionsSearch } from '../subscriptions/shared/subscriptions-search.ts'
import { notifyError, notifyFailure } from '../ui/feedback/notifications.ts'
import { daysRangeSearch } from '../ui/layout/days-range.tsx'
import { stringParams } from '../ui/layout/search-params.ts'
import { NotFound, RouteFailure } from './not-found.tsx'
import { onAccountLost, onSessionExpired, onSessionMoved, queries } from './query-cache.ts'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: SignInPage,
})

/** Pages for visitors without a session, beside the sign-in page. */
const openPages = [
  createRoute({
    getParentRoute: () => root,
    path: '/forgot-password',
    component: lazyRouteComponent(() => import('../session/forgot-password-page.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/oidc-callback',
    component: lazyRouteComponent(() => import('../session/oidc-callback-page.tsx'), 'OidcCallbackPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('../session/reset-password-page.tsx'), 'ResetPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/accept-invitation',
    component: lazyRouteComponent(() => import('../session/accept-invitation-page.tsx'), 'AcceptInvitationPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/join',
    component: lazyRouteComponent(() => import('../session/join-account-page.tsx'), 'JoinAccountPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/confirm-email',
    component: lazyRouteComponent(() => import('../session/confirm-email-page.tsx'), 'ConfirmEmailPage'),
  }),
] as const

/** True when the session expired while the panel was open; the sign-in page then says so. */
let wasSignedIn = false

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  notFoundComponent: NotFound,
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(sessionQuery)
      wasSignedIn = false
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'not_logged_in')
        throw redirect({ to: '/sign-in', search: signInSearch({ to: location.href, ended: wasSignedIn }) })
      throw error
    }
  },
})

const shellRoute = () => shell
const cursor = (raw: Record<string, unknown>) => stringParams(raw, ['after'])

const chosenApp = lazyRouteComponent(() => import('../subscriptions/shared/app-redirects.tsx'), 'ChosenAppPage')

/** Redirects `/subscriptions/<name>?app=<key>`; an address without an app leads to the one that was chosen last. */
function openAppOfSearch(name: string, search: Record<string, unknown>): void {
  const [key] = Object.values(stringParams(search, ['app']))
  if (name === 'apps') throw redirect({ href: `/apps${queryString({ ...search, app: undefined })}`, replace: true })
  const href = presentAddress(name, key ?? '', search)
  if (href === undefined) throw notFound()
  if (key !== undefined) throw redirect({ href, replace: true })
}

const pages = [
  createRoute({
    getParentRoute: shellRoute,
    path: '/',
    validateSearch: daysRangeSearch,
    component: lazyRouteComponent(() => import('../mail/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/messages',
    validateSearch: messageSearch,
    component: lazyRouteComponent(() => import('../mail/messages/messages-page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/messages/$id',
    validateSearch: messageTab,
    component: lazyRouteComponent(() => import('../mail/messages/message-page.tsx'), 'MessagePage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/suppressions',
    validateSearch: suppressionSearch,
    component: lazyRouteComponent(() => import('../mail/suppressions/suppressions-page.tsx'), 'SuppressionsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/inbox',
    validateSearch: (raw: Record<string, unknown>) => stringParams(raw, ['after', 'open']),
    component: lazyRouteComponent(() => import('../mail/messages/captured-mail-page.tsx'), 'CapturedMailPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/send',
    component: lazyRouteComponent(() => import('../mail/send/send-page.tsx'), 'SendPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/templates',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../mail/templates/templates-page.tsx'), 'TemplatesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/templates/$id',
    component: lazyRouteComponent(() => import('../mail/templates/template-page.tsx'), 'TemplatePage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/start',
    component: lazyRouteComponent(() => import('../start/start-page.tsx'), 'StartPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/domains',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../mail/domains/domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/domains/$id',
    component: lazyRouteComponent(() => import('../mail/domains/domain-page.tsx'), 'DomainPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/domains/$id/reports',
    validateSearch: reportsSearch,
    component: lazyRouteComponent(() => import('../mail/domains/reports/domain-reports-page.tsx'), 'DomainReportsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/smtp',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../access/smtp-page.tsx'), 'SmtpPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/tokens',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../access/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/webhooks',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../mail/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/webhooks/$id',
    validateSearch: webhookSearch,
    component: lazyRouteComponent(() => import('../mail/webhooks/webhook-page.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/dns-accounts',
    component: lazyRouteComponent(() => import('../dns/dns-accounts-page.tsx'), 'DnsAccountsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/limits',
    component: lazyRouteComponent(() => import('../limits/limits-page.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/members',
    component: lazyRouteComponent(() => import('../members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/audit',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../account/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('../account/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/health',
    component: lazyRouteComponent(() => import('../admin/health-page.tsx'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/queues',
    component: lazyRouteComponent(() => import('../admin/queue-page.tsx'), 'QueuePage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/addresses',
    component: lazyRouteComponent(() => import('../admin/sending-addresses-page.tsx'), 'SendingAddressesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/certificates',
    component: lazyRouteComponent(() => import('../admin/certificates-page.tsx'), 'CertificatesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/resources',
    validateSearch: resourceSearch,
    component: lazyRouteComponent(() => import('../admin/resources-page.tsx'), 'ResourcesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/domains',
    validateSearch: (raw: Record<string, unknown>) => stringParams(raw, ['after', 'user']),
    component: lazyRouteComponent(() => import('../admin/all-domains-page.tsx'), 'AllDomainsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/admin/users',
    validateSearch: cursor,
    component: lazyRouteComponent(() => import('../admin/accounts-page.tsx'), 'AccountsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(() => import('../subscriptions/apps/apps-page.tsx'), 'AppsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key',
    validateSearch: daysRangeSearch,
    component: lazyRouteComponent(() => import('../subscriptions/analytics/analytics-page.tsx'), 'AnalyticsPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/settings',
    component: lazyRouteComponent(() => import('../subscriptions/apps/app-page.tsx'), 'AppPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/users',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(() => import('../subscriptions/subscribers/end-users-page.tsx'), 'EndUsersPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/plans',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(() => import('../subscriptions/plans/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/subscriptions',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(
      () => import('../subscriptions/subscribers/subscriptions-page.tsx'),
      'SubscriptionsPage',
    ),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/switches',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(() => import('../subscriptions/switches/switches-page.tsx'), 'SwitchesPage'),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/apps/$key/changes',
    validateSearch: changesSearch,
    component: lazyRouteComponent(
      () => import('../subscriptions/history/change-history-page.tsx'),
      'ChangeHistoryPage',
    ),
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/subscriptions/admins',
    validateSearch: subscriptionsSearch,
    component: lazyRouteComponent(() => import('../subscriptions/apps/admins-page.tsx'), 'AdminsPage'),
  }),
  // Addresses of earlier releases, which named the app in the search, or none.
  createRoute({
    getParentRoute: shellRoute,
    path: '/subscriptions',
    beforeLoad: ({ search }) => openAppOfSearch('', search),
    component: chosenApp,
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/subscriptions/$',
    beforeLoad: ({ params, search }) => openAppOfSearch(params._splat ?? '', search),
    component: chosenApp,
  }),
  createRoute({
    getParentRoute: shellRoute,
    path: '/subscriptions/apps/$id',
    component: lazyRouteComponent(() => import('../subscriptions/shared/app-redirects.tsx'), 'AppByIdPage'),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren([signIn, ...openPages, shell.addChildren(pages)]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: RouteFailure,
})

onSessionExpired(() => {
  if (isFormOpen()) return setSessionExpired(true)
  wasSignedIn = true
  queries.removeQueries({ queryKey: sessionQuery.queryKey })
  void router.invalidate()
})

onAccountLost(error => {
  notifyError(error, i18next.t.bind(i18next))
  void call('getSession', {}).then(session => adoptSession(queries, session))
})

onSessionMoved(session => {
  notifyFailure(i18next.t('members.moved', { name: session.account.name }))
  adoptSession(queries, session)
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
