/** Filters of the message log: as conditions of a query, as bounds of ids, and as terms of the search index. */

import { normaliseDomain } from '../../domains/rules/domain-name.ts'
import { normaliseEmail } from '../../message/address.ts'
import type { RecipientStatus } from '../../store/documents.ts'
import { firstIdAt } from '../../store/messages.ts'
import {
  chunksOf,
  chunkText,
  escapePattern,
  exactTerm,
  hashTerm,
  queryTerms,
  recipientPattern,
  recipientTerm,
  tagTerm,
  templateTerm,
} from '../rules/search-terms.ts'

/** What a list is narrowed to. */
export interface LogFilters {
  /** Words, addresses or ids, all of which a message must contain; or the beginning of the id of one. */
  q?: string | undefined
  status?: RecipientStatus | undefined
  from?: string | undefined
  /** A complete address, or the beginning of one, of its domain or of a word in it. */
  to?: string | undefined
  domain?: string | undefined
  /** A tag's name, or `name:value`. */
  tag?: string | undefined
  message_id?: string | undefined
  /** Id of the template that a message was made from. */
  template?: string | undefined
  source?: 'api' | 'smtp' | 'system' | undefined
  since?: Date | undefined
  until?: Date | undefined
  /** Sender domains that the caller is limited to; empty = none. */
  domains?: readonly string[] | undefined
}

/** Bounds of message ids: `from` and `last` are inclusive, `above` and `below` exclusive. */
export interface IdBounds {
  from?: string | undefined
  above?: string | undefined
  below?: string | undefined
  last?: string | undefined
}

/** The channel of each source. */
const CHANNELS = { api: 'http', smtp: 'smtp', system: 'system' } as const
/** The text of a search field that is an id of a message or the beginning of one, or the id of a recipient's delivery. */
const ID = /^\s*(em_[0-9a-hjkmnp-tv-z]{2,26})(?:\.\d+)?\s*$/i
/** Greater than every character of an id. */
const AFTER_IDS = '~'

/** Ids start with their time, so that a period is a range of ids; so is a searched id. */
export function idBounds({ q, since, until }: LogFilters, after: string | undefined): IdBounds {
  const id = idIn(q)
  const from = [...(since ? [firstIdAt(since)] : []), ...(id ? [id] : [])].toSorted().at(-1)
  const below = [...(until ? [firstIdAt(until)] : []), ...(after ? [after] : []), ...(id ? [id + AFTER_IDS] : [])]
  return { from, below: below.toSorted()[0] }
}

/** The bounds as a condition on `_id`. */
export function toRange({ from, above, below, last }: IdBounds): { _id?: Record<string, string> } {
  const range = {
    ...(from && { $gte: from }),
    ...(above && { $gt: above }),
    ...(below && { $lt: below }),
    ...(last && { $lte: last }),
  }
  return Object.keys(range).length > 0 ? { _id: range } : {}
}

/** Every value is a string compared with $eq, or an escaped expression: callers cannot bring operators. */
export function toMatch(filters: LogFilters): Record<string, unknown> {
  const { q, status, from, to, message_id: messageId, template, source } = filters
  const match: Record<string, unknown> = {}
  if (status) match['rcpts.status'] = { $eq: status }
  if (from) match.from = { $regex: `^${escapePattern(normaliseEmail(from) ?? from)}$`, $options: 'i' }
  if (to) match['rcpts.email'] = recipientMatch(to.trim())
  if (messageId) match.message_id = { $eq: messageId.startsWith('<') ? messageId : `<${messageId}>` }
  if (template) match['template.id'] = { $eq: template }
  if (source) match['via.channel'] = { $eq: CHANNELS[source] }
  const and = [
    ...domainConditions(filters),
    ...(q && !idIn(q) ? chunksOf(q).map(chunk => contains(chunkText(chunk))) : []),
  ]
  return and.length > 0 ? { ...match, $and: and } : match
}

function domainConditions({ domain, domains = [], tag }: LogFilters): object[] {
  const and: object[] = []
  if (domain) and.push({ from: { $regex: `@${escapePattern(storedName(domain))}$`, $options: 'i' } })
  if (domains.length > 0) and.push({ from: { $in: domains.map(name => new RegExp(`@${RegExp.escape(name)}$`)) } })
  if (tag) and.push({ tags: { $elemMatch: toTag(tag) } })
  return and
}

/** The numbers of the terms that every match has; empty when the filters name none. */
export function filterTerms(userId: string, filters: LogFilters): number[] {
  const { q, from, to, domain, tag, message_id: id, template } = filters
  const terms = q && !idIn(q) ? queryTerms(q) : new Set<string>()
  if (from) terms.add(exactTerm(from))
  if (to) terms.add(termOfRecipient(to.trim()) ?? '')
  if (domain) terms.add(exactTerm(storedName(domain)))
  if (tag) terms.add(tagTerm(tag))
  if (id) terms.add(exactTerm(id))
  if (template) terms.add(templateTerm(template))
  return [...terms].filter(term => term !== '').map(term => hashTerm(userId, term))
}

function idIn(q: string | undefined): string | undefined {
  return ID.exec(q ?? '')?.[1]?.toLowerCase()
}

/** A complete address is compared as a whole. */
function recipientMatch(to: string): object {
  const address = normaliseEmail(to)
  if (address !== undefined) return { $eq: address }
  return { $regex: recipientPattern(to), $options: 'i' }
}

function termOfRecipient(to: string): string | undefined {
  return normaliseEmail(to) === undefined ? recipientTerm(to) : exactTerm(to)
}

function contains(text: string): object {
  const part = { $regex: escapePattern(text), $options: 'i' }
  return { $or: [{ subject: part }, { from: part }, { 'rcpts.email': part }, { message_id: part }] }
}

/** A domain as messages hold it, whichever way it was typed. */
function storedName(typed: string): string {
  const read = normaliseDomain(typed)
  return read.ok ? read.name : typed
}

function toTag(tag: string): { name: { $eq: string }; value?: { $eq: string } } {
  const [name = '', value] = tag.split(':', 2)
  return { name: { $eq: name }, ...(value !== undefined && { value: { $eq: value } }) }
}
