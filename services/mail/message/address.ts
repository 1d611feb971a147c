/** Mail addresses as callers write them: parsed once, and the parsed value is what goes to the wire. */
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'

/** An address with its display name; `name` is empty when there is none. The domain is in lower-case A-label form. */
export interface Mailbox {
  name: string
  email: string
}

/** A parsed mailbox, or the error as a sentence. */
export type MailboxResult = { mailbox: Mailbox } | { error: Sentence }

/** RFC 5321 section 4.5.3.1: octets of a local part and of a path without its brackets. */
const LOCAL_MAX = 64
const EMAIL_MAX = 254
const NAME_MAX = 255
/**
 * Characters of an address as it is written, display name and quotes included. The length is checked before any pattern:
 * twelve texts of 2 MiB kept a process busy for 190 ms.
 */
export const WRITTEN_ADDRESS_MAX = 1024

/** Control characters and the two Unicode line separators: none is allowed in a header (RFC 5322 section 2.2). */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}]/u

/** Dot-atom of RFC 5322 section 3.2.3, with non-ASCII characters as in RFC 6532 (half a surrogate pair is none). */
const LOCAL =
  /^[\w!#$%&'*+/=?^`{|}~\u00a1-\ud7ff\ue000-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u00a1-\ud7ff\ue000-\u{10ffff}-]+)*$/u
/**
 * Quoted string of RFC 5321 section 4.1.2. Without angle brackets: they end the path for too many readers, and no mailbox
 * has them.
 */
const QUOTED_LOCAL = /^"((?:[ !#-;=?-[\]-~\u00a1-\ud7ff\ue000-\u{10ffff}]|\\[ -;=?-~])+)"$/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const TOO_LONG = { error: sentence('field.address_too_long', { count: WRITTEN_ADDRESS_MAX }) }
const NAME_TOO_LONG = { error: sentence('field.display_name_too_long', { count: NAME_MAX }) }
const CONTROL_CHARACTERS = { error: sentence('field.control_characters') }

/** Reads `a@b`, `Name <a@b>`, `"Last, First" <a@b>` or `{email, name?}`; anything else is an error. Never a list. */
export function readMailbox(value: unknown): MailboxResult {
  if (typeof value === 'string') return value.length > WRITTEN_ADDRESS_MAX ? TOO_LONG : readText(value)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return readMembers(value)
  return { error: sentence('field.address_form') }
}

function readMembers(value: object): MailboxResult {
  for (const member in value)
    if (member !== 'email' && member !== 'name')
      return { error: sentence('field.address_member', { name: shown(member) }) }
  const { email, name = '' } = value as Record<string, unknown>
  if (typeof email !== 'string' || typeof name !== 'string')
    return { error: sentence('field.address_types', { email: WRITTEN_ADDRESS_MAX, name: NAME_MAX }) }
  if (email.length > WRITTEN_ADDRESS_MAX) return TOO_LONG
  return name.length > NAME_MAX ? NAME_TOO_LONG : withName(name, email)
}

/** The domain after the last at sign. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** True when an address in its stored form lies in one of these domains; no domains = any. */
export function isFrom(email: string, domains: readonly string[]): boolean {
  return domains.length === 0 || domains.includes(domainOf(email))
}

/**
 * The address with its domain in lower-case A-label form and its local part quoted only if it must be, or undefined when it
 * is not one.
 */
export function normaliseEmail(email: string): string | undefined {
  if (email.length > WRITTEN_ADDRESS_MAX) return undefined
  const at = email.lastIndexOf('@')
  const local = normaliseLocal(email.slice(0, Math.max(at, 0)))
  if (local === undefined || byteLength(local) > LOCAL_MAX) return undefined
  const domain = normaliseDomain(email.slice(at + 1))
  if (domain === undefined) return undefined
  const normal = `${local}@${domain}`
  return byteLength(normal) > EMAIL_MAX ? undefined : normal
}

/** True when the local part needs SMTPUTF8 (RFC 6531). */
export function needsSmtpUtf8(email: string): boolean {
  return /\P{ASCII}/u.test(email)
}

function readText(text: string): MailboxResult {
  if (UNSAFE.test(text)) return CONTROL_CHARACTERS
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return withName('', trimmed)
  const open = trimmed.lastIndexOf('<')
  if (open === -1) return { error: sentence('field.address', { text: shown(text) }) }
  const name = readName(trimmed.slice(0, open).trim())
  if (name === undefined) return { error: sentence('field.display_name_quotes') }
  return withName(name, trimmed.slice(open + 1, -1))
}

/** A display name as written before the angle bracket: a quoted string, or words without RFC 5322 specials. */
function readName(written: string): string | undefined {
  if (/^"(?:[^"\\]|\\.)*"$/.test(written)) return written.slice(1, -1).replaceAll(/\\(.)/g, '$1')
  return /[",:;<>@[\]\\]/.test(written) ? undefined : written
}

function withName(name: string, email: string): MailboxResult {
  if (UNSAFE.test(name) || UNSAFE.test(email)) return CONTROL_CHARACTERS
  if (name.length > NAME_MAX) return NAME_TOO_LONG
  const normal = normaliseEmail(email)
  if (normal === undefined) return { error: sentence('field.address', { text: shown(email) }) }
  return { mailbox: { name: name.trim(), email: normal } }
}

/** A quoted local part means the same as without quotes, where it can be written so (RFC 5321 section 4.1.2). */
function normaliseLocal(local: string): string | undefined {
  if (LOCAL.test(local)) return local
  const content = QUOTED_LOCAL.exec(local)?.[1]?.replaceAll(/\\(.)/gu, '$1')
  if (content === undefined || LOCAL.test(content)) return content
  return `"${content.replaceAll(/["\\]/g, '\\$&')}"`
}

/** At least two labels of letters, digits and hyphens after IDNA; address literals are refused. */
function normaliseDomain(domain: string): string | undefined {
  const ascii = /\P{ASCII}/u.test(domain) ? toAscii(domain) : domain.toLowerCase()
  const labels = ascii?.split('.') ?? []
  if (labels.length < 2 || !labels.every(label => LABEL.test(label)) || /^\d+$/.test(labels.at(-1) ?? ''))
    return undefined
  return ascii
}

/** IDNA by the URL parser (UTS 46), the only built-in implementation. */
function toAscii(domain: string): string | undefined {
  return /[/?#@:\\%\s]/.test(domain) ? undefined : URL.parse(`http://${domain}`)?.hostname
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const byteLength = (text: string) => Buffer.byteLength(text)
