/** The route that all pages of signed-in users are below: it needs a session and has the layout. */
import { createRootRoute, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { ApiProblem } from '../api/problem.ts'
import { sessionQuery, signInSearch } from '../session/session.ts'
import { NotFound, RouteFailure } from './not-found.tsx'
import { queries } from './query-cache.ts'
import { Shell } from './shell.tsx'

export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })

/** True once a page was opened after signing in: what follows was chosen in the menu. */
let hasEntered = false

/** True when no page was opened since signing in; the one that asks is then open. */
export function isFirstPage(): boolean {
  const isFirst = !hasEntered
  hasEntered = true
  return isFirst
}

/** The next page is the first one again. */
export function forgetEntering(): void {
  hasEntered = false
}

/** True when the session expired while the panel was open; the sign-in page then says so. */
let wasSignedIn = false

/** The sign-in page is to explain that the session has ended. */
export function explainSignIn(): void {
  wasSignedIn = true
}

export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  notFoundComponent: NotFound,
  beforeLoad: async ({ location, preload }) => {
    try {
      await queries.ensureQueryData(sessionQuery)
      wasSignedIn = false
      if (!preload && location.pathname !== '/') hasEntered = true
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'not_logged_in')
        throw redirect({ to: '/sign-in', search: signInSearch({ to: location.href, ended: wasSignedIn }) })
      throw error
    }
  },
})
