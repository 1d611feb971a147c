/** What a stored message says about itself, for the answers that repeat it. */
import { fieldText, parseHeader } from '../message/headers.ts'
import { readMime } from '../message/mime-reader.ts'
import type { StoredParts } from './rules/email-answer.ts'

/** Reads the bytes of a message. A header that cannot be read says nothing. */
export function readStored(raw: Buffer): StoredParts {
  const { html = null, text = null } = readMime(raw)
  const header = parseHeader(raw)
  const field = (name: string) => {
    const found = 'code' in header ? undefined : header.fields.find(one => one.name === name)
    return found && fieldText(found)
  }
  return { from: field('from') ?? null, reply_to: splitList(field('reply-to') ?? ''), html, text }
}

/**
 * Commas inside of quotes and brackets do not separate addresses. Those that are not closed go to the end: a search that
 * begins again at each of them takes seconds for a field of 256 KiB.
 */
function splitList(value: string): string[] {
  const found = value.match(/(?:"(?:[^"\\]|\\.?)*(?:"|$)|<[^>]*(?:>|$)|[^,"<])+/gs) ?? []
  return found.map(address => address.trim()).filter(Boolean)
}
