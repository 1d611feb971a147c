/** The Kubernetes resources that own records of this half. */
import type Router from '@koa/router'
import { listResourcesOperation } from '../../http/admin-contract.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { may } from '../../people/rules/admin-rights.ts'
import { managedRecords } from '../managed-records.ts'

/** Puts the operation on the router. */
export function mountResources(router: Router, deps: HttpDeps): void {
  const { s } = deps
  bindAdmin(router, deps, listResourcesOperation, async (_, { admin, appKey, appKeys }) => {
    const everything = appKey === '' && may(admin, 'super')
    const { records, complete } = await managedRecords(s, everything ? undefined : appKeys)
    return {
      resources: records.map(({ resource, record: { id, appKey: app_key, name }, state }) => ({
        kind: resource.kind,
        namespace: resource.namespace,
        name: resource.name,
        app_key,
        record_id: String(id),
        record_name: name,
        state: state ? { ...state, observed_at: String(Math.floor(state.observed_at.getTime() / 1000)) } : null,
      })),
      has_more: !complete,
    }
  })
}
