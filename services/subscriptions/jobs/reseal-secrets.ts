/**
 * Sealed values of the subscription module: HMAC secrets of apps, secret settings of payment channels, secrets of
 * webhooks.
 */
import { reseal } from '../../platform/security/reseal.ts'
import { placeOf } from '../catalogue/app-credentials.ts'
import type { Subscriptions } from '../context.ts'
import { webhookPlace } from '../webhooks/manage-webhooks.ts'

/** Seals all values with the current secret; resolves to how many were sealed with an older one. */
export async function resealSubscriptions({
  collections,
  secrets,
}: Pick<Subscriptions, 'collections' | 'secrets'>): Promise<number> {
  const apps = await reseal(collections.credentials, secrets, ({ _id, ...kept }) =>
    (['sealed', 'undelivered'] as const).flatMap(path => {
      const sealed = kept[path]
      return sealed ? [{ path, sealed, purpose: 'app-secret' as const, place: placeOf(_id) }] : []
    }),
  )
  const channels = await reseal(collections.channels, secrets, ({ _id, sealed }) =>
    sealed ? [{ path: 'sealed', sealed, purpose: 'app-secret', place: _id }] : [],
  )
  const webhooks = await reseal(collections.webhooks, secrets, ({ _id, sealed, previous }) => {
    const known = { purpose: 'app-secret' as const, place: webhookPlace(_id) }
    const current = { ...known, path: 'sealed', sealed }
    return previous ? [current, { ...known, path: 'previous.sealed', sealed: previous.sealed }] : [current]
  })
  return apps + channels + webhooks
}
