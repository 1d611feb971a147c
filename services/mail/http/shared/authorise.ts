/** Who calls the mail API, and whether the operation is open to them: a session or a Bearer token, one set of rules. */

import type { Caller } from '../../../accounts/http/audit-caller.ts'
import { type SessionDeps, sessionOf } from '../../../accounts/http/authenticate.ts'
import { sessionCookie } from '../../../accounts/http/session-cookie.ts'
import type { OpenSession } from '../../../accounts/login-sessions.ts'
import { type AccountRole, includesRole } from '../../../accounts/members/rules/member-role.ts'
import { workingAccountOf } from '../../../accounts/members/working-account.ts'
import type { Db } from '../../../platform/database/mongo.ts'
import { type Authorise, factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type CheckedToken, type CheckToken, createTokenCheck } from '../../credentials/check-token.ts'
import { sendsForReal, type TokenLimits } from '../../credentials/rules/token-limits.ts'
import type { Submitter } from '../../submission/submission.ts'
import { type Access, roleFor, SCOPES, type Scope, scopesFor, scopesOfRole } from './access.ts'

/** The caller of an operation. */
export interface Principal extends Caller {
  /** For a session, those of the role in the account. */
  scopes: readonly string[]
  token?: PresentedToken
}

/** What a token allows beyond its scopes. */
export interface PresentedToken {
  id: string
  mode: 'live' | 'test'
  /** What it sends is captured. */
  capture: boolean
  /** Domain names it is limited to; empty = all of the account. */
  domains: readonly string[]
  allowedCidrs: readonly string[]
  expiresAt: Date | undefined
}

const TOKEN_OR_LOGIN = sentence('detail.login_or_token')

/**
 * The guard of the mail API. A Bearer header decides alone, whatever cookie comes along. Throws 401 `not_logged_in`
 * or `invalid_token`, 403 `insufficient_scope`, `forbidden`, `not_a_member`, `account_suspended`, `network_not_allowed` or
 * `csrf_header_missing`, and 409 `account_switched`.
 */
function createAuthorise(deps: SessionDeps & { checkToken: CheckToken }): Authorise<Access, Principal> {
  return async (context, access) => {
    const bearer = bearerOf(context)
    if (bearer !== undefined) return byToken(await deps.checkToken(bearer, factsOf(context).ip), access)
    const session = await sessionOf(context, deps, access.kind === 'account' ? TOKEN_OR_LOGIN : undefined)
    const { id: sessionId, account, accountId } = session
    if (access.kind === 'account' || access.kind === 'member')
      return { ...(await byMember(context, deps.db, session, roleFor(access))), via: 'session', sessionId }
    if (access.kind === 'admin' && account.role !== 'admin') throw new ProblemError('forbidden')
    return { account, via: 'session', scopes: SCOPES, sessionId, ...(accountId === undefined ? {} : { accountId }) }
  }
}

/** The account that a page of the panel shows; a request from it must not change another one, which another tab chose. */
const ACCOUNT_HEADER = 'x-account'

async function byMember(context: WebContext, db: Db, session: OpenSession, needed: AccountRole) {
  const { account, role } = await workingAccountOf(db, session)
  const shown = context.get(ACCOUNT_HEADER)
  if (shown !== '' && shown !== account.id) throw new ProblemError('account_switched')
  if (!includesRole(role, needed))
    throw new ProblemError('forbidden', sentence('detail.role_needed', { role: needed, own: role }))
  const person = account.id === session.account.id ? {} : { person: session.account }
  return { account, role, scopes: scopesOfRole(role), ...person }
}

/** The guard of a process, made from its foundation. */
export function authoriseWith({
  config,
  mongo: { db },
  clock,
  log,
  secrets,
}: Pick<Foundation, 'config' | 'mongo' | 'clock' | 'log' | 'secrets'>): Authorise<Access, Principal> {
  const checkToken = createTokenCheck({ db, clock, log, apiToken: config.API_TOKEN })
  return createAuthorise({ db, secrets, clock, cookie: sessionCookie(config.APP_BASE_URL), checkToken })
}

/** Refuses a token that is restricted to domains where the response covers the account. */
export function requireUnrestricted({ token }: Principal): void {
  if (token && token.domains.length > 0)
    throw new ProblemError('insufficient_scope', sentence('detail.needs_all_domains'))
}

/** The submitter for a caller that sends over HTTP. */
export function submitterOf({ account, token }: Principal): Submitter {
  return {
    userId: account.id,
    via: { channel: 'http', ...(token ? { id: token.id } : {}) },
    allowedSenders: token?.domains.map(name => `@${name}`) ?? [],
    messagesPerHour: 0,
    ...(token?.mode === 'test' ? { test: true } : {}),
    ...(token?.capture ? { capture: true } : {}),
  }
}

function byToken(checked: CheckedToken, access: Access): Principal {
  const { account } = checked
  if (checked.kind === 'legacy') {
    if (access.kind === 'account' && access.legacy) return { account, via: 'legacy', scopes: [access.scope] }
    throw new ProblemError('insufficient_scope', sentence('detail.legacy_token'))
  }
  if (access.kind !== 'account') throw new ProblemError('forbidden', sentence('detail.needs_login'))
  const { token } = checked
  for (const scope of scopesFor(access)) requireScope(token, scope)
  return {
    account,
    via: 'token',
    scopes: token.scopes,
    token: {
      id: token._id,
      mode: token.mode,
      capture: token.capture === true,
      domains: token.domains,
      allowedCidrs: token.allowed_cidrs,
      expiresAt: token.expires_at,
    },
  }
}

function requireScope({ scopes, ...token }: Pick<TokenLimits, 'mode' | 'capture' | 'scopes'>, needed: Scope): void {
  if (sendsForReal(token, needed))
    throw new ProblemError('insufficient_scope', sentence('detail.test_token_scope', { scope: needed }))
  if (!scopes.includes(needed))
    throw new ProblemError('insufficient_scope', sentence('detail.lacks_scope', { scope: needed }))
}

function bearerOf(context: WebContext): string | undefined {
  const header = context.get('authorization')
  if (header === '') return undefined
  const match = /^Bearer +(?<value>[^\s]+) *$/i.exec(header)
  if (!match?.groups?.value) throw new ProblemError('invalid_token', sentence('detail.bearer'))
  return match.groups.value
}
