/** Permissions of operations, as contracts declare them. */
import type { Right } from '../../people/rules/admin-rights.ts'

/**
 * Any caller, an administrator (with a right, and with one app, several, or none selected by `app_key`), or an app's
 * back end.
 */
export type Access =
  | { kind: 'open' }
  | { kind: 'admin'; right: Right; app: 'required' | 'optional' | 'ignored' }
  | { kind: 'app' }

/** Reads in one app. */
export const VIEW: Access = { kind: 'admin', right: 'view', app: 'required' }
/** Changes in one app. */
export const EDIT: Access = { kind: 'admin', right: 'edit', app: 'required' }
/** Reads in all apps in scope, or in one. */
export const VIEW_APPS: Access = { kind: 'admin', right: 'view', app: 'optional' }
/** Reads that are not about apps. */
export const VIEW_ANY: Access = { kind: 'admin', right: 'view', app: 'ignored' }
/** Everything, including apps and administrators. */
export const SUPER: Access = { kind: 'admin', right: 'super', app: 'ignored' }
/** The server API. */
export const APP: Access = { kind: 'app' }
