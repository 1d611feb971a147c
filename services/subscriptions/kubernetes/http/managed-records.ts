/** The Kubernetes resources that own records of this module. */
import type Router from '@koa/router'
import { resourceStateFields } from '../../../platform/managed/http/resource-state-fields.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { may } from '../../people/rules/admin-rights.ts'
import { managedRecords } from '../managed-records.ts'
import { listResourcesOperation } from './resources-contract.ts'

/** Mounts `GET /resource`. */
export function mountResources(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, listResourcesOperation, async (_, { admin, appKey, appKeys }) => {
    const everything = appKey === '' && may(admin, 'super')
    const { records, complete } = await managedRecords(subscriptions, everything ? undefined : appKeys)
    return {
      resources: records.map(({ resource, record: { id, appKey: app_key, name }, state }) => ({
        kind: resource.kind,
        namespace: resource.namespace,
        name: resource.name,
        app_key,
        record_id: String(id),
        record_name: name,
        state: state
          ? { ...resourceStateFields(state), observed_at: String(Math.floor(state.observed_at.getTime() / 1000)) }
          : null,
      })),
      has_more: !complete,
    }
  })
}
