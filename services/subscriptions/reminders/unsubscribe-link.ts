/** Users end the reminders of an app by a link in them, without logging in: what is in the link, and what it does. */
import { SecretError } from '../../platform/security/secrets.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { changeUser } from '../people/store/end-users.ts'

/** The path of the links below ADMIN_BASE_URL. */
export const UNSUBSCRIBE_PATH = '/unsubscribe'

const PLACE = 'reminders'
/** The log does not say from where: that would be the address of a person, or of a mail service. */
const actor: Actor = { kind: 'system', id: '', name: 'unsubscribe', requestId: '', ip: '' }

/** A user of an app. */
export interface Recipient {
  appKey: string
  id: number
}

/** The link of a user; undefined where the service does not know its own address. Nobody can make one for another user. */
export function unsubscribeUrl(s: Subscriptions, { appKey, id }: Recipient): string | undefined {
  const base = s.config.ADMIN_BASE_URL
  if (base === undefined) return undefined
  return `${base}${UNSUBSCRIBE_PATH}/${s.secrets.seal('unsubscribe', PLACE, `${id} ${appKey}`)}`
}

/** Whose link it is; undefined for one that we did not make. */
export function recipientOf(s: Subscriptions, token: string): Recipient | undefined {
  try {
    const [id, appKey = ''] = s.secrets.open('unsubscribe', PLACE, token).split(' ')
    return { appKey, id: Number(id) }
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

/** Ends the reminders of a user. Again, or for a user who is gone: nothing happens. */
export async function stopReminders(s: Subscriptions, { appKey, id }: Recipient): Promise<void> {
  await record(s, actor, async session => {
    const match = { _id: id, app_key: appKey, no_reminders: { $exists: false }, erased_at: { $exists: false } }
    const change = { no_reminders: true, updated_at: s.clock.now() } as const
    const before = await changeUser(s.c, match, { $set: change }, session)
    if (!before) return { result: undefined }
    const target = { kind: 'user', id: String(id) }
    return {
      result: undefined,
      deed: { action: 'user.update', appKey, target, before, after: { ...before, ...change } },
    }
  })
}
