/** Where the mail of a domain goes (ADR 106). */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { needsSmtpUtf8, normaliseEmail } from '../../message/address.ts'

/** `live`: to its recipients. `capture`: into the inbox of the domain. `redirect`: to one address in place of its recipients. */
export const DELIVERY_MODES = ['live', 'redirect', 'capture'] as const

/** One of {@link DELIVERY_MODES}. */
export type DeliveryMode = (typeof DELIVERY_MODES)[number]

/** What a domain does with mail that it does not send to its recipients. */
export type Diversion = { mode: 'capture' } | { mode: 'redirect'; to: string }

/** The fields of a stored domain that say it; without `delivery` the domain is live. */
export interface StoredDelivery {
  delivery?: 'capture' | 'redirect' | undefined
  redirect_to?: string | undefined
}

/** Undefined: the domain is live. A redirect without its address, which no process writes, captures. */
export function diversionOf({ delivery, redirect_to: to }: StoredDelivery): Diversion | undefined {
  if (delivery === undefined) return undefined
  return delivery === 'redirect' && to !== undefined ? { mode: 'redirect', to } : { mode: 'capture' }
}

/** The strictest: a message in the name of several domains goes out only as all of them allow. */
export function strictest(diversions: readonly (Diversion | undefined)[]): Diversion | undefined {
  return diversions.find(one => one?.mode === 'capture') ?? diversions.find(one => one !== undefined)
}

/** A change of these settings; a missing one stays. */
export interface WantedDelivery {
  delivery?: DeliveryMode | undefined
  /** Null: none. */
  redirect_to?: string | null | undefined
}

/** The fields to store and to remove, or why the wish is none. */
export type DeliveryChange =
  | {
      kind: 'change'
      set: { delivery?: 'capture' | 'redirect'; redirect_to?: string }
      remove: (keyof StoredDelivery)[]
    }
  | { kind: 'wrong'; reason: Sentence }

/** A redirect needs an address, a new or the stored one; the other modes have none. */
export function changeDelivery(stored: StoredDelivery, { delivery, redirect_to }: WantedDelivery): DeliveryChange {
  const mode = delivery ?? stored.delivery ?? 'live'
  if (mode !== 'redirect') {
    if (typeof redirect_to === 'string') return { kind: 'wrong', reason: sentence('field.redirect_unused') }
    if (mode === 'live') return { kind: 'change', set: {}, remove: ['delivery', 'redirect_to'] }
    return { kind: 'change', set: { delivery: mode }, remove: ['redirect_to'] }
  }
  const typed = redirect_to === undefined ? stored.redirect_to : redirect_to
  if (typeof typed !== 'string') return { kind: 'wrong', reason: sentence('field.redirect_needed') }
  const address = normaliseEmail(typed)
  // The message may have been submitted without SMTPUTF8, and must go out all the same.
  if (address === undefined || needsSmtpUtf8(address))
    return { kind: 'wrong', reason: sentence('field.redirect_address') }
  return { kind: 'change', set: { delivery: mode, redirect_to: address }, remove: [] }
}
