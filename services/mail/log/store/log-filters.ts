/** Filters of the message log: as conditions of a query, as bounds of ids, and as terms of the search index. */

import { FAILURE_KINDS, type FailureKind } from '../../delivery/rules/failure-kinds.ts'
import { normaliseDomain } from '../../domains/rules/domain-name.ts'
import { normaliseEmail } from '../../message/address.ts'
import type { RecipientStatus } from '../../store/documents.ts'
import { firstIdAt, INDEXED_STATUSES } from '../../store/messages.ts'
import { SIMULATOR_DOMAIN } from '../../store/rules/simulation.ts'
import { FAILED_STATUSES } from '../rules/failure-reason.ts'
import {
  chunksOf,
  chunkText,
  escapePattern,
  exactTerm,
  hashTerm,
  queryTerms,
  recipientPattern,
  recipientTerm,
  submitterTerm,
  tagTerm,
  templateTerm,
} from '../rules/search-terms.ts'

/** What a list is narrowed to. */
export interface LogFilters {
  /** Words, addresses or ids, all of which a message must contain; or the beginning of the id of one. */
  q?: string | undefined
  /** Of a recipient; one of several. */
  status?: RecipientStatus | readonly RecipientStatus[] | undefined
  /** Why a recipient bounced, failed or waits: a class of failures. */
  reason?: FailureKind | undefined
  from?: string | undefined
  /** A complete address, or the beginning of one, of its domain or of a word in it. */
  to?: string | undefined
  /** The exact domain of a recipient. */
  recipient_domain?: string | undefined
  /** Test messages and recipients of the simulator: only them, or without them. */
  simulated?: 'true' | 'false' | undefined
  domain?: string | undefined
  /** A tag's name, or `name:value`. */
  tag?: string | undefined
  message_id?: string | undefined
  /** Id of the template that a message was made from. */
  template?: string | undefined
  source?: 'api' | 'smtp' | 'system' | undefined
  /** Id of the token or SMTP login that submitted it. */
  submitted_with?: string | undefined
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
const ID = /^\s*(em_[0-9a-hjkmnp-z]{2,26})(?:\.\d+)?\s*$/i
/** Addresses of the simulator. */
const SIMULATOR = new RegExp(`@${RegExp.escape(SIMULATOR_DOMAIN)}$`)
/** Greater than every character of an id. */
const AFTER_IDS = '~'

/** Ids start with their time, so that a period is a range of ids; so is a searched id. */
export function idBounds(
  { q, since, until }: LogFilters,
  after: string | undefined,
  order: 'asc' | 'desc' = 'desc',
): IdBounds {
  const id = idIn(q)
  const from = [...(since ? [firstIdAt(since)] : []), ...(id ? [id] : [])].toSorted().at(-1)
  const forward = order === 'asc'
  const before = after && !forward ? [after] : []
  const below = [...(until ? [firstIdAt(until)] : []), ...before, ...(id ? [id + AFTER_IDS] : [])]
  return { from, below: below.toSorted()[0], ...(after && forward && { above: after }) }
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
  const { q, from, to, message_id: messageId, template, source, submitted_with: submitter } = filters
  const match: Record<string, unknown> = { ...toRecipientMatch(filters) }
  if (from) match.from = { $regex: `^${escapePattern(normaliseEmail(from) ?? from)}$`, $options: 'i' }
  if (to) match['rcpts.email'] = recipientMatch(to.trim())
  if (messageId) match.message_id = { $eq: messageId.startsWith('<') ? messageId : `<${messageId}>` }
  if (filters.simulated === 'false') match.test = { $ne: true }
  if (template) match['template.id'] = { $eq: template }
  if (source) match['via.channel'] = { $eq: CHANNELS[source] }
  if (submitter) match['via.id'] = { $eq: submitter }
  const and = [
    ...otherConditions(filters),
    ...(q && !idIn(q) ? chunksOf(q).map(chunk => contains(chunkText(chunk))) : []),
  ]
  return and.length > 0 ? { ...match, $and: and } : match
}

/** True when no recipient can match: only failures have a class. */
export function isImpossible({ status, reason }: LogFilters): boolean {
  return reason !== undefined && failedOf(status).length === 0
}

function listOf(status: LogFilters['status']): readonly RecipientStatus[] {
  return typeof status === 'string' ? [status] : (status ?? [])
}

/** The statuses that a class of failures says something about; all of them without a status. */
function failedOf(status: LogFilters['status']): readonly RecipientStatus[] {
  return status === undefined ? FAILED_STATUSES : FAILED_STATUSES.filter(failed => listOf(status).includes(failed))
}

/** One recipient that has the status, the class of failures and the domain; nothing without such a filter. */
function toRecipientMatch(filters: LogFilters): { rcpts?: object } {
  const { status, reason } = filters
  const conditions = {
    ...(reason
      ? { status: { $in: failedOf(status) }, kind: { $eq: reason } }
      : status && { status: { $in: listOf(status) } }),
    ...emailCondition(filters),
  }
  return Object.keys(conditions).length > 0 ? { rcpts: { $elemMatch: conditions } } : {}
}

function emailCondition({ recipient_domain: domain, simulated }: LogFilters): { email?: object } {
  const email = {
    ...(domain && { $regex: `@${escapePattern(storedName(domain))}$`, $options: 'i' }),
    ...(simulated === 'false' && { $not: SIMULATOR }),
  }
  return Object.keys(email).length > 0 ? { email } : {}
}

/** A condition that {@link STATUS_INDEX} serves; the first part is that of the index itself. */
export interface IndexedRecipient {
  'rcpts.status': object
  rcpts: object
}

/**
 * The recipient as a condition that the index of statuses serves in the order of ids; undefined when it does not. Of
 * statuses alone every class is named: MongoDB then merges the keys of all of them, in order.
 */
export function indexedRecipient(filters: LogFilters): IndexedRecipient | undefined {
  const { status, reason } = filters
  const isIndexed = (one: RecipientStatus) => INDEXED_STATUSES.some(indexed => indexed === one)
  if (!listOf(status).every(isIndexed)) return undefined
  if (!status && !reason) return undefined
  const indexed = { $in: [...INDEXED_STATUSES] }
  const kind = reason ? { $eq: reason } : { $in: [null, ...FAILURE_KINDS] }
  const statuses = reason ? failedOf(status) : listOf(status)
  return {
    'rcpts.status': indexed,
    rcpts: { $elemMatch: { status: { $in: statuses }, kind, ...emailCondition(filters) } },
  }
}

/** True for filters that lead to few messages: blocks of the log with their terms are better than an index of statuses. */
export function isSelective({ q, to, message_id: messageId }: LogFilters): boolean {
  return [q, to, messageId].some(value => value !== undefined)
}

function otherConditions({ domain, domains = [], tag, simulated }: LogFilters): object[] {
  const and: object[] = []
  if (domain) and.push({ from: { $regex: `@${escapePattern(storedName(domain))}$`, $options: 'i' } })
  if (domains.length > 0) and.push({ from: { $in: domains.map(name => new RegExp(`@${RegExp.escape(name)}$`)) } })
  if (simulated === 'true') and.push({ $or: [{ test: true }, { 'rcpts.email': SIMULATOR }] })
  if (tag) and.push({ tags: { $elemMatch: toTag(tag) } })
  return and
}

/** The numbers of the terms that every match has; empty when the filters name none. */
export function filterTerms(userId: string, filters: LogFilters): number[] {
  const { q, from, to, domain, tag, message_id: id, template, submitted_with: submitter } = filters
  const { recipient_domain: rcptDomain } = filters
  const terms = q && !idIn(q) ? queryTerms(q) : new Set<string>()
  if (from) terms.add(exactTerm(from))
  if (to) terms.add(termOfRecipient(to.trim()) ?? '')
  if (domain) terms.add(exactTerm(storedName(domain)))
  // Of a domain with a single label messages have no term.
  if (rcptDomain?.includes('.')) terms.add(exactTerm(storedName(rcptDomain)))
  if (tag) terms.add(tagTerm(tag))
  if (id) terms.add(exactTerm(id))
  if (template) terms.add(templateTerm(template))
  if (submitter) terms.add(submitterTerm(submitter))
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
