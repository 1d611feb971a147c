/** The router of the panel. Each area has its routes beside its pages, whose components are loaded when a page is first opened. */
import { createRouter } from '@tanstack/react-router'
import i18next from 'i18next'
import { accountRoutes } from '../account/routes.ts'
import { adminRoutes } from '../admin/routes.ts'
import { call } from '../api/client.ts'
import { mailRoutes } from '../mail/routes.ts'
import { openRoutes } from '../session/routes.ts'
import { sessionQuery } from '../session/session.ts'
import { adoptSession } from '../session/working-account.ts'
import { isFormOpen, setSessionExpired } from '../state/session-expiry.ts'
import { subscriptionRoutes } from '../subscriptions/routes.ts'
import { notifyError, notifyFailure } from '../ui/feedback/notifications.ts'
import { NotFound, RouteFailure } from './not-found.tsx'
import { onAccountLost, onSessionExpired, onSessionMoved, queries } from './query-cache.ts'
import { explainSignIn, root, shell } from './shell-route.ts'

export const router = createRouter({
  routeTree: root.addChildren([
    ...openRoutes,
    shell.addChildren([...mailRoutes, ...accountRoutes, ...adminRoutes, ...subscriptionRoutes]),
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: RouteFailure,
})

/**
 * Asks for the session and for the code of the page that is opened first. Both are needed whatever comes first, so that
 * they need not wait for the texts, nor for each other.
 */
export function loadAhead(): void {
  const matches = router.matchRoutes(router.latestLocation)
  if (matches.some(({ routeId }) => routeId === shell.id)) void queries.prefetchQuery(sessionQuery)
  for (const { routeId } of matches) {
    const { component } = router.routesById[routeId as typeof root.id].options
    void component?.preload?.()
  }
}

onSessionExpired(() => {
  if (isFormOpen()) return setSessionExpired(true)
  explainSignIn()
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
