/** Whether a login may send as an address: syntax, its allowed senders, and a domain of the account that may send. */
import { type ProblemCode, problems } from '../../platform/problems.ts'
import { domainOf, normaliseEmail } from '../message/address.ts'
import { isAllowedSender } from './rules/validate-message.ts'
import type { Refused, Submitter } from './submission.ts'

/** Finds a domain of an account by its A-label name; at most 5 s behind the database. */
export type FindSenderDomain = (userId: string, name: string) => Promise<{ id: string; maySend: boolean } | undefined>

/** A sender that passed. */
export interface AllowedSender {
  kind: 'allowed'
  /** As it goes out, the domain as an A-label. */
  email: string
  domainId: string
}

/** Validates one address of an envelope or a From field. */
export async function validateSender(
  find: FindSenderDomain,
  submitter: Submitter,
  address: string,
): Promise<AllowedSender | Refused> {
  if (address === '') return refuse('null_sender_refused')
  const email = normaliseEmail(address)
  if (email === undefined) return refuse('sender_not_allowed', 'The sender address is not valid.')
  const name = domainOf(email)
  if (!isAllowedSender(email, submitter.allowedSenders))
    return refuse('sender_not_allowed', `This login may not send as ${email}.`)
  const domain = await find(submitter.userId, name)
  if (!domain) return refuse('sender_not_allowed', `${name} is not a domain of this account.`)
  if (!domain.maySend) return refuse('domain_not_verified', `${name} may not send yet; it is not verified.`)
  return { kind: 'allowed', email, domainId: domain.id }
}

/**
 * Validates an envelope sender: an empty one passes where the login may have it; one that the login may not use becomes its
 * fallback sender. An own domain that is not verified stays refused: its owner should hear of it.
 */
export async function validateEnvelopeSender(
  find: FindSenderDomain,
  submitter: Submitter,
  address: string,
): Promise<{ kind: 'allowed'; email: string } | Refused> {
  if (address === '' && submitter.allowNullSender) return { kind: 'allowed', email: '' }
  const result = await validateSender(find, submitter, address)
  const { fallbackSender } = submitter
  if (!fallbackSender || !needsFallback(result)) return result
  const fallback = await validateSender(find, submitter, fallbackSender)
  if (fallback.kind === 'allowed') return fallback
  return { ...fallback, detail: `The fallback sender of this login cannot be used. ${fallback.detail}` }
}

/** True for a sender that the account does not own; false for one of an own domain that may not send yet. */
export function needsFallback(result: { kind: 'allowed' } | Refused): boolean {
  return result.kind === 'refused' && result.code === 'sender_not_allowed'
}

/** A refusal with the register's sentence unless a better one is given. */
export function refuse(code: ProblemCode, detail: string = problems[code].title): Refused {
  return { kind: 'refused', code, detail }
}
