/** Who may call an operation, as its contract says. */
import type { Right } from '../../people/rules/admin-rights.ts'

/**
 * Anybody, an administrator (with a right, and with one app, several, or none selected by `app_key`), or an app's
 * back end.
 */
export type Access =
  | { kind: 'open' }
  | { kind: 'admin'; right: Right; app: 'required' | 'optional' | 'ignored' }
  | { kind: 'app' }

/** Reads of one app. */
export const VIEW: Access = { kind: 'admin', right: 'view', app: 'required' }
/** Changes in one app. */
export const EDIT: Access = { kind: 'admin', right: 'edit', app: 'required' }
/** Reads of all apps in scope, or of one. */
export const VIEW_APPS: Access = { kind: 'admin', right: 'view', app: 'optional' }
/** Reads beside the apps. */
export const VIEW_ANY: Access = { kind: 'admin', right: 'view', app: 'ignored' }
/** The whole house. */
export const SUPER: Access = { kind: 'admin', right: 'super', app: 'ignored' }
/** The server API. */
export const APP: Access = { kind: 'app' }
