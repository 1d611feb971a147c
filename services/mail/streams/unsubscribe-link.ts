/**
 * Links by which recipients leave a stream. A link says everything itself, so that it works as long as the mail is kept,
 * also after its message has left the log. It is encrypted: the address of the recipient is in no access log.
 */
import { SecretError, type Secrets } from '../../platform/security/secrets.ts'

/** Path of the links below the address of the app. */
export const UNSUBSCRIBE_PATH = '/u'

const PLACE = 'mail'

/** Who leaves which stream of whom. */
export interface Subscriber {
  userId: string
  /** `<message>.<n>` of the mail with the link. */
  deliveryId: string
  /** Name of the stream, as {@link streamName} makes it. */
  stream: string
  /** Domain of the sender, shown to the recipient. */
  domain: string
  email: string
}

/** The link below `base`, which has no slash at its end. */
export function unsubscribeUrl(secrets: Pick<Secrets, 'seal'>, base: string, of: Subscriber): string {
  // The address comes last: a local part in quotes may have spaces.
  const plain = [of.userId, of.deliveryId, of.stream, of.domain, of.email].join(' ')
  return `${base}${UNSUBSCRIBE_PATH}/${secrets.seal('unsubscribe', PLACE, plain)}`
}

/** What a link says; undefined for one that this installation did not make. */
export function readUnsubscribeToken(secrets: Pick<Secrets, 'open'>, token: string): Subscriber | undefined {
  try {
    const [userId = '', deliveryId = '', stream = '', domain = '', ...email] = secrets
      .open('unsubscribe', PLACE, token)
      .split(' ')
    return { userId, deliveryId, stream, domain, email: email.join(' ') }
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}
