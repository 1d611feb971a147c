/** API tokens over HTTP. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { creatorOf } from '../../../accounts/http/audit-caller.ts'
import { bind, type WebContext } from '../../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import { getToken, issueToken, revokeToken, rotateToken } from '../manage-tokens.ts'
import { tokenPrefix } from '../rules/token.ts'
import type { GrantingLimits } from '../rules/token-limits.ts'
import type { TokenDoc } from '../store/tokens.ts'
import { listTokens } from '../store/tokens.ts'
import {
  createTokenOperation,
  getTokenOperation,
  listTokensOperation,
  revokeTokenOperation,
  rotateTokenOperation,
  TOKEN_ORDERS,
  type token,
} from './tokens-contract.ts'

/** Puts the operations on tokens on the router. */
export function mountTokens(router: Router, deps: MailHttpDeps): void {
  const { authorise, clock, mongo } = deps
  const useCase = { db: mongo.db, clock }
  const audit = (caller: Principal, context: WebContext, verb: string, { _id, name }: TokenDoc) =>
    deps.audit(caller, context, { action: `token.${verb}`, target: { type: 'token', id: _id, name } })

  bind(router, authorise, createTokenOperation, async ({ body }, caller, context) => {
    const issued = await issueToken(
      useCase,
      caller.account.id,
      { ...body, created_by: creatorOf(caller) },
      ownLimits(caller),
    )
    await audit(caller, context, 'created', issued.token)
    context.set('Location', `/api/v1/tokens/${issued.token._id}`)
    return { ...showToken(issued.token), token: issued.value }
  })

  bind(router, authorise, listTokensOperation, async ({ query }, { account }) => {
    const rows = await listTokens(mongo.db, account.id, orderedPage(TOKEN_ORDERS, query))
    return toOrderedPage(TOKEN_ORDERS, query, rows, showToken)
  })

  bind(router, authorise, getTokenOperation, async ({ params }, { account }) =>
    showToken(await getToken(useCase, account.id, params.id)),
  )

  bind(router, authorise, rotateTokenOperation, async ({ params }, caller, context) => {
    const rotated = await rotateToken(useCase, caller.account.id, params.id, ownLimits(caller))
    await audit(caller, context, 'rotated', rotated.token)
    return { ...showToken(rotated.token), token: rotated.value }
  })

  bind(router, authorise, revokeTokenOperation, async ({ params }, caller, context) => {
    await audit(caller, context, 'revoked', await revokeToken(useCase, caller.account.id, params.id))
  })
}

/** The limits that the presented token, or the role of a member, may grant; undefined for the owner, who may grant all. */
function ownLimits({ token: presented, scopes, role }: Principal): GrantingLimits | undefined {
  if (presented) return { ...presented, scopes }
  if (role === undefined || role === 'owner') return undefined
  return { mode: 'live', scopes, domains: [], allowedCidrs: [], expiresAt: undefined, byRole: true }
}

function showToken(doc: TokenDoc): z.input<typeof token> {
  return {
    object: 'token',
    id: doc._id,
    name: doc.name,
    prefix: tokenPrefix(doc.mode, doc._id),
    mode: doc.mode,
    capture: doc.capture === true,
    scopes: doc.scopes,
    domains: doc.domains,
    allowed_cidrs: doc.allowed_cidrs,
    expires_at: doc.expires_at?.toISOString() ?? null,
    revoked_at: doc.revoked_at?.toISOString() ?? null,
    last_used_at: doc.last_used_at?.toISOString() ?? null,
    created_by: doc.created_by?.name ?? null,
    managed_by: showManagedBy(doc.managed_by),
    created_at: doc.created_at.toISOString(),
  }
}
