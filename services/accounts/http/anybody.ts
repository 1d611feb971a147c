/** The guard of operations for callers without a session. */
import type { Authorise } from '../../platform/http/web-app.ts'
import type { AccountsHttpDeps } from './deps.ts'

/** Lets everybody in, at the rate of logins from one address. */
export function createAnybody({ loginRate }: AccountsHttpDeps): Authorise<{ kind: 'public' }, undefined> {
  return async context => {
    await loginRate(context)
    return undefined
  }
}
