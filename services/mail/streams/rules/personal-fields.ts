/** Header fields that differ for each recipient, put before the message when it is sent. */
import { unsubscribeFields } from './unsubscribe-fields.ts'

/** What the fields say. */
export interface PersonalParts {
  /** Where the recipient leaves the stream; absent: the message has fields of its own, or needs none. */
  unsubscribe?: { url: string; mailto?: string | undefined } | undefined
  /** Takes complaints about this message (RFC 9477). */
  complaintsTo?: string | undefined
  feedbackId?: string | undefined
}

/** The last part of Feedback-ID, which names the sending service. */
const SENDER_ID = 'postwright'
/** Letters and digits of an account's id that Feedback-ID shows. */
const ACCOUNT_CHARACTERS = 12

/** The lines with their line ends; empty when there is nothing to say. */
export function personalFields({ unsubscribe, complaintsTo, feedbackId }: PersonalParts): string {
  const fields: [name: string, value: string][] = [
    ...(unsubscribe ? unsubscribeFields(unsubscribe) : []),
    ...(complaintsTo === undefined ? [] : ([['CFBL-Address', `${complaintsTo}; report=arf`]] as [string, string][])),
    ...(feedbackId === undefined ? [] : ([['Feedback-ID', feedbackId]] as [string, string][])),
  ]
  return fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

/**
 * Feedback-ID as Gmail reads it: up to three parts by which complaints are counted, then the service. Parts have no
 * colon: neither do names of lists, domains and ids.
 */
export function feedbackId({ list, domain, userId }: { list?: string | undefined; domain: string; userId: string }) {
  const account = userId.slice(userId.indexOf('_') + 1).slice(-ACCOUNT_CHARACTERS)
  return `${list ?? 'bulk'}:${domain}:${account}:${SENDER_ID}`
}
