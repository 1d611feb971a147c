/** Payment channels of apps. */
import type Router from '@koa/router'
import { requireApp } from '../../catalogue/manage-apps.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { saveChannelSettings, viewChannel } from '../channel-settings.ts'
import { listChannels } from '../store/channels.ts'
import { listChannelsOperation, putChannel } from './channels-contract.ts'

/** Mounts the operations on payment channels. */
export function mountChannels(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, listChannelsOperation, async ({ params }) => {
    const { app_key } = await requireApp(subscriptions, params.id)
    const channels = await listChannels(subscriptions.collections, app_key)
    return {
      channels: channels.map(channel => viewChannel(subscriptions, channel)),
      notify_base_url: subscriptions.config.ADMIN_BASE_URL ?? '',
    }
  })
  bindAdmin(router, deps, putChannel, async ({ params, body }, { actor }) => {
    const { app_key } = await requireApp(subscriptions, params.id)
    const target = { appKey: app_key, channel: params.channel }
    return viewChannel(subscriptions, await saveChannelSettings(subscriptions, actor, target, body))
  })
}
