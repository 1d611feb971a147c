/** Which header fields each recipient of a message gets: how to leave the stream, and where complaints go (ADR 99). */
import type { Secrets } from '../../platform/security/secrets.ts'
import { domainOf } from '../message/address.ts'
import { type ClaimedDelivery, recipientIndex } from '../store/delivery.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { type OwnField, streamName } from '../store/rules/stream.ts'
import { feedbackId, personalFields } from './rules/personal-fields.ts'
import { unsubscribeUrl } from './unsubscribe-link.ts'

/** The fields of one recipient, with their line ends. `returnPath`: its envelope sender, where that is an address of ours. */
export type PersonalFields = (delivery: Pick<ClaimedDelivery, 'id' | 'recipient'>, returnPath?: string) => string

/** Undefined: the recipients of the message get the same bytes. */
export type FindPersonalFields = (message: OutgoingMessage) => PersonalFields | undefined

/** Dependencies of {@link createPersonalFields}. */
export interface PersonalFieldsOptions {
  secrets: Pick<Secrets, 'seal'>
  /** APP_BASE_URL, without a slash at its end. */
  baseUrl: string
}

/**
 * Bulk mail has fields for each recipient. Transactional mail with one recipient gets an address for complaints only: a
 * signature for each of several recipients would cost more than such an address is worth.
 */
export function createPersonalFields({ secrets, baseUrl }: PersonalFieldsOptions): FindPersonalFields {
  return message => {
    const { lane, list, user_id: userId, rcpts } = message
    if (lane === 'system' || (lane !== 'bulk' && rcpts.length > 1)) return undefined
    const domain = domainOf(message.from).toLowerCase()
    const addressesOf = (returnPath: string | undefined) =>
      returnPath !== undefined && isAligned(returnPath, domain)
        ? { complaintsTo: `feedback+${returnPath}`, mailto: `unsubscribe+${returnPath}` }
        : {}
    if (lane !== 'bulk')
      return (_, returnPath) => personalFields({ complaintsTo: addressesOf(returnPath).complaintsTo })
    const subscriber = { userId, stream: streamName(message), domain }
    const isOwn = (field: OwnField) => message.own_fields?.includes(field) === true
    const urlOf = ({ id, recipient }: Pick<ClaimedDelivery, 'id' | 'recipient'>) =>
      unsubscribeUrl(secrets, baseUrl, {
        ...subscriber,
        deliveryId: id,
        email: rcpts[recipientIndex(id)]?.email ?? recipient,
      })
    return (delivery, returnPath) => {
      const { complaintsTo, mailto } = addressesOf(returnPath)
      return personalFields({
        unsubscribe: isOwn('unsubscribe') ? undefined : { url: urlOf(delivery), mailto },
        complaintsTo,
        feedbackId: isOwn('feedback_id') ? undefined : feedbackId({ list, domain, userId }),
      })
    }
  }
}

/** RFC 9477 section 3.1.1: the address lies in the domain of the author, which signs, or below it. */
function isAligned(address: string, domain: string): boolean {
  const host = domainOf(address)
  return host === domain || host.endsWith(`.${domain}`)
}
