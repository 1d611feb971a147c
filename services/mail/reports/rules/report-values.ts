/** Values of reports, checked as strictly as they are used; what is not valid is undefined. */
import ipaddr from 'ipaddr.js'
import { type Sentence, SentenceError } from '../../../platform/sentences/sentence.ts'
import { MAX_COUNT, MAX_STORED_CHARS } from './report-limits.ts'

/** A report that cannot be used. `sentence` says why. */
export class ReportError extends SentenceError {}

/** Throws {@link ReportError}. */
export function refuseReport(reason: Sentence): never {
  throw new ReportError(reason)
}

/** When a report begins and ends, in milliseconds since 1970. */
export interface ReportPeriod {
  begin: number
  end: number
}

/** A count of messages or sessions: a non-negative integer. */
export function countOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (!/^\d{1,11}$/.test(text)) return undefined
  const count = Number(text)
  return count <= MAX_COUNT ? count : undefined
}

/** An IP address in its canonical form; an IPv4-mapped one as IPv4. */
export function addressOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined
  if (text.includes('%')) return undefined
  return ipaddr.process(text).toString()
}

const DOMAIN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}._-]{0,251}[\p{L}\p{N}_])?$/u

/** A domain name in lower case, without the dot at its end. */
export function domainNameOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim().toLowerCase().replace(/\.$/, '') : ''
  return DOMAIN.test(text) && !text.includes('..') ? text : undefined
}

/** True for the domain itself and the names below it. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}

/** A text of one line to show and store: without control characters, cut to 255. Undefined when nothing is left. */
export function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, MAX_STORED_CHARS)
    .toWellFormed()
  return text === '' ? undefined : text
}
