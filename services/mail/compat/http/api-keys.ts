/** `/api-keys`. */
import {
  createTokenOperation,
  getTokenOperation,
  listTokensOperation,
  revokeTokenOperation,
} from '../../credentials/http/tokens-contract.ts'
import { getDomainOperation } from '../../domains/http/domains-contract.ts'
import { refuseRename, scopesOfPermission, toListedKeys } from '../rules/api-key.ts'
import { defined, given } from '../rules/loose-input.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage } from './pages.ts'

/** Adds the addresses. */
export function addApiKeyRoutes(deps: ForeignDeps): void {
  addForeignRoutes(deps, [
    {
      ...{ method: 'POST', path: '/api-keys', operation: createTokenOperation, status: 201 },
      async handle(request) {
        const { name, permission, domain_id } = given(request.body, ['name', 'permission', 'domain_id'])
        const { principal, own } = request
        const scopes = scopesOfPermission(permission, principal.scopes)
        const domains = domain_id === undefined ? undefined : [await nameOfDomain(request, domain_id)]
        const mode = principal.token?.mode
        const { id, token } = await own(createTokenOperation, { body: defined({ name, scopes, domains, mode }) })
        return { id, token }
      },
    },
    {
      ...{ method: 'GET', path: '/api-keys', operation: listTokensOperation },
      handle: request => listPage(request, query => keysOf(request, query)),
    },
    {
      ...{ method: 'PATCH', path: '/api-keys/:id', operation: getTokenOperation },
      async handle({ params, own }) {
        await own(getTokenOperation, { params: { id: params.id } })
        return refuseRename()
      },
    },
    {
      ...{ method: 'DELETE', path: '/api-keys/:id', operation: revokeTokenOperation },
      async handle({ params, own }) {
        await own(revokeTokenOperation, { params: { id: params.id } })
        return { object: 'api_key', id: params.id, deleted: true }
      },
    },
  ])
}

/** A page of keys that work. Pages with revoked ones only are passed over: an empty page would seem to be the last one. */
async function keysOf({ own }: ForeignRequest, query: { limit?: unknown; after?: unknown }) {
  for (let after = query.after; ; ) {
    const { data, has_more } = await own(listTokensOperation, { query: defined({ ...query, after }) })
    const keys = toListedKeys(data)
    const next = data.at(-1)?.id
    if (keys.length > 0 || !has_more || next === undefined) return { data: keys, has_more, next }
    after = next
  }
}

async function nameOfDomain({ own }: ForeignRequest, id: unknown): Promise<string> {
  return (await own(getDomainOperation, { params: { id } })).name
}
