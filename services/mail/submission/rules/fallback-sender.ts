/**
 * The header of mail from machines (cron, bounces of a mail server) that write as `root@web1`: such names exist on no
 * domain of the account, so the fallback sender of the login takes their place and the name stays readable.
 */
import { encodeText, foldValue } from '../../message/encoded-words.ts'
import { decodeWords, type HeaderField, unfold } from '../../message/headers.ts'
import { readMailboxes } from '../../message/mailboxes.ts'

const MAX_NAME = 100

/** The fields without Sender. */
export function removeSender(fields: readonly HeaderField[]): HeaderField[] {
  return fields.map(field => (field.name === 'sender' ? { ...field, removed: true as const } : field))
}

/** The fields with From in the name of the fallback sender. */
export function replaceSenders(fields: readonly HeaderField[], fallback: string): HeaderField[] {
  return fields.map(field => (field.name === 'from' ? replaced(field, fallback) : field))
}

/** The fields with From replaced and Sender removed where no address can be read in them. */
export function replaceUnreadable(fields: readonly HeaderField[], fallback: string): HeaderField[] {
  return fields.map(field => {
    if ((field.name !== 'from' && field.name !== 'sender') || readMailboxes(unfold(field.value))) return field
    return field.name === 'from' ? replaced(field, fallback) : { ...field, removed: true as const }
  })
}

function replaced(field: HeaderField, fallback: string): HeaderField {
  const name = displayName(unfold(field.value))
  const phrase = /^[ -~]*$/.test(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeText(name)
  const value = foldValue('From', ` ${phrase} <${fallback}>`) ?? ` <${fallback}>`
  return { ...field, value: Buffer.from(value).toString('latin1'), encoded: true }
}

/** The name in front of the address or in a comment; else the address, in a form that is not taken for one. */
function displayName(text: string): string {
  const [, before = '', address = ''] = /^([^<]*)<([^<>]*)>\s*$/.exec(text) ?? []
  const name = before.trim().replace(/^"(.*)"$/s, '$1') || /\(([^()]{1,200})\)/.exec(text)?.[1] || address || text
  return decodeWords(name)
    .replace(/\\(.)/gu, '$1')
    .replaceAll('@', ' at ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}<>]/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
}
