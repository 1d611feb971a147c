/** Apps and their credentials. */
import type Router from '@koa/router'
import { assertInScope, bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { scopeOf } from '../../people/rules/admin-rights.ts'
import { pagination } from '../../rules/paging.ts'
import { viewApp } from '../../rules/record-views.ts'
import type { Zone } from '../../rules/time-zone.ts'
import type { AdminDoc, AppDoc, CredentialDoc } from '../../store/models.ts'
import { addCredential, revokeCredential } from '../app-credentials.ts'
import { createApp, deleteApp, requireApp, updateApp } from '../manage-apps.ts'
import { listApps, listCredentials } from '../store/apps.ts'
import {
  createAppOperation,
  createCredential,
  deleteAppOperation,
  getApp,
  listAppsOperation,
  listCredentialsOperation,
  revokeCredentialOperation,
  updateAppOperation,
} from './apps-contract.ts'

interface ListQuery {
  search?: string | undefined
  status?: AppDoc['status'] | undefined
  page?: number | undefined
  pageSize?: number | undefined
  page_size?: number | undefined
}

/** Mounts the operations on apps. */
export function mountApps(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const list = async (query: ListQuery, admin: AdminDoc) => {
    const page = requestedPage(query)
    const { search, status } = query
    const found = await listApps(subscriptions.collections, { search, status, appKeys: scopeOf(admin) }, page)
    return {
      apps: found.items.map(app => viewApp(app, subscriptions.zone)),
      pagination: pagination(page, found),
      filters: { search: search ?? '', status: status ?? '' },
    }
  }
  bindAdmin(router, deps, listAppsOperation, async ({ query }, { admin }) => list(query, admin))
  bindAdmin(router, deps, getApp, async ({ params }, { admin }) => {
    const app = await requireApp(subscriptions, params.id)
    assertInScope(admin, app.app_key)
    return viewApp(app, subscriptions.zone)
  })
  bindAdmin(router, deps, createAppOperation, async ({ body }, { actor }) => {
    const { app_key, ...spec } = body
    const { app, publishable, secret } = await createApp(subscriptions, actor, spec, { appKey: app_key })
    return { ...viewApp(app, subscriptions.zone), publishable_key: publishable.shown, app_secret: secret.shown }
  })
  bindAdmin(router, deps, updateAppOperation, async ({ params, body }, { actor }) =>
    viewApp(await updateApp(subscriptions, actor, params.id, body, deps.maySendFrom), subscriptions.zone),
  )
  bindAdmin(router, deps, deleteAppOperation, async ({ params, query }, { actor, admin }) => {
    await deleteApp(subscriptions, actor, params.id, { force: query.force === '1' })
    return list(query, admin)
  })
}

/** Mounts the operations on credentials of apps. */
export function mountCredentials(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const credentials = async (appKey: string) => ({
    credentials: (await listCredentials(subscriptions.collections, appKey)).map(known =>
      viewCredential(known, subscriptions.zone),
    ),
  })
  bindAdmin(router, deps, listCredentialsOperation, async ({ params }) =>
    credentials((await requireApp(subscriptions, params.id)).app_key),
  )
  bindAdmin(router, deps, createCredential, async ({ params, body }, { actor }) => {
    const { app_key } = await requireApp(subscriptions, params.id)
    const made = await addCredential(subscriptions, actor, app_key, body.kind)
    return { ...viewCredential(made.document, subscriptions.zone), secret: made.shown }
  })
  bindAdmin(router, deps, revokeCredentialOperation, async ({ params }, { actor }) => {
    const { app_key } = await requireApp(subscriptions, params.id)
    await revokeCredential(subscriptions, actor, app_key, params.credential)
    return credentials(app_key)
  })
}

function viewCredential(credential: CredentialDoc, zone: Zone) {
  return {
    id: credential._id,
    kind: credential.kind,
    key: credential.key ?? '',
    status: credential.revoked_at ? ('0' as const) : ('1' as const),
    created_at: zone.format(credential.created_at),
  }
}
