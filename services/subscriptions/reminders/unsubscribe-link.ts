/** Unsubscribing from the reminders of an app by a link in them, without login: the token and its effect. */
import { SecretError } from '../../platform/security/secrets.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changeUser } from '../people/store/end-users.ts'

/** The path of the links below ADMIN_BASE_URL. */
export const UNSUBSCRIBE_PATH = '/unsubscribe'

const PLACE = 'reminders'
/** The log has no address: it would be that of a person, or of a mail service. */
const actor: Actor = { kind: 'system', id: '', name: 'unsubscribe', requestId: '', ip: '' }

/** A user of an app. */
export interface Recipient {
  appKey: string
  id: number
}

/** The link of a user; undefined without ADMIN_BASE_URL. Signed, so that no other user's link can be forged. */
export function unsubscribeUrl(context: Subscriptions, { appKey, id }: Recipient): string | undefined {
  const base = context.config.ADMIN_BASE_URL
  if (base === undefined) return undefined
  return `${base}${UNSUBSCRIBE_PATH}/${context.secrets.seal('unsubscribe', PLACE, `${id} ${appKey}`)}`
}

/** The user of a link; undefined for a token with an invalid signature. */
export function recipientOf(context: Subscriptions, token: string): Recipient | undefined {
  try {
    const [id, appKey = ''] = context.secrets.open('unsubscribe', PLACE, token).split(' ')
    return { appKey, id: Number(id) }
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

/** Ends the reminders of a user. Does nothing when repeated or when the user does not exist. */
export async function stopReminders(context: Subscriptions, { appKey, id }: Recipient): Promise<void> {
  await record(context, actor, async session => {
    const match = { _id: id, app_key: appKey, no_reminders: { $exists: false }, erased_at: { $exists: false } }
    const change = { no_reminders: true, updated_at: context.clock.now() } as const
    const before = await changeUser(context.collections, match, { $set: change }, session)
    if (!before) return { result: undefined }
    const target = { kind: 'user', id: String(id) }
    return {
      result: undefined,
      event: { action: 'user.update', appKey, target, before, after: { ...before, ...change } },
    }
  })
}
