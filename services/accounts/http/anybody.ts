/** The guard of operations for callers without a session. */
import type { Authorise } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { AccountsHttpDeps } from './deps.ts'

/** Lets everybody in, at the rate of logins from one address. */
export function createAnybody({ loginRate }: AccountsHttpDeps): Authorise<{ kind: 'public' }, undefined> {
  return async context => {
    await loginRate(context)
    return undefined
  }
}

/** Throws `forbidden` where people log in with a provider only. */
export function requirePasswordLogin({ passwordLogin }: AccountsHttpDeps): void {
  if (!passwordLogin) throw new ProblemError('forbidden', sentence('detail.password_login_off'))
}
