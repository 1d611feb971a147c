/** Evaluates a sending address: its reverse DNS name and its blocklist entries. */
import { verbatim } from '../../../platform/sentences/compose.ts'
import type { Sentence } from '../../../platform/sentences/sentence.ts'
import { reverseName } from '../../dns/records/guidance.ts'
import type { Answer } from '../../dns/records/lookup.ts'

/** The reverse name of an address. */
export interface PtrVerdict {
  /** `missing`: none. `other_name`: not the one in the greeting of the server. `not_confirmed`: it does not point back. */
  status: 'ok' | 'missing' | 'other_name' | 'not_confirmed' | 'unknown'
  names: string[]
}

/** The answer of one blocklist. */
export interface ListVerdict {
  zone: string
  /** `refused`: the list does not answer this resolver, so nothing is known. */
  status: 'clear' | 'listed' | 'refused' | 'unknown'
  /** The addresses that the list answered, which stand for its reasons. */
  codes: string[]
  /** The text of the list for people, often with an address for removal. */
  reason: Sentence | string | null
}

/** How bad it is, over all. */
export type Standing = 'ok' | 'warning' | 'failing'

/** The name to ask a blocklist for an address (RFC 5782). */
export function listName(ip: string, zone: string): string {
  return `${reverseName(ip).replace(/\.(in-addr|ip6)\.arpa$/, '')}.${zone}`
}

/** The PTR records of an address, and where each of their names points (by name). */
export function evaluatePtr(
  ip: string,
  hostname: string,
  ptr: Answer,
  forward: ReadonlyMap<string, Answer>,
): PtrVerdict {
  if (ptr.kind === 'temporary') return { status: 'unknown', names: [] }
  if (ptr.kind === 'missing') return { status: 'missing', names: [] }
  const names = ptr.values
  if (!names.includes(hostname.toLowerCase())) return { status: 'other_name', names }
  const back = forward.get(hostname.toLowerCase())
  if (!back || back.kind === 'temporary') return { status: 'unknown', names }
  const confirmed = back.kind === 'found' && back.values.includes(ip)
  return { status: confirmed ? 'ok' : 'not_confirmed', names }
}

/**
 * An answer of a blocklist: 127.0.0.0/16 lists the address, 127.255.255.0/24 is the list's way to refuse a resolver
 * (public or too busy), and anything else comes from a zone that no longer is a list.
 */
export function evaluateListing(zone: string, answer: Answer, texts: Answer | undefined): ListVerdict {
  if (answer.kind === 'missing') return { zone, status: 'clear', codes: [], reason: null }
  if (answer.kind === 'temporary') return { zone, status: 'unknown', codes: [], reason: answer.reason }
  const codes = answer.values
  const reason = texts?.kind === 'found' ? verbatim(texts.values.join(' ')) : null
  if (codes.some(code => code.startsWith('127.255.255.'))) return { zone, status: 'refused', codes, reason }
  return { zone, status: codes.some(code => code.startsWith('127.0.')) ? 'listed' : 'unknown', codes, reason }
}

/** The worst of it: a listing or a missing name makes receivers refuse mail; what is not known is not bad. */
export function standingOf(ptr: PtrVerdict, lists: readonly ListVerdict[]): Standing {
  if (ptr.status === 'missing' || lists.some(({ status }) => status === 'listed')) return 'failing'
  return ptr.status === 'ok' || ptr.status === 'unknown' ? 'ok' : 'warning'
}
