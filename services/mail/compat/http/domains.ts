/** `/domains`. */
import { verifyDomainOperation } from '../../domains/http/dns-contract.ts'
import {
  createDomainOperation,
  deleteDomainOperation,
  getDomainOperation,
  listDomainsOperation,
  patchDomainOperation,
} from '../../domains/http/domains-contract.ts'
import { refuseSettings, toListedDomain, toShownDomain, trackingOf } from '../rules/domain.ts'
import { defined, given } from '../rules/loose-input.ts'
import { addForeignRoutes, type ForeignDeps, type ForeignRequest } from './foreign-routes.ts'
import { listPage, pageOf } from './pages.ts'

/** Adds the addresses. */
export function addDomainRoutes(deps: ForeignDeps): void {
  const params = (request: ForeignRequest) => ({ id: request.params.id })
  addForeignRoutes(deps, [
    {
      ...{ method: 'POST', path: '/domains', operation: createDomainOperation, status: 201 },
      async handle({ body, own }) {
        refuseSettings(body)
        const made = await own(createDomainOperation, { body: given(body, ['name']) })
        const tracking = trackingOf(body)
        if (!tracking) return toShownDomain(made)
        return toShownDomain(await own(patchDomainOperation, { params: { id: made.id }, body: { tracking } }))
      },
    },
    {
      ...{ method: 'GET', path: '/domains', operation: listDomainsOperation },
      handle: request =>
        listPage(request, async page =>
          pageOf(await request.own(listDomainsOperation, { query: page }), toListedDomain),
        ),
    },
    {
      ...{ method: 'GET', path: '/domains/:id', operation: getDomainOperation },
      handle: async request => toShownDomain(await request.own(getDomainOperation, { params: params(request) })),
    },
    {
      ...{ method: 'PATCH', path: '/domains/:id', operation: patchDomainOperation },
      async handle(request) {
        refuseSettings(request.body)
        const { id } = await request.own(patchDomainOperation, {
          params: params(request),
          body: defined({ tracking: trackingOf(request.body) }),
        })
        return { object: 'domain', id }
      },
    },
    {
      ...{ method: 'DELETE', path: '/domains/:id', operation: deleteDomainOperation },
      async handle(request) {
        await request.own(deleteDomainOperation, { params: params(request) })
        return { object: 'domain', id: request.params.id, deleted: true }
      },
    },
    {
      ...{ method: 'POST', path: '/domains/:id/verify', operation: verifyDomainOperation },
      async handle(request) {
        await request.own(verifyDomainOperation, { params: params(request) })
        return { object: 'domain', id: request.params.id }
      },
    },
  ])
}
