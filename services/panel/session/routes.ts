/** Routes without a session: signing in, links of mails, the answer of a login provider. */
import { createRoute } from '@tanstack/react-router'
import { firstPage, lazyPage } from '../app/lazy-page.tsx'
import { forgetEntering, root } from '../app/shell-route.ts'
import { signInSearch } from './session.ts'

/** Pages for visitors without a session, the sign-in page first. */
export const openRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: signInSearch,
    beforeLoad: forgetEntering,
    component: firstPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/forgot-password',
    component: lazyPage(() => import('./forgot-password-page.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/oidc-callback',
    component: lazyPage(() => import('./oidc-callback-page.tsx'), 'OidcCallbackPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reset-password',
    component: lazyPage(() => import('./reset-password-page.tsx'), 'ResetPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/accept-invitation',
    component: lazyPage(() => import('./accept-invitation-page.tsx'), 'AcceptInvitationPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/join',
    component: lazyPage(() => import('./join-account-page.tsx'), 'JoinAccountPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/confirm-email',
    component: lazyPage(() => import('./confirm-email-page.tsx'), 'ConfirmEmailPage'),
  }),
] as const
