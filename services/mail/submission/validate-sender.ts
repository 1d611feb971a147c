/** Whether a login may send as an address: syntax, its allowed senders, and a domain of the account that may send. */

import type { ProblemCode } from '../../platform/problems.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import type { Diversion } from '../domains/rules/delivery-mode.ts'
import { domainOf, normaliseEmail } from '../message/address.ts'
import type { Tracking } from '../tracking/rules/track-choice.ts'
import { isAllowedSender } from './rules/validate-message.ts'
import type { Refused, Submission, Submitter } from './submission.ts'

/** Finds a domain of an account by its A-label name; at most 5 s old. */
export type FindSenderDomain = (
  userId: string,
  name: string,
) => Promise<
  | {
      id: string
      maySend: boolean
      isAuthenticated: boolean
      tracking?: Tracking | undefined
      diversion?: Diversion | undefined
    }
  | undefined
>

/** A sender that passed. */
export interface AllowedSender {
  kind: 'allowed'
  /** As it goes out, the domain as an A-label. */
  email: string
  domainId: string
  /** What its domain tracks; absent: nothing. */
  tracking?: Tracking
  /** Where its domain's mail goes instead; absent: to its recipients. */
  diversion?: Diversion
}

/** Validates one address of an envelope or a From field. */
export async function validateSender(
  find: FindSenderDomain,
  submitter: Submitter,
  address: string,
): Promise<AllowedSender | Refused> {
  if (address === '') return refuse('null_sender_refused')
  const email = normaliseEmail(address)
  if (email === undefined) return refuse('sender_not_allowed', sentence('detail.sender_address'))
  const name = domainOf(email)
  if (!isAllowedSender(email, submitter.allowedSenders))
    return refuse('sender_not_allowed', sentence('detail.sender_of_login', { address: email }))
  const domain = await find(submitter.userId, name)
  if (!domain) return refuse('sender_not_allowed', sentence('detail.sender_domain', { domain: name }))
  if (!domain.maySend) return refuse('domain_not_verified', sentence('detail.sender_unverified', { domain: name }))
  return {
    kind: 'allowed',
    email,
    domainId: domain.id,
    ...(domain.tracking && { tracking: domain.tracking }),
    ...(domain.diversion && { diversion: domain.diversion }),
  }
}

/**
 * Validates an envelope sender: an empty one passes where the login may have it; one that the login may not use becomes its
 * fallback sender. An own domain that is not verified stays refused: its owner should hear of it.
 */
export async function validateEnvelopeSender(
  find: FindSenderDomain,
  submitter: Submitter,
  address: string,
): Promise<Pick<AllowedSender, 'kind' | 'email' | 'tracking' | 'diversion'> | Refused> {
  if (address === '' && submitter.allowNullSender) return { kind: 'allowed', email: '' }
  const result = await validateSender(find, submitter, address)
  const { fallbackSender } = submitter
  if (!fallbackSender || !needsFallback(result)) return result
  const fallback = await validateSender(find, submitter, fallbackSender)
  if (fallback.kind === 'allowed') return fallback
  return { ...fallback, detail: sentence('detail.fallback_sender', { reason: fallback.detail }) }
}

/** True for a sender that the account does not own; false for one of an own domain that may not send yet. */
export function needsFallback(result: { kind: 'allowed' } | Refused): boolean {
  return result.kind === 'refused' && result.code === 'sender_not_allowed'
}

/** The refusal of a message that is to be tracked in a way that its domain is not. */
export function findTrackError(
  { email, tracking }: Pick<AllowedSender, 'email' | 'tracking'>,
  track: Submission['track'],
): Refused | undefined {
  const params = { domain: domainOf(email) }
  if (track?.opens && !tracking?.opens) return refuse('tracking_off', sentence('tracking.off_opens', params))
  if (track?.clicks && !tracking?.clicks) return refuse('tracking_off', sentence('tracking.off_clicks', params))
  return undefined
}

/** A refusal, with the title of the problem unless a more exact sentence is given. */
export function refuse(code: ProblemCode, detail: Sentence = { code: `problem.${code}` }): Refused {
  return { kind: 'refused', code, detail }
}
